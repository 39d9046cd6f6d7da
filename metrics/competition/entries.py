"""Entries of the competition's JSON files, one at a time: files of any size in little memory.

Three shapes are read: an object of id to elements (`{"0": [{"type": "text", "content": "..."}]}`), a list of elements
joined by position, and an object of sub-task to either of these.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, BinaryIO, Final

import ijson
from ijson.common import ObjectBuilder

from metrics.inputs import MetricError

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_CHUNK: Final = 64 * 1024

Advance = Callable[[int], None]
"""Called with the number of bytes read so far."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands in a file under one id: `task` is None unless the file is divided by sub-task."""

    task: str | None
    key: str
    value: Any
    is_position: bool = False

    @property
    def place(self) -> str:
        """Where it stands in its file, as one would index it."""
        outer = f'["{self.task}"]' if self.task else ""
        return outer + (f"[{self.key}]" if self.is_position else f'["{self.key}"]')

    @property
    def joint(self) -> str:
        """What joins it with the entry of the other file."""
        return f"{self.task}/{self.key}" if self.task else self.key


class Counted:
    """A binary file that says how far it is read, its byte order mark skipped."""

    def __init__(self, file: BinaryIO, advance: Advance | None = None) -> None:
        self._file, self._advance = file, advance
        if file.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            file.seek(0)

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data = self._file.read(size)
        if self._advance:
            self._advance(self._file.tell())
        return data


def read_entries(
    path: Path, *, tasks: Callable[[str], str | None], advance: Advance | None = None
) -> Iterator[Entry]:
    """Yield the entries of a file in its order.

    `tasks` returns the sub-task that a top-level key names, or None. Raises MetricError for a file that is missing,
    empty or malformed, naming the last id before the fault and the byte at which it is.
    """
    try:
        with path.open("rb") as file:
            yield from _entries(
                Counted(file, advance), shape=_shape(path, tasks), tasks=tasks, name=path.name
            )
    except OSError as error:
        raise MetricError(f"{path}: {error.strerror}") from error
    except ijson.JSONError as error:
        raise MetricError(f"{path.name}{_fault(path)}: {_reason(error)}") from error


def _shape(path: Path, tasks: Callable[[str], str | None]) -> str:
    with path.open("rb") as file:
        start = file.read(_CHUNK).removeprefix(BYTE_ORDER_MARK).lstrip()
        if not start:
            raise MetricError(f"{path.name} is empty")
        file.seek(0)
        events = list(islice(ijson.basic_parse(Counted(file)), 2))
    if events[0][0] == "start_array":
        return "list"
    if events[0][0] != "start_map":
        raise MetricError(f"{path.name} is neither an object nor a list")
    return "by task" if events[1][0] == "map_key" and tasks(events[1][1]) else "object"


def _entries(file: Counted, *, shape: str, tasks: Callable[[str], str | None], name: str) -> Iterator[Entry]:
    if shape == "list":
        return (Entry(None, str(index), value, True) for index, value in enumerate(ijson.items(file, "item")))
    if shape == "object":
        return (Entry(None, key, value) for key, value in ijson.kvitems(file, ""))
    return _entries_by_task(ijson.basic_parse(file), tasks=tasks, name=name)


def _entries_by_task(
    events: Iterator[tuple[str, Any]], *, tasks: Callable[[str], str | None], name: str
) -> Iterator[Entry]:
    next(events)
    for event, value in events:
        if event == "end_map":
            continue
        task = tasks(value)
        if task is None:
            raise MetricError(f'{name}: "{value}" is no sub-task, and others are')
        opening, _ = next(events)
        if opening not in ("start_map", "start_array"):
            raise MetricError(f'{name}["{value}"] is neither an object nor a list')
        yield from _entries_of_task(events, task=task, is_list=opening == "start_array")


def _entries_of_task(events: Iterator[tuple[str, Any]], *, task: str, is_list: bool) -> Iterator[Entry]:
    for index, (event, value) in enumerate(_children(events)):
        first = (event, value) if is_list else next(events)
        yield Entry(task, str(index) if is_list else value, _built(first, events), is_list)


def _children(events: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the first event of each entry; whoever takes it takes the entry's other events too."""
    return takewhile(lambda one: one[0] not in ("end_map", "end_array"), events)


def _built(first: tuple[str, Any], events: Iterator[tuple[str, Any]]) -> Any:
    builder, depth = ObjectBuilder(), 0
    event, value = first
    while True:
        builder.event(event, value)
        depth += event.startswith("start_") - event.startswith("end_")
        if not depth:
            return builder.value
        event, value = next(events)


def _reason(error: ijson.JSONError) -> str:
    if "UTF8" in str(error):
        return "not UTF-8"
    return "the file ends too early" if "EOF" in str(error) else "not valid JSON"


def _fault(path: Path) -> str:
    """Return where a malformed file breaks: it is parsed again, the part with the fault byte by byte."""
    coarse, _ = _parsed_until(path, bytewise_from=path.stat().st_size)
    offset, last = _parsed_until(path, bytewise_from=coarse)
    return f", byte {offset}, in or after {last}" if last else f", byte {offset}"


def _parsed_until(path: Path, *, bytewise_from: int) -> tuple[int, str]:
    """Return how many bytes are well-formed, and the last id among them."""
    events: Any = ijson.sendable_list()
    parser = ijson.parse_coro(events)
    offset, last = 0, ""
    with path.open("rb") as file, suppress(ijson.JSONError):
        counted = Counted(file)
        while data := counted.read(_CHUNK if offset < bytewise_from else 1):
            parser.send(data)
            offset += len(data)
            last = _last_id(events, last)
            events.clear()
        parser.close()
    return offset, last


def _last_id(events: list[tuple[str, str, Any]], last: str) -> str:
    for prefix, event, value in events:
        if event == "map_key" and not prefix:
            last = f'["{value}"]'
        elif prefix == "item" and event.startswith("start_"):
            last = f"[{int(last[1:-1]) + 1}]" if last else "[0]"
    return last
