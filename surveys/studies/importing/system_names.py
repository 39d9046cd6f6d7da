"""What the systems of a file are called here: their names are parts of columns and of files' names.

A name of other letters, such as "GPT-4o (May)" or "llama 3.1", becomes one of letters, digits, - and _, the same for
every file. It stays, and is refused later, where nothing of it would be left or two systems would be called alike.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import replace

from surveys.studies.importing.plan import Problem, is_system_name
from surveys.studies.importing.tables import Row, Table

MOST = 64
OTHER = re.compile(r"[^a-zA-Z0-9_]+")


def with_system_names(table: Table, *, column: str) -> tuple[Table, list[Problem]]:
    """Return the table with names as they are kept, and a warning where each other one stands first."""
    if column not in table.header:
        return table, []
    cells = {row.cell(column).text: row.cell(column) for row in reversed(table.rows)}
    names = _names(list(cells))
    rows = tuple(_named(row, column, names) for row in table.rows)
    changed = [(cells[old], new) for old, new in names.items() if old != new]
    told = [cell.warning(f"The system “{cell.text[:80]}” is called {new} here.") for cell, new in changed]
    return replace(table, rows=rows), sorted(told, key=lambda problem: problem.row or 0)


def _names(systems: list[str]) -> dict[str, str]:
    """Return {system: what it is called}, of each the same in every file that has no other one called so."""
    found = {one: one if is_system_name(one) else _plain(one) for one in systems}
    uses = Counter(found.values())
    return {one: name if name and uses[name] == 1 else one for one, name in found.items()}


def _plain(name: str) -> str:
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    is_whole = sum(map(str.isalnum, name)) == sum(map(str.isalnum, letters))
    return OTHER.sub("-", letters).strip("-")[:MOST].strip("-") if is_whole else ""


def _named(row: Row, column: str, names: dict[str, str]) -> Row:
    name = row.cell(column).text
    return row if names[name] == name else replace(row, cells={**row.cells, column: names[name]})
