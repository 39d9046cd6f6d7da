"""The embedded marketplace on a live server, reached by our gateway through a proxy that can lose answers."""

import http.client
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from annotators.crowds.mturk import gateway as gateway_module
from annotators.crowds.mturk.gateway import Gateway
from annotators.models import HIT
from marketplace import clock
from marketplace import models as marketplace
from marketplace.accounts import keys
from marketplace.api.dispatch import TIME_HEADER
from marketplace.engine import assignments, deadlines
from marketplace.money import ledger
from marketplace.questions import answer_documents

Reply = tuple[int, dict[str, str], bytes]


@dataclass
class Wire:
    """What went over the wire, and what is to go wrong.

    After the call was carried out, `lose` drops the answer and `cut` breaks it off, leaving the headers. MTurk does not
    say with an answer when it did what was asked, as the embedded marketplace does where it `tells_time`.
    """

    calls: Counter[str] = field(default_factory=Counter)
    lose: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    block: set[str] = field(default_factory=set)
    replies: dict[str, Reply] = field(default_factory=dict)
    tells_time: bool = True

    def heal(self) -> None:
        self.lose.clear()
        self.cut.clear()
        self.block.clear()
        self.replies.clear()


class Proxy(ThreadingHTTPServer):
    """Hands on what it is asked to the live server at `target`, as the wire allows.

    Its connections there last as long as those to it, and no longer than itself: each is a thread of the live
    server's, with a connection to the database, whose first statements take longest.
    """

    def __init__(self, target: str, wire: Wire) -> None:
        super().__init__(("localhost", 0), ProxyHandler)
        self.target, self.wire = urlsplit(target), wire
        self.onward: list[http.client.HTTPConnection] = []

    def server_close(self) -> None:
        super().server_close()
        for connection in self.onward:
            connection.close()


class ProxyHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else the body waits 40 ms behind the headers
    server: Proxy

    def setup(self) -> None:
        super().setup()
        target = self.server.target
        self.market = http.client.HTTPConnection(target.hostname or "", target.port, timeout=20)
        self.server.onward.append(self.market)

    def finish(self) -> None:
        self.market.close()
        super().finish()

    def do_POST(self) -> None:
        wire, operation = self.server.wire, self.headers["X-Amz-Target"].rpartition(".")[2]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        wire.calls[operation] += 1
        if operation in wire.block:
            return self.hang_up()
        status, headers, payload = wire.replies.get(operation) or self.forward(body)
        if operation in wire.lose:
            return self.hang_up()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(payload))}.items():
            self.send_header(name, value)
        self.end_headers()
        if operation in wire.cut:
            return self.hang_up()
        self.wfile.write(payload)
        return None

    def forward(self, body: bytes) -> Reply:
        self.market.request("POST", self.path, body=body, headers=dict(self.headers))
        answer = self.market.getresponse()
        told = {"Content-Type", *((TIME_HEADER,) if self.server.wire.tells_time else ())}
        headers = {name: answer.headers[name] for name in told if name in answer.headers}
        return answer.status, headers, answer.read()

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(2)

    def log_message(self, *arguments: Any) -> None:
        pass


class Site:
    """The marketplace as its workers and its requester see it."""

    def __init__(self, requester: marketplace.Requester, wire: Wire) -> None:
        self.requester = requester
        self.wire = wire
        self.gateway = Gateway("embedded")

    def worker(self) -> marketplace.Worker:
        return keys.create_worker()[0]

    def hit(self, hit: HIT) -> marketplace.HIT:
        return marketplace.HIT.objects.get(hit_id=hit.hit_id)

    def accept(self, hit: HIT, *, worker: marketplace.Worker | None = None) -> marketplace.Assignment:
        return assignments.accept(self.hit(hit), worker=worker or self.worker(), now=clock.now())

    def submit(self, accepted: marketplace.Assignment, **fields: str) -> marketplace.Assignment:
        document = answer_documents.document(fields or {"answer": "yes"})
        assignments.submit(accepted, answer=document, now=clock.now())
        accepted.refresh_from_db()
        return accepted

    def pass_time(self, *, seconds: float) -> None:
        deadlines.sweep(now=clock.advance(seconds=seconds))

    def held(self) -> int:
        """Cents on hold."""
        return ledger.balance_of(self.requester).held_cents

    def spent(self, *, of: int = 100_000) -> int:
        """Cents that are gone for good."""
        balance = ledger.balance_of(self.requester)
        return of - balance.available_cents - balance.held_cents


@pytest.fixture
def wire() -> Wire:
    return Wire()


@pytest.fixture
def no_market(settings: Any) -> None:
    """Nobody answers where the embedded marketplace should be (port 1 is tcpmux's)."""
    embedded = {**settings.MTURK_ENDPOINTS["embedded"], "endpoint_url": "http://127.0.0.1:1"}
    settings.MTURK_ENDPOINTS = {**settings.MTURK_ENDPOINTS, "embedded": embedded}


@pytest.fixture
def site(live_server: Any, settings: Any, wire: Wire) -> Iterator[Site]:
    """A requester with $1,000.00, and `Gateway("embedded")` wired to the live server."""
    settings.MARKETPLACE_HOST = "localhost"
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    settings.MARKETPLACE_ALLOW_HTTP_QUESTIONS = True
    requester = marketplace.Requester.objects.create(name="Vision Lab")
    ledger.deposit(requester, cents=100_000, now=timezone.now())
    key, secret = keys.create_key(requester)
    proxy = Proxy(live_server.url, wire)
    threading.Thread(target=proxy.serve_forever, args=(0.02,), daemon=True).start()
    url = f"http://localhost:{proxy.server_port}"
    settings.MTURK_ENDPOINTS = {
        **settings.MTURK_ENDPOINTS,
        "embedded": {
            "endpoint_url": url,
            "aws_access_key_id": key.key_id,
            "aws_secret_access_key": secret,
            "submit_origins": [url],
            "is_paying": False,
        },
    }
    gateway_module._client.cache_clear()
    yield Site(requester, wire)
    proxy.shutdown()
    proxy.server_close()


@pytest.fixture
def in_parallel() -> Callable[..., list[Any]]:
    """A function that runs functions at once, each with its own database connection, and returns their results."""

    def run(*functions: Callable[[], Any]) -> list[Any]:
        barrier = threading.Barrier(len(functions))
        results: list[Any] = [None] * len(functions)

        def work(n: int) -> None:
            from django.db import connection

            barrier.wait()
            try:
                results[n] = functions[n]()
            except Exception as error:
                results[n] = error
            finally:
                connection.close()

        threads = [threading.Thread(target=work, args=(n,)) for n in range(len(functions))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    return run


@pytest.fixture
def eager() -> Iterator[None]:
    """Run Celery tasks where they are enqueued."""
    from config.celery import app

    before = app.conf.task_always_eager, app.conf.task_eager_propagates
    app.conf.update(task_always_eager=True, task_eager_propagates=True)
    yield
    app.conf.update(task_always_eager=before[0], task_eager_propagates=before[1])
