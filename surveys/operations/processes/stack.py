"""The processes Assent consists of on one machine: web server, Celery worker, beat."""

import errno
import secrets
import socket
import sys
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from surveys.operations.processes.supervisor import Process

# Connections that go out are given ports from 32768 on (Linux's ip_local_port_range): one of those could be taken again
# before it is listened on.
CHOSEN_FROM = range(15_000, 32_000)
LOOPBACK_ADDRESSES = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}


def loopback_families() -> list[socket.AddressFamily]:
    """Return the address families whose loopback address can be listened on here; IPv4 always."""
    return [
        family for family in LOOPBACK_ADDRESSES if family == socket.AF_INET or _can_listen(family, port=0)
    ]


def free_port(*, start: int = 0) -> int:
    """Return the first port from `start` on that is free on every loopback address; 0 leaves the choice open."""
    families = loopback_families()
    for port in range(start or secrets.choice(CHOSEN_FROM), 65536):
        if all(_can_listen(family, port=port) for family in families):
            return port
    raise OSError(errno.EADDRINUSE, f"No free port from {start} on.")


def _can_listen(family: socket.AddressFamily, *, port: int) -> bool:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((LOOPBACK_ADDRESSES[family], port))
            listener.listen()
    except OSError:
        return False
    return True


def is_localhost_known() -> bool:
    """Tell whether the name resolves; a bare chroot without /etc/hosts does not know it."""
    try:
        return bool(socket.getaddrinfo("localhost", None))
    except OSError:
        return False


WORKER_READY = "worker-ready"
GUNICORN = "--config=config/gunicorn.py"
CELERY = (sys.executable, "-m", "celery", "-A")


def addresses(port: int) -> dict[str, str]:
    """Return the environment that puts the app and the marketplace on two host names of this machine."""
    return {
        "ASSENT_APP_URL": f"http://127.0.0.1:{port}",
        "ASSENT_MARKETPLACE_URL": f"http://localhost:{port}",
    }


def stack(*, port: int, environment: Mapping[str, str], state_dir: Path) -> list[Process]:
    """Return web, worker and beat on `port`, all with `environment` added to ours.

    `state_dir` receives the file by which the worker says that it is ready.
    """
    state_dir.mkdir(parents=True, exist_ok=True)
    return [
        web(port=port, environment=environment),
        worker(environment=environment, state_dir=state_dir),
        beat(environment=environment),
    ]


def web(*, port: int, environment: Mapping[str, str], workers: int = 2) -> Process:
    """Return gunicorn on every loopback address."""
    binds = [
        f"--bind=[{address}]:{port}" if ":" in address else f"--bind={address}:{port}"
        for address in (LOOPBACK_ADDRESSES[family] for family in loopback_families())
    ]
    options = [f"--workers={workers}", "--no-control-socket", "--graceful-timeout=5", *binds]
    return Process(
        name="web",
        command=[sys.executable, "-m", "gunicorn", "config.wsgi", GUNICORN, *options],
        environment=environment,
        is_ready=lambda: answers(port),
    )


def worker(*, environment: Mapping[str, str], state_dir: Path, pool: str = "threads") -> Process:
    """Return a Celery worker, which touches a file in `state_dir` once it takes tasks."""
    ready = _fresh(state_dir / WORKER_READY)
    return Process(
        name="worker",
        command=[
            *CELERY,
            "config",
            "worker",
            f"--pool={pool}",
            "--concurrency=2",
            "--loglevel=INFO",
            "--without-mingle",
            "--without-gossip",
        ],
        environment={**environment, "ASSENT_WORKER_READY_FILE": str(ready)},
        is_ready=ready.exists,
    )


def beat(*, environment: Mapping[str, str]) -> Process:
    """Return Celery's clock. Its process id file is off: a killed demo would leave it and block the next."""
    command = [*CELERY, "config.beat", "beat", "--loglevel=INFO", "--pidfile="]
    return Process(name="beat", command=command, environment=environment)


def answers(port: int) -> bool:
    """Say whether the web server on `port` calls itself healthy."""
    connection = HTTPConnection(LOOPBACK_ADDRESSES[loopback_families()[0]], port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _fresh(path: Path) -> Path:
    path.unlink(missing_ok=True)
    return path
