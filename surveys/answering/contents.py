"""What belongs to the items of a page, their outputs and files, read with one statement each."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

from statements import Fetched, Hole, Statement
from surveys.models import Item, Output, Picture
from surveys.protocols.blocks import OF_OUTPUT
from surveys.protocols.definition import Definition


def fetch_outputs(items: Iterable[Item]) -> None:
    """Have `item.outputs.all()` ask no more, in the order of import."""
    _fetch("outputs", Output, items)


def fetch_pictures(items: Iterable[Item]) -> None:
    """Have `item.pictures.all()` ask no more, in their order."""
    _fetch("pictures", Picture, items)


def files_shown(item: Item, outputs: Iterable[Output], definition: Definition) -> list[Picture]:
    """Return the files that a page shows of an item with these outputs: its pictures, its blocks', the outputs'."""
    blocks = {"", *(block.column for block in definition.blocks if block.file_kind)}
    blocks |= {f"{OF_OUTPUT}{output.system}" for output in outputs}
    return [file for file in item.pictures.all() if file.block in blocks]


def _fetch(name: str, model: type[Output] | type[Picture], items: Iterable[Item]) -> None:
    by_key = defaultdict[int, list[Item]](list)
    for item in items:
        by_key[item.pk].append(item)
    rows = defaultdict[int, list[Output | Picture]](list)
    for row in _of_items(model, len(by_key)).all(**{f"item_{n}": pk for n, pk in enumerate(by_key)}):
        rows[row.item_id].append(row)
    for pk, same in by_key.items():
        for item in same:
            cached = item.__dict__.setdefault("_prefetched_objects_cache", {})
            cached[name] = Fetched.of(model, rows[pk])


@cache
def _of_items(model: type[Output] | type[Picture], n_items: int) -> Statement[Output | Picture]:
    """Return the statement for so many items."""
    keys: list[Any] = [Hole(f"item_{n}", Item._meta.pk) for n in range(n_items)]
    return Statement(lambda: model._default_manager.filter(item__pk__in=keys))
