"""The way from a number of a results page to the answers it counts: the query of their list.

A row says what was rated (`criterion`, `value` ..), a cell what it counts besides, its columns which system is meant,
and among which answers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl, urlencode

from surveys.pages.results.cells import Block, Cell, Row
from surveys.results.chosen import KEPT, STRATA, Chosen
from surveys.results.printed import NOTHING
from surveys.results.statistics.numbers import Selection

Among = tuple[Chosen, str]  # answers, and of which system; "": of items as a whole


def among(selections: Sequence[Selection], chosen: Chosen, *, reference: str) -> list[Among | None]:
    """Return what each column of a table over systems counts; None where a number has no list of its own.

    The reference of a stratum is none: it has no right and wrong, its outputs stand beside models that have.
    """
    return [
        None
        if selection.name in STRATA and system.system == reference
        else (of(selection.name, chosen), system.system)
        for selection in selections
        for system in selection.systems
    ]


def of(selection: str, chosen: Chosen) -> Chosen:
    """Return the answers of a choice of rows; of those somebody chose there is no further one."""
    if not chosen.is_everything:
        return chosen
    return replace(chosen, stratum=selection) if selection in STRATA else replace(chosen, rows=selection)


def linked(blocks: Iterable[Block], columns: Sequence[Among | None]) -> Iterator[Block]:
    """Yield blocks whose cells lead to what is behind them."""
    for block in blocks:
        yield replace(block, rows=tuple(linked_row(row, columns) for row in block.rows))


def linked_row(row: Row, columns: Sequence[Among | None]) -> Row:
    """Return a row whose cells lead to what is behind them, one for each column."""
    if row.behind is None or len(row.cells) != len(columns):
        return row
    pairs = zip(row.cells, columns, strict=True)
    return replace(row, cells=tuple(_cell(cell, column, row.behind) for cell, column in pairs))


def _cell(cell: Cell, column: Among | None, behind: Mapping[str, str]) -> Cell:
    if column is None or cell.behind is None or cell.text in ("", NOTHING):
        return cell
    chosen, system = column
    closer = {**behind, **cell.behind, **({"of": system} if system else {})}
    return replace(cell, link=query(chosen, closer))


def query(chosen: Chosen, behind: Mapping[str, str]) -> str:
    """Return the query of the list of answers; it says what is kept where nothing else is said."""
    among_all = [(name, value) for name, value in parse_qsl(chosen.as_query()) if name not in behind]
    return urlencode([*among_all, *behind.items()]) or f"rows={KEPT}"


def linked_differences(rows: Iterable[Row], chosen: Chosen) -> Iterator[Row]:
    """Yield rows of differences, whose numbers, after two names, lead to the ratings of the system."""
    for row in rows:
        behind = dict(row.behind or {})
        link = query(of(behind.pop("rows", KEPT), chosen), behind)
        tested, *sizes = row.cells[2:]
        sizes = [cell if cell.text == NOTHING else replace(cell, link=link) for cell in sizes]
        yield replace(row, cells=(*row.cells[:2], replace(tested, link=link), *sizes))


def linked_numbers(row: Row, chosen: Chosen, *, n_names: int) -> Row:
    """Return a row whose numbers, after so many names, lead to the ratings that the row says are behind them."""
    if row.behind is None:
        return row
    numbers = tuple(_cell(cell, (chosen, ""), row.behind) for cell in row.cells[n_names:])
    return replace(row, cells=(*row.cells[:n_names], *numbers))
