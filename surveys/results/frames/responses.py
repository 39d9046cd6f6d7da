"""The door for raw responses as CSV, our own of any survey type or anybody's of the same columns.

A line is one output in one response. Needed: `item_id`, `system`, and a column per criterion (its key or an alias; a
checklist has one per option, `key.option`). The other columns are those of `COLUMNS`, each of which may be absent.
Without `assignment_id` every line is a response of its own. `definition` names the survey type.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from surveys.protocols.definition import Definition
from surveys.protocols.registry import DEFINITIONS
from surveys.results.frames.base import (
    LANGUAGE,
    REPEAT,
    RESPONSE_COLUMNS,
    Frame,
    build_frame,
    column,
    rating_keys,
    score_maps,
    used,
)
from surveys.results.frames.csv_table import CsvTable, SourceError, choice_value, name_in, number, truth
from surveys.results.frames.pseudonyms import Pseudonyms

NEEDED = ("item_id", "system")
WHOLE = re.compile("[0-9]{1,9}")
STATUSES = ("Submitted", "Approved", "Rejected")


def _text(cell: str) -> str | None:
    return cell or None


def _whole(cell: str) -> int | None:
    if cell.strip() and not WHOLE.fullmatch(cell.strip()):
        raise ValueError(f"{cell!r} is not a whole number")
    return int(cell) if cell.strip() else None


def _fraction(cell: str) -> float | None:
    if cell.strip() and number(cell) is None:
        raise ValueError(f"{cell!r} is not a number")
    return number(cell)


def _status(cell: str) -> str:
    if cell and cell not in STATUSES:
        raise ValueError(f"unknown status {cell!r}")
    return cell or STATUSES[0]


RESPONSE_CELLS: dict[str, Callable[[str], Any]] = {
    "study": _text,
    "batch": _text,
    "hit_id": _text,
    "assignment_id": _text,
    "worker_id": _text,
    "status": _status,
    "decision": str,
    "included": truth,
    "channel": _text,
    "quiz_passed": truth,
    "surplus": truth,
    "work_seconds": _whole,
    "active_seconds": _fraction,
    "item_id": _text,
    "position": _whole,
    "answer": _text,
    "gold": _text,
    "answer_correct": truth,
    "skip_reason": _text,
}
OUTPUT_CELLS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "output_answer": _text,
    "shown_position": _whole,
    "model_correct": truth,
}
PLACE = "place"
COLUMNS = ("definition", *RESPONSE_CELLS, "system", *OUTPUT_CELLS)
# Columns where items were drawn a place on each page, or asked twice, or could be read in several languages.
LAST = {PLACE: _whole, REPEAT: truth, LANGUAGE: _text}


def is_responses(table: CsvTable) -> bool:
    """Is this such a file?"""
    return all(name in table for name in NEEDED)


def frame_from_responses(
    table: CsvTable, *, study: str, definition: Definition | None = None, pseudonyms: Pseudonyms | None = None
) -> Frame:
    """Read such a file. Raises SourceError, which names row and column."""
    definition = definition or _definition(table)
    rows = list(_rows(table, _readers(table, definition)))
    systems = tuple(dict.fromkeys(_known(row["system"], row=n) for n, row in enumerate(rows, start=2)))
    responses = _grouped(rows)
    return build_frame(
        definition=definition,
        systems=_reference_last(systems, definition),
        responses=_response_columns(responses, study=study, pseudonyms=pseudonyms or Pseudonyms()),
        outputs=_output_columns(responses, systems=systems, definition=definition),
    )


def _definition(table: CsvTable) -> Definition:
    named = {name for name in table.optional("definition") if name}
    if len(named) > 1:
        raise SourceError(f"several survey types: {', '.join(sorted(named))}", column="definition")
    if named:
        return _registered(named.pop())
    fitting = [d for d in DEFINITIONS.values() if all(name_in(table.columns, c) for c in d.output_criteria)]
    if len(fitting) != 1:
        raise SourceError(
            "the columns don't tell which survey type this is; name it with --definition", row=1
        )
    return fitting[0]


def _registered(key: str) -> Definition:
    if key not in DEFINITIONS:
        raise SourceError(f"unknown survey type {key!r}", row=2, column="definition")
    return DEFINITIONS[key]


@dataclass(frozen=True, slots=True)
class _Reader:
    """How the cells of one column become the frame's."""

    name: str
    cells: Any
    read: Callable[[str], Any]


def _readers(table: CsvTable, definition: Definition) -> list[_Reader]:
    readers = [
        _Reader(name, table.optional(name), read)
        for name, read in {**RESPONSE_CELLS, "system": _text, **OUTPUT_CELLS, **LAST}.items()
    ]
    for criterion in definition.criteria:
        if not criterion.is_checklist:
            name = name_in(table.columns, criterion) or criterion.key
            read = _text if criterion.is_text else _scale(criterion)
            readers.append(_Reader(criterion.key, table.column(name), read))
    for key in _listed(definition):
        readers.append(_Reader(key, table.column(key), _among(score_maps(definition)[key])))
    return readers


def _listed(definition: Definition) -> Iterator[str]:
    for criterion in definition.criteria:
        if criterion.is_checklist:
            yield from rating_keys(criterion)
    if definition.preference:
        yield definition.preference.key


def _scale(criterion: Any) -> Callable[[str], str | None]:
    return lambda cell: choice_value(criterion, cell) if cell else None


def _among(values: Mapping[str, float]) -> Callable[[str], str | None]:
    def read(cell: str) -> str | None:
        if cell and cell not in values:
            raise ValueError(f"{cell!r} is not one of {', '.join(values)}")
        return cell or None

    return read


def _rows(table: CsvTable, readers: Iterable[_Reader]) -> Iterator[dict[str, Any]]:
    readers = list(readers)
    for place in range(table.n_rows):
        row = {reader.name: _cell(reader, place) for reader in readers}
        row["assignment_id"] = row["assignment_id"] or f"row {place + 2}"
        yield row


def _cell(reader: _Reader, place: int) -> Any:
    try:
        return reader.read(reader.cells[place])
    except ValueError as error:
        raise SourceError(str(error), row=place + 2, column=reader.name) from error


def _known(system: str | None, *, row: int) -> str:
    if not system:
        raise SourceError("the system is blank", row=row, column="system")
    return system


def _reference_last(systems: tuple[str, ...], definition: Definition) -> tuple[str, ...]:
    return tuple(sorted(systems, key=lambda system: system == definition.reference_system))


def _grouped(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the lines of each response together, responses in the order of their first line."""
    responses: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for place, row in enumerate(rows, start=2):
        if not row["item_id"]:
            raise SourceError("the id is blank", row=place, column="item_id")
        key = tuple(row[name] for name in ("assignment_id", "worker_id", "item_id", "position"))
        lines = responses.setdefault(key, [])
        if any(line["system"] == row["system"] for line in lines):
            raise SourceError("this response has a line about that system already", row=place)
        lines.append(row)
    return list(responses.values())


def _response_columns(
    responses: list[list[dict[str, Any]]], *, study: str, pseudonyms: Pseudonyms
) -> dict[str, Any]:
    first = [lines[0] for lines in responses]
    columns = {name: [row.get(name) for row in first] for name in RESPONSE_COLUMNS}
    return columns | {
        "study": [row["study"] or study for row in first],
        "worker": [pseudonyms(row["worker_id"]) if row["worker_id"] else None for row in first],
        "position": [row["position"] or 1 for row in first],
        "is_skipped": [row["skip_reason"] is not None for row in first],
        REPEAT: [bool(row[REPEAT]) for row in first],
        "included": used([row["status"] for row in first], included=[row["included"] for row in first]),
    }


def _output_columns(
    responses: list[list[dict[str, Any]]], *, systems: tuple[str, ...], definition: Definition
) -> dict[str, list[Any]]:
    cells = _cells_of_outputs(definition)
    columns: dict[str, list[Any]] = {}
    for system in systems:
        lines = [_line_about(system, given) for given in responses]
        columns |= {column(system, name): [line.get(cell) for line in lines] for name, cell in cells.items()}
    about_item = [key for c in definition.item_criteria for key in rating_keys(c)]
    return columns | {column("", key): [lines[0][key] for lines in responses] for key in about_item}


def _cells_of_outputs(definition: Definition) -> dict[str, str]:
    """Return {column about an output: column of the file}."""
    keys = [key for c in definition.output_criteria for key in rating_keys(c)]
    keys += [definition.preference.key] if definition.preference else []
    named = {"text": "text", "answer": "output_answer"}
    return named | {name: name for name in ("shown_position", "model_correct", *keys)}


def _line_about(system: str, lines: list[dict[str, Any]]) -> dict[str, Any]:
    return next((line for line in lines if line["system"] == system), {})
