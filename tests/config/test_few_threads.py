"""The application's few threads get whole requests, and are free again before anybody has read an answer."""

import io
import threading
from typing import Any
from wsgiref.util import FileWrapper

import pytest

from config.slow_clients import MB, FewThreads
from config.whole_bodies import insist_on_whole_bodies

Said = tuple[str, list[tuple[str, str]]]


def ask(application: Any, *, body: bytes = b"", **environ: Any) -> tuple[Said, bytes]:
    said: list[Said] = []
    asked = {
        "PATH_INFO": "/",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        "wsgi.file_wrapper": FileWrapper,
        **environ,
    }
    parts = application(asked, lambda status, headers: said.append((status, headers)))
    return said[0], b"".join(parts)


def echo(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    start_response("200 OK", [("X-Thread", threading.current_thread().name)])
    return [environ["wsgi.input"].read(), b"!"]


def test_a_request_and_its_answer_arrive_whole() -> None:
    body = b"x" * 300_000
    (status, headers), answer = ask(FewThreads(echo, threads=1), body=body)
    assert (status, headers, answer) == ("200 OK", [("X-Thread", "application_0")], body + b"!")


def test_no_more_than_its_threads_run_at_once() -> None:
    running, most, gate = [0], [0], threading.Lock()

    def count(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        with gate:
            running[0] += 1
            most[0] = max(most[0], running[0])
        threading.Event().wait(0.02)
        with gate:
            running[0] -= 1
        return echo(environ, start_response)

    application = FewThreads(count, threads=2)
    clients = [threading.Thread(target=ask, args=(application,)) for _ in range(8)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert most == [2]


def test_a_thread_is_free_before_the_answer_is_read() -> None:
    """A generator of rows has run to its end, and was closed, in the application's thread."""
    ran: list[str] = []

    def rows() -> Any:
        try:
            for _ in range(3):
                ran.append(threading.current_thread().name)
                yield b"row" * MB
        finally:
            ran.append("closed")

    def stream(environ: dict[str, Any], start_response: Any) -> Any:
        start_response("200 OK", [])
        return rows()

    answer = FewThreads(stream, threads=1)({"PATH_INFO": "/"}, lambda status, headers: None)
    assert ran == ["application_0"] * 3 + ["closed"]
    assert sum(map(len, answer)) == 9 * MB


def test_a_file_is_left_to_the_server() -> None:
    def send(environ: dict[str, Any], start_response: Any) -> Any:
        start_response("200 OK", [])
        return environ["wsgi.file_wrapper"](io.BytesIO(b"file"))

    environ = {"PATH_INFO": "/", "wsgi.file_wrapper": FileWrapper}
    assert isinstance(FewThreads(send, threads=1)(environ, lambda *_: None), FileWrapper)


def silent(*_: int) -> bytes:
    raise BlockingIOError


@pytest.mark.parametrize("is_silent", [True, False])
def test_a_body_that_broke_off_is_told_from_a_whole_one(*, is_silent: bool) -> None:
    stream = io.BytesIO(b"half")
    if is_silent:
        stream.read = silent  # type: ignore[method-assign, assignment]
    with pytest.raises(ConnectionError, match="The request broke off"):
        ask(FewThreads(insist_on_whole_bodies(echo), threads=1), CONTENT_LENGTH="8", **{"wsgi.input": stream})


def test_a_fault_of_the_application_is_the_servers_to_see() -> None:
    def fail(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        ask(FewThreads(fail, threads=1))
