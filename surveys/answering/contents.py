"""What belongs to the items of a page, their outputs and files, read in the statement that reads the items."""

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from django.db.models import Model, QuerySet

from statements import Statement
from statements.gathered import Gathered
from surveys.models import Item, Output, Picture
from surveys.protocols.blocks import OF_OUTPUT
from surveys.protocols.definition import Definition

M = TypeVar("M", bound=Model)
OUTPUTS, PICTURES = "outputs", "pictures"
CONTENTS: dict[str, Gathered[Any]] = {
    OUTPUTS: Gathered(Output, by="item", order="pk"),  # the order of import
    PICTURES: Gathered(Picture, by="item", order="position"),
}


def with_contents(rows: "QuerySet[M]", *names: str) -> "QuerySet[M]":
    """Read rows that have an item with it and what belongs to it, for `contents_of`."""
    columns: dict[str, Any] = {f"item_{name}": CONTENTS[name].column("item") for name in names}
    return cast("QuerySet[M]", rows.select_related("item").annotate(**columns))


def contents_of(statement: Statement[M], *names: str, **values: Any) -> list[M]:
    """Return the rows of a statement `with_contents`, so that `item.outputs.all()` of each, as named, asks no more."""
    return unpacked(statement.all(**values), *names)


def unpacked(rows: list[M], *names: str) -> list[M]:
    """Give the item of each row what was read for it `with_contents`, and return the rows."""
    for row in rows:
        _take(row, names)
    return rows


def _take(row: Any, names: Iterable[str]) -> None:
    item: Item = row.item
    cached = item.__dict__.setdefault("_prefetched_objects_cache", {})
    for name in names:
        cached[name] = CONTENTS[name].read(getattr(row, f"item_{name}"))


def files_shown(item: Item, outputs: Iterable[Output], definition: Definition) -> list[Picture]:
    """Return the files that a page shows of an item with these outputs: its pictures, its blocks', the outputs'."""
    blocks = {"", *(block.column for block in definition.blocks if block.file_kind)}
    blocks |= {f"{OF_OUTPUT}{output.system}" for output in outputs}
    return [file for file in item.pictures.all() if file.block in blocks]
