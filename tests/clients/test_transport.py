"""What the client does where no answer comes, half of one, or one that says: later."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from assent_client import Conflict, NotFound, TooManyRequests, Unreachable
from assent_client.transport import TRIES, Transport

Answer = Callable[[BaseHTTPRequestHandler], None]


class Server:
    """Answers each request with the next of `answers`, the last for ever; `asked` has what came."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                outer.asked.append((self.command, self.path, dict(self.headers.items()), body))
                (outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0])(self)
                self.close_connection = True

            do_GET = do_POST = do_PATCH = _answer

            def log_message(self, *_: Any) -> None: ...

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.httpd.server_port}"

    def keys(self) -> list[str | None]:
        return [
            headers.get("Idempotency-Key", headers.get("Idempotency-key")) for *_, headers, _ in self.asked
        ]


def says(status: int, body: Any = None, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        data = json.dumps(body or {}).encode()
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def refuses(status: int, kind: str, **headers: str) -> Answer:
    return says(status, {"type": f"urn:assent:problem:{kind}", "detail": "No."}, **headers)


def breaks_off(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"half": ')


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = Thread(target=server.httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.httpd.shutdown()
    server.httpd.server_close()


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    slept: list[float] = []
    monkeypatch.setattr("assent_client.transport.time.sleep", slept.append)
    return slept


@pytest.fixture
def transport(server: Server) -> Transport:
    return Transport(server.url, "assent_x", timeout=2)


def test_it_waits_as_long_as_it_is_told(server: Server, transport: Transport, slept: list[float]) -> None:
    server.answers = [refuses(429, "too-many", Retry_After="37"), says(200, {"ok": 1})]
    assert transport.get("/studies") == {"ok": 1}
    assert slept == [37.0]


def test_in_the_end_it_says_that_it_asks_too_often(
    server: Server, transport: Transport, slept: list[float]
) -> None:
    server.answers = [refuses(429, "too-many", Retry_After="9999")]
    with pytest.raises(TooManyRequests):
        transport.get("/studies")
    assert slept == [60.0] * (TRIES - 1)


def test_what_is_being_done_is_asked_after_until_it_is(
    server: Server, transport: Transport, slept: list[float]
) -> None:
    server.answers = [*[refuses(409, "key-in-use", Retry_After="2")] * 20, says(201, {"ok": 1})]
    assert transport.post("/studies", {"name": "Rain"}) == {"ok": 1}
    assert slept == [2.0] * 20
    assert len(set(server.keys())) == 1


def test_half_an_answer_is_none_and_asked_for_again(
    server: Server, transport: Transport, slept: list[float]
) -> None:
    server.answers = [breaks_off, breaks_off, says(201, {"ok": 1})]
    assert transport.post("/studies", {"name": "Rain"}) == {"ok": 1}
    [key] = set(server.keys())
    assert (len(server.asked), key is not None) == (3, True)


def test_half_answers_for_ever_are_unreachable(
    server: Server, transport: Transport, slept: list[float]
) -> None:
    server.answers = [breaks_off]
    with pytest.raises(Unreachable):
        transport.get("/studies")
    assert len(server.asked) == TRIES


def test_a_file_is_there_whole_or_not_at_all(
    server: Server, transport: Transport, slept: list[float], tmp_path: Path
) -> None:
    server.answers = [breaks_off, says(200, {"whole": 1})]
    assert transport.save("/files/tidy", tmp_path / "tidy").read_text() == '{"whole": 1}'
    server.answers = [breaks_off]
    with pytest.raises(Unreachable):
        transport.save("/files/tidy", tmp_path / "other")
    assert [one.name for one in tmp_path.iterdir()] == ["tidy"]


def test_a_folder_that_is_not_there_is_no_matter_of_the_server(
    server: Server, transport: Transport, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError):
        transport.save("/files/tidy", tmp_path / "nowhere" / "tidy")
    assert server.asked == []


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [(409, "refused", Conflict), (422, "key-reused", Conflict), (404, "not-found", NotFound)],
)  # fmt: skip
def test_a_refusal_is_final(
    server: Server, transport: Transport, status: int, kind: str, error: type[Exception]
) -> None:
    server.answers = [refuses(status, kind)]
    with pytest.raises(error):
        transport.post("/studies", {})
    assert len(server.asked) == 1


def test_a_key_of_ones_own_is_sent(server: Server, transport: Transport) -> None:
    server.answers = [says(201, {})]
    transport.post("/studies", {}, key="week-7")
    transport.upload("/items", {"a": 1}, {"items": ("é.csv", b"x")}, key="week-7")
    transport.post("/studies", {})
    transport.get("/studies")
    assert (server.keys()[:2], server.keys()[2] not in (None, "week-7"), server.keys()[3]) == (
        ["week-7"] * 2,
        True,
        None,
    )
