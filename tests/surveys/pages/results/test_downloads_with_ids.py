"""Raw files with worker ids: asked for, confirmed, and on record before the first byte."""

import pytest
from django.db import DatabaseError
from django.test import Client
from django.urls import reverse

from surveys.models import AuditEntry, Batch
from tests.factories import (
    make_batch,
    make_draft,
    make_hit,
    make_item,
    make_published,
    make_questionnaire,
    make_survey,
    submitted,
)
from tests.people import client_of

pytestmark = pytest.mark.django_db
WORKER = "ASECRETWORKER"


@pytest.fixture
def batch() -> Batch:
    questionnaire = make_published(name="My study")
    submitted(questionnaire, worker=WORKER)
    submitted(questionnaire)
    return questionnaire.batch


@pytest.fixture
def researcher() -> Client:
    return client_of("Researcher")


def address(batch: Batch, layout: str = "raw") -> str:
    return reverse("batch_download_ids", args=[batch.pk, layout])


def ask(client: Client, batch: Batch, reason: str = "A bonus.", layout: str = "raw"):
    return client.post(address(batch, layout), {"reason": reason})


def test_asking_shows_what_it_means_and_sends_nothing(batch: Batch, researcher: Client) -> None:
    page = researcher.get(address(batch))
    assert (page.status_code, "audit trail" in page.text, WORKER in page.text) == (200, True, False)
    assert AuditEntry.objects.count() == 0


def test_whoever_says_why_gets_the_file_and_an_entry(batch: Batch, researcher: Client) -> None:
    answer = ask(researcher, batch)
    assert WORKER.encode() in b"".join(answer.streaming_content)
    assert answer["Content-Disposition"] == 'attachment; filename="my-study-raw.csv"'
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.outcome, entry.batch) == ("download", "raw", batch)
    assert (entry.actor.username, entry.reason) == ("researcher", "A bonus.")
    assert entry.details == {"file": "raw.csv", "rows": 2}


def test_the_entry_is_there_before_the_first_byte_and_if_no_more_are_read(
    batch: Batch, researcher: Client
) -> None:
    answer = ask(researcher, batch)
    assert AuditEntry.objects.count() == 1
    rest = iter(answer.streaming_content)
    next(rest)
    assert AuditEntry.objects.count() == 1
    list(rest)  # half read, it would end a request at any time later: whichever is then under way


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501])
def test_without_a_reason_there_is_no_file(batch: Batch, researcher: Client, reason: str) -> None:
    answer = ask(researcher, batch, reason)
    assert (answer.status_code, answer.streaming, AuditEntry.objects.count()) == (422, False, 0)


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_assistant_can_not_even_ask(batch: Batch, method: str) -> None:
    answer = getattr(client_of("Assistant"), method)(address(batch), {"reason": "Please."})
    assert (answer.status_code, AuditEntry.objects.count()) == (403, 0)


def test_nobody_gets_it_from_another_site(batch: Batch, researcher: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = researcher.cookies
    assert ask(strict, batch).status_code == 403
    assert AuditEntry.objects.count() == 0


def test_a_file_that_never_has_ids_is_404(batch: Batch, researcher: Client) -> None:
    assert [ask(researcher, batch, layout=name).status_code for name in ("tidy", "nonsense")] == [404, 404]


def test_a_draft_has_none(researcher: Client) -> None:
    assert ask(researcher, make_draft(make_survey())).status_code == 404


def test_what_cant_be_recorded_is_not_sent(batch: Batch, researcher: Client, monkeypatch) -> None:
    def fails(*args, **kwargs):
        raise DatabaseError

    monkeypatch.setattr("surveys.audit.record", fails)
    with pytest.raises(DatabaseError):
        ask(researcher, batch)


def test_a_file_that_cant_be_made_is_none_to_record(researcher: Client) -> None:
    survey = make_survey()
    batch = make_batch(survey)
    item = make_item(survey, systems=("one", "other"))
    submitted(make_questionnaire(batch, items=[item], hit=make_hit()), n_correct=1)
    answer = ask(researcher, batch)
    assert (answer.status_code, answer.url) == (302, batch.get_absolute_url())
    assert AuditEntry.objects.count() == 0
