"""The published batch CSVs: one row is one HIT of n questions, in columns `<name>_0` .. `<name>_{n-1}`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from surveys.protocols.definition import Definition
from surveys.studies.importing.plan import Entry, Option, Problem, Said
from surveys.studies.importing.tables import Row, Table, file_error, named_images
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

    @property
    def question(self) -> str:
        return next((name for name in QUESTION_COLUMNS if name in self.names), "question")

    def matching(self, pattern: re.Pattern[str]) -> list[str]:
        return sorted(name for name in self.names if pattern.fullmatch(name))


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
    return Columns(header, tuple(names), tuple(shared), max(slots, default=-1) + 1)


def batch_entries(table: Table, *, definition: Definition, system: str) -> tuple[list[Entry], list[Problem]]:
    """Return the entries of a batch table, row by row, question by question; none if a column is missing."""
    columns = take_apart(table.header)
    missing = [
        file_error("The column is missing.", line=1, column=f"{name}_{slot}")
        for name in _required(columns, definition=definition)
        for slot in range(max(columns.n, 1))
        if f"{name}_{slot}" not in columns.header
    ]
    if missing:
        return [], missing
    return [
        _entry(row, slot, columns=columns, definition=definition, system=system)
        for row in table.rows
        for slot in range(columns.n)
    ], []


def _required(columns: Columns, *, definition: Definition) -> Iterator[str]:
    yield from ("id", columns.question)
    if definition.pictures == "required":
        yield "img_name"
    yield "output_explanation"
    if definition.outputs_per_item > 1:
        yield "explanation"
    if definition.answer:
        yield "answer"
        if not definition.answer.choices:
            yield from columns.matching(KEYED_CHOICE) or columns.matching(DISTRACTOR) or ["other_answer1"]


def _entry(row: Row, slot: int, *, columns: Columns, definition: Definition, system: str) -> Entry:
    gold = row.cell(f"answer_{slot}") if definition.answer else None
    return Entry(
        id=row.cell(f"id_{slot}"),
        question=row.cell(f"{columns.question}_{slot}"),
        images=named_images([row.cell(f"img_name_{slot}")], definition=definition),
        outputs=tuple(_outputs(row, slot, definition=definition, system=system)),
        gold=gold,
        options=tuple(_options(row, slot, columns=columns, definition=definition)),
        source_row=row.number,
        check=row.cell(f"{COLUMN}_{slot}"),
        payload={
            "header": list(columns.header),
            "columns": {name: row.cells.get(f"{name}_{slot}", "") for name in columns.names},
            "row": {name: row.cells.get(name, "") for name in columns.shared},
        },
    )


def _outputs(row: Row, slot: int, *, definition: Definition, system: str) -> Iterator[Said]:
    yield Said(system, row.cell(f"output_explanation_{slot}"), row.cell(f"output_answer_{slot}").text)
    if definition.outputs_per_item > 1:
        reference = row.cell(f"answer_{slot}").text
        yield Said(definition.reference_system, row.cell(f"explanation_{slot}"), reference)


def _options(row: Row, slot: int, *, columns: Columns, definition: Definition) -> Iterator[Option]:
    """Yield the choices of one question: VCR's by key ("answer2"), otherwise the answer and its distractors."""
    if not definition.answer or definition.answer.choices:
        return
    if keys := columns.matching(KEYED_CHOICE):
        yield from (Option(key, row.cell(f"{key}_{slot}")) for key in keys)
        return
    for name in ("answer", *columns.matching(DISTRACTOR)):
        cell = row.cell(f"{name}_{slot}")
        yield Option(cell.text, cell)
