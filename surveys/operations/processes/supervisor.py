"""Start a handful of processes, wait until they are ready, watch them, and leave none behind."""

import ctypes
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Any, Protocol, Self

POLL_SECONDS = 0.1
WATCH_SECONDS = 0.5  # how long a signal to stop may wait, and an end go unnoticed
LAST_LINES = 20
PR_SET_PDEATHSIG, PR_SET_NAME = 1, 15  # linux/prctl.h
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Child(Protocol):
    """A process that was begun: subprocess.Popen, or a fork."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, sig: int, /) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class ProcessError(Exception):
    """A process ended or did not become ready; the message holds the last lines it wrote."""


def execute(process: "Process", log: IO[bytes]) -> "subprocess.Popen[bytes]":
    """Run the program in a session of its own."""
    return subprocess.Popen(
        process.command,
        env={**os.environ, **process.environment},
        cwd=process.folder,
        **identity(process.account),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=ending_with_us(),
    )


@dataclass(frozen=True, kw_only=True)
class Process:
    """One program to keep running. `is_ready` is asked until it says yes; None means ready once started.

    `account` (only root can choose one) and `folder` default to our own account and working directory. `begin`
    starts it, with what it writes going into the file given.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    account: str | None = None
    folder: Path | None = None
    is_ready: Callable[[], bool] | None = None
    begin: Callable[["Process", IO[bytes]], Child] = execute


class Supervisor:
    """Processes that live and die together, each with its output in `log_dir`/NAME.log.

    They run in sessions of their own, so a Ctrl-C reaches only the supervisor, which stops them in order. On
    Linux the kernel stops them too if the supervisor is killed (prctl(2), PR_SET_PDEATHSIG).
    """

    def __init__(self, processes: Sequence[Process], *, log_dir: Path, grace_seconds: float = 10) -> None:
        self.processes = processes
        self.log_dir = log_dir
        self.grace_seconds = grace_seconds
        self.children: dict[str, Child] = {}
        self.is_stopping = False

    def __enter__(self) -> Self:
        try:
            self.start()
            self.wait_ready()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def run(self, *, when_ready: Callable[[], None] = lambda: None) -> None:
        """Start, call `when_ready`, and watch until a stop signal; ProcessError if a process ends by itself."""
        with self._stop_on_signals():
            try:
                self.start()
                self.wait_ready()
                if not self.is_stopping:
                    when_ready()
                self.watch()
            finally:
                self.stop()

    def start(self) -> None:
        """Start every process, in order."""
        self.log_dir.mkdir(parents=True, exist_ok=True)
        for process in self.processes:
            if not self.is_stopping:
                self.children[process.name] = self._spawn(process)

    def wait_ready(self, *, timeout: float = 60) -> None:
        """Return when every process is ready; ProcessError if one ends or takes longer than `timeout` seconds."""
        deadline = time.monotonic() + timeout
        for process in self.processes:
            while not self.is_stopping and not (process.is_ready is None or process.is_ready()):
                self.check()
                if time.monotonic() > deadline:
                    raise ProcessError(self._story(process.name, f"was not ready after {timeout:.0f} s"))
                time.sleep(POLL_SECONDS)
        if not self.is_stopping:
            self.check()

    def watch(self) -> None:
        """Return when asked to stop; ProcessError as soon as a process ends by itself."""
        while not self.is_stopping:
            self.check()
            time.sleep(WATCH_SECONDS)

    def check(self) -> None:
        """Raise ProcessError if a process has ended."""
        for name, child in self.children.items():
            if (code := child.poll()) is not None and not self.is_stopping:
                raise ProcessError(self._story(name, f"ended with exit code {code}"))

    def stop(self) -> None:
        """Ask every process to finish, wait `grace_seconds` in all, then kill what is left of their sessions."""
        for child in self.children.values():
            if child.poll() is None:
                child.terminate()
        deadline = time.monotonic() + self.grace_seconds
        for child in self.children.values():
            self._wait(child, until=deadline)
            _kill_session(child)
        self.children.clear()

    def last_lines(self, name: str) -> str:
        """Return the end of what the process wrote."""
        text = (self.log_dir / f"{name}.log").read_text(errors="replace")
        return "\n".join(text.splitlines()[-LAST_LINES:])

    def _spawn(self, process: Process) -> Child:
        with (self.log_dir / f"{process.name}.log").open("ab") as log:
            return process.begin(process, log)

    def _wait(self, child: Child, *, until: float) -> None:
        try:
            child.wait(timeout=max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def _story(self, name: str, what: str) -> str:
        return f"{name} {what}. The end of {self.log_dir / name}.log:\n{self.last_lines(name)}"

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:
        self.is_stopping = True

    @contextmanager
    def _stop_on_signals(self) -> Iterator[None]:
        before = {number: signal.signal(number, self._ask_to_stop) for number in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def die_with(parent: int) -> None:
    """Have the kernel send this process SIGTERM when the one that started it dies. Linux only.

    The kernel tells nothing of a death before that is asked for: then this process ends here.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)


def ending_with_us() -> Callable[[], None] | None:
    """Return what Popen is to run in a child so that it ends with this process; nothing does where not on Linux."""
    return partial(die_with, os.getpid()) if sys.platform == "linux" else None


def name_process(name: str) -> None:
    """Have `ps` and `top` call this process assent-NAME. Linux only."""
    ctypes.CDLL(None).prctl(PR_SET_NAME, f"assent-{name}".encode())


def identity(account: str | None) -> dict[str, Any]:
    """Return what Popen needs to give up root for `account`, its groups included."""
    if account is None:
        return {}
    return {"user": account, "group": pwd.getpwnam(account).pw_gid, "extra_groups": []}


def _kill_session(child: Child) -> None:
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
