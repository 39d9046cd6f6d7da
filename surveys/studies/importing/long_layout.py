"""One row is one output: `item_id, image, question, choices, answer, system, explanation`, as CSV or JSONL."""

from collections.abc import Iterator
from urllib.parse import unquote

from surveys.protocols.blocks import MOST_TEXT, OF_OUTPUT
from surveys.protocols.definition import Definition
from surveys.studies.importing.plan import (
    Entry,
    Option,
    PlannedPicture,
    Problem,
    Said,
    Severity,
    is_system_name,
)
from surveys.studies.importing.system_names import with_system_names
from surveys.studies.importing.tables import (
    CORRECT,
    Columns,
    Row,
    Table,
    find_columns,
    images_of,
    missing_columns,
    one_line,
    step_problems,
)
from surveys.studies.planted_checks import COLUMN

MOST_SYSTEMS = 100
TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False, "": None}


def long_entries(table: Table, *, definition: Definition) -> tuple[list[Entry], list[Problem]]:
    """Return the entries in order of first appearance; none if a column is missing.

    An entry is an item id with all of its outputs or, where the survey type shows one at a time, each output.
    """
    columns = find_columns(table.header, definition=definition)
    missing = missing_columns(columns.required, header=table.header)
    if missing:
        return [], missing
    table, renamed = with_system_names(table, column=columns.system)
    groups = _groups(table, columns=columns, is_single=definition.is_single)
    problems = [
        problem
        for rows in groups
        for problem in (
            *_disagreements(rows, columns=columns, definition=definition),
            *_system_problems(rows, columns=columns, definition=definition),
            *_correct_problems(rows),
            *_block_problems(rows[0], columns=columns),
            *(step_problems(rows[0], columns=columns) if definition.is_sequence else ()),
        )
    ]
    problems.extend(_reference_problems(table, columns=columns, definition=definition))
    problems.extend(renamed)
    return [_entry(rows, columns=columns, definition=definition) for rows in groups], problems


def _groups(table: Table, *, columns: Columns, is_single: bool) -> list[list[Row]]:
    """Return the rows that make one entry each. A row without an id stands alone."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in table.rows:
        name = row.cell(columns.id).text or f"row {row.number}"
        key = (name, row.cell(columns.system).text) if is_single else (name,)
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _is_repetition(columns: Columns, *, definition: Definition) -> bool:
    """Say whether further rows of one output are further ratings of it, which have to show the same."""
    return definition.is_single and columns.is_rated


def _disagreements(rows: list[Row], *, columns: Columns, definition: Definition) -> Iterator[Problem]:
    first = rows[0]
    names = columns.of_item
    if _is_repetition(columns, definition=definition):
        names = tuple(name for name in columns.used if name in first.cells and name != columns.id)
    for row in rows[1:]:
        for name in names:
            if row.cell(name).text != first.cell(name).text:
                yield row.cell(name).error(f"The cell differs from row {first.number} of the same item.")


def _system_problems(rows: list[Row], *, columns: Columns, definition: Definition) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for row in rows[:1] if _is_repetition(columns, definition=definition) else rows:
        cell = row.cell(columns.system)
        if cell.text in seen:
            yield cell.error(f'The item has an output by "{cell.text}" already, in row {seen[cell.text]}.')
        elif cell.text and not is_system_name(cell.text):
            yield cell.error("A system name may hold only letters, digits, - and _ (at most 64).")
        elif not cell.text:
            yield cell.error("The cell is empty.")
        seen.setdefault(cell.text, row.number)
    if wanted := definition.why_no_outputs(len(seen)):
        known = ", ".join(seen)
        yield (
            rows[-1]
            .cell(columns.system)
            .error(
                f"The item has outputs by {len(seen)} system{'s'[: len(seen) != 1]} ({known}); "
                f"this survey type needs {wanted}."
            )
        )
    if len(seen) > MOST_SYSTEMS:
        yield rows[-1].cell(columns.system).error(f"An item has outputs by {MOST_SYSTEMS} systems at most.")


def _block_problems(row: Row, *, columns: Columns) -> Iterator[Problem]:
    for name in columns.blocks:
        if len(_block_text(row, name)) > MOST_TEXT:
            yield row.cell(name).error(f"The text has more than {MOST_TEXT:,} characters.")


def _correct_problems(rows: list[Row]) -> Iterator[Problem]:
    for row in rows:
        cell = row.cell(CORRECT)
        if cell.text.lower() not in TRUTHS:
            known = ", ".join(filter(None, TRUTHS))
            yield cell.error(f'"{cell.text[:40]}" says neither right nor wrong; write one of {known}.')


def _reference_problems(table: Table, *, columns: Columns, definition: Definition) -> Iterator[Problem]:
    systems = {row.cell(columns.system).text for row in table.rows}
    if definition.reference_system and definition.reference_system not in systems:
        message = f'No output is by the reference, "{definition.reference_system}".'
        yield Problem(Severity.WARNING, message, line=1, column=columns.system)


def _entry(rows: list[Row], *, columns: Columns, definition: Definition) -> Entry:
    first = rows[0]
    is_single = definition.is_single
    outputs = tuple(
        _said(row, columns=columns, definition=definition) for row in (rows[:1] if is_single else rows)
    )
    images = images_of(first, columns=columns, definition=definition)
    return Entry(
        id=first.cell(columns.id),
        check=first.cell(COLUMN),
        question=first.cell(columns.question) if columns.question else None,
        images=images,
        outputs=outputs,
        gold=first.cell("answer") if definition.answer else None,
        options=tuple(_options(first)) if "choices" in columns.answer else (),
        references=_references(first, columns=columns, definition=definition),
        files=(
            *_files(first, columns=columns),
            *_output_files(rows[: len(outputs)], columns=columns, definition=definition),
        ),
        payload=_shown(first, columns=columns)
        | (
            _own_columns(first, columns=columns)
            if is_single
            else _as_batch_columns(first, outputs, columns=columns, definition=definition)
        ),
    )


def _said(row: Row, *, columns: Columns, definition: Definition) -> Said:
    text = row.cell(columns.text)
    if definition.is_sequence:
        text = text._replace(text=one_line(row.parts(columns.text)))
    correct = TRUTHS.get(row.cell(CORRECT).text.lower())
    return Said(row.cell(columns.system).text, text, row.cell("output_answer").text, correct)


def _references(row: Row, *, columns: Columns, definition: Definition) -> tuple[str, ...]:
    """Return the texts to measure against; of a sequence, one text with a line for each step."""
    parts = row.parts(columns.references) if columns.references else []
    if definition.is_sequence:
        return tuple(filter(None, [one_line(parts)]))
    return tuple(cell.text for cell in parts if cell.text)


def _options(row: Row) -> Iterator[Option]:
    for cell in row.parts("choices"):
        yield Option(cell.text, cell)


def _shown(row: Row, *, columns: Columns) -> dict[str, object]:
    """Return what the protocol's blocks show; nothing where it has none."""
    return {"blocks": {name: _block_text(row, name) for name in columns.blocks}} if columns.blocks else {}


def _files(row: Row, *, columns: Columns) -> Iterator[PlannedPicture]:
    """Yield the files that blocks name; an empty cell names none."""
    for column, kind in columns.files:
        for cell in filter(lambda part: part.text, row.parts(column)):
            yield PlannedPicture(unquote(cell.text), cell, kind, column)


def _output_files(rows: list[Row], *, columns: Columns, definition: Definition) -> Iterator[PlannedPicture]:
    """Yield the files that outputs are, each known by its system, where the survey type says that they are files."""
    for row in rows if definition.output_file_kind else ():
        mark = f"{OF_OUTPUT}{row.cell(columns.system).text}"
        for cell in filter(lambda part: part.text, row.parts(columns.text)):
            yield PlannedPicture(unquote(cell.text), cell, definition.output_file_kind, mark)


def _block_text(row: Row, name: str) -> str:
    """Return what a block shows; the texts of a JSON list are paragraphs, turns or rows of their own."""
    return "\n\n".join(row.lists[name]) if name in row.lists else row.cell(name).text


def _own_columns(row: Row, *, columns: Columns) -> dict[str, object]:
    """Return the row for the raw export as a batch of one item a HIT would have it: `id_0`, `system_0`, ..."""
    cells = {"id": row.cells.get(columns.id, "")}
    cells |= {name: row.cells[name] for name in columns.used if name in row.cells and name != columns.id}
    return {"header": [f"{name}_0" for name in cells], "columns": cells, "row": {}}


def _as_batch_columns(
    row: Row, outputs: tuple[Said, ...], *, columns: Columns, definition: Definition
) -> dict[str, object]:
    """Return the item in the batch CSV's column names, so that one raw export serves both layouts."""
    cells = {
        "id": row.cell(columns.id).text,
        columns.question: row.cell(columns.question).text,
        "answer": row.cell("answer").text,
        "img_name": row.cell(columns.image).text,
    }
    for said in () if definition.takes_more else outputs:
        if said.system == definition.reference_system:
            cells["explanation"] = said.text.text
        else:
            cells["output_answer"] = said.answer
            cells["output_explanation"] = said.text.text
    return {"header": [], "columns": cells, "row": {}}
