"""A page shows the report that is kept, never makes one, and says how far the next one is."""

from typing import Any

import pytest
from django.urls import reverse

from surveys import sync
from surveys.models import KeptReport, Questionnaire, Survey
from surveys.results import reports
from tests.factories import make_published, submitted
from tests.people import client_of
from tests.surveys.pages.pages import text_of

pytestmark = pytest.mark.django_db
MAKING = "The report is being made."


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, reports_at_once: None) -> list[tuple[Any, ...]]:
    """What pages ask the worker for, and nobody makes."""
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr("surveys.enqueue.enqueue", lambda *given: asked.append(given))
    return asked


def rated() -> Questionnaire:
    questionnaire = make_published()
    submitted(questionnaire)
    return questionnaire


def test_the_first_look_asks_once_and_the_page_waits(sent: list[tuple[Any, ...]]) -> None:
    batch, client = rated().batch, client_of("Assistant")
    url, progress = (reverse(name, args=[batch.pk]) for name in ("batch_results", "batch_results_progress"))
    for _ in range(2):
        assert MAKING in text_of(client.get(url))
    row = KeptReport.objects.get()
    assert sent == [(sync.make_report, row.pk)]
    waiting = [{"key": f"report:{batch.pk}", "percent": 0, "error": ""}]
    assert client.get(progress).json() == {"reports": waiting}
    sync.make_report(row.pk)
    assert client.get(progress).json() == {"reports": []}
    text = text_of(client.get(url))
    assert MAKING not in text
    assert "nothing has changed since" in text
    assert "Agreement of raters" in text


def test_what_is_kept_is_shown_at_once_while_a_new_one_is_made(sent: list[tuple[Any, ...]]) -> None:
    questionnaire, client = rated(), client_of("Assistant")
    url = reverse("batch_results", args=[questionnaire.batch_id])
    client.get(url)
    sync.make_report(sent[0][1])
    submitted(questionnaire)
    text = text_of(client.get(url))
    assert "Something has changed since: a new report is being made." in text
    assert "Agreement of raters" in text
    assert len(sent) == 2


def test_no_page_reads_a_batch_itself(sent: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch) -> None:
    batch = rated().batch
    monkeypatch.setattr(reports, "read_batch", lambda batch: pytest.fail("read in a request"))
    assert client_of("Assistant").get(reverse("batch_results", args=[batch.pk])).status_code == 200


def test_a_hidden_batch_has_no_progress() -> None:
    batch = rated().batch
    Survey.objects.update(is_shared=False)
    url = reverse("batch_results_progress", args=[batch.pk])
    assert client_of("Assistant").get(url).status_code == 404
