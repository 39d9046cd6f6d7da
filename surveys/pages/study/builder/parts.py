"""What a form is made of: controls, groups and lists, each at a place of the document, with its problems."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from surveys.protocols.criteria import Path
from surveys.protocols.languages import NAMED
from surveys.protocols.translations import SCALES

NAME_KEYS = frozenset(NAMED.values())  # by which entries of lists are called


def name_of(path: Path) -> str:
    """Return a place as one word, as fields and buttons send it."""
    return "/".join(quote(str(part), safe="") for part in path)


def id_of(path: Path) -> str:
    """Return the place as an element's id; a hyphen of a name is not one between names."""
    return "f-" + name_of(path).replace("-", "_2D").replace("/", "-").replace("%", "_")


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
    is_of_document: bool = False  # whether its options are what the document has elsewhere

    template = "field"

    @property
    def is_name(self) -> bool:
        """Tell whether other places of the document call something by what it says."""
        return self.path[-1] in NAME_KEYS

    @property
    def is_on(self) -> bool:
        return self.value.lower() in ("true", "yes")


@dataclass(slots=True)
class Group(Part):
    """A part with keys of its own; where it `is_optional` it may be left out (`is_set`)."""

    inner: list[Part] = field(default_factory=list)
    is_optional: bool = False
    is_set: bool = True
    adds: list[tuple[str, str]] = field(default_factory=list)

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

    @property
    def first_problem(self) -> tuple[str, str]:
        """Return the id of what is to be mended first, and what it is called; of none ("", "")."""
        if self.problems:
            return "top-problems", ""
        return next(((part.id, _called(part)) for part in self.parts if part.problems), ("", ""))


def walk(parts: Iterable[Part]) -> Iterator[Part]:
    for part in parts:
        yield part
        yield from walk(part.parts)


def _called(part: Part) -> str:
    return part.what if isinstance(part, Entry) else part.label


def has_problems(part: Part) -> bool:
    return any(one.problems for one in walk([part]))
