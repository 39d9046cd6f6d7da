"""Processes that begin as copies of one that has loaded a module already."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from surveys.operations.processes.forked import forked
from surveys.operations.processes.supervisor import Process
from tests.surveys.operations.test_supervisor import is_running, none_left, within

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has its sites forked")

# What a fork runs: says what it finds, and then waits, fails, or ends, as it is told.
PROGRAM = """
import json, os, pathlib, signal, sys, time
note = pathlib.Path(sys.argv[1])
found = {
    "arguments": sys.argv[1:],
    "name": __name__,
    "pid": os.getpid(),
    "is_leader": os.getsid(0) == os.getpid(),
    "open": sorted(int(name) for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")),
    "input": sys.stdin.read(),
    "environment": [os.environ["ALL"], os.environ["MINE"]],
    "is_loaded": "heavy" in sys.modules,
    "terminates": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
    "is_blocked": signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, []),
}
print("a word for the log", flush=True)
note.with_suffix(".part").write_text(json.dumps(found))
note.with_suffix(".part").rename(note)
if sys.argv[2] == "fail":
    raise LookupError("the reason it died")
if sys.argv[2] == "end":
    sys.exit(3)
if sys.argv[2] == "tell":
    sys.exit("what it ends with")
if sys.argv[2] == "break":
    sys.stdout.close()
    sys.exit(3)
time.sleep(600)
"""
# Loads a module that takes long, has a file open, and runs a fork of each of what its arguments say.
PARENT = """
import sys
from pathlib import Path
from surveys.operations.processes import forked
from surveys.operations.processes.supervisor import Process, ProcessError, Supervisor
folder, *deeds = sys.argv[1:]
folder = Path(folder)
sys.path.insert(0, str(folder))
forked.LOADED = ("heavy",)
forked.load({"ALL": "for all"})
kept = open(folder / "kept", "w")
processes = [
    forked.forked(Process(
        name=deed,
        command=[sys.executable, "-m", "program", str(folder / deed), deed],
        environment={"MINE": deed},
        is_ready=(folder / deed).exists,
    ))
    for deed in deeds
]
try:
    Supervisor(processes, log_dir=folder / "logs").run(when_ready=lambda: (folder / "ready").touch())
except ProcessError as error:
    sys.exit(f"{error}")
print("stopped")
"""


def parent(folder: Path, *deeds: str) -> "subprocess.Popen[str]":
    (folder / "program.py").write_text(PROGRAM)
    (folder / "heavy.py").write_text("")
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder), *deeds],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def noted(folder: Path, deed: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / deed).read_text())
    return found


def test_a_fork_finds_what_a_program_finds_and_what_was_loaded(tmp_path: Path) -> None:
    process = parent(tmp_path, "wait")
    assert within(30, (tmp_path / "ready").exists)
    found = noted(tmp_path, "wait")
    pid = found.pop("pid")
    assert isinstance(pid, int)
    assert psutil.Process(pid).name() == "assent-wait"
    process.terminate()
    assert process.communicate(timeout=30)[0] == "stopped\n"
    assert within(5, lambda: not is_running(pid))
    assert found == {
        "arguments": [str(tmp_path / "wait"), "wait"],
        "name": "__main__",
        "is_leader": True,
        "open": [0, 1, 2],
        "input": "",
        "environment": ["for all", "wait"],
        "is_loaded": True,
        "terminates": True,
        "is_blocked": False,
    }
    assert (tmp_path / "logs" / "wait.log").read_text() == "a word for the log\n"


@pytest.mark.parametrize(
    ("deed", "code", "last"),
    [
        ("end", 3, "a word for the log"),
        ("tell", 1, "what it ends with"),
        ("break", 3, "a word for the log"),  # nothing more can be written: what comes next is the parent's
        ("fail", 1, "LookupError: the reason it died"),
    ],
)
def test_a_fork_that_ends_takes_the_others_along_and_says_why(
    tmp_path: Path, deed: str, code: int, last: str
) -> None:
    process = parent(tmp_path, "wait", deed)
    _, said = process.communicate(timeout=30)
    first, *_, end = said.splitlines()
    assert first == f"{deed} ended with exit code {code}. The end of {tmp_path / 'logs' / deed}.log:"
    assert (process.returncode, end) == (1, last)
    waiting = noted(tmp_path, "wait")["pid"] if (tmp_path / "wait").exists() else 0
    assert within(5, lambda: none_left([int(str(waiting))]))


def test_the_kernel_stops_the_forks_of_a_killed_parent(tmp_path: Path) -> None:
    process = parent(tmp_path, "wait")
    assert within(30, (tmp_path / "ready").exists)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    assert within(10, lambda: none_left([int(str(noted(tmp_path, "wait")["pid"]))]))


# Is gone before its fork can ask to be told of it.
SHORT = """
import os, signal, sys, time
from surveys.operations.processes import forked
from surveys.operations.processes.supervisor import Process
real = forked.die_with
forked.die_with = lambda parent: (time.sleep(1), real(parent))
command = [sys.executable, "-m", "timeit", "-n1", "-r1", "import time; time.sleep(600)"]
child = forked._fork(Process(name="late", command=command), open(os.devnull, "wb"))
print(child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_fork_whose_parent_is_gone_already_ends() -> None:
    said = subprocess.run(
        [sys.executable, "-c", SHORT], stdout=subprocess.PIPE, text=True, check=False, timeout=30
    )
    assert within(10, lambda: none_left([int(said.stdout)]))


@pytest.mark.parametrize(
    "values",
    [
        {"command": ["gunicorn", "config.wsgi"]},
        {"command": [sys.executable, "manage.py"]},
        {"command": [sys.executable, "-m", "gunicorn"], "account": "nobody"},
    ],
)
def test_what_cannot_be_a_copy_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="web can't begin as a copy"):
        forked(Process(name="web", **values))


def test_nothing_runs_beside_what_is_copied(tmp_path: Path) -> None:
    """Of a thread that runs when a process is forked the copy has only what it held. Some are no thread of Python's."""
    program = (
        "import os, sys; from surveys.operations.processes.forked import load; load({}); "
        "print('pyarrow' in sys.modules, len(os.listdir('/proc/self/task')))"
    )
    names = {"ASSENT_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    said = subprocess.check_output([sys.executable, "-c", program], env={**os.environ, **names}, text=True)
    assert said == "True 1\n"


def test_who_ignores_the_ends_of_children_does_not_keep_them_from_us() -> None:
    program = (
        "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
        "from surveys.operations.processes import __main__ as demo; "
        "demo.run = lambda wanted: print(signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL); demo.main()"
    )
    wanted = json.dumps({"port": 1, "folder": "", "environment": {}, "greeting": ""})
    said = subprocess.run(
        [sys.executable, "-c", program], input=wanted, stdout=subprocess.PIPE, text=True, check=True
    )
    assert said.stdout.splitlines()[0] == "True"
