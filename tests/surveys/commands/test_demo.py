"""`manage.py demo` and `manage.py prepare`, as processes on data folders of their own."""

import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import psutil
import pytest
from django.conf import settings

from surveys.management.commands.demo import wanted
from surveys.operations.processes.stack import addresses, free_port

pytestmark = pytest.mark.processes

COPIES = ["assent-web", "assent-worker"]
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder: empty for the first test, then as the demo before left it."""
    return tmp_path_factory.mktemp("demo") / "data"


@pytest.fixture(scope="module")
def environment(data: Path) -> dict[str, str]:
    """The embedded default, without the services of this session."""
    forget = {"DATABASE_URL", "REDIS_URL", "ASSENT_MEDIA_DIR", "DISPLAY", "WAYLAND_DISPLAY"}
    kept = {name: value for name, value in os.environ.items() if name not in forget}
    return {**kept, "ASSENT_DATA_DIR": str(data)}


class Demo:
    """A running demo: the text it greeted with, and where it listens."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.greeting = "".join(iter(self._line, "Data and logs are in"))
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/admin/", self.greeting).group(1))

    def _line(self) -> str:
        line = self.process.stdout.readline()
        assert line, "the demo ended before it greeted"
        return "Data and logs are in" if line.startswith("Data and logs are in") else line

    def children(self) -> list[psutil.Process]:
        return sorted(psutil.Process(self.process.pid).children(), key=lambda child: child.pid)

    def get(self, path: str, *, host: str) -> int:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", path, headers={"Host": f"{host}:{self.port}"})
        return connection.getresponse().status


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.create_server(("127.0.0.1", free_port())) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def demo(environment: dict[str, str], taken: int) -> Iterator[Demo]:
    command = [*MANAGE, "demo", "--no-browser", f"--port={taken}"]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    yield Demo(process)
    process.kill()
    process.communicate()


def test_the_demo_serves_both_sites_and_leaves_nothing_behind(demo: Demo, data: Path, taken: int) -> None:
    password = (data / "researcher-password").read_text()
    assert f"name researcher, password {password}" in demo.greeting
    assert f"http://localhost:{demo.port}/" in demo.greeting
    assert f"Port {taken} is not free, so it is on port {demo.port}.\n" in demo.greeting
    assert demo.get("/admin/login/", host="127.0.0.1") == 200
    assert demo.get("/admin/login/", host="localhost") == 404
    assert demo.get("/", host="localhost") == 200
    children = demo.children()
    *copies, beat = children
    assert ("beat" in beat.cmdline(), len(copies)) == (True, len(COPIES))
    if sys.platform == "linux":  # elsewhere they are programs of their own
        assert [child.name() for child in copies] == COPIES
    demo.process.send_signal(signal.SIGINT)
    output, _ = demo.process.communicate(timeout=60)
    assert (demo.process.returncode, output.strip()) == (0, "Stopped.")
    assert psutil.wait_procs(children, timeout=5)[1] == []


@pytest.mark.django_db
@pytest.mark.parametrize("first", [0, 8000])
def test_nothing_is_said_of_a_port_that_was_free_or_nobody_asked_for(first: int) -> None:
    assert "not free" not in wanted(8000, addresses(8000), first=first, browse=False).greeting


def test_a_process_that_dies_ends_the_demo_with_its_last_words(demo: Demo, data: Path) -> None:
    children = demo.children()
    children[0].kill()
    output, _ = demo.process.communicate(timeout=60)
    assert demo.process.returncode == 1
    assert f"web ended with exit code -9. The end of {data / 'logs' / 'web'}.log:" in output
    assert psutil.wait_procs(children, timeout=5)[1] == []


def prepare(environment: dict[str, str]) -> None:
    subprocess.run([*MANAGE, "prepare", "--no-demo"], env=environment, check=True, capture_output=True)


def test_preparing_twice_keeps_the_password(environment: dict[str, str], data: Path) -> None:
    prepare(environment)
    path = data / "researcher-password"
    password = path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(password) == 16
    prepare(environment)
    assert path.read_text() == password
