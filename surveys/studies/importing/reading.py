"""A file to a plan: find the layout, read the entries, check them."""

import codecs
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from django.conf import settings

from surveys.models import Survey
from surveys.protocols.definition import Definition
from surveys.protocols.registry import DEFINITIONS
from surveys.studies.importing.batch_layout import batch_entries
from surveys.studies.importing.long_layout import long_entries
from surveys.studies.importing.plan import (
    Entry,
    Layout,
    Plan,
    Problem,
    Severity,
    check_entries,
    is_system_name,
    named,
)
from surveys.studies.importing.roles import by_our_names, problems_of, remembered, renamed
from surveys.studies.importing.sheets import read_xlsx
from surveys.studies.importing.tables import (
    FOR_BLOCKS,
    Table,
    decode,
    file_error,
    find_columns,
    is_long,
    read_csv,
    read_jsonl,
)

ARCHIVE = b"PK\x03\x04"
HEAD = 2**20  # bytes that tell what the columns of a file are,
HEAD_ROWS = 200  # and rows of a spreadsheet
NO_BLOCKS = "A batch CSV has no place for the texts of an item; lay out one output a row."
NO_SYSTEMS = "A batch CSV has no place for outputs by any number of systems; lay out one output a row."
NO_FILES = "A batch CSV has no place for outputs that are files; lay out one output a row."
NO_SEQUENCE = "A batch CSV has no place for a row of pictures; lay out one output a row."


def read_items(
    data: bytes,
    *,
    definition: Definition,
    system: str = "model",
    layout: Layout = Layout.AUTO,
    taken: Collection[str] = (),
    is_alone: bool = True,
    columns: Mapping[str, str] = MappingProxyType({}),
    survey: Survey | None = None,
) -> Plan:
    """Return what importing `data` would create, and everything wrong with it, touching nothing.

    `system` names the model of a batch CSV; `taken` are the names the survey has given already. A file that is
    not alone is one of several about the same items. `columns` says what the columns of a file with one output a row
    are called, {our name: the file's}; where nobody says so, it is what was chosen for the last file with the same
    columns in `survey`. Any bytes give a plan: what can't be read is an error in it.
    """
    asked = layout
    table, layout = _table(data, layout=layout)
    header = table.header
    if not columns and survey and asked != Layout.BATCH:
        columns = remembered(survey, header=header)
    if columns and table.rows:
        columns = by_our_names(columns, definition=definition)
        if wrong := list(problems_of(columns, header=header, definition=definition)):
            return Plan(header=header).with_problems((*table.problems, *wrong))
        table = renamed(table, roles=columns, definition=definition, system=system)
        layout = Layout.JSONL if layout == Layout.JSONL else Layout.LONG
    plan = _plan(table, layout, definition=definition, system=system, taken=taken, is_alone=is_alone)
    return replace(plan, header=header, columns=columns)


def read_table(data: bytes, *, layout: Layout = Layout.AUTO) -> Table:
    """Return a file's columns and rows as they are; one that can't be read has problems instead."""
    return _table(data, layout=layout)[0]


def read_head(path: Path, *, layout: Layout = Layout.AUTO) -> Table:
    """Return a file's columns and its first rows: nobody waits for a request that reads all of a large one.

    Columns that only later objects of a JSON file have are not among them.
    """
    with path.open("rb") as file:
        data, is_cut = file.read(HEAD), bool(file.read(1))
    if not is_cut:
        return read_table(data, layout=layout)
    if data.startswith(ARCHIVE):
        return read_xlsx(path.read_bytes(), n_rows=HEAD_ROWS)
    table = _cut_table(data, layout=layout)
    return table if table.rows else read_table(path.read_bytes(), layout=layout)


def _cut_table(data: bytes, *, layout: Layout) -> Table:
    """Return the rows that are whole in the first bytes of a file; none where they are no UTF-8."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data).removeprefix("\ufeff")
    except UnicodeDecodeError:
        return Table()
    if layout == Layout.JSONL or (layout == Layout.AUTO and text.lstrip().startswith(("{", "["))):
        whole = text if text.lstrip().startswith("[") else text.rpartition("\n")[0]
        return read_jsonl(whole, is_cut=True)
    return read_csv(text.rpartition("\n")[0], is_cut=True)


def _plan(
    table: Table,
    layout: Layout,
    *,
    definition: Definition,
    system: str,
    taken: Collection[str],
    is_alone: bool,
) -> Plan:
    if not table.rows or layout == Layout.AUTO:
        return Plan().with_problems((*table.problems, *_unusable(table)))
    if layout == Layout.BATCH and definition.is_sequence:
        return Plan().with_problems([file_error(NO_SEQUENCE, line=1)])
    if layout == Layout.BATCH and definition.output_file_kind:
        return Plan().with_problems([file_error(NO_FILES, line=1)])
    if layout == Layout.BATCH and definition.takes_more:
        return Plan().with_problems([file_error(NO_SYSTEMS, line=1)])
    if layout == Layout.BATCH and definition.blocks:
        return Plan().with_problems([file_error(NO_BLOCKS, line=1)])
    entries, problems = _entries(table, layout=layout, definition=definition, system=system)
    entries = named(entries, definition=definition, taken=taken, is_alone=is_alone)
    plan = check_entries(entries, definition=definition, taken=taken)
    told = _told(table, layout=layout, definition=definition)
    return plan.with_problems((*told, *problems, *_type_problems(plan)))


def _entries(
    table: Table, *, layout: Layout, definition: Definition, system: str
) -> tuple[Iterable[Entry], list[Problem]]:
    if layout != Layout.BATCH:
        return long_entries(table, definition=definition)
    entries, problems = batch_entries(table, definition=definition, system=system)
    return entries, [*_system_problems(system, definition=definition), *problems]


def _told(table: Table, *, layout: Layout, definition: Definition) -> list[Problem]:
    """Return the table's problems, without those of JSON values that nothing is read from, or that a block shows."""
    columns = find_columns(table.header, definition=definition)
    told = [p for p in table.problems if p.message != FOR_BLOCKS or p.column not in columns.blocks]
    return [p for p in told if layout != Layout.JSONL or not p.column or p.column in columns.used]


def _refused(data: bytes) -> Problem | None:
    if not data:
        return file_error("The file is empty (0 bytes).")
    if len(data) > settings.UPLOAD_MAX_BYTES:
        allowed = settings.UPLOAD_MAX_BYTES // 2**20
        return file_error(f"The file has {len(data):,} bytes; at most {allowed} MB are allowed.")
    return None


def _table(data: bytes, *, layout: Layout) -> tuple[Table, Layout]:
    """Read the rows and say which layout they are in; AUTO is what the first bytes and the header say."""
    if refused := _refused(data):
        return Table(problems=(refused,)), layout
    if data.startswith(ARCHIVE):
        table = read_xlsx(data)
        return table, _layout(table, layout=Layout.AUTO if layout == Layout.JSONL else layout)
    text = decode(data)
    if isinstance(text, Problem):
        return Table(problems=(text,)), layout
    if layout == Layout.JSONL or (layout == Layout.AUTO and text.lstrip().startswith(("{", "["))):
        return read_jsonl(text), Layout.JSONL
    table = read_csv(text)
    return table, _layout(table, layout=layout)


def _layout(table: Table, *, layout: Layout) -> Layout:
    """Return the layout asked for; for AUTO the one the header shows, AUTO where it shows none."""
    if layout == Layout.AUTO and "item_id" in table.header:
        layout = Layout.LONG
    if layout == Layout.AUTO and "id_0" in table.header:
        layout = Layout.BATCH
    if layout == Layout.AUTO and is_long(table.header):
        layout = Layout.LONG
    return layout


def _unusable(table: Table) -> list[Problem]:
    """Say why there is nothing to read entries from, unless the table has said it already."""
    if table.rows:
        message = (
            'The header has neither "id_0" (a batch CSV, one row a HIT) nor "item_id" (one row an output).'
        )
        return [file_error(message, line=1)]
    return [] if table.problems else [file_error("The file has a header but no rows.")]


def _type_problems(plan: Plan) -> list[Problem]:
    """Warn where the items' own choices are just what another survey type fixes for all."""
    values = {choice["value"] for item in plan.items for choice in item.choices}
    return [
        Problem(
            Severity.WARNING, f'The choices are those of the survey type "{other.name}"; is the type right?'
        )
        for other in DEFINITIONS.values()
        if other.answer and values and values == {choice.value for choice in other.answer.choices}
    ]


def _system_problems(system: str, *, definition: Definition) -> list[Problem]:
    if not is_system_name(system):
        return [
            file_error(f'The system name "{system}" may hold only letters, digits, - and _ (at most 64).')
        ]
    if system == definition.reference_system:
        return [file_error(f'The system can\'t be called "{system}": that is the reference.')]
    return []
