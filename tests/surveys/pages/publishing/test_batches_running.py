"""A published batch: its progress, its HITs, stopping it, and the list of batches."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotators.models import Assignment, Call, Worker
from surveys.answering.allocation import take
from surveys.models import AnnotationSlot, Batch, Decision
from tests.factories import (
    make_assignment,
    make_batch,
    make_draft,
    make_hit,
    make_published,
    make_questionnaire,
    make_survey,
    make_worker,
    submitted,
)
from tests.link_study import make_link_batch
from tests.surveys.pages.pages import enqueued, queries_of, text_of, url

pytestmark = pytest.mark.django_db


def test_progress_counts(researcher):
    questionnaire = make_published()
    batch, hit = questionnaire.batch, questionnaire.hit
    for status in ("Accepted", "Submitted", "Submitted", "Approved", "Rejected"):
        make_assignment(hit, status=status)
    make_assignment(hit, status="Submitted", auto_approval_at=timezone.now() + timedelta(hours=1))
    assert researcher.get(url("batch_progress", batch)).json() == {
        "status": "open",
        "error": "",
        "n_questionnaires": 1,
        "n_published": 1,
        "n_wanted": 5,
        "n_open": 1,
        "n_submitted": 3,
        "n_approved": 1,
        "n_rejected": 1,
        "n_flagged": 0,
        "n_replaced": 0,
        "n_skipped": 0,
        "n_by_link": 0,
        "n_by_panel": 0,
        "n_kept": 4,
        "n_urgent": 1,
        "n_left_out": 0,
        "n_uncounted": 0,
        "n_surplus": 0,
        "money_committed": "$1.84",
        "money_paid": "$0.46",
        "money_to_come": "$1.38",
        "money_bonuses": "$0.00",
        "money_cents": 46,
        "money_of_cents": 184,
    }


def test_undecided_work_near_its_deadline_stands_out(researcher):
    questionnaire = make_published(auto_approval_delay=timedelta(hours=8))
    for hours in (1, 3):
        deadline = timezone.now() + timedelta(hours=hours)
        make_assignment(questionnaire.hit, status="Submitted", auto_approval_at=deadline)
    response = researcher.get(url("batch", questionnaire.batch))
    assert "1 undecided assignment will be approved by the marketplace within 2 hours." in text_of(response)
    assert "(1 urgent)" in text_of(response)


def test_work_that_is_approved_but_not_told_yet_is_neither_to_decide_nor_urgent(researcher):
    questionnaire = make_published()
    for verdict in ("approve", "propose"):
        soon = timezone.now() + timedelta(minutes=10)
        waiting = make_assignment(questionnaire.hit, status="Submitted", auto_approval_at=soon)
        Decision.objects.create(assignment=waiting, verdict=verdict, reason="So.", decided_at=timezone.now())
    page = text_of(researcher.get(url("batch", questionnaire.batch)))
    assert "1 undecided assignment will be approved" in page
    assert "0 1 (1 urgent) 0 0" in page
    listed = researcher.get(url("assignments", questionnaire.batch)).content.decode()
    assert listed.count('class="urgent"') == 1


def test_hits_are_paged_with_their_counts(researcher):
    survey = make_survey(n_items=31)
    batch = make_batch(survey)
    for item in survey.items.all():
        make_questionnaire(batch, items=[item], hit=make_hit())
    first = batch.questionnaires.get(position=1)
    for status in ("Submitted", "Approved", "Approved", "Rejected"):
        make_assignment(first.hit, status=status)
    hits = researcher.get(url("batch", batch)).context["hits"]
    row = hits[0]
    assert (row.n_open, row.n_undecided, row.n_approved, row.n_rejected) == (0, 1, 2, 1)
    assert (len(hits), hits.paginator.count) == (15, 31)
    assert [q.position for q in researcher.get(url("batch", batch) + "?page=3").context["hits"]] == [31]


def test_queries_do_not_grow_with_the_batch(researcher, django_assert_num_queries):
    small, large = make_published(), make_published()
    submitted(small)
    for _ in range(4):
        submitted(large)
    for item in large.batch.survey.items.all()[:3]:
        make_questionnaire(large.batch, items=[item], hit=make_hit())
    n = queries_of(researcher, url("batch", small.batch))
    with django_assert_num_queries(n):
        researcher.get(url("batch", large.batch))


def test_stopping_asks_first(researcher):
    batch = make_published().batch
    response = researcher.get(url("batch_stop", batch))
    batch.refresh_from_db()
    assert f"Stop {batch.name}?" in text_of(response)
    assert batch.status == Batch.Status.OPEN


def test_stopping_again_expires_what_is_left(researcher, django_capture_on_commit_callbacks):
    batch = make_published().batch
    with django_capture_on_commit_callbacks() as callbacks:
        researcher.post(url("batch_stop", batch))
        researcher.post(url("batch_stop", batch))
    batch.refresh_from_db()
    assert batch.status == Batch.Status.STOPPED
    assert enqueued(callbacks) == [("surveys.sync.expire_batch", (batch.pk,))] * 2


def test_refused_hits_are_tried_again(researcher, django_capture_on_commit_callbacks):
    batch = make_published().batch
    batch.error = "Not enough money."
    batch.save()
    waiting = make_questionnaire(batch, items=list(batch.survey.items.all()), hit=None)
    call = Call.objects.create(
        token=f"create:{waiting.pk}",
        operation=Call.Operation.CREATE_HIT,
        endpoint="embedded",
        state=Call.State.REFUSED,
        finished_at=timezone.now(),
    )
    assert "Not enough money." in text_of(researcher.get(url("batch", batch)))
    with django_capture_on_commit_callbacks() as callbacks:
        researcher.post(url("batch_retry", batch))
    call.refresh_from_db()
    batch.refresh_from_db()
    assert (call.state, batch.error) == (Call.State.PLANNED, "")
    assert enqueued(callbacks) == [("surveys.sync.publish_batch", (batch.pk,))]


def test_a_broker_that_is_down_does_not_break_the_page(researcher, monkeypatch, settings):
    def fail(*args: object) -> None:
        raise OSError("no broker")

    draft = make_draft(make_survey(n_items=5))
    monkeypatch.setattr("surveys.sync.publish_batch.delay", fail)
    assert researcher.post(url("batch_publish", draft)).status_code == 302
    draft.refresh_from_db()
    assert draft.status == Batch.Status.PUBLISHING


def test_names_are_escaped(researcher):
    draft = make_draft(make_survey(n_items=5), name="<script>alert(1)</script>")
    page = researcher.get(url("batch", draft)).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_pages_run_no_inline_script_or_style(researcher):
    questionnaire = make_published()
    submitted(questionnaire)
    pages = [url("batch", questionnaire.batch), url("assignments", questionnaire.batch), "/admin/"]
    for address in pages:
        page = researcher.get(address).content.decode()
        assert re.findall(r"<script(?![^>]*\bsrc=)", page) == []
        assert re.findall(r"\s(?:on\w+|style)=", page) == []


def test_the_front_page_lists_studies_in_as_many_queries(researcher, django_assert_num_queries):
    make_published()
    n = queries_of(researcher, "/admin/")
    submitted(make_published())
    make_draft(make_survey())
    with django_assert_num_queries(n):
        text = text_of(researcher.get("/admin/"))
    assert "1 of 5 assignments" in text
    assert "1 to decide" in text


def test_the_front_page_leads_a_newcomer(researcher):
    assert "A study begins with its items" in text_of(researcher.get("/admin/"))
    assert Assignment.objects.count() == 0


def test_who_is_gone_is_not_at_work(researcher):
    questionnaire = make_published()
    batch = questionnaire.batch
    here, late, forgotten = (make_assignment(questionnaire.hit) for _ in range(3))
    long_ago = timezone.now() - batch.assignment_duration - timedelta(hours=1)
    Assignment.objects.filter(pk=late.pk).update(loaded_at=long_ago)
    Worker.objects.filter(pk=forgotten.worker_id).update(purged_at=timezone.now())
    page = researcher.get(url("batch", batch))
    assert researcher.get(url("batch_progress", batch)).json()["n_open"] == 1
    assert [one.n_open for one in page.context["hits"]] == [1]
    Worker.objects.filter(pk=here.worker_id).update(purged_at=timezone.now())
    assert researcher.get(url("batch_progress", batch)).json()["n_open"] == 0


def test_by_link_somebody_is_at_work_as_long_as_their_place_is_held(researcher):
    batch = make_link_batch()
    take(batch, worker=make_worker(), channel="link")
    assert researcher.get(url("batch_progress", batch)).json()["n_open"] == 1
    AnnotationSlot.objects.exclude(assignment=None).update(leased_until=timezone.now() - timedelta(minutes=1))
    assert researcher.get(url("batch_progress", batch)).json()["n_open"] == 0


def test_what_is_begun_is_not_called_accepted(researcher):
    questionnaire = make_published()
    make_assignment(questionnaire.hit)
    listed = text_of(researcher.get(url("assignments", questionnaire.batch)))
    assert ("Not handed in" in listed, "Accepted" in listed) == (True, False)
