"""200 clients take their time, and no front stands before the server: that of `make demo`, and the container's."""

import json
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.conf import settings

from surveys.operations.processes.stack import answers, free_port, web
from surveys.operations.processes.supervisor import Process, Supervisor
from tests.faults.answers import soonest
from tests.faults.test_slow_clients import N_CLIENTS, SLOW_BODY, SLOW_HEADERS

pytestmark = pytest.mark.processes
SLOW_READER = b"GET /static/long.bin HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LONG = 8 * 2**20  # bytes, more than two sockets hold


def container(port: int, environment: dict[str, str]) -> Process:
    """The Dockerfile's own command, on this machine."""
    text = (Path(settings.BASE_DIR) / "Dockerfile").read_text()
    command = json.loads(re.search(r"^CMD (.*)\Z", text.replace("\\\n", ""), re.MULTILINE | re.DOTALL)[1])
    assert command[0] == "gunicorn"
    assert "--bind=0.0.0.0:8000" in command
    options = [f"--bind=127.0.0.1:{port}" if "--bind" in option else option for option in command[1:]]
    return Process(
        name="web",
        command=[sys.executable, "-m", "gunicorn", *options],
        environment=environment,
        is_ready=lambda: answers(port),
    )


@pytest.fixture(scope="module", params=["demo", "container"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder, port = tmp_path_factory.mktemp(request.param), free_port()
    (folder / "static").mkdir()
    (folder / "static" / "long.bin").write_bytes(b"x" * LONG)
    environment = {
        "ASSENT_DATA_DIR": str(folder),
        "ASSENT_STATIC_DIR": str(folder / "static"),
        "DATABASE_URL": "",
        "REDIS_URL": "",
    }
    start = {
        "demo": lambda: web(port=port, environment=environment),
        "container": lambda: container(port, environment),
    }
    process = start[request.param]()
    with Supervisor([process], log_dir=folder / "logs"):
        yield port


@pytest.mark.parametrize("sent", [SLOW_BODY, SLOW_HEADERS, SLOW_READER], ids=["bodies", "headers", "readers"])
def test_a_server_full_of_slow_clients_answers(server: int, sent: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(N_CLIENTS):
            slow = stack.enter_context(closing(socket.socket()))
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect(("127.0.0.1", server))
            slow.sendall(sent)
        time.sleep(1)
        assert soonest(f"http://127.0.0.1:{server}/healthz") < 1


def test_a_long_answer_arrives_whole(server: int) -> None:
    with urlopen(f"http://127.0.0.1:{server}/static/long.bin", timeout=30) as answer:
        assert len(answer.read()) == LONG


def test_a_server_full_of_slow_clients_stops(tmp_path: Path) -> None:
    """Within its grace, whoever still holds on: gunicorn's five seconds here."""
    port = free_port()
    environment = {"ASSENT_DATA_DIR": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": ""}
    with ExitStack() as stack, Supervisor([web(port=port, environment=environment)], log_dir=tmp_path):
        for _ in range(20):
            slow = stack.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            slow.sendall(SLOW_BODY)
        time.sleep(0.5)
        began = time.monotonic()
    assert time.monotonic() - began < 10
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port))


DOWNLOADS = """
class Rows:
    streaming = True

    def __iter__(self):
        while True:
            yield b"x" * 1000

    def close(self):
        pass


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return Rows() if environ["PATH_INFO"] == "/rows" else [b"page"]
"""


def test_pages_answer_while_downloads_run_slowly(tmp_path: Path) -> None:
    """More of them than a process has threads for either: endless ones, of readers that take a little or nothing."""
    port = free_port()
    (tmp_path / "downloads.py").write_text(DOWNLOADS)
    configuration = Path(settings.BASE_DIR) / "config" / "gunicorn.py"
    options = [f"--config={configuration}", f"--bind=127.0.0.1:{port}", f"--pythonpath={tmp_path}"]
    process = Process(
        name="web",
        command=[sys.executable, "-m", "gunicorn", "downloads:application", "--no-control-socket", *options],
        environment={"ASSENT_DATA_DIR": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": ""},
        is_ready=lambda: answers(port),
    )
    with Supervisor([process], log_dir=tmp_path / "logs"), ExitStack() as stack:
        for n in range(8):
            slow = stack.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            slow.sendall(b"GET /rows HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            if n < 4:
                assert slow.recv(1000).startswith(b"HTTP/1.1 200")
        time.sleep(1)
        assert soonest(f"http://127.0.0.1:{port}/", n=10) < 1
