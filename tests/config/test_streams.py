"""Answers of unknown length: made beside the pages, read as slowly as a client likes, with a bound on the disk."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from config.bodies import BLOCK, MB, Budget
from config.slow_clients import FewThreads
from config.streams import Stream

ROW = b"x" * 1000


class Rows:
    """Django's streaming answer, as far as a server sees of it: it tells where it ran, and that it was closed."""

    streaming = True

    def __init__(self, rows: Iterator[bytes]) -> None:
        self._rows = rows
        self.ran: list[str] = []
        self.closed = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        for row in self._rows:
            self.ran.append(threading.current_thread().name)
            yield row

    def close(self) -> None:
        self.ran.append(threading.current_thread().name)
        self.closed.set()


def endless() -> Iterator[bytes]:
    while True:
        yield ROW


def server(*rows: Rows, most: int = MB, threads: int = 4) -> Callable[[str], Any]:
    """A server that gives these streams under /0, /1 and so on, and a page elsewhere."""
    streams = {f"/{n}": row for n, row in enumerate(rows)}

    def application(environ: dict[str, Any], start_response: Any) -> Any:
        start_response("200 OK", [])
        return streams.get(environ["PATH_INFO"], [b"page"])

    served = FewThreads(application, threads=threads, answers=Budget(most))
    return lambda path: served({"PATH_INFO": path}, lambda status, headers: None)


def test_a_stream_arrives_whole_and_in_order() -> None:
    parts = [bytes([n % 256]) * (n * 37 % 5000) for n in range(2000)]
    rows = Rows(iter(parts))
    assert b"".join(server(rows)("/0")) == b"".join(parts)
    assert rows.closed.wait(5)
    assert set(rows.ran) == {"stream_0"}


def test_pages_answer_while_more_downloads_run_than_there_are_threads() -> None:
    """Of readers that take nothing, of rows that take long, and of some that wait for their turn."""
    working = threading.Event()

    def long() -> Iterator[bytes]:
        yield ROW
        working.wait(30)

    slow = [Rows(endless()) for _ in range(3)] + [Rows(long()) for _ in range(5)]
    ask = server(*slow)
    answers = [ask(f"/{n}") for n in range(len(slow))]
    began = time.monotonic()
    assert [b"".join(ask("/page")) for _ in range(20)] == [b"page"] * 20
    assert time.monotonic() - began < 1
    working.set()
    for answer in answers:
        answer.close()


def test_the_first_bytes_come_before_the_last_are_made() -> None:
    go_on = threading.Event()

    def rows() -> Iterator[bytes]:
        yield b"header"
        go_on.wait(30)
        yield b"rest"

    parts = iter(server(Rows(rows()))("/0"))
    assert next(parts) == b"header"
    go_on.set()
    assert b"".join(parts) == b"rest"


def test_no_more_waits_on_disk_than_may() -> None:
    made = [0]

    def counted() -> Iterator[bytes]:
        for row in endless():
            made[0] += len(row)
            yield row

    answer = server(Rows(counted()), most=MB)("/0")
    time.sleep(0.5)
    assert MB - BLOCK <= made[0] <= MB + 3 * BLOCK
    answer.close()


def test_who_reads_on_gets_all_of_it_where_others_have_taken_the_disk() -> None:
    budget = Budget(0)
    rows = Rows(iter([ROW] * 2000))
    stream = Stream(rows, budget=budget)
    thread = threading.Thread(target=stream.run)
    thread.start()
    assert b"".join(stream) == ROW * 2000
    thread.join(5)


def test_what_was_read_is_room_again() -> None:
    budget = Budget(MB)
    stream = Stream(Rows(iter([ROW] * 5000)), budget=budget)
    thread = threading.Thread(target=stream.run)
    thread.start()
    assert sum(map(len, stream)) == 5_000_000
    thread.join(5)
    assert budget.take(MB)


def test_who_hangs_up_ends_it() -> None:
    rows, budget = Rows(endless()), Budget(MB)
    stream = Stream(rows, budget=budget)
    thread = threading.Thread(target=stream.run)
    thread.start()
    next(iter(stream))
    stream.close()
    assert rows.closed.wait(5)
    thread.join(5)
    assert budget.take(MB)


def test_what_fails_in_the_middle_ends_without_an_end() -> None:
    """So that the client sees that something is missing."""

    def fails() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError("broken")

    rows = Rows(fails())
    parts = iter(server(rows)("/0"))
    assert next(parts) == b"half"
    with pytest.raises(RuntimeError, match="broken"):
        next(parts)
    assert rows.closed.is_set()
