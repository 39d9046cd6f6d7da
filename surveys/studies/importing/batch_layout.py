"""The published batch CSVs: one row is one HIT of n questions, in columns `<name>_0` .. `<name>_{n-1}`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from surveys.protocols.definition import Definition
from surveys.studies.importing.plan import Entry, Option, Problem, Said
from surveys.studies.importing.tables import Row, Table, missing_columns, named_images
from surveys.studies.planted_checks import COLUMN

SLOTTED = re.compile(r"(?P<name>.+)_(?P<slot>0|[1-9][0-9]{0,3})")
QUESTION_COLUMNS = ("processed_question", "statement", "question")
KEYED_CHOICE = re.compile(r"answer[0-9]+")
DISTRACTOR = re.compile(r"other_answer[0-9]+")


@dataclass(frozen=True, slots=True)
class Columns:
    """A batch header taken apart: names that repeat per question, and columns that belong to the row."""

    header: tuple[str, ...]
    names: tuple[str, ...]
    shared: tuple[str, ...]
    n: int
    keys: tuple[str, ...]
    distractors: tuple[str, ...]

    @property
    def question(self) -> str:
        return next((name for name in QUESTION_COLUMNS if name in self.names), "question")


def _matching(names: Iterable[str], pattern: re.Pattern[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if pattern.fullmatch(name)))


@lru_cache(maxsize=4096)
def slotted(name: str, slot: int) -> str:
    """Return what the column of a question is called: one text for all the cells that carry it."""
    return f"{name}_{slot}"


def take_apart(header: tuple[str, ...]) -> Columns:
    """Split a header into its parts. A blank first column is pandas' index and left out."""
    header = header[1:] if header[:1] == ("",) else header
    found = {column: SLOTTED.fullmatch(column) for column in header}
    slots = {int(match["slot"]) for match in found.values() if match and match["name"] == "id"}
    names: dict[str, None] = {}
    shared = []
    for column, match in found.items():
        if match and int(match["slot"]) <= max(slots, default=-1):
            names[match["name"]] = None
        else:
            shared.append(column)
    keys, distractors = _matching(names, KEYED_CHOICE), _matching(names, DISTRACTOR)
    return Columns(header, tuple(names), tuple(shared), max(slots, default=-1) + 1, keys, distractors)


def batch_entries(
    table: Table, *, definition: Definition, system: str
) -> tuple[Iterable[Entry], list[Problem]]:
    """Return the entries of a batch table, row by row, question by question, each made when it is asked for.

    There are none if a column is missing.
    """
    columns = take_apart(table.header)
    needed = [
        f"{name}_{slot}"
        for name in _required(columns, definition=definition)
        for slot in range(max(columns.n, 1))
    ]
    missing = missing_columns(needed, header=columns.header)
    if missing:
        return [], missing
    entries = (
        _entry(row, slot, columns=columns, definition=definition, system=system)
        for row in table.rows
        for slot in range(columns.n)
    )
    return entries, []


def _required(columns: Columns, *, definition: Definition) -> Iterator[str]:
    yield from ("id", columns.question)
    if definition.pictures == "required":
        yield "img_name"
    yield "output_explanation"
    if not definition.is_single:
        yield "explanation"
    if definition.answer:
        yield "answer"
        if not definition.answer.choices:
            yield from columns.keys or columns.distractors or ("other_answer1",)


class SlotPayload(Mapping[str, Any]):
    """What a question's item keeps of its row: made of the row when it is asked for."""

    __slots__ = ("_cells", "_columns", "_slot")
    KEYS = ("header", "columns", "row")

    def __init__(self, cells: Mapping[str, str], slot: int, columns: Columns) -> None:
        self._cells, self._slot, self._columns = cells, slot, columns

    def __getitem__(self, key: str) -> Any:
        if key == "header":
            return list(self._columns.header)
        if key == "columns":
            return {name: self._cells.get(slotted(name, self._slot), "") for name in self._columns.names}
        if key == "row":
            return {name: self._cells.get(name, "") for name in self._columns.shared}
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.KEYS)

    def __len__(self) -> int:
        return len(self.KEYS)


def _entry(row: Row, slot: int, *, columns: Columns, definition: Definition, system: str) -> Entry:
    gold = row.cell(slotted("answer", slot)) if definition.answer else None
    return Entry(
        id=row.cell(slotted("id", slot)),
        question=row.cell(slotted(columns.question, slot)),
        images=named_images([row.cell(slotted("img_name", slot))], definition=definition),
        outputs=tuple(_outputs(row, slot, definition=definition, system=system)),
        gold=gold,
        options=tuple(_options(row, slot, columns=columns, definition=definition)),
        source_row=row.number,
        check=row.cell(slotted(COLUMN, slot)),
        payload=SlotPayload(row.cells, slot, columns),
    )


def _outputs(row: Row, slot: int, *, definition: Definition, system: str) -> Iterator[Said]:
    yield Said(
        system, row.cell(slotted("output_explanation", slot)), row.cell(slotted("output_answer", slot)).text
    )
    if not definition.is_single:
        reference = row.cell(slotted("answer", slot)).text
        yield Said(definition.reference_system, row.cell(slotted("explanation", slot)), reference)


def _options(row: Row, slot: int, *, columns: Columns, definition: Definition) -> Iterator[Option]:
    """Yield the choices of one question: VCR's by key ("answer2"), otherwise the answer and its distractors."""
    if not definition.answer or definition.answer.choices:
        return
    if columns.keys:
        yield from (Option(key, row.cell(slotted(key, slot))) for key in columns.keys)
        return
    for name in ("answer", *columns.distractors):
        cell = row.cell(slotted(name, slot))
        yield Option(cell.text, cell)
