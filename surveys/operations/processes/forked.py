"""Processes that begin as copies of one that has loaded the site: what it loaded they hold in memory together.

Linux only: elsewhere libraries don't survive a fork that no exec follows.
"""

import gc
import os
import runpy
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from subprocess import TimeoutExpired
from typing import IO, NoReturn

from surveys.operations.processes.supervisor import STOP_SIGNALS, Process, die_with, name_process

# Every page, every task, and what serves and runs them.
LOADED = ("config.wsgi", "marketplace.urls", "surveys.sync", "gunicorn.app.wsgiapp", "celery.apps.worker")
# A thread of pyarrow's allocator would run in this process at the time of each fork. Copies have none in any case.
FORKING = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
COPIED = {"web", "worker"}
FIRST_OPEN_FILE = 3  # after the three standard ones
POLL_SECONDS = 0.05


def load(environment: Mapping[str, str]) -> None:
    """Load the site into this process, with `environment` for all that is forked from it. Nothing may be open yet."""
    os.environ.update(environment)
    for name, value in FORKING.items():
        os.environ.setdefault(name, value)
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # else each child's first look for cycles would write to what is held together


def as_copies(processes: Sequence[Process], *, environment: Mapping[str, str]) -> list[Process]:
    """Load the site as `load` does, and return the same processes, of which web and worker begin as copies of this one.

    Only on Linux; elsewhere nothing is loaded here, and each loads the site for itself.
    """
    if sys.platform != "linux":
        return list(processes)
    load(environment)
    from django.db import connections  # with the site; elsewhere this process stays without

    connections.close_all()  # a copy must not write by ours
    return [forked(one) if one.name in COPIED else one for one in processes]


def forked(process: Process) -> Process:
    """Return the same `python -m MODULE ...`, to begin as a copy of this process instead of loading everything anew.

    Settings are those of `load`, whatever the process's environment says of them. What the program leaves for its own
    end (atexit, threads that are to be joined) is not done. Raises ValueError for another kind of command, or account.
    """
    if process.account or list(process.command[:2]) != [sys.executable, "-m"]:
        raise ValueError(f"{process.name} can't begin as a copy: {process.command} of {process.account}.")
    return replace(process, begin=_fork)


@dataclass(slots=True)
class Fork:
    """A child of this process; what a supervisor uses of subprocess.Popen."""

    pid: int
    code: int | None = field(default=None, init=False)

    def poll(self) -> int | None:
        """Return the exit code, or minus the signal that ended it; None while it runs."""
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.code = os.waitstatus_to_exitcode(status) if pid else None
        return self.code

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code; subprocess.TimeoutExpired if there is none after so many seconds."""
        deadline = time.monotonic() + timeout if timeout is not None else float("inf")
        while (code := self.poll()) is None:
            if time.monotonic() >= deadline:
                raise TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(POLL_SECONDS)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _fork(process: Process, log: IO[bytes]) -> Fork:
    sys.stdout.flush()
    sys.stderr.flush()
    # A signal that comes between the fork and the child's own handlers is to mean to it what it means to any program.
    before, parent = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS), os.getpid()
    try:
        if pid := os.fork():
            return Fork(pid)
        _become(process, log, parent=parent)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _become(process: Process, log: IO[bytes], *, parent: int) -> NoReturn:
    """Be what `exec` would have made of this process, but for what is loaded."""
    code = 1
    try:
        _detach(process, log, parent=parent)
        _, _, module, *arguments = process.command
        sys.argv = [module, *arguments]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = _code_of(end)
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)  # nothing of what the parent does next, or left for its own end


def _code_of(end: SystemExit) -> int:
    """Return what an interpreter would end with, having written why where that is what was given (sys.exit)."""
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    sys.stderr.write(f"{end.code}\n")
    return 1


def _detach(process: Process, log: IO[bytes], *, parent: int) -> None:
    os.setsid()
    die_with(parent)
    name_process(process.name)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for opened, standard in enumerate((nothing, log.fileno(), log.fileno())):
        os.dup2(standard, opened)
    os.closerange(FIRST_OPEN_FILE, os.sysconf("SC_OPEN_MAX"))
    os.environ.update(process.environment)
    if process.folder:
        os.chdir(process.folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
