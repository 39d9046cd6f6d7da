"""The front: 200 clients send as slowly as they can, and no thread waits; and nobody chooses the address they have."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
import yaml
from django.conf import settings

from surveys.operations.processes.stack import free_port
from tests.faults.answers import soonest

NGINX = shutil.which("nginx")
CONFIGURATION = Path(settings.BASE_DIR) / "config" / "nginx.conf"
FRONT = yaml.safe_load((Path(settings.BASE_DIR) / "docker-compose.yml").read_text())["services"]["front"]
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


def configured(
    folder: Path, *, port: int, upstream: int, trusted: str = "", trust_proxy: str = ""
) -> list[str]:
    """The front's own file with this machine's addresses, and what docker-compose.yml starts with it."""
    text = CONFIGURATION.read_text()
    assert "server web:8000 resolve;" in text
    # An address is asked of nobody, and Debian's nginx is older than `resolve`.
    text = text.replace("web:8000 resolve", f"127.0.0.1:{upstream}")
    text = text.replace("listen 8080", f"listen 127.0.0.1:{port}").replace("/tmp/", f"{folder}/")
    path = folder / "nginx.conf"
    path.write_text(text)
    shell, option, script = FRONT["command"]
    assert FRONT["environment"] == {
        "TRUST_PROXY": "${TRUST_PROXY:-}",
        "FRONT_TRUSTED": "${FRONT_TRUSTED:-}",
    }
    script = (
        script.replace("$$", "$").replace("/tmp/", f"{folder}/").replace("/etc/assent/nginx.conf", str(path))
    )
    script = script.replace("daemon off;", f'daemon off; user root;" -p "{folder}')
    return ["env", f"TRUST_PROXY={trust_proxy}", f"FRONT_TRUSTED={trusted}", shell, option, script]


# An upload with the policy it is sent with, at an address that the front keeps.
AN_UPLOAD = """
def application(environ, start_response):
    start_response("200 OK", [
        ("Content-Type", "image/svg+xml"), ("Cache-Control", "public, max-age=60"), ("Content-Length", "6"),
        ("Content-Security-Policy", "default-src 'none'; sandbox allow-nothing"),
        ("X-Content-Type-Options", "nosniff"),
    ])
    return [b"<svg/>"]
"""


@pytest.fixture
def trusted() -> str:
    """FRONT_TRUSTED: no proxy."""
    return ""


@pytest.fixture
def served() -> str:
    """The application behind the front."""
    return "wsgiref.simple_server:demo_app"


@contextmanager
def standing(folder: Path, *, trusted: str, served: str) -> Iterator[int]:
    """Start the front before gunicorn as production runs it, with an application that answers at once."""
    port, upstream = free_port(), free_port()
    (folder / "upload.py").write_text(AN_UPLOAD)
    web = [sys.executable, "-m", "gunicorn", served, f"--chdir={folder}", "--workers=2", "--threads=4"]
    web += ["--graceful-timeout=5"]  # a worker that is told to stop while it starts does not hear it
    with ExitStack() as stack:
        stack.enter_context(
            running(*web, "--no-control-socket", f"--bind=127.0.0.1:{upstream}", port=upstream)
        )
        stack.enter_context(
            running(*configured(folder, port=port, upstream=upstream, trusted=trusted), port=port)
        )
        yield port


@pytest.fixture
def front(tmp_path: Path, trusted: str, served: str) -> Iterator[int]:
    """A front of the test's own, which may fill it."""
    with standing(tmp_path, trusted=trusted, served=served) as port:
        yield port


@pytest.fixture(scope="module")
def fronts() -> Iterator[tuple[ExitStack, dict[str, int]]]:
    with ExitStack() as stack:
        yield stack, {}


@pytest.fixture
def shared_front(
    fronts: tuple[ExitStack, dict[str, int]],
    tmp_path_factory: pytest.TempPathFactory,
    trusted: str,
    served: str,
) -> int:
    """A front of the file's for each FRONT_TRUSTED, for tests that ask it one thing after another."""
    stack, ports = fronts
    if trusted not in ports:
        folder = tmp_path_factory.mktemp("front")
        ports[trusted] = stack.enter_context(standing(folder, trusted=trusted, served=served))
    return ports[trusted]


def test_the_configuration_is_sound(tmp_path: Path) -> None:
    *front, script = configured(tmp_path, port=8080, upstream=8000, trusted="172.16.0.0/12 fd00::/8")
    checked = subprocess.run([*front, f"{script.rstrip()} -t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("trust_proxy", ["1", "true", "True", "yes", "ON"])
def test_a_proxy_that_only_the_application_trusts_is_no_start(tmp_path: Path, trust_proxy: str) -> None:
    """What came by https would be told as http, and redirected to https for ever."""
    command = configured(tmp_path, port=8080, upstream=8000, trust_proxy=trust_proxy)
    refused = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    assert (refused.returncode, refused.stdout) == (78, "")
    assert refused.stderr == (
        "TRUST_PROXY is set and FRONT_TRUSTED is empty. Name the proxy's networks in .env (docs/upgrading.md).\n"
    )


@pytest.mark.parametrize(
    ("trust_proxy", "trusted"), [("", ""), ("0", ""), ("no", ""), ("off", ""), ("1", "172.16.0.0/12")]
)
def test_any_other_front_starts(tmp_path: Path, trust_proxy: str, trusted: str) -> None:
    *front, script = configured(tmp_path, port=8080, upstream=8000, trusted=trusted, trust_proxy=trust_proxy)
    checked = subprocess.run([*front, f"{script.rstrip()} -t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def connected(front: int, *, address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", front), timeout=30, source_address=(address, 0))


def status_for(front: int, *, address: str, sent: bytes) -> bytes:
    with closing(connected(front, address=address)) as client:
        client.sendall(sent)
        return client.recv(12)


def test_one_address_has_no_more_than_its_share(front: int) -> None:
    asked = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(closing(connected(front, address="127.0.0.2"))).sendall(SLOW_BODY)
        time.sleep(0.5)
        said = [status_for(front, address=address, sent=asked) for address in ("127.0.0.2", "127.0.0.3")]
    assert said == [b"HTTP/1.1 503", b"HTTP/1.1 200"]


LARGE = {
    "long": b"Content-Length: 100000\r\n\r\nx",
    "of no length": b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
}


@pytest.mark.parametrize("rest", LARGE.values(), ids=LARGE)
def test_no_more_large_bodies_wait_than_have_room(front: int, rest: bytes) -> None:
    """Whoever they are of; and the answers of a HIT are none."""
    large = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + rest
    small = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50000\r\n\r\n" + b"x" * 50_000
    with ExitStack() as stack:
        for n in range(100):
            stack.enter_context(closing(connected(front, address=f"127.0.0.{2 + n % 4}"))).sendall(large)
        time.sleep(0.5)
        said = [status_for(front, address="127.0.0.9", sent=sent) for sent in (large, small)]
    assert said == [b"HTTP/1.1 503", b"HTTP/1.1 200"]


def test_an_upload_is_the_applications_before_it_is_there(shared_front: int) -> None:
    """So that it is refused, and not kept first: this application answers without reading."""
    for path in ("/import/", "/samples/", "/import/pictures"):
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10000000\r\n\r\nx"
        assert status_for(shared_front, address="127.0.0.1", sent=head.encode()) == b"HTTP/1.1 200"


@pytest.mark.parametrize("sent", [SLOW_BODY, SLOW_HEADERS], ids=["bodies", "headers"])
def test_a_front_full_of_slow_clients_answers(front: int, sent: bytes) -> None:
    with ExitStack() as stack:
        for n in range(N_CLIENTS):
            slow = stack.enter_context(closing(connected(front, address=f"127.0.0.{2 + n % 4}")))
            slow.sendall(sent)
        time.sleep(1)
        assert soonest(f"http://127.0.0.1:{front}/healthz") < 1


def told(front: int, **headers: str) -> dict[str, str]:
    """What the application is told of a client that sends these headers."""
    request = Request(
        f"http://127.0.0.1:{front}/", headers={k.replace("_", "-"): v for k, v in headers.items()}
    )
    with urlopen(request, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    found = dict(line.split(" = ", 1) for line in lines if line.startswith(("HTTP_X_FORWARDED", "HTTP_HOST")))
    return {name.removeprefix("HTTP_"): value.strip("'") for name, value in found.items()}


@pytest.mark.parametrize("trusted", ["", "10.0.0.0/8 172.16.0.0/12"])
@pytest.mark.parametrize("headers", [{}, {"X_Forwarded_For": "6.6.6.6", "X_Forwarded_Proto": "https"}])
def test_who_is_no_trusted_proxy_does_not_choose_its_address(
    shared_front: int, trusted: str, headers: dict[str, str]
) -> None:
    assert told(shared_front, **headers) == {
        "X_FORWARDED_FOR": "127.0.0.1",
        "X_FORWARDED_PROTO": "http",
        "HOST": f"127.0.0.1:{shared_front}",
    }


@pytest.mark.parametrize("trusted", ["10.0.0.0/8 127.0.0.0/8"])
def test_a_trusted_proxy_says_who_asks_and_how(shared_front: int, trusted: str) -> None:
    assert told(shared_front, X_Forwarded_For="6.6.6.6, 7.7.7.7", X_Forwarded_Proto="https") == {
        "X_FORWARDED_FOR": "6.6.6.6, 7.7.7.7",
        "X_FORWARDED_PROTO": "https",
        "HOST": f"127.0.0.1:{shared_front}",
    }
    assert told(shared_front) == {"HOST": f"127.0.0.1:{shared_front}"}


def test_the_image_knows_every_word_of_the_configuration() -> None:
    """nginx's CHANGES: `resolve` of a server in an upstream came to the open source version with 1.27.3."""
    name, _, tag = FRONT["image"].partition(":")
    version = tuple(map(int, tag.partition("-")[0].split(".")))
    assert (name, version >= (1, 27, 3)) == ("nginx", True)


@pytest.mark.parametrize(
    ("path", "megabytes", "is_taken"),
    [
        ("/", 11, True),
        ("/hits/1/", 13, False),
        ("/import/", 13, True),
        ("/samples/", 13, True),
        ("/admin/marketplace/batch/add/", 13, True),
        ("/import/", 56, False),
        ("/import/pictures", 56, True),
        ("/import/pictures/", 56, False),
        ("/import/pictures", 601, False),
    ],
)
def test_large_uploads_are_taken_where_they_belong(
    shared_front: int, path: str, megabytes: int, is_taken: bool
) -> None:
    """With 100-continue (RFC 9110, 10.1.1) the front answers by the length alone; it takes the body then."""
    length = megabytes * 2**20
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {length}\r\nExpect: 100-continue\r\n\r\n"
    )
    with closing(socket.create_connection(("127.0.0.1", shared_front), timeout=30)) as client:
        client.sendall(head.encode())
        begun = client.recv(20)
    assert begun.startswith(b"HTTP/1.1 100" if is_taken else b"HTTP/1.1 413"), begun


@pytest.mark.parametrize("served", ["upload:application"])
def test_an_upload_keeps_its_policy_also_when_the_front_has_kept_it(front: int) -> None:
    for _ in range(2):
        with urlopen(f"http://127.0.0.1:{front}/pictures/x", timeout=10) as answer:
            policies = answer.headers.get_all("Content-Security-Policy")
            assert policies == ["default-src 'none'; sandbox allow-nothing"]
            assert answer.headers.get_all("X-Content-Type-Options") == ["nosniff"]


def test_what_the_front_says_by_itself_has_a_policy(tmp_path: Path) -> None:
    port = free_port()
    alone = running(*configured(tmp_path, port=port, upstream=free_port()), port=port)
    with alone, pytest.raises(HTTPError) as refused:
        urlopen(f"http://127.0.0.1:{port}/", timeout=10)
    assert refused.value.code == 502
    assert refused.value.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert refused.value.headers["X-Content-Type-Options"] == "nosniff"
