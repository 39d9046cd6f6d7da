"""The batch page: its price, publishing, progress, stopping, and who may do what."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.definitions import Definition
from surveys.models import Batch, Questionnaire
from tests.factories import (
    make_assignment,
    make_batch,
    make_draft,
    make_hit,
    make_published,
    make_questionnaire,
    make_survey,
    submitted,
)
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher() -> Client:
    return client_of("Researcher")


@pytest.fixture
def assistant() -> Client:
    return client_of("Assistant")


@pytest.fixture
def paying(settings) -> None:
    settings.APP_URL = "https://assent.example"


def text_of(response) -> str:
    """The page as read: no tags, single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def url(name: str, batch: Batch) -> str:
    return reverse(name, args=[batch.pk])


def enqueued(callbacks) -> list[tuple[str, tuple]]:
    return [(callback.func.__self__.name, callback.args) for callback in callbacks]


def test_a_draft_shows_what_it_costs(researcher):
    draft = make_draft(make_survey(n_items=10), reward=Decimal("1.00"), assignments_per_hit=5)
    text = text_of(researcher.get(url("batch", draft)))
    assert "Rewards of $1.00 10 items, 2 HITs 10 $10.00" in text
    assert "MTurk's fee of 20 % 10 $2.00" in text
    assert "Together $12.00" in text
    assert (
        "Held for replacements if one assignment in ten is rejected; rejected work is not paid 1 $1.20"
        in text
    )


def test_ten_assignments_cost_the_higher_fee(researcher):
    draft = make_draft(make_survey(n_items=5), reward=Decimal("1.00"), assignments_per_hit=10)
    text = text_of(researcher.get(url("batch", draft)))
    assert "MTurk's fee of 40 % 20 % more from 10 assignments a HIT on 10 $4.00" in text


@pytest.mark.parametrize(("reward", "is_warned"), [("0.96", True), ("0.97", False)])
def test_a_wage_under_the_floor_is_said(researcher, reward, is_warned):
    draft = make_draft(make_survey(n_items=5), reward=Decimal(reward), assumed_minutes=Decimal(8))
    text = text_of(researcher.get(url("batch", draft)))
    assert ("That is less than $7.25 an hour." in text) is is_warned


def test_the_floor_can_be_set(researcher, settings):
    settings.WAGE_FLOOR = Decimal("15.00")
    draft = make_draft(make_survey(n_items=5), reward=Decimal("1.99"), assumed_minutes=Decimal(8))
    assert "That is less than $15.00 an hour." in text_of(researcher.get(url("batch", draft)))


def test_publishing_freezes_the_batch_and_enqueues_it(researcher, django_capture_on_commit_callbacks):
    draft = make_draft(make_survey(n_items=10))
    with django_capture_on_commit_callbacks() as callbacks:
        response = researcher.post(url("batch_publish", draft))
    draft.refresh_from_db()
    assert response.url == draft.get_absolute_url()
    assert draft.status == Batch.Status.PUBLISHING
    assert Definition.from_snapshot(draft.snapshot) == draft.survey.definition
    assert draft.questionnaires.count() == 2
    assert enqueued(callbacks) == [("surveys.tasks.publish_batch", (draft.pk,))]


def test_a_double_click_publishes_once(researcher, django_capture_on_commit_callbacks):
    draft = make_draft(make_survey(n_items=10))
    with django_capture_on_commit_callbacks() as callbacks:
        first = researcher.post(url("batch_publish", draft), follow=True)
        second = researcher.post(url("batch_publish", draft), follow=True)
    assert "Publishing has started." in text_of(first)
    assert "This batch is published already." in text_of(second)
    assert Questionnaire.objects.filter(batch=draft).count() == 2
    assert len(callbacks) == 1


def test_a_warning_does_not_keep_a_draft_from_being_published(researcher):
    text = text_of(researcher.get(make_draft(make_survey(n_items=6)).get_absolute_url()))
    assert "Mind: The items don&#x27;t fill the last HIT: it shows 1 of 5." in text
    assert "Publish 2 HITs" in text


def test_what_has_problems_is_not_published(researcher):
    draft = make_draft(make_survey(n_items=0))
    page = text_of(researcher.get(url("batch", draft)))
    assert "The survey has no items yet." in page
    assert "Publish 0 HITs" not in page
    researcher.post(url("batch_publish", draft))
    draft.refresh_from_db()
    assert draft.status == Batch.Status.DRAFT


@pytest.mark.parametrize("typed", ["", "the real thing", "The real thing!"])
def test_production_wants_the_name_typed(researcher, paying, typed):
    draft = make_draft(make_survey(n_items=5), name="The real thing", endpoint="production")
    response = researcher.post(url("batch_publish", draft), {"confirmation": typed})
    draft.refresh_from_db()
    assert response.status_code == 422
    assert draft.status == Batch.Status.DRAFT
    assert Questionnaire.objects.count() == 0


def test_production_is_published_with_the_name_typed(researcher, paying):
    draft = make_draft(make_survey(n_items=5), name="The real thing", endpoint="production")
    response = researcher.post(url("batch_publish", draft), {"confirmation": "The real thing"})
    draft.refresh_from_db()
    assert response.status_code == 302
    assert draft.status == Batch.Status.PUBLISHING


def test_production_says_so(researcher):
    survey = make_survey(n_items=5)
    production = make_draft(survey, endpoint="production")
    assert "Real people work here for real money." in text_of(researcher.get(url("batch", production)))
    assert "Real people" not in text_of(researcher.get(url("batch", make_draft(survey))))


@pytest.mark.parametrize("name", ["batch_publish", "batch_retry", "batch_sync"])
def test_nothing_changes_by_a_get(researcher, name):
    assert researcher.get(url(name, make_draft(make_survey()))).status_code == 405


@pytest.mark.parametrize(
    ("name", "researchers", "assistants", "nobody"),
    [
        ("batch", 200, 200, 403),
        ("batch_progress", 200, 200, 403),
        ("batch_stop", 200, 403, 403),
        ("assignments", 200, 200, 403),
    ],
)
def test_pages_need_their_permission(name, researchers, assistants, nobody):
    batch = make_published().batch
    codes = [client_of(role).get(url(name, batch)).status_code for role in ("Researcher", "Assistant", "")]
    assert codes == [researchers, assistants, nobody]


def test_an_assistant_does_not_publish(assistant):
    draft = make_draft(make_survey(n_items=5))
    assert assistant.post(url("batch_publish", draft)).status_code == 403
    assert "Publish 1 HITs" not in text_of(assistant.get(url("batch", draft)))
    draft.refresh_from_db()
    assert draft.status == Batch.Status.DRAFT


def test_strangers_are_sent_to_the_login():
    batch = make_batch(make_survey())
    response = Client().get(url("batch", batch))
    assert response.status_code == 302
    assert response.url.startswith("/admin/login/")


def test_a_batch_that_is_not_there_is_404(researcher):
    assert researcher.get("/batches/4711/").status_code == 404


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
        "n_kept": 4,
        "n_urgent": 1,
    }


def test_undecided_work_near_its_deadline_stands_out(researcher):
    questionnaire = make_published(auto_approval_delay=timedelta(hours=8))
    for hours in (1, 3):
        deadline = timezone.now() + timedelta(hours=hours)
        make_assignment(questionnaire.hit, status="Submitted", auto_approval_at=deadline)
    response = researcher.get(url("batch", questionnaire.batch))
    assert "1 undecided assignment will be approved by the marketplace within 2 hours." in text_of(response)
    assert "(1 urgent)" in text_of(response)


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
    assert (row.n_open, row.n_submitted, row.n_approved, row.n_rejected) == (0, 1, 2, 1)
    assert (len(hits), hits.paginator.count) == (30, 31)
    assert [q.position for q in researcher.get(url("batch", batch) + "?page=2").context["hits"]] == [31]


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


def queries_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        client.get(address)
    return len(captured)


def test_stopping_asks_first(researcher):
    batch = make_published().batch
    response = researcher.get(url("batch_stop", batch))
    batch.refresh_from_db()
    assert f"Stop {batch.name}?" in text_of(response)
    assert batch.status == Batch.Status.OPEN


def test_stopping_expires_the_hits_once(researcher, django_capture_on_commit_callbacks):
    batch = make_published().batch
    with django_capture_on_commit_callbacks() as callbacks:
        researcher.post(url("batch_stop", batch))
        researcher.post(url("batch_stop", batch))
    batch.refresh_from_db()
    assert batch.status == Batch.Status.STOPPED
    assert enqueued(callbacks) == [("surveys.tasks.expire_batch", (batch.pk,))]


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
    assert enqueued(callbacks) == [("surveys.tasks.publish_batch", (batch.pk,))]


def test_a_broker_that_is_down_does_not_break_the_page(researcher, monkeypatch, settings):
    def fail(*args: object) -> None:
        raise OSError("no broker")

    draft = make_draft(make_survey(n_items=5))
    monkeypatch.setattr("surveys.tasks.publish_batch.delay", fail)
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


def test_the_front_page_lists_batches_in_one_query_more(researcher, django_assert_num_queries):
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
