"""`python -m surveys.operations.processes`: run the site that standard input tells of, and greet, until a stop signal.

It is all that `manage.py demo` leaves behind of itself. On Linux it loads the site, and web and worker are copies of
it; elsewhere each loads the site for itself, and nothing here does, as it would stay in memory for as long as the demo
runs. What it is told has a password in it, so it is no argument, which anybody could read.
"""

import json
import signal
import sys
import webbrowser
from dataclasses import asdict, dataclass
from pathlib import Path

from surveys.operations.processes.forked import as_copies
from surveys.operations.processes.stack import stack
from surveys.operations.processes.supervisor import STOP_SIGNALS, ProcessError, Supervisor, name_process


@dataclass(frozen=True, slots=True)
class Wanted:
    """The site on `port` with its data in `folder`, what to say once it answers, and what to show in a browser."""

    port: int
    folder: str
    environment: dict[str, str]
    greeting: str
    shown: str = ""

    def as_json(self) -> str:
        return json.dumps(asdict(self))


def run(wanted: Wanted) -> None:
    """Return when asked to stop; ProcessError as soon as a process ends by itself."""
    folder = Path(wanted.folder)
    web, worker, beat = stack(port=wanted.port, environment=wanted.environment, state_dir=folder / "run")
    if sys.platform == "linux":
        name_process("demo")
    # The worker's is the site's, and says by what file the worker tells that it is ready.
    processes = as_copies([web, worker, beat], environment=worker.environment)
    Supervisor(processes, log_dir=folder / "logs").run(when_ready=lambda: _greet(wanted))


def _greet(wanted: Wanted) -> None:
    sys.stdout.write(wanted.greeting)
    sys.stdout.flush()
    if wanted.shown:
        webbrowser.open(wanted.shown)


def main() -> int:
    for number in STOP_SIGNALS:
        signal.signal(number, signal.default_int_handler)
    # Who ignores it, and has us inherit that, would keep the ends of children from us.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        run(Wanted(**json.load(sys.stdin)))
    except ProcessError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        pass
    sys.stdout.write("Stopped.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
