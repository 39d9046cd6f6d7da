"""Beat goes on sending after the clock jumped, and with whatever is left of its schedule file."""

import logging
import shelve
import time
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from config.beat import app
from config.scheduler import SteadyScheduler

AHEAD = timedelta(hours=2)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is sent, in place of sending it."""
    names: list[str] = []
    monkeypatch.setattr(
        SteadyScheduler, "apply_entry", lambda self, entry, producer=None: names.append(entry.name)
    )
    monkeypatch.setattr(SteadyScheduler, "producer", None)
    return names


def begun(folder: Path) -> SteadyScheduler:
    return SteadyScheduler(app=app, schedule_filename=str(folder / "schedule"))


def set_all(scheduler: SteadyScheduler, by: timedelta) -> None:
    """As if each entry had been sent so much later than now."""
    for entry in scheduler.schedule.values():
        entry.last_run_at = entry.default_now() + by


def send_due(scheduler: SteadyScheduler) -> None:
    while scheduler.tick() == 0:
        pass


def are_all(names: Iterable[str]) -> bool:
    """Tell whether all of ours are among them; Celery may have an entry of its own."""
    return set(app.conf.beat_schedule) <= set(names)


def test_the_settings_choose_it() -> None:
    assert app.conf.beat_scheduler == "config.scheduler:SteadyScheduler"


def test_after_a_restart_what_was_sent_in_the_future_is_due_in_its_time(
    tmp_path: Path, sent: list[str]
) -> None:
    before = begun(tmp_path)
    set_all(before, AHEAD)
    before.close()
    after = begun(tmp_path)
    assert after.tick() <= 10  # what is sent most often
    assert sent == []
    set_all(after, -timedelta(days=2))
    after._heap = None
    send_due(after)
    assert are_all(sent)


def test_while_it_runs_too(tmp_path: Path, sent: list[str], caplog: pytest.LogCaptureFixture) -> None:
    scheduler: Any = begun(tmp_path)
    scheduler.tick()
    set_all(scheduler, AHEAD)
    scheduler.populate_heap()
    assert scheduler._heap[0].time - scheduler._when(scheduler.schedule["sweep"], 0) > 7000
    with caplog.at_level(logging.WARNING, "config.scheduler"):
        assert scheduler.tick() <= 10
        scheduler.tick()
    assert [record.getMessage()[:22] for record in caplog.records] == ["The clock was set back"]
    assert not scheduler.ahead()


def test_what_was_sent_in_the_past_is_not_put_off(tmp_path: Path, sent: list[str]) -> None:
    before = begun(tmp_path)
    set_all(before, -timedelta(days=2))
    before.close()
    send_due(begun(tmp_path))
    assert are_all(sent)


def test_it_sleeps_until_something_is_due_and_asks_no_more_before(tmp_path: Path, sent: list[str]) -> None:
    scheduler: Any = begun(tmp_path)
    set_all(scheduler, timedelta(0))
    soonest = scheduler.schedule["moved"]
    soonest.last_run_at -= soonest.schedule.run_every - timedelta(milliseconds=50)
    scheduler.populate_heap()
    waits = list[float]()
    while not sent:
        waits.append(scheduler.tick())
        time.sleep(max(0.0, waits[-1]))
    assert len(waits) <= 4, waits  # the sleep, a rounding, and the tick that sends


@pytest.mark.parametrize("content", [b"", b"nonsense" * 500])
def test_it_begins_with_a_damaged_file(tmp_path: Path, content: bytes) -> None:
    begun(tmp_path).close()
    for path in tmp_path.glob("schedule*"):
        path.write_bytes(content)
    assert are_all(begun(tmp_path).schedule)


def test_it_begins_with_a_file_that_opens_and_holds_nothing_to_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun(tmp_path).close()
    with shelve.open(str(tmp_path / "schedule")) as store:
        store.dict[b"entries"] = b"\x80\x05"  # type: ignore[attr-defined]
    assert are_all(begun(tmp_path).schedule)
    assert "The schedule file can't be read (EOFError); a new one begins" in caplog.text
