"""What is sent: nobody we don't know fills the disk with it, and nobody takes for ever."""

import errno
import io
import socket
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from config import bodies
from config.bodies import BLOCK, FORM, MB, Bodies, Budget, Deadlines, is_signed_in, largest_body
from config.slow_clients import FewThreads
from tests.people import client_of
from tests.surveys.api.asking import person_of, token_of

ARCHIVES = "/import/pictures"


def said_of(
    stream: Any,
    *,
    length: int,
    path: str = "/",
    signed_in: bool = False,
    budget: int = 100 * MB,
    connection: socket.socket | None = None,
) -> str:
    """The status that a request with this body gets from a server whose application answers 200 to whole ones."""

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK" if len(environ["wsgi.input"].read()) == length else "200 Short", [])
        return []

    kept = Bodies(is_signed_in=lambda environ: signed_in, forms=Budget(budget), uploads=Budget(budget))
    environ = {
        "PATH_INFO": path,
        "CONTENT_LENGTH": str(length),
        "wsgi.input": stream,
        "gunicorn.socket": connection,
    }
    said: list[str] = []
    list(
        FewThreads(application, threads=1, bodies=kept)(environ, lambda status, headers: said.append(status))
    )
    return said[0]


class Unread(io.BytesIO):
    """A body that must not be waited for."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("read")


@pytest.mark.parametrize(
    ("path", "megabytes"),
    [
        ("/", 12),
        ("/hits/1/", 12),
        ("/import/", 19),
        ("/samples/", 19),
        ("/api/v1/studies/rain/items", 19),
        ("/admin/marketplace/x/", 19),
        (ARCHIVES, 32),
    ],
)
def test_uploads_are_taken_where_they_belong(settings: Settings, path: str, megabytes: int) -> None:
    settings.UPLOAD_MAX_BYTES, settings.IMAGE_ARCHIVE_MAX_BYTES = 7 * MB, 20 * MB
    assert largest_body(path) == megabytes * MB


def test_what_is_too_large_is_not_waited_for() -> None:
    assert said_of(Unread(), length=largest_body("/") + 1, signed_in=True) == "413 Content Too Large"


@pytest.mark.parametrize("path", ["/", "/import/", ARCHIVES])
def test_of_a_stranger_nothing_larger_than_a_form_is_taken(path: str) -> None:
    assert said_of(Unread(), length=FORM + 1, path=path) == "413 Content Too Large"
    assert said_of(io.BytesIO(b"x" * FORM), length=FORM, path=path) == "200 OK"
    assert said_of(io.BytesIO(b"x" * (FORM + 1)), length=FORM + 1, path=path, signed_in=True) == "200 OK"


def test_a_form_is_larger_than_what_is_read_of_one(settings: Settings) -> None:
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE < FORM


def test_beyond_the_budget_nothing_is_taken_but_what_needs_no_disk() -> None:
    assert (
        said_of(io.BytesIO(b"x" * (BLOCK + 1)), length=BLOCK + 1, budget=BLOCK) == "503 Service Unavailable"
    )
    assert said_of(io.BytesIO(b"x" * BLOCK), length=BLOCK, budget=0) == "200 OK"


def test_what_was_taken_is_given_back_however_the_request_ends() -> None:
    budget = Budget(2 * BLOCK)
    kept = Bodies(is_signed_in=lambda environ: False, forms=budget, uploads=budget)

    def fail(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        assert not budget.take(1)
        raise RuntimeError("broken")

    for _ in range(2):
        environ = {"CONTENT_LENGTH": str(2 * BLOCK), "wsgi.input": io.BytesIO(b"x" * 2 * BLOCK)}
        with pytest.raises(RuntimeError, match="broken"):
            FewThreads(fail, threads=1, bodies=kept)(environ, lambda *_: None)
    assert budget.take(2 * BLOCK)


def test_what_was_only_announced_takes_nothing_of_the_budget() -> None:
    """Else a few connections that send nothing would keep everybody's forms out."""
    assert said_of(io.BytesIO(b"x" * BLOCK), length=FORM, budget=BLOCK) == "200 Short"


def test_a_full_disk_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []

    def spool(size: int) -> Any:
        opened.append(Path("/dev/full").open("r+b"))  # noqa: SIM115 (closed by what is tested)
        return opened[0]

    monkeypatch.setattr(bodies, "SpooledTemporaryFile", spool)
    assert said_of(io.BytesIO(b"x" * MB), length=MB) == "503 Service Unavailable"
    assert opened[0].closed


def test_another_fault_of_the_disk_is_the_servers_to_see(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.BytesIO):
        def write(self, *_: Any) -> int:
            raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(bodies, "SpooledTemporaryFile", lambda size: Broken())
    with pytest.raises(OSError, match="broken"):
        said_of(io.BytesIO(b"x" * MB), length=MB)


@pytest.mark.parametrize("n_drips", [0, 50])
def test_a_body_has_its_time(monkeypatch: pytest.MonkeyPatch, n_drips: int) -> None:
    """Also of a sender who is never silent: a read ends with its buffer full, not with every byte."""
    monkeypatch.setattr(bodies, "seconds_for", lambda length: 0.3)
    monkeypatch.setattr(bodies, "TICK", 0.05)
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs), ours.makefile("rb") as stream:
        theirs.sendall(b"x" * (n_drips + 1))
        began = time.monotonic()
        assert said_of(stream, length=1000, connection=ours) == "408 Request Timeout"
        assert time.monotonic() - began < 5


def test_a_connection_in_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "TICK", 0.01)
    ours, theirs = socket.socketpair()
    deadlines = Deadlines()
    with closing(ours), closing(theirs):
        with deadlines.within(60, ours):
            time.sleep(0.1)
            theirs.sendall(b"x")
            assert ours.recv(1) == b"x"
        with deadlines.within(0, theirs):  # also nobody else's
            time.sleep(0.1)
        theirs.sendall(b"y")
        assert ours.recv(1) == b"y"


@pytest.mark.parametrize(("megabytes", "seconds"), [(0, 60), (3, 84), (512, 4156)])
def test_who_sends_a_megabit_a_second_is_in_time(megabytes: int, seconds: int) -> None:
    assert bodies.seconds_for(megabytes * MB) == seconds


@pytest.mark.django_db
def test_who_is_signed_in_is_known_by_a_session_that_is_somebodys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "close_old_connections", lambda: None)  # as Django's own test client does

    def asked_by(client: Client) -> bool:
        cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
        return is_signed_in({"HTTP_COOKIE": cookies})

    stranger, guesser = Client(), Client()
    guesser.cookies["sessionid"] = "0123456789abcdefghijklmnopqrstuv"
    visitor = Client()
    session = visitor.session
    session["marketplace_worker"] = 1
    session.save()
    visitor.cookies["sessionid"] = session.session_key or ""
    asked = [asked_by(client) for client in (client_of("Researcher"), stranger, guesser, visitor)]
    assert asked == [True, False, False, False]
    assert not is_signed_in({})


@pytest.mark.django_db
def test_at_the_api_a_token_is_wanted_and_no_session_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "close_old_connections", lambda: None)
    token = token_of(person_of("Researcher"))

    def asked(path: str, header: str) -> bool:
        return is_signed_in({"PATH_INFO": path, "HTTP_AUTHORIZATION": header})

    path = "/api/v1/studies/rain/items"
    assert [asked(path, header) for header in (f"Bearer {token}", "Bearer x", "Bearer", "", token)] == [
        True, False, False, False, False,
    ]  # fmt: skip
    assert not asked("/import/", f"Bearer {token}")
    session = client_of("Researcher").cookies["sessionid"].value
    assert not is_signed_in({"PATH_INFO": path, "HTTP_COOKIE": f"sessionid={session}"})
