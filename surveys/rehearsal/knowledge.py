"""What simulated workers can know who see nothing but pages: the right answers, by what an item shows."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from surveys.protocols.definition import Definition
from surveys.simulating.views import ItemView, UnexpectedPage, item_key
from surveys.studies.importing.plan import PlannedItem
from surveys.studies.importing.reading import read_items


class Knowledge:
    """The right answers, found by what an item shows: its question, its choices and some or all of its outputs.

    Items that show the same but differ in their picture can't be told apart here; the first one counts.
    """

    def __init__(self, items: Iterable[PlannedItem], *, definition: Definition) -> None:
        fixed = definition.answer.choices if definition.answer else ()
        self._known: dict[str, list[_Known]] = defaultdict(list)
        for item in items:
            labels = [choice.label for choice in fixed] or [choice["label"] for choice in item.choices]
            texts = [output.text for output in item.outputs]
            known = _Known(
                item_key(item.question, labels=labels, texts=texts), frozenset(map(_plain, texts)), item.gold
            )
            self._known[item_key(item.question, labels=labels, texts=[])].append(known)

    @classmethod
    def of_file(cls, path: Path, *, definition: Definition) -> Self:
        plan = read_items(path.read_bytes(), definition=definition, system="model")
        return cls(plan.items, definition=definition)

    def right_answer(self, item: ItemView) -> str:
        """Return the value of the right answer, "" if there is none. Raises UnexpectedPage for an unknown item."""
        return self._of(item).gold

    def whole_key(self, item: ItemView) -> str:
        """Return the key of all that the file says of the item, whichever of its outputs are shown."""
        return self._of(item).key

    def _of(self, item: ItemView) -> "_Known":
        shown = {_plain(output.text) for output in item.outputs}
        alike = self._known.get(item_key(item.question, labels=item.labels, texts=[]), [])
        if found := next((one for one in alike if shown <= one.texts), None):
            return found
        raise UnexpectedPage(f"The page shows an item that is not in the file: {item.question!r}")


@dataclass(frozen=True, slots=True)
class _Known:
    key: str
    texts: frozenset[str]
    gold: str


def _plain(text: str) -> str:
    return " ".join(text.split())
