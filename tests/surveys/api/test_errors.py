"""Where something breaks, or Django refuses before us, a script reads a problem and a browser a page."""

from typing import Any

import pytest
from django.test import Client
from django.views.generic import RedirectView

from surveys.models import ApiRequest, Survey
from tests.surveys.api.asking import Asking, person_of, problem, token_of
from tests.surveys.api.test_idempotency import STUDY

SECRET = "what broke, and where"


def break_down(*_: Any, **__: Any) -> None:
    raise RuntimeError(SECRET)


@pytest.mark.django_db
def test_a_fault_is_a_problem_that_tells_nothing_and_leaves_its_key_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Asking(token_of(person_of("Researcher")))
    script.client.raise_request_exception = False
    with monkeypatch.context() as broken:
        broken.setattr("surveys.api.studies.shown", break_down)
        answer = script.post("/studies", STUDY, key="k1")
    assert (problem(answer), SECRET in answer.content.decode()) == ((500, "broken"), False)
    assert answer["Cache-Control"] == "no-store"
    assert (Survey.objects.count(), ApiRequest.objects.count()) == (0, 0)
    assert script.post("/studies", STUDY, key="k1").status_code == 201


def test_a_fault_of_a_page_is_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RedirectView, "get", break_down)
    answer = Client(raise_request_exception=False).get("/")
    assert (answer.status_code, answer["Content-Type"].partition(";")[0]) == (500, "text/html")


@pytest.mark.parametrize(
    ("path", "kind"), [("/api/v1/studies", "application/problem+json"), ("/", "text/html")]
)
def test_another_host_is_no_host_of_ours(path: str, kind: str) -> None:
    answer = Client(headers={"host": "evil.example"}).get(path)
    assert (answer.status_code, answer["Content-Type"].partition(";")[0]) == (400, kind)
