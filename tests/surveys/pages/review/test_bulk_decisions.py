"""Decisions by people, about one assignment and about many."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission, User
from django.db.models import Q
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment
from surveys import sync
from surveys.models import Batch, Decision, Questionnaire
from tests.factories import (
    make_assignment,
    make_published,
    submitted,
)
from tests.link_people import answered as link_answered
from tests.link_people import make_batch as make_link_batch
from tests.link_people import make_person, take
from tests.people import client_of
from tests.surveys.pages.pages import (
    REASON,
    decide,
    detail_url,
    enqueued,
    list_url,
    rejected,
    text_of,
    verdict_of,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("action", ["approve", "reject"])
def test_a_person_decides(assistant, published, action, django_capture_on_commit_callbacks):
    assignment = submitted(published)
    with django_capture_on_commit_callbacks() as callbacks:
        decide(assistant, published, assignment, action=action, reason="Because.")
    assert verdict_of(assignment) == (action, "Because.", "assistant")
    assert enqueued(callbacks) == [("surveys.sync.sync_hit", (assignment.hit_id,))]


@pytest.mark.parametrize("reason", ["", "   "])
def test_a_rejection_needs_a_reason(assistant, published, reason):
    assignment = submitted(published)
    response = decide(assistant, published, assignment, action="reject", reason=reason)
    assert response.status_code == 422
    assert "Give a reason: the worker reads it." in text_of(response)
    assert Decision.objects.count() == 0


def test_a_reason_longer_than_mturk_takes_is_refused(assistant, published):
    assignment = submitted(published)
    assert decide(assistant, published, assignment, action="reject", reason="x" * 1025).status_code == 422
    assert Decision.objects.count() == 0


def test_the_reason_is_prefilled_with_the_count(assistant, published):
    bad, good = submitted(published, n_correct=2), submitted(published, n_correct=4)
    assert assistant.get(detail_url(published, bad)).context["suggested_reason"] == REASON
    assert assistant.get(detail_url(published, good)).context["suggested_reason"] == ""


def test_what_is_decided_is_not_decided_again(assistant, published):
    assignment = make_assignment(published.hit, status="Approved")
    response = assistant.post(
        detail_url(published, assignment, "decide"), {"action": "reject", "reason": "Late."}, follow=True
    )
    assert "This assignment is Approved already." in text_of(response)
    assert Decision.objects.count() == 0


def test_a_rejection_is_overturned(assistant, published, django_capture_on_commit_callbacks):
    assignment = rejected(published)
    assert "Overturn the rejection" in text_of(assistant.get(detail_url(published, assignment)))
    with django_capture_on_commit_callbacks() as callbacks:
        decide(assistant, published, assignment, action="overturn", reason="We were wrong.")
    decision = Decision.objects.get(assignment=assignment)
    assert (decision.verdict, decision.reason) == ("reject", REASON)
    assert (decision.overturn_reason, decision.overturned_by) == ("We were wrong.", User.objects.get())
    shown_then = text_of(assistant.get(detail_url(published, assignment)))
    assert f"Reject , by the batch's rule. 2 of 5 right. {REASON}" in shown_then
    assert "Overturned , by assistant. We were wrong." in shown_then
    assert enqueued(callbacks) == [("surveys.sync.sync_hit", (assignment.hit_id,))]


def test_only_a_rejection_can_be_overturned(assistant, published):
    assignment = submitted(published)
    assert "Overturn" not in text_of(assistant.get(detail_url(published, assignment)))
    decide(assistant, published, assignment, action="overturn", reason="Why not.")
    assert Decision.objects.count() == 0


def test_after_30_days_a_rejection_stands(assistant, published):
    assignment = rejected(published)
    long_ago = timezone.now() - timedelta(days=31)
    Assignment.objects.filter(pk=assignment.pk).update(accepted_at=long_ago, submitted_at=long_ago)
    assert "Overturn" not in text_of(assistant.get(detail_url(published, assignment)))
    decide(assistant, published, assignment, action="overturn", reason="Too late.")
    assert Decision.objects.get().overturned_at is None


def bulk(client: Client, published: Questionnaire, *selected: Assignment, query: str = "", **data: str):
    address = reverse("decide_many", args=[published.batch_id]) + query
    sent = {"selected": [a.pk for a in selected], "confirm": "yes", **data}
    return client.post(address, sent, follow=True)


@pytest.mark.parametrize(
    ("action", "words"), [("approve", "$0.38 in rewards"), ("reject", "not paid: $0.38")]
)
def test_many_are_decided_only_once_that_is_confirmed(assistant, published, action, words):
    Batch.objects.update(reward=Decimal("0.19"))
    selected = [submitted(published, n_correct=1), submitted(published, n_correct=2)]
    page = bulk(assistant, published, *selected, query="?status=Submitted", action=action, confirm="")
    assert (words in text_of(page), Decision.objects.count()) == (True, 0)
    form = page.content.decode().partition("<main")[2]
    sent = [int(pk) for pk in re.findall(r'name="selected" value="([0-9]+)"', form)]
    assert (
        sent,
        f'action="{reverse("decide_many", args=[published.batch_id])}?status=Submitted"' in form,
    ) == (
        [one.pk for one in selected],
        True,
    )


def test_many_are_rejected_each_with_their_own_count(
    assistant, published, django_capture_on_commit_callbacks
):
    none, two = submitted(published, n_correct=0), submitted(published, n_correct=2)
    with django_capture_on_commit_callbacks() as callbacks:
        response = bulk(assistant, published, none, two, action="reject", reason="")
    assert verdict_of(none)[:2] == ("reject", REASON.replace("2 of 5", "0 of 5"))
    assert verdict_of(two)[:2] == ("reject", REASON)
    assert "2 decided." in text_of(response)
    assert enqueued(callbacks) == [("surveys.sync.sync_hit", (two.hit_id,))]


def test_what_cant_be_decided_is_named_and_the_rest_is_done(assistant, published):
    good, bad = submitted(published, n_correct=5), submitted(published, n_correct=1)
    response = bulk(assistant, published, good, bad, action="reject")
    assert not Decision.objects.filter(assignment=good).exists()
    assert verdict_of(bad)[0] == "reject"
    assert "1 decided." in text_of(response)
    assert f"1 could not be decided. {good.worker}: A rejection needs a reason" in text_of(response)


def test_a_bulk_decision_returns_to_the_same_filter(assistant, published):
    response = bulk(assistant, published, submitted(published), query="?status=Submitted", action="approve")
    assert response.redirect_chain[-1][0] == list_url(published, "?status=Submitted")


def test_a_bulk_decision_takes_only_this_batch(assistant, published):
    elsewhere = submitted(make_published())
    bulk(assistant, published, elsewhere, action="approve")
    assert Decision.objects.count() == 0


def test_nothing_selected_is_said(assistant, published):
    assert "Select assignments first." in text_of(bulk(assistant, published, action="approve"))


def test_who_may_only_look_sees_no_buttons(published, django_user_model):
    looker = django_user_model.objects.create_user("looker", is_staff=True)
    seen = Q(codename="view_batch") | Q(codename="view_assignment", content_type__app_label="annotators")
    looker.user_permissions.set(Permission.objects.filter(seen))
    client = Client()
    client.force_login(looker)
    assignment = submitted(published)
    page = client.get(detail_url(published, assignment)).content.decode()
    assert 'name="action"' not in page
    assert 'name="selected"' not in client.get(list_url(published)).content.decode()
    assert decide(client, published, assignment, action="approve").status_code == 403
    assert bulk(client, published, assignment, action="approve").status_code == 403


def test_decisions_need_the_token_of_the_form(published):
    assistant = client_of("Assistant")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = assistant.cookies
    assignment = submitted(published)
    assert decide(strict, published, assignment, action="approve").status_code == 403
    assert Decision.objects.count() == 0


def test_what_came_by_link_is_decided_here():
    researcher = client_of("Researcher")
    batch = make_link_batch(n_items=1)
    done = link_answered(take(batch, make_person()))
    listed = text_of(researcher.get(reverse("assignments", args=[batch.pk])))
    assert f"{done.worker} by personal link" in listed
    address = reverse("decide", args=[batch.pk, done.pk])
    page = text_of(researcher.post(address, {"action": "approve"}, follow=True))
    assert "Your decision is recorded. It takes effect in a moment." in page
    sync.sync_hit(done.hit_id)
    page = text_of(researcher.get(reverse("assignment", args=[batch.pk, done.pk])))
    assert "Approved this server" in page
