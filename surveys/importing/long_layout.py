"""One row is one output: `item_id, image, question, choices, answer, system, explanation`, as CSV or JSONL."""

from collections.abc import Iterator

from surveys.definitions import Definition
from surveys.importing.checks import is_system_name
from surveys.importing.plan import Cell, Entry, Option, Problem, Said, Severity
from surveys.importing.tables import Row, Table, file_error


def long_entries(table: Table, *, definition: Definition) -> tuple[list[Entry], list[Problem]]:
    """Return one entry per item id, in order of first appearance; none if a column is missing."""
    question = "question" if "question" in table.header or "statement" not in table.header else "statement"
    per_item = tuple(_item_columns(question, definition=definition))
    required = ("item_id", *per_item, "system", "explanation")
    missing = [
        file_error("The column is missing.", line=1, column=name)
        for name in required
        if name not in table.header
    ]
    if missing:
        return [], missing
    groups: dict[str, list[Row]] = {}
    for row in table.rows:
        groups.setdefault(row.cell("item_id").text or f"row {row.number}", []).append(row)
    problems = [problem for rows in groups.values() for problem in _disagreements(rows, columns=per_item)]
    problems.extend(
        problem for rows in groups.values() for problem in _system_problems(rows, definition=definition)
    )
    problems.extend(_reference_problems(table, definition=definition))
    return [_entry(rows, question=question, definition=definition) for rows in groups.values()], problems


def _item_columns(question: str, *, definition: Definition) -> Iterator[str]:
    yield from ("image", question)
    if definition.answer:
        yield "answer"
        if not definition.answer.choices:
            yield "choices"


def _disagreements(rows: list[Row], *, columns: tuple[str, ...]) -> Iterator[Problem]:
    first = rows[0]
    for row in rows[1:]:
        for column in columns:
            if row.cell(column).text != first.cell(column).text:
                yield row.cell(column).error(f"The cell differs from row {first.number} of the same item.")


def _system_problems(rows: list[Row], *, definition: Definition) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for row in rows:
        cell = row.cell("system")
        if cell.text in seen:
            yield cell.error(f'The item has an output by "{cell.text}" already, in row {seen[cell.text]}.')
        elif cell.text and not is_system_name(cell.text):
            yield cell.error("A system name may hold only letters, digits, - and _ (at most 64).")
        elif not cell.text:
            yield cell.error("The cell is empty.")
        seen.setdefault(cell.text, row.number)
    if len(seen) != definition.outputs_per_item:
        known = ", ".join(seen)
        yield (
            rows[-1]
            .cell("system")
            .error(
                f"The item has outputs by {len(seen)} system{'s'[: len(seen) != 1]} ({known}); "
                f"this survey type needs {definition.outputs_per_item}."
            )
        )


def _reference_problems(table: Table, *, definition: Definition) -> Iterator[Problem]:
    if definition.reference_system and all(
        row.cell("system").text != definition.reference_system for row in table.rows
    ):
        message = f'No output is by the reference, "{definition.reference_system}".'
        yield Problem(Severity.WARNING, message, line=1, column="system")


def _entry(rows: list[Row], *, question: str, definition: Definition) -> Entry:
    first = rows[0]
    options = tuple(_options(first)) if definition.answer and not definition.answer.choices else ()
    outputs = tuple(
        Said(r.cell("system").text, r.cell("explanation"), r.cell("output_answer").text) for r in rows
    )
    return Entry(
        id=first.cell("item_id"),
        question=first.cell(question),
        images=tuple(_parts(first, column="image")),
        outputs=outputs,
        gold=first.cell("answer") if definition.answer else None,
        options=options,
        payload={
            "header": [],
            "columns": _as_batch_columns(first, outputs, question=question, definition=definition),
            "row": {},
        },
    )


def _options(row: Row) -> Iterator[Option]:
    for cell in _parts(row, column="choices"):
        yield Option(cell.text, cell)


def _parts(row: Row, *, column: str) -> Iterator[Cell]:
    """Yield the parts of a cell that JSON gives as a list and CSV separates by `|`; at least one."""
    whole = row.cell(column)
    for text in row.lists.get(column) or whole.text.split("|"):
        yield whole._replace(text=text.strip())


def _as_batch_columns(
    row: Row, outputs: tuple[Said, ...], *, question: str, definition: Definition
) -> dict[str, str]:
    """Return the item in the batch CSV's column names, so that one raw export serves both layouts."""
    columns = {
        "id": row.cell("item_id").text,
        question: row.cell(question).text,
        "answer": row.cell("answer").text,
        "img_name": row.cell("image").text,
    }
    for said in outputs:
        if said.system == definition.reference_system:
            columns["explanation"] = said.text.text
        else:
            columns["output_answer"] = said.answer
            columns["output_explanation"] = said.text.text
    return columns
