"""An item as somebody sees it: its texts, and its questions with what can be chosen."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


class UnexpectedPage(Exception):
    """The server showed something else than this step of the work needs; the message quotes it."""


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    is_exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """One question: choose one, or (`is_checklist`) tick what applies; without `options`, write something.

    `sample` is something that the page takes, where it asks for a number or for marks; of these, `words` are what can
    be marked, and `severities` and `categories` are what can be said of them. With `only_if`, the name of another
    group, it is asked only if one of `wanted` is chosen there.
    """

    name: str
    is_checklist: bool
    options: tuple[Option, ...]
    is_optional: bool = False
    sample: str = ""
    words: tuple[str, ...] = ()
    severities: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    only_if: str = ""
    wanted: tuple[str, ...] = ()

    def best_first(self) -> list[Option]:
        """Return the levels of a scale from the best to the worst: numerals by size, words as shown."""
        if all(option.value.isdecimal() for option in self.options):
            return sorted(self.options, key=lambda option: -int(option.value))
        return list(self.options)


def words_once(text: str) -> tuple[str, ...]:
    """Return the words that stand in a text once, so that each says where it is."""
    plain = " ".join(text.split())
    return tuple(word for word in plain.split() if plain.count(word) == 1)


@dataclass(frozen=True, slots=True)
class Output:
    """One explanation as shown, and the questions about it. `code` is its name on the page."""

    text: str
    groups: tuple[Group, ...]
    code: str = ""


@dataclass(frozen=True, slots=True)
class ItemView:
    """One item as shown. `groups` are the questions that are not about one output, `skip` is the way past it.

    `n_missing` files have not arrived, as the page says in words.
    """

    position: int
    version: int
    question: str
    outputs: tuple[Output, ...]
    groups: tuple[Group, ...]
    pictures: tuple[str, ...] = ()
    n_missing: int = 0
    skip: Group | None = None

    @property
    def prefix(self) -> str:
        return f"i{self.position}-"

    @property
    def missing(self) -> tuple[str, ...]:
        """Return a name for each file that has not arrived, the same on everybody's page."""
        return tuple(f"missing {n}: {self.key}" for n in range(1, self.n_missing + 1))

    @property
    def answer(self) -> Group | None:
        return next((group for group in self.groups if group.name == f"{self.prefix}answer"), None)

    @property
    def key(self) -> str:
        """Name the item by what it shows, whatever the order: one string for one question, choices and outputs."""
        return item_key(self.question, labels=self.labels, texts=[output.text for output in self.outputs])

    @property
    def labels(self) -> list[str]:
        """Return the answers to choose from, in an order of their own."""
        return sorted(option.label for option in self.answer.options) if self.answer else []

    def ranking_of(self, output: Output) -> Group | None:
        """Return the question which place an output has among the others, if that is asked."""
        return next((group for group in self.groups if group.name.endswith(f"-{output.code}")), None)

    def only_asked(self, answers: Mapping[str, str | list[str]]) -> dict[str, str | list[str]]:
        """Return the answers without those to groups that, answered so, the page does not ask."""
        asked: dict[str, str | list[str]] = {}
        groups = {group.name: group for group in self.in_order()}
        for name, group in groups.items():
            if name in answers and (not group.only_if or _chosen(group, asked.get(group.only_if, []))):
                asked[name] = answers[name]
        return {name: given for name, given in answers.items() if name in asked or name not in groups}

    def in_order(self) -> Iterator[Group]:
        """Yield every question after those it depends on: the answer, those about each output, those about the item."""
        yield from (group for group in self.groups if group is self.answer)
        for output in self.outputs:
            yield from output.groups
        yield from (group for group in self.groups if group is not self.answer)

    def all_groups(self) -> Iterator[Group]:
        """Yield every question in an order that does not depend on which side an output is shown."""
        yield from self.groups
        for output in sorted(self.outputs, key=lambda output: output.text):
            yield from output.groups


def _chosen(group: Group, given: str | list[str]) -> bool:
    return bool(set(group.wanted) & {*([given] if isinstance(given, str) else given)})


def item_key(question: str, *, labels: list[str], texts: list[str]) -> str:
    """Join what an item shows; the question mark may be the page's own."""
    parts = [question.rstrip(" ?"), *sorted(labels), "", *sorted(texts)]
    return "\n".join(" ".join(part.split()) for part in parts)
