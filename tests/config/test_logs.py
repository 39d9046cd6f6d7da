"""What stands on a line of the log, and what never does."""

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import URLResolver, get_resolver
from kombu import Message
from kombu.simple import SimpleQueue

from config.celery import app
from config.logs import JsonFormatter, PlainFormatter, mask
from surveys import sync
from surveys.operations import log_context
from surveys.operations.processes.stack import free_port, web
from tests.builders import frame_query
from tests.factories import make_published
from tests.services_site import database_environment, supervise

APP = {"host": "127.0.0.1"}


class Lines(logging.Handler):
    """Keeps every line as it would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonFormatter())
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@pytest.fixture
def lines() -> Any:
    handler = Lines()
    loggers = [logging.getLogger(name) for name in ("assent.access", "surveys", "tests")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    yield handler.lines
    for logger, level in zip(loggers, before, strict=True):
        logger.removeHandler(handler)
        logger.setLevel(level)


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("/links/eyJh.1x:sig_-x/3/draft", "/links/***/3/draft"),
        ("Not Found: /links/eyJh/", "Not Found: /links/***/"),
        ("/shared/r4nd0m_-x/", "/shared/***/"),
        ("/links/sign-in/4/", "/links/sign-in/4/"),
        ("/panel/abc-def/?PROLIFIC_PID=5f2a&x=1 HTTP/1.1", "/panel/***/?*** HTTP/1.1"),
        ("GET /hits/7b-1/?workerId=A1&hitId=H HTTP/1.1", "GET /hits/7b-1/?*** HTTP/1.1"),
        ("https://app.example/hits/7b-1/?workerId=W", "https://app.example/hits/7b-1/?***"),
        ("/import/s3cret/", "/import/***/"),
        ("/import/pictures", "/import/pictures"),
        ("/import/pictures/s3cret/progress", "/import/pictures/***/progress"),
        ("/import/pictures-of-a-token/", "/import/***/"),
        ("http://127.0.0.1:8000/team/t0ken/account", "http://127.0.0.1:8000/team/***/account"),
        ("POST /studies/x/team/12/role", "POST /studies/x/team/12/role"),
        ("POST /studies/x/team/invite HTTP/1.1", "POST /studies/x/team/invite HTTP/1.1"),
        ("/team/invite-is-how-it-begins/", "/team/***/"),
        ("/samples/t0ken/items.csv", "/samples/***/items.csv"),
        ("/appeals/open/", "/appeals/open/"),
        ("/appeals/12/answer", "/appeals/12/answer"),
        ("/appeals/open-is-how-it-begins/", "/appeals/***/"),
        ("/invitations/t0ken", "/invitations/***"),
        ("GET /appeals/abcde-fghjk-mnpqr-stuvw/?sent", "GET /appeals/***/?***"),
        ("/appeals/", "/appeals/"),
        ("Bonus for A2XYZ01234567B refused", "Bonus for *** refused"),
        ("key AKIAIOSFODNN7EXAMPLE", "key ***"),
        ("HIT 3ABCDEFGHIJKLMNOPQRSTUVWXYZ012 waits", "HIT 3ABCDEFGHIJKLMNOPQRSTUVWXYZ012 waits"),
        (
            "violates a constraint\nDETAIL: Failing row contains (7, my answer).\n",
            "violates a constraint\nDETAIL: ***\n",
        ),
        ("/batches/3/ in ABSOLUTELY good order?", "/batches/3/ in ABSOLUTELY good order?"),
    ],
)
def test_what_is_masked_and_what_is_not(text: str, masked: str) -> None:
    assert mask(text) == masked


def routes(resolver: URLResolver, before: str = "/") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        yield from routes(pattern, route) if isinstance(pattern, URLResolver) else [route]


@pytest.mark.parametrize(("module", "n_least"), [("config.urls", 20), ("marketplace.urls", 1)])
def test_no_address_that_lets_somebody_in_is_written(module: str, n_least: int) -> None:
    """Whatever page is added: of a token, and of a code but a picture's, nothing stands in the log."""
    secret = re.compile(r"<\w+:(?:token|code)>")
    found = [one for one in routes(get_resolver(module)) if secret.search(one)]
    asked = [re.sub(r"<[^>]+>", "7", secret.sub("S3CRET", one)) for one in found]
    told = [one for one in asked if "S3CRET" in mask(f"GET {one} HTTP/1.1")]
    assert [one for one in told if not one.startswith("/pictures/")] == []
    assert len(found) >= n_least


def record(message: str, *args: object, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("surveys.x", logging.WARNING, "x.py", 1, message, args, None)
    made.__dict__.update(extra)
    return made


def test_a_line_for_people_is_masked_too() -> None:
    assert (
        PlainFormatter("%(levelname)s %(message)s").format(record("at %s", "/links/tok/"))
        == "WARNING at /links/***/"
    )


def test_a_line_is_one_object_without_what_a_record_happens_to_carry() -> None:
    text = JsonFormatter().format(record("one\ntwo %s", "\ud800", status=200, answer="yes", args_="x"))
    assert "\n" not in text
    line = json.loads(text)
    assert line.pop("time").endswith("+00:00")
    assert line == {"level": "WARNING", "logger": "surveys.x", "message": "one\ntwo \ud800", "status": 200}


def test_an_error_brings_its_trace_masked() -> None:
    try:
        raise ValueError("no /links/secret/ here")
    except ValueError:
        made = record("Failed")
        made.exc_info = sys.exc_info()
    line = json.loads(JsonFormatter().format(made))
    assert line["error"].splitlines()[-1] == "ValueError: no /links/***/ here"


@pytest.mark.parametrize("sent", ["short", "x" * 65, "has space", "new\tline-id", "кириллица", "", "a" * 7])
@pytest.mark.django_db
def test_an_id_that_is_not_sane_is_replaced(sent: str) -> None:
    answer = Client().get("/healthz", headers=APP | {"x-request-id": sent})
    assert answer["X-Request-Id"] != sent
    assert len(answer["X-Request-Id"]) == 32


@pytest.mark.django_db
def test_a_sane_id_is_kept_and_written(lines: list[dict[str, Any]]) -> None:
    answer = Client().get("/healthz", headers=APP | {"x-request-id": "proxy-0001.a_b"})
    assert answer["X-Request-Id"] == "proxy-0001.a_b"
    [line] = lines
    assert (line["request_id"], line["status"], line["path"]) == ("proxy-0001.a_b", 200, "/healthz")
    assert (line["view"], type(line["duration_ms"])) == ("healthz", int)


@pytest.mark.django_db
def test_two_requests_share_nothing(lines: list[dict[str, Any]]) -> None:
    first, second = (Client().get("/healthz", headers=APP)["X-Request-Id"] for _ in range(2))
    assert [line["request_id"] for line in lines] == [first, second]
    assert first != second
    assert log_context.facts() == {}


@pytest.mark.django_db
def test_the_page_of_a_hit_tells_assignment_hit_and_batch_and_not_who(lines: list[dict[str, Any]]) -> None:
    questionnaire = make_published()
    query = frame_query(questionnaire, worker="AWORKERNAMED1", assignment="ASSIGNED77")
    answer = Client().get(f"/hits/{questionnaire.pk}/", query, headers=APP)
    assert answer.status_code == 200
    line = lines[-1]
    [assignment] = questionnaire.hit.assignments.all()
    assert (line["assignment"], line["batch"]) == (assignment.pk, questionnaire.batch_id)
    assert (line["hit"], line["path"]) == (questionnaire.hit.hit_id, f"/hits/{questionnaire.pk}/")
    for secret in ("AWORKERNAMED1", "workerId", "ASSIGNED77", "maybe"):
        assert secret not in json.dumps(lines)


@pytest.mark.django_db
def test_a_link_is_not_written_even_where_it_is_wrong(
    lines: list[dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    Client().get("/links/WyJzZWNyZXQi/?next=1", headers=APP)
    Client().get("/panel/s3cret/?PROLIFIC_PID=5f2a", headers=APP)
    assert [line["path"] for line in lines if "path" in line] == ["/links/***/", "/panel/***/"]
    written = json.dumps(lines) + "".join(JsonFormatter().format(each) for each in caplog.records)
    for secret in ("WyJzZWNyZXQi", "s3cret", "5f2a"):
        assert secret not in written


@app.task(name="tests.say")
def say(hit_pk: int, words: str) -> None:
    logging.getLogger("tests").info("Said.")


def test_a_task_tells_its_row_and_the_request_and_no_other_argument(lines: list[dict[str, Any]]) -> None:
    token = log_context.begin(request_id="request-0001", batch=3)
    say.apply(args=[7], kwargs={"words": "my answer"})
    assert log_context.facts() == {"request_id": "request-0001", "batch": 3}
    log_context.end(token)
    [line] = lines
    assert (line["task"], line["hit_pk"], line["request_id"]) == ("tests.say", 7, "request-0001")
    assert "my answer" not in json.dumps(line)
    assert "batch" not in line


def waiting(queue: SimpleQueue) -> Iterator[Message]:
    """Take every message there is. An emptied queue does not exist any more in Redis, so it can't be counted."""
    with suppress(Empty):
        while True:
            message = queue.get_nowait()
            message.ack()
            yield message


def test_the_id_travels_with_the_message() -> None:
    token = log_context.begin(request_id="request-0002")
    try:
        sync.heartbeat.delay()
    finally:
        log_context.end(token)
    with app.connection_for_read() as broker:
        ids = {
            message.headers.get("request_id")
            for message in waiting(broker.SimpleQueue(app.conf.task_default_queue))
        }
    assert "request-0002" in ids


def test_another_format_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, LOG_FORMAT="xml")
    assert done.returncode == 1
    assert done.stderr == "LOG_FORMAT is 'xml'; it takes one of plain, json.\n"


def run(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "check"],
        env={**os.environ, "ASSENT_DATA_DIR": str(folder), **variables},
        cwd=django_settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
    )


SENT = {"Referer": "http://127.0.0.1/links/REFERRED/?a=b", "User-Agent": "Br0wser"}


def read(url: str) -> None:
    try:
        urlopen(Request(url, headers=SENT)).read()
    except HTTPError as error:
        error.read()


VISITED = ["/links/T0KEN/", "/panel/C0DE/?PROLIFIC_PID=5f2aPID", "/hits/nothing/?workerId=W0RKER", "/healthz"]


@pytest.mark.processes
@pytest.mark.parametrize("form", ["plain", "json"])
def test_gunicorn_writes_no_secret(
    transactional_db: None, collected_static: None, tmp_path: Path, form: str
) -> None:
    """A real server with its access log on, as in the container."""
    port = free_port()
    environment = {
        **database_environment(),
        "LOG_FORMAT": form,
        "GUNICORN_CMD_ARGS": "--access-logfile=-",
        "ASSENT_APP_URL": f"http://127.0.0.1:{port}",
        "ASSENT_MARKETPLACE_URL": f"http://localhost:{port}",
    }
    process = web(port=port, environment=environment, workers=1)
    with supervise([process], folder=tmp_path):
        for path in (
            "/links/T0KEN/",
            "/panel/C0DE/?PROLIFIC_PID=5f2aPID",
            "/hits/nothing/?workerId=W0RKER",
            "/healthz",
        ):
            read(f"http://127.0.0.1:{port}{path}")
    written = (tmp_path / "logs" / "web.log").read_text()
    for secret in ("T0KEN", "C0DE", "5f2aPID", "W0RKER", "REFERRED", "Br0wser"):
        assert secret not in written
    assert written.count("/links/***/") >= 1
    if form == "json":
        statuses = {
            line["path"]: line["status"] for line in map(json.loads, written.splitlines()) if "path" in line
        }
        assert (statuses["/healthz"], statuses["/hits/nothing/"]) == (200, 404)
    else:
        assert '"GET /links/***/ HTTP/1.1"' in written
