"""Processes that live and die together."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from surveys.operations.processes.supervisor import Process, ProcessError, Supervisor

# Says its own and its child's process id, then waits; the child shares its session.
SLEEPER = """
import subprocess, sys, time, os, pathlib
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
note = pathlib.Path(sys.argv[1])
note.with_suffix(".part").write_text(f"{os.getpid()} {child.pid}")
note.with_suffix(".part").rename(note)
time.sleep(600)
"""
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + SLEEPER
DYING = """
import pathlib, sys, time
while not pathlib.Path(sys.argv[1]).exists():
    time.sleep(0.02)
print("the reason it died")
raise SystemExit(3)
"""
# Runs a supervisor over two sleepers in the folder given, as a command does.
OUTER = f"""
import sys
from pathlib import Path
from surveys.operations.processes.supervisor import Process, Supervisor
folder = Path(sys.argv[1])
processes = [
    Process(name=name, command=[sys.executable, "-c", {SLEEPER!r}, str(folder / name)], is_ready=(folder / name).exists)
    for name in ("one", "two")
]
Supervisor(processes, log_dir=folder / "logs").run(when_ready=lambda: (folder / "ready").touch())
print("stopped")
"""


def sleeper(folder: Path, *, name: str = "sleeper", script: str = SLEEPER) -> Process:
    note = folder / name
    return Process(
        name=name,
        command=[sys.executable, "-c", script, str(note)],
        is_ready=note.exists,
    )


def dying(*, after: Path) -> Process:
    """One that dies once `after` is there."""
    return Process(name="dying", command=[sys.executable, "-c", DYING, str(after)])


def pids(*notes: Path) -> list[int]:
    return [int(word) for note in notes for word in note.read_text().split()]


def is_running(pid: int) -> bool:
    """Say whether a process runs; one that has ended and waits for its parent to notice does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def none_left(running: list[int]) -> bool:
    return not any(is_running(pid) for pid in running)


@pytest.fixture
def outer(tmp_path: Path) -> subprocess.Popen[str]:
    """A supervisor in a process of its own, with two processes of two each."""
    process = subprocess.Popen(
        [sys.executable, "-c", OUTER, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert within(30, (tmp_path / "ready").exists)
    return process


def test_leaving_stops_everything_it_started(tmp_path: Path) -> None:
    with Supervisor([sleeper(tmp_path)], log_dir=tmp_path / "logs"):
        running = pids(tmp_path / "sleeper")
        assert [is_running(pid) for pid in running] == [True, True]
    assert within(5, lambda: none_left(running))


def test_who_does_not_hear_is_killed_after_the_grace(tmp_path: Path) -> None:
    with Supervisor([sleeper(tmp_path, script=DEAF)], log_dir=tmp_path / "logs", grace_seconds=0.2):
        running = pids(tmp_path / "sleeper")
    assert within(5, lambda: none_left(running))


def test_one_that_dies_takes_the_others_along_and_says_why(tmp_path: Path) -> None:
    supervisor = Supervisor([sleeper(tmp_path), dying(after=tmp_path / "sleeper")], log_dir=tmp_path / "logs")
    with pytest.raises(ProcessError) as error:
        supervisor.run()
    assert str(error.value).splitlines() == [
        f"dying ended with exit code 3. The end of {tmp_path / 'logs' / 'dying'}.log:",
        "the reason it died",
    ]
    assert within(5, lambda: none_left(pids(tmp_path / "sleeper")))


def test_a_program_that_is_not_there_leaves_nothing_behind(tmp_path: Path) -> None:
    missing = Process(name="missing", command=[str(tmp_path / "no-such-program")])
    waiting = sleeper(tmp_path)
    supervisor = Supervisor([waiting, missing], log_dir=tmp_path / "logs")
    with pytest.raises(FileNotFoundError):
        supervisor.run()
    assert supervisor.children == {}


def test_one_that_never_gets_ready_is_an_error(tmp_path: Path) -> None:
    never = Process(name="never", command=["sleep", "600"], is_ready=lambda: False)
    supervisor = Supervisor([never], log_dir=tmp_path / "logs")
    supervisor.start()
    with pytest.raises(ProcessError, match=r"^never was not ready after 0 s\."):
        supervisor.wait_ready(timeout=0)
    supervisor.stop()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything_in_order(
    outer: subprocess.Popen[str], tmp_path: Path, number: signal.Signals
) -> None:
    running = pids(tmp_path / "one", tmp_path / "two")
    outer.send_signal(number)
    output, _ = outer.communicate(timeout=30)
    assert (outer.returncode, output) == (0, "stopped\n")
    assert within(5, lambda: none_left(running))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent died")
def test_the_kernel_stops_the_processes_of_a_killed_supervisor(
    outer: subprocess.Popen[str], tmp_path: Path
) -> None:
    (one, one_child), (two, two_child) = pids(tmp_path / "one"), pids(tmp_path / "two")
    outer.kill()
    outer.communicate(timeout=30)
    assert within(10, lambda: none_left([one, two]))
    for pid in (one_child, two_child):
        os.kill(pid, signal.SIGKILL)


def test_signals_mean_what_they_meant_before(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(ProcessError):
        Supervisor([dying(after=tmp_path)], log_dir=tmp_path / "logs").run()
    assert signal.getsignal(signal.SIGTERM) is before
