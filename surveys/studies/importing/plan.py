"""What reading a file gives: items to create and problems with their place in the file. Nothing is written."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, Self
from urllib.parse import unquote

from surveys.protocols.definition import Definition
from surveys.studies.planted_checks import COLUMN, CheckError, read_check


class Severity(StrEnum):
    """An error stops the import; a warning waits for the researcher to accept it."""

    ERROR = "error"
    WARNING = "warning"


class Layout(StrEnum):
    """How a file lays out its items; AUTO looks at the file."""

    AUTO = "auto"
    BATCH = "batch"
    LONG = "long"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong. `row` counts data rows from 1, `line` the file's lines from 1 (where the row starts).

    `file` is its name where there are several.
    """

    severity: Severity
    message: str
    row: int | None = None
    line: int | None = None
    column: str = ""
    file: str = ""

    @property
    def place(self) -> str:
        """Return "row 3 (line 4), column answer_0", or as much of it as is known."""
        row = f"row {self.row} (line {self.line})" if self.row else ""
        line = f"line {self.line}" if self.line and not self.row else ""
        return ", ".join(filter(None, [row, line, self.column and f"column {self.column}"]))

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class Cell(NamedTuple):
    """A text, trimmed, and where it stood."""

    text: str
    row: int
    line: int
    column: str

    def error(self, message: str) -> Problem:
        return Problem(Severity.ERROR, message, self.row, self.line, self.column)

    def warning(self, message: str) -> Problem:
        return Problem(Severity.WARNING, message, self.row, self.line, self.column)


class Option(NamedTuple):
    """One choice as the file gives it: the value stored, and the cell that holds the label."""

    value: str
    cell: Cell


class Said(NamedTuple):
    """One system's output as the file gives it."""

    system: str
    text: Cell
    answer: str
    model_correct: bool | None = None


def pair_name(subject: str, *systems: str) -> str:
    return f"{subject}/{'+'.join(sorted(systems))}"


@dataclass(frozen=True, slots=True)
class PlannedPicture:
    """A picture by its decoded file name, and the cell that named it. `kind` is what the file has to be.

    `block` is the column of the protocol's block that shows it, empty for the item's own.
    """

    name: str
    cell: Cell
    kind: str = "picture"
    block: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One item as the file gives it, before it is checked. `gold` is None where there is nothing to answer.

    `external_id` is what the item is to be called where that is not `id`. `check` says that the item is a planted
    check, and what passes it.
    """

    id: Cell
    question: Cell | None
    images: tuple[Cell, ...]
    outputs: tuple[Said, ...]
    payload: Mapping[str, Any]
    gold: Cell | None = None
    options: tuple[Option, ...] = ()
    references: tuple[str, ...] = ()
    source_row: int | None = None
    external_id: str = ""
    check: Cell | None = None
    files: tuple[PlannedPicture, ...] = ()

    @property
    def pair(self) -> str:
        """Return what the outputs are known by, whatever their item is called."""
        return pair_name(self.id.text, *(said.system for said in self.outputs))


@dataclass(frozen=True, slots=True)
class PlannedOutput:
    system: str
    text: str
    answer: str
    model_correct: bool | None = None


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """One item to create; the fields are those of `surveys.models.Item`. Items with the same choices share them.

    `given` is what the file says of it besides, `check` that it is a planted check, and what passes it.
    """

    external_id: str
    question: str
    choices: list[dict[str, str]]
    gold: str
    outputs: tuple[PlannedOutput, ...]
    pictures: tuple[PlannedPicture, ...]
    given: Mapping[str, Any]
    source_row: int | None
    subject: str = ""
    references: tuple[str, ...] = ()
    check: str = ""

    @property
    def payload(self) -> dict[str, Any]:
        """Return the item's payload; of a large file it is made when it is written, and not kept."""
        planted = {COLUMN: self.check} if self.check else {}
        return {"question": self.question, **self.given, **planted}

    @property
    def names(self) -> set[str]:
        """Return what no other item of a survey may be known by."""
        return {self.external_id, pair_name(self.subject, *(output.system for output in self.outputs))}


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do. `missing` names the pictures it would go ahead without, `header` the file's columns.

    `columns` says what these mean, {our name: the file's}, where it was chosen; empty where they have our names.
    """

    items: tuple[PlannedItem, ...] = ()
    problems: tuple[Problem, ...] = ()
    missing: frozenset[str] = field(default_factory=frozenset)
    header: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity == Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.problems if p.severity == Severity.WARNING)

    @property
    def n_outputs(self) -> int:
        return sum(len(item.outputs) for item in self.items)

    @property
    def kinds(self) -> dict[str, str]:
        """Return the names of the files it needs, and what each has to be."""
        return {picture.name: picture.kind for item in self.items for picture in item.pictures}

    @property
    def n_pictures(self) -> int:
        return len(self.kinds)

    @property
    def n_rows(self) -> int:
        """HITs the file lays out, where it does; 0 otherwise."""
        return len({item.source_row for item in self.items if item.source_row})

    def of_file(self, name: str) -> Self:
        """Return the plan with the name of its file on every problem."""
        return replace(self, problems=tuple(replace(problem, file=name) for problem in self.problems))

    def and_then(self, other: Self) -> Self:
        """Return this plan followed by another, that of the next file."""
        return replace(
            self,
            items=self.items + other.items,
            problems=self.problems + other.problems,
            missing=self.missing | other.missing,
        )

    def with_problems(self, problems: Iterable[Problem], *, missing: Iterable[str] = ()) -> Self:
        """Return the plan with more problems, in the order of the file."""
        found = sorted((*self.problems, *problems), key=lambda p: (p.line or 0, p.severity))
        return replace(self, problems=tuple(found), missing=self.missing | frozenset(missing))


SYSTEM_NAME = re.compile(r"[-a-zA-Z0-9_]{1,64}")
MARKUP = re.compile(r"<[a-zA-Z/!][^<>]*>|&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);")
ID_LENGTH, ANSWER_LENGTH, PICTURE_NAME_LENGTH = 255, 2000, 500


def is_system_name(text: str) -> bool:
    return SYSTEM_NAME.fullmatch(text) is not None


def check_entries(entries: Iterable[Entry], *, definition: Definition, taken: Collection[str]) -> Plan:
    """Return the items of all entries and every problem found in them; no entry is kept."""
    problems: list[Problem] = []
    clashes: list[Problem] = []
    items: list[PlannedItem] = []
    find = _pair_problems if definition.is_single else _id_problems
    names, seen = set(taken), dict[str, Cell]()
    for entry in entries:
        problems.extend(_entry_problems(entry, definition=definition))
        clashes.extend(find(entry, taken=names, seen=seen))
        items.append(planned_item(entry))
    return Plan(tuple(items), (*problems, *clashes))


def named(
    entries: Iterable[Entry], *, definition: Definition, taken: Collection[str], is_alone: bool
) -> Iterable[Entry]:
    """Return the entries with what they are to be called: their id or, where it can't be theirs alone, id/system.

    A survey type that shows one output at a time makes several items of one id. So does another where a later model
    speaks about an item the survey has: the new item is about the same subject, and shows that model's output.
    """
    if not definition.is_single:
        subjects = {name.rpartition("/")[0] for name in taken}
        return (
            _later(entry, definition, taken=taken) if entry.id.text in subjects else entry
            for entry in entries
        )
    entries = list(entries)
    systems = {entry.outputs[0].system for entry in entries}
    is_free = not any(entry.id.text in taken for entry in entries)
    if is_alone and len(systems) == 1 and is_free:
        return entries
    return [replace(entry, external_id=entry.pair) for entry in entries]


def _later(entry: Entry, definition: Definition, *, taken: Collection[str]) -> Entry:
    """Return an entry about a subject the survey has, by the name of its models; as it is if it is there already."""
    models = [said.system for said in entry.outputs if said.system != definition.reference_system]
    if entry.pair in taken or entry.id.text not in taken:
        return entry
    return replace(entry, external_id=pair_name(entry.id.text, *models))


def planned_item(entry: Entry) -> PlannedItem:
    """Return the item an entry makes; its choices are sorted by value, so that the order tells nothing."""
    gold = entry.gold.text if entry.gold else ""
    question = entry.question.text if entry.question else ""
    kept = sorted(_distinct(entry.options, gold=gold), key=lambda option: option.value)
    return PlannedItem(
        external_id=entry.external_id or entry.id.text,
        question=question,
        choices=_choices(tuple((option.value, option.cell.text) for option in kept)),
        gold=gold,
        outputs=tuple(
            PlannedOutput(said.system, said.text.text, said.answer, said.model_correct)
            for said in entry.outputs
        ),
        pictures=(*(PlannedPicture(unquote(cell.text), cell) for cell in entry.images), *entry.files),
        given=entry.payload,
        source_row=entry.source_row,
        subject=entry.id.text,
        references=entry.references,
        check=entry.check.text if entry.check else "",
    )


@lru_cache(maxsize=4096)
def _choices(options: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"value": value, "label": label} for value, label in options]


def _check_problems(entry: Entry, *, definition: Definition) -> Iterator[Problem]:
    if not entry.check or not entry.check.text:
        return
    try:
        found = read_check(entry.check.text, definition=definition)
    except CheckError as error:
        yield entry.check.error(f"No planted check: {error}")
        return
    if found.system and found.system not in {said.system for said in entry.outputs}:
        yield entry.check.error(f'No planted check: "{found.system}" says nothing about this item.')


def _distinct(options: tuple[Option, ...], *, gold: str) -> list[Option]:
    """Return each label once; where two keys share a label, the right one stays."""
    by_label: dict[str, Option] = {}
    for option in options:
        if option.cell.text not in by_label or option.value == gold:
            by_label[option.cell.text] = option
    return list(by_label.values())


def _id_problems(entry: Entry, *, taken: set[str], seen: dict[str, Cell]) -> Iterator[Problem]:
    """Say that an id came before, in the file (`seen`, to which it is added) or the survey."""
    if not entry.id.text:
        return
    if first := seen.get(entry.id.text):
        yield entry.id.error(
            f'The id "{entry.id.text}" stands in row {first.row}, column {first.column} already.'
        )
    elif (entry.external_id or entry.id.text) in taken:
        yield entry.id.error(f'The survey has an item "{entry.id.text}" already.')
    seen.setdefault(entry.id.text, entry.id)


def _pair_problems(entry: Entry, *, taken: set[str], seen: dict[str, Cell]) -> Iterator[Problem]:
    """Say that an output came before in a batch file or the survey; the long layout has told of its own."""
    if first := seen.get(entry.pair):
        yield entry.id.error(
            f'The id "{entry.id.text}" stands in row {first.row}, column {first.column} already.'
        )
    elif entry.id.text and entry.pair in taken:
        system = entry.outputs[0].system
        yield entry.id.error(f'The survey has an output by "{system}" on item "{entry.id.text}" already.')
    elif entry.id.text:
        seen[entry.pair] = entry.id


def _entry_problems(entry: Entry, *, definition: Definition) -> Iterator[Problem]:
    yield from _empty_problems(entry)
    yield from _length_problems(entry)
    yield from _choice_problems(entry, definition=definition)
    yield from _check_problems(entry, definition=definition)
    yield from _wrong_answers(entry, definition=definition)
    for cell in dict.fromkeys(_shown_cells(entry)):
        if token := MARKUP.search(cell.text):
            yield cell.warning(
                f'The text holds "{token.group()[:40]}", which annotators will see as it stands.'
            )


def _wrong_answers(entry: Entry, *, definition: Definition) -> Iterator[Problem]:
    """Warn of a model that answered wrongly: e-ViL's studies show what was answered rightly."""
    for said in entry.outputs:
        is_graded = entry.gold and said.answer and said.system != definition.reference_system
        if entry.gold and is_graded and said.answer != entry.gold.text:
            place = f"output_{entry.gold.column}"
            yield entry.gold._replace(column=place).warning(
                f'"{said.system}" answered "{said.answer[:80]}", which is wrong: '
                f'right is "{entry.gold.text[:80]}".'
            )


def _shown_cells(entry: Entry) -> Iterator[Cell]:
    if entry.question:
        yield entry.question
    yield from (option.cell for option in entry.options)
    yield from (said.text for said in entry.outputs)


def _empty_problems(entry: Entry) -> Iterator[Problem]:
    gold = (entry.gold,) if entry.gold else ()
    for cell in dict.fromkeys((entry.id, *gold, *entry.images, *_shown_cells(entry))):
        if not cell.text:
            yield cell.error("The cell is empty.")
    for cell in entry.images:
        if "\0" in unquote(cell.text):
            yield cell.error("The file name holds a NUL character.")


def _length_problems(entry: Entry) -> Iterator[Problem]:
    limits = [(entry.id, entry.external_id or entry.id.text, ID_LENGTH)]
    limits += [(cell, cell.text, PICTURE_NAME_LENGTH) for cell in entry.images]
    limits += [(option.cell, option.value, ANSWER_LENGTH) for option in entry.options]
    limits += [(said.text, said.answer, ANSWER_LENGTH) for said in entry.outputs]
    limits += [(entry.gold, entry.gold.text, ANSWER_LENGTH)] if entry.gold else []
    for cell, text, limit in limits:
        if len(text) > limit:
            yield cell.error(f"The text has {len(text)} characters; at most {limit} are allowed.")


def _choice_problems(entry: Entry, *, definition: Definition) -> Iterator[Problem]:
    if not definition.answer or not entry.gold:
        return
    fixed = [choice.value for choice in definition.answer.choices]
    values = fixed or [option.value for option in entry.options]
    if entry.gold.text and entry.gold.text not in values:
        yield entry.gold.error(
            f'The answer "{entry.gold.text[:80]}" is not among the choices: {", ".join(values)[:200]}.'
        )
    if not fixed:
        yield from _repetition_problems(entry)


def _repetition_problems(entry: Entry) -> Iterator[Problem]:
    seen: set[str] = set()
    for option in entry.options:
        if option.cell.text and option.cell.text in seen:
            yield option.cell.warning(
                f'The choice "{option.cell.text[:80]}" is given twice; it is shown once.'
            )
        seen.add(option.cell.text)
    if len(seen - {""}) < 2 and entry.gold:
        yield entry.options[-1].cell.error("The question needs at least two different choices.")
