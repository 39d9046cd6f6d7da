"""Answers that are all there, and answers that broke off, over a real socket."""

import socket
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO

import pytest
from pytest_django import Settings

from annotators.crowds.mturk.gateway import Gateway, Refused, Unreachable

OK = "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.1\r\n"
BROKEN_OFF = {
    "after the status": "HTTP/1.1 200 OK\r\n",
    "among the headers": "HTTP/1.1 200 OK\r\nContent-Type: appl",
    "before the body": f"{OK}Content-Length: 120\r\n\r\n",
    "before a body of unknown length": f"{OK}Connection: close\r\n\r\n",
    "within the body": f'{OK}Content-Length: 120\r\n\r\n{{"HIT": {{"HITId"',
    "within a body of unknown length": f'{OK}Connection: close\r\n\r\n{{"HIT": {{"HITId"',
    "within an error": 'HTTP/1.1 400 Bad Request\r\nContent-Length: 90\r\n\r\n{"__type": "Thro',
    "within an error of unknown length": 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n{"__type": "Thro',
}


def _read_request(asked: BinaryIO) -> None:
    """Read all of it: who closes a connection with something unread resets it, which is another fault."""
    headers = iter(asked.readline, b"\r\n")
    lengths = [line.split(b":")[1] for line in headers if line.lower().startswith(b"content-length:")]
    asked.read(int(lengths[0]))


@pytest.fixture
def answering(settings: Settings) -> Iterator[Callable[[str], Gateway]]:
    """A function that returns a gateway to a server which says just that and hangs up."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve(said: str) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as asked:
                _read_request(asked)
                connection.sendall(said.encode())

    def answering(said: str) -> Gateway:
        threading.Thread(target=serve, args=(said,), daemon=True).start()
        place = {"endpoint_url": f"http://127.0.0.1:{server.getsockname()[1]}"}
        keys = {"aws_access_key_id": "AKIA", "aws_secret_access_key": "secret"}
        settings.MTURK_ENDPOINTS = {**settings.MTURK_ENDPOINTS, "embedded": {**place, **keys}}
        return Gateway("embedded")

    yield answering
    server.shutdown(socket.SHUT_RDWR)  # else who waits at it may go on to wait at the next of the same number
    server.close()


@pytest.mark.parametrize("said", BROKEN_OFF.values(), ids=BROKEN_OFF)
def test_of_what_broke_off_nothing_is_known(answering: Callable[[str], Gateway], said: str) -> None:
    gateway = answering(said)
    with pytest.raises(Unreachable):
        gateway.get_hit("3HIT")
    with pytest.raises(Unreachable):
        gateway.approve("3ASSIGNMENT")


@pytest.mark.parametrize("body", ["", "{}"])
def test_what_returns_nothing_may_say_nothing(answering: Callable[[str], Gateway], body: str) -> None:
    answering(f"{OK}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}").approve("3ASSIGNMENT")


def test_what_is_sent_in_chunks_ends_by_itself(answering: Callable[[str], Gateway]) -> None:
    answering(f"{OK}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n").approve("3ASSIGNMENT")


def test_an_error_page_that_is_all_there_is_an_answer(answering: Callable[[str], Gateway]) -> None:
    page = "<h1>Not here</h1>"
    said = f"HTTP/1.1 400 Bad Request\r\nContent-Length: {len(page)}\r\nConnection: close\r\n\r\n{page}"
    with pytest.raises(Refused):
        answering(said).get_hit("3HIT")


def test_a_success_without_its_members_is_none(answering: Callable[[str], Gateway]) -> None:
    with pytest.raises(Unreachable, match="The answer to GetHIT broke off"):
        answering(f"{OK}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}").get_hit("3HIT")
