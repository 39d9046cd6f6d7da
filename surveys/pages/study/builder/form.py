"""The form of a document: its fields with what they hold, and every problem beside what it is about."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from surveys.pages.study.builder.fields import (
    CHOICES,
    CONDITION,
    ENTRIES,
    GROUP,
    LINES,
    NEW,
    SECTIONS,
    SELECT,
    TICK,
    Asked,
    Words,
    asked_of,
    default_of,
)
from surveys.protocols.conditions import ANSWER
from surveys.protocols.definition import Choice, Criterion, Definition, Path, Problem, QuizQuestion
from surveys.protocols.documents import KEY
from surveys.protocols.translations import SCALES, SECTION
from surveys.protocols.trees import Tree, at

MOST_FIELDS = 3000  # a browser and Django take 5,000; an entry brings buttons too


class TooLarge(ValueError):
    """A document of more fields than a form can have."""


def name_of(path: Path) -> str:
    """Return a place as one word, as fields and buttons send it."""
    return "/".join(quote(str(part), safe="") for part in path)


def id_of(path: Path) -> str:
    return "f-" + name_of(path).replace("/", "-").replace("%", "_")


@dataclass(slots=True)
class Part:
    """Something on the form at a place of the document."""

    path: Path
    label: str
    help: str = ""
    problems: list[str] = field(default_factory=list)
    is_more: bool = False

    @property
    def name(self) -> str:
        return name_of(self.path)

    @property
    def id(self) -> str:
        return id_of(self.path)

    @property
    def parts(self) -> "Sequence[Part]":
        return ()


@dataclass(slots=True)
class Field(Part):
    """One control. `options` are (value, label); `held` are those of them that are ticked."""

    kind: str = "line"
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    held: tuple[str, ...] = ()
    is_required: bool = False
    redraws: bool = False  # whether other fields depend on what it says

    template = "field"

    @property
    def is_on(self) -> bool:
        return self.value.lower() in ("true", "yes")


@dataclass(slots=True)
class Group(Part):
    """A part with keys of its own; where it `is_optional` it may be left out (`is_set`)."""

    inner: list[Part] = field(default_factory=list)
    is_optional: bool = False
    is_set: bool = True
    adds: str = ""

    template = "group"

    @property
    def parts(self) -> Sequence[Part]:
        return self.inner

    @property
    def usual(self) -> list[Part]:
        return [part for part in self.inner if not part.is_more]

    @property
    def more(self) -> list[Part]:
        return [part for part in self.inner if part.is_more]

    @property
    def is_more_open(self) -> bool:
        return any(has_problems(part) for part in self.more)


@dataclass(slots=True)
class Entry(Group):
    """One of a list, `n` of `of` from 1; `is_row` where it stands on one line."""

    n: int = 1
    of: int = 1
    is_row: bool = False
    heading: str = ""

    template = "entry"

    @property
    def what(self) -> str:
        """Return what buttons call it."""
        return self.heading or f"{self.label} {self.n}"


@dataclass(slots=True)
class Entries(Part):
    """A list: its entries and what can be added. A list of choices may be the shared one called `scale` instead."""

    entries: list[Entry] = field(default_factory=list)
    adds: list[tuple[str, str]] = field(default_factory=list)
    scale: str = ""
    scales: tuple[str, ...] = ()

    template = "entries"

    @property
    def parts(self) -> Sequence[Part]:
        return self.entries

    @property
    def scale_path(self) -> str:
        return id_of((SCALES, self.scale))


@dataclass(slots=True)
class Section:
    title: str
    parts: list[Part]

    @property
    def id(self) -> str:
        return "s-" + self.title.lower().replace(" ", "-")

    @property
    def n_problems(self) -> int:
        return sum(len(part.problems) for part in walk(self.parts))

    @property
    def more(self) -> list[Part]:
        return [part for part in self.parts if part.is_more]

    @property
    def usual(self) -> list[Part]:
        return [part for part in self.parts if not part.is_more]

    @property
    def is_more_open(self) -> bool:
        return any(has_problems(part) for part in self.more)


@dataclass(slots=True)
class BuilderForm:
    """All sections, and the problems that are about none of their fields."""

    sections: list[Section]
    problems: list[str]

    @property
    def parts(self) -> Iterator[Part]:
        return walk(part for section in self.sections for part in section.parts)

    @property
    def fields(self) -> list[Field]:
        return [part for part in self.parts if isinstance(part, Field)]


def walk(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        yield from walk(part.parts)


def has_problems(part: Part) -> bool:
    return any(one.problems for one in walk([part]))


def form_of(tree: dict[str, Tree], *, problems: Iterable[Problem] = ()) -> BuilderForm:
    """Return the form of a document. TooLarge where it would have more fields than can be sent."""
    drawing = _Drawing(tree)
    parts = {part.path[0]: part for part in drawing.parts(Definition, ())}
    sections = [Section(one.title, [parts.pop(key) for key in one.keys if key in parts]) for one in SECTIONS]
    sections[2].parts += drawing.scales()
    sections[-1].parts += parts.values()
    form = BuilderForm(sections, [])
    _place(form, problems)
    return form


def _place(form: BuilderForm, problems: Iterable[Problem]) -> None:
    """Put each problem beside what it is about, or the nearest thing around that."""
    by_path: dict[Path, Part] = {part.path: part for part in form.parts}
    for problem in problems:
        path = (KEY, *problem.path[1:]) if problem.path[:1] == ("key",) else problem.path
        while path and path not in by_path:
            path = path[:-1]
        where = by_path[path].problems if path else form.problems
        about = f"{', '.join(map(str, problem.path[:3]))}: " if problem.path[:1] == (SECTION,) else ""
        where.append(about + problem.sentence)


class _Drawing:
    """One document while its form is drawn."""

    def __init__(self, tree: dict[str, Tree]) -> None:
        self.tree = tree
        self.n_fields = 0
        scales = tree.get(SCALES)
        self.scale_names = tuple(scales) if isinstance(scales, dict) else ()

    def parts(self, kind: type, path: Path) -> list[Part]:
        """Return what is asked of a part of the document at `path`."""
        return [part for one in asked_of(kind) if (part := self._part(one, kind, path)) is not None]

    def scales(self) -> list[Part]:
        """Return the lists of choices that questions share."""
        return [self._choices(Asked("", CHOICES, Words(""), of=Choice), Criterion, (SCALES, name))
                for name in self.scale_names]  # fmt: skip

    def _part(self, asked: Asked, kind: type, path: Path) -> Part | None:
        here = (*path, asked.key)
        if not self._is_wanted(asked, kind, path):
            return None
        if asked.kind == ENTRIES:
            return self._entries(asked, here)
        if asked.kind == CHOICES:
            return self._choices(asked, kind, here)
        if asked.kind == GROUP:
            return self._group(asked, here)
        if asked.kind == CONDITION:
            return self._condition(asked, here)
        return self._field(asked, kind, here)

    def _is_wanted(self, asked: Asked, kind: type, path: Path) -> bool:
        """Tell whether a key is of any use here: that of a number not of a text, and so on."""
        if kind is not Criterion or at(self.tree, (*path, asked.key)) is not None:
            return True
        is_listed = self._says(path, "is_checklist")
        is_written = self._says(path, "is_text") or at(self.tree, (*path, "number")) is not None
        return {
            "choices": not is_written,
            "exclusive": is_listed,
            "is_optional": is_listed or is_written,
            "number": False,
        }.get(asked.key, asked.kind != GROUP)

    def _says(self, path: Path, key: str) -> bool:
        return at(self.tree, (*path, key)) in ("true", "yes")

    def _field(self, asked: Asked, kind: type, path: Path) -> Field:
        self._count()
        held = at(self.tree, path)
        value = held if isinstance(held, str) else ""
        if asked.kind == LINES:
            lines = held if isinstance(held, list) else []
            value = "\n".join(" ".join(one.split()) for one in lines if isinstance(one, str))
        if (not value and asked.kind in (SELECT, TICK)) or held is None:
            value = default_of(kind, asked.key)
        options = tuple((one, (asked.words.names or {}).get(one, one)) for one in asked.options)
        if path == ("headline",):
            asked_kind, options = SELECT, self._headlines(value)
        elif kind is QuizQuestion and asked.key == "answer":
            asked_kind, options = SELECT, _with(self._values(path[:-1]), value)
        else:
            asked_kind = asked.kind
        return Field(
            path, asked.words.label, asked.words.help, is_more=asked.words.is_more, kind=asked_kind, value=value,
            options=options, is_required=asked.is_required,
        )  # fmt: skip

    def _headlines(self, value: str) -> tuple[tuple[str, str], ...]:
        scales = [one for one in self._criteria() if self._is_scale(one)]
        preference = self.tree.get("preference")
        chosen = [*scales, preference] if isinstance(preference, dict) else scales
        return _with([(str(one.get("key", "")), str(one.get("label", ""))) for one in chosen], value)

    def _is_scale(self, criterion: Mapping[str, Tree]) -> bool:
        written = {"is_checklist", "is_text", "number"} & set(criterion)
        return not written and criterion.get("per_output") not in ("false", "no")

    def _criteria(self) -> list[dict[str, Tree]]:
        found = self.tree.get("criteria")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def _values(self, path: Path) -> list[tuple[str, str]]:
        """Return (value, label) of the choices of whatever stands at a place."""
        choices = at(self.tree, (*path, "choices"))
        if isinstance(choices, str):
            choices = at(self.tree, (SCALES, choices))
        entries = choices if isinstance(choices, list) else []
        return [
            (str(one.get("value", "")), str(one.get("label", ""))) for one in entries if isinstance(one, dict)
        ]

    def _group(self, asked: Asked, path: Path) -> Group:
        is_set = at(self.tree, path) is not None
        of: Any = asked.of
        return Group(
            path, asked.words.label, asked.words.help, is_more=asked.words.is_more and not is_set,
            inner=self.parts(of, path) if is_set else [], is_optional=not asked.is_required, is_set=is_set,
            adds=NEW[of]["group"][0] if of in NEW else "",
        )  # fmt: skip

    def _entries(self, asked: Asked, path: Path) -> Entries:
        held = at(self.tree, path)
        entries = held if isinstance(held, list) else []
        of: Any = asked.of
        return Entries(
            path, asked.words.label, asked.words.help, is_more=asked.words.is_more and not entries,
            entries=[self._entry(of, (*path, n), one, n_all=len(entries)) for n, one in enumerate(entries, 1)],
            adds=[(what, label) for what, (label, _) in NEW.get(of, {}).items()],
        )  # fmt: skip

    def _entry(self, of: type, path: Path, held: Tree, *, n_all: int) -> Entry:
        texts = held if isinstance(held, dict) else {}
        named = [texts.get(key) for key in ("label", "title", "question", "scene", "column")]
        heading = next((text for text in named if isinstance(text, str) and text), "")
        return Entry(
            path, _kind_of(of, texts), inner=self.parts(of, path), n=int(path[-1]), of=n_all, heading=heading
        )

    def _choices(self, asked: Asked, kind: type, path: Path) -> Entries:
        held = at(self.tree, path)
        is_shared = path[0] == SCALES
        label = f"Shared choices “{path[-1]}”" if is_shared else asked.words.label
        listing = Entries(path, label, asked.words.help, is_more=asked.words.is_more and not held)
        if isinstance(held, str) and held:
            listing.scale = held
        entries = held if isinstance(held, list) else []
        has_scores = kind is Criterion and not self._says(path[:-1], "is_checklist")
        for n, one in enumerate(entries, 1):
            given = one if isinstance(one, dict) else {}
            inner = [p for p in self.parts(Choice, (*path, n))
                     if p.path[-1] != "score" or has_scores or "score" in given]  # fmt: skip
            if kind is not Criterion:
                inner = [p for p in inner if p.path[-1] != "description" or "description" in given]
            listing.entries.append(
                Entry((*path, n), "Choice", inner=inner, n=n, of=len(entries), is_row=True)
            )
        listing.adds = [] if listing.scale else [("choice", "Add a choice")]
        listing.scales = () if is_shared or kind is not Criterion else self.scale_names
        return listing

    def _condition(self, asked: Asked, path: Path) -> Group:
        """A condition is two fields: the earlier question and, once it is chosen, which of its answers."""
        self._count()
        held = at(self.tree, path)
        given = held if isinstance(held, dict) else {}
        question = str(given.get("question", ""))
        earlier = self._earlier(path)
        options = _with(
            [("", "Always asked"), *((key, label) for key, (label, _) in earlier.items())], question
        )
        inner: list[Part] = [
            Field(
                (*path, "question"),
                asked.words.label,
                kind=SELECT,
                value=question,
                options=options,
                redraws=True,
            )
        ]
        if question:
            _, values = earlier.get(question, ("", []))
            ticked = [one for key in ("is", "ticked") for one in _list(given.get(key))]
            inner.append(
                Field(
                    (*path, "values"),
                    "is answered by",
                    kind="ticks",
                    options=_with(values, *ticked),
                    held=tuple(ticked),
                )
            )
        return Group(path, "", inner=inner)

    def _earlier(self, path: Path) -> dict[str, tuple[str, list[tuple[str, str]]]]:
        """Return the questions that one may depend on, {key: (label, values)}."""
        found = {}
        if isinstance(answer := self.tree.get("answer"), dict) and self._values(("answer",)):
            found[ANSWER] = (str(answer.get("label", "")), self._values(("answer",)))
        me = at(self.tree, path[:-1])
        about = me.get("per_output", "true") if isinstance(me, dict) else "true"
        for n, one in enumerate(self._criteria()[: int(path[1]) - 1], 1):
            if one.get("per_output", "true") == about and (values := self._values(("criteria", n))):
                found[str(one.get("key", ""))] = (str(one.get("label", "")), values)
        return found

    def _count(self) -> None:
        self.n_fields += 1
        if self.n_fields > MOST_FIELDS:
            raise TooLarge(f"The document has more than {MOST_FIELDS:,} fields.")


def _list(tree: "Tree | None") -> list[str]:
    return [one for one in tree if isinstance(one, str)] if isinstance(tree, list) else []


def _with(options: Iterable[tuple[str, str]], *values: str) -> tuple[tuple[str, str], ...]:
    """Return options with what is held among them, if it is none of them."""
    found = dict(options)
    return tuple({**found, **{one: one for one in values if one not in found}}.items())


def _kind_of(of: type, texts: Mapping[str, Tree]) -> str:
    """Return what an entry is, in a word."""
    if of is not Criterion:
        return {"Block": "Column", "WorkedExample": "Example", "QuizQuestion": "Question"}.get(
            of.__name__, of.__name__
        )
    if "number" in texts:
        return "Number"
    return "Text" if "is_text" in texts else "Checklist" if "is_checklist" in texts else "Scale"
