"""Who hangs up in the middle of sending is no fault of ours, and half a form is none: 400 and no traceback."""

import io
import logging
from collections.abc import Iterator
from typing import Any
from wsgiref.util import setup_testing_defaults

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.http import HttpResponse

from config.wsgi import application
from surveys.models import Batch, Questionnaire
from tests.link_people import invite_one
from tests.link_study import path_of


class Reset(io.RawIOBase):
    """What a server reads from a connection that was reset."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: Any) -> int:
        raise ConnectionResetError("Connection reset by peer")


# A connection that was closed says nothing: it just ends.
STREAMS = {
    "reset": lambda: io.BufferedReader(Reset()),
    "closed": lambda: io.BytesIO(b"assignmentId=3A&comment=Go"),
}
FORM, LENGTH = "application/x-www-form-urlencoded", "5000"


@pytest.fixture(params=STREAMS.values(), ids=STREAMS)
def stream(request: pytest.FixtureRequest) -> io.BufferedIOBase:
    made: io.BufferedIOBase = request.param()
    return made


@pytest.fixture(autouse=True)
def errors(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """The errors that are logged; the list grows with them."""
    caplog.set_level(logging.ERROR)
    return caplog.handler.records


@pytest.fixture(autouse=True)
def kept_connection() -> Iterator[None]:
    """The test's connection to the database stays open, as Django's own test client sees to it."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


def answer_to_half(
    stream: io.BufferedIOBase,
    path: str,
    *,
    host: str = "testserver",
    content_type: str = FORM,
    **headers: str,
) -> HttpResponse:
    """Return what gunicorn would pass on for a request that ends before its length."""
    environ = {"REQUEST_METHOD": "POST", "PATH_INFO": path, "HTTP_HOST": host, "wsgi.input": stream}
    environ |= {"CONTENT_TYPE": content_type, "CONTENT_LENGTH": LENGTH, **headers}
    setup_testing_defaults(environ)
    answer = application(environ, lambda *_: None)
    assert isinstance(answer, HttpResponse)
    answer.close()
    return answer


@pytest.mark.django_db
@pytest.mark.parametrize("what", ["", "draft"])
def test_a_hit(
    questionnaire: Questionnaire, stream: io.BufferedIOBase, errors: list[logging.LogRecord], what: str
) -> None:
    assert answer_to_half(stream, f"/hits/{questionnaire.pk}/{what}").status_code == 400
    assert errors == []


@pytest.mark.django_db
@pytest.mark.parametrize("what", ["", "draft"])
def test_work_by_link(
    link_batch: Batch, stream: io.BufferedIOBase, errors: list[logging.LogRecord], what: str
) -> None:
    path = path_of(invite_one(link_batch)) + f"1/{what}"
    assert answer_to_half(stream, path).status_code == 400
    assert errors == []


@pytest.mark.django_db
def test_an_appeal(stream: io.BufferedIOBase, errors: list[logging.LogRecord]) -> None:
    assert answer_to_half(stream, "/appeals/").status_code == 400
    assert errors == []


@pytest.mark.django_db
@pytest.mark.parametrize("content_type", [FORM, "multipart/form-data; boundary=x"])
def test_the_marketplaces_submission(
    stream: io.BufferedIOBase, errors: list[logging.LogRecord], settings: Any, content_type: str
) -> None:
    settings.MARKETPLACE_HOST = "localhost"
    answer = answer_to_half(stream, "/mturk/externalSubmit", host="localhost", content_type=content_type)
    assert answer.status_code == 400
    assert "The connection ended before the answers had arrived." in answer.content.decode()
    assert errors == []


@pytest.mark.django_db
def test_the_marketplaces_api(
    stream: io.BufferedIOBase, errors: list[logging.LogRecord], settings: Any
) -> None:
    settings.MARKETPLACE_HOST = "localhost"
    target = {"HTTP_X_AMZ_TARGET": "MTurkRequesterServiceV20170117.GetAccountBalance"}
    api = {"host": "localhost", "content_type": "application/x-amz-json-1.1"}
    assert answer_to_half(stream, "/", **api, **target).status_code == 400
    assert errors == []
