"""200 clients send as slowly as they can. Behind the front, the threads of the web server never wait for one."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from django.conf import settings

from surveys.operations.processes.stack import free_port

NGINX = shutil.which("nginx")
CONFIGURATION = Path(settings.BASE_DIR) / "config" / "nginx.conf"
N_CLIENTS = 200
SLOW_BODY = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\nx"
SLOW_HEADERS = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-"

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not on this machine")


@contextmanager
def running(*command: str, port: int) -> Iterator[None]:
    process = subprocess.Popen(command)
    try:
        until = time.monotonic() + 30
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def configured(folder: Path, *, port: int, upstream: int) -> list[str]:
    """The front's own file with this machine's addresses, and nginx with it."""
    text = CONFIGURATION.read_text()
    assert "server web:8000 resolve;" in text
    # An address is asked of nobody, and Debian's nginx is older than `resolve`.
    text = text.replace("web:8000 resolve", f"127.0.0.1:{upstream}")
    text = text.replace("listen 8080", f"listen 127.0.0.1:{port}").replace("/tmp/", f"{folder}/")
    path = folder / "nginx.conf"
    path.write_text(text)
    return [str(NGINX), "-c", str(path), "-p", str(folder), "-g", "daemon off; user root;"]


@pytest.fixture
def front(tmp_path: Path) -> Iterator[int]:
    """The front before gunicorn as production runs it, with an application that answers at once."""
    port, upstream = free_port(), free_port()
    web = [sys.executable, "-m", "gunicorn", "wsgiref.simple_server:demo_app", "--workers=2", "--threads=4"]
    with ExitStack() as stack:
        stack.enter_context(
            running(*web, "--no-control-socket", f"--bind=127.0.0.1:{upstream}", port=upstream)
        )
        stack.enter_context(running(*configured(tmp_path, port=port, upstream=upstream), port=port))
        yield port


def test_the_configuration_is_sound(tmp_path: Path) -> None:
    checked = subprocess.run(
        [*configured(tmp_path, port=8080, upstream=8000), "-t"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("sent", [SLOW_BODY, SLOW_HEADERS], ids=["bodies", "headers"])
def test_a_front_full_of_slow_clients_answers(front: int, sent: bytes) -> None:
    with ExitStack() as stack:
        for _ in range(N_CLIENTS):
            slow = stack.enter_context(closing(socket.create_connection(("127.0.0.1", front))))
            slow.sendall(sent)
        time.sleep(1)
        for _ in range(5):
            began = time.monotonic()
            with urlopen(f"http://127.0.0.1:{front}/healthz", timeout=10) as answer:
                assert answer.status == 200
            assert time.monotonic() - began < 1


def test_what_the_application_is_told_of_a_client(front: int) -> None:
    with urlopen(f"http://127.0.0.1:{front}/", timeout=10) as answer:
        said = answer.read().decode()
    assert "HTTP_X_FORWARDED_FOR = '127.0.0.1'" in said
    assert "HTTP_X_FORWARDED_PROTO = 'http'" in said
    assert f"HTTP_HOST = '127.0.0.1:{front}'" in said


@pytest.mark.parametrize(
    ("path", "megabytes", "is_taken"),
    [
        ("/", 11, True),
        ("/hits/1/", 13, False),
        ("/import/", 13, True),
        ("/admin/marketplace/batch/add/", 13, True),
        ("/import/", 56, False),
        ("/import/pictures", 56, True),
        ("/import/pictures/", 56, False),
        ("/import/pictures", 601, False),
    ],
)
def test_large_uploads_are_taken_where_they_belong(
    front: int, path: str, megabytes: int, is_taken: bool
) -> None:
    """With 100-continue (RFC 9110, 10.1.1) the front answers by the length alone; it takes the body then."""
    length = megabytes * 2**20
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
    )
    with closing(socket.create_connection(("127.0.0.1", front), timeout=30)) as client:
        client.sendall(head.encode())
        begun = client.recv(20)
    assert begun.startswith(b"HTTP/1.1 100" if is_taken else b"HTTP/1.1 413"), begun
