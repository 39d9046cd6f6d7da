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
from surveys.models import Batch, Decision, Inclusion, Questionnaire
from surveys.pages.review import assignments, decision_forms
from surveys.review import analysis_use
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


def test_one_is_held_with_a_reason_and_released(assistant, published):
    assignment = submitted(published)
    refused = decide(assistant, published, assignment, action="hold", reason=" ")
    assert (refused.status_code, "Give a reason: it stays in the record" in text_of(refused)) == (422, True)
    held = assistant.post(
        detail_url(published, assignment, "decide"), {"action": "hold", "reason": "Ask them."}, follow=True
    )
    assert verdict_of(assignment) == ("flag", "Ask them.", "assistant")
    page = text_of(held)
    assert ("Wait for a person , by assistant" in page, "Release" in page, "Hold it" in page) == (
        True,
        True,
        False,
    )
    text = text_of(
        assistant.post(detail_url(published, assignment, "decide"), {"action": "release"}, follow=True)
    )
    assert "Your decision is recorded. The rules decide again." in text
    assert ("Hold it" in text, Decision.objects.get().decided_by) == (True, None)


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


def test_many_are_left_out_once_that_is_confirmed_with_a_reason(
    assistant, published, django_capture_on_commit_callbacks
):
    waits, paid = submitted(published), make_assignment(published.hit, status="Approved")
    asked = text_of(bulk(assistant, published, waits, paid, action="exclude", confirm=""))
    assert "Leave out 2 assignments?" in asked
    assert "left out of the analysis; what is decided about their payment stays." in asked
    assert "Give a reason: it stays in the record of the study." in text_of(
        bulk(assistant, published, waits, paid, action="exclude", reason=" ")
    )
    assert Inclusion.objects.count() == 0
    with django_capture_on_commit_callbacks() as callbacks:
        page = bulk(assistant, published, waits, paid, action="exclude", reason="Only letters.")
    assert "2 decided. The results follow it at once." in text_of(page)
    kept = Inclusion.objects.order_by("pk").values_list("assignment", "is_included", "is_replaced", "reason")
    assert set(kept) == {(one.pk, False, False, "Only letters.") for one in (waits, paid)}
    assert Decision.objects.count() == 0
    assert enqueued(callbacks) == [("surveys.sync.sync_hit", (published.hit_id,))]


def test_what_is_left_out_can_be_collected_once_more_but_not_in_a_stopped_batch(assistant, published):
    once_more = (
        "Collect them once more, from somebody else: up to $0.19 in rewards, and the marketplace’s fee"
    )
    Batch.objects.update(reward=Decimal("0.19"))
    assignment = submitted(published)
    assert once_more in text_of(bulk(assistant, published, assignment, action="exclude", confirm=""))
    bulk(assistant, published, assignment, action="exclude", reason="So.", replace="on")
    assert Inclusion.objects.get().is_replaced is True
    Batch.objects.update(status="stopped")
    other = submitted(published)
    asked = text_of(bulk(assistant, published, other, action="exclude", confirm=""))
    assert "Collect them" not in asked
    page = bulk(assistant, published, other, action="exclude", reason="So.", replace="on")
    assert f"1 could not be decided. {other.worker}: The batch is stopped" in text_of(page)


def test_what_is_left_out_already_keeps_who_decided_so(assistant, published, person):
    assignment = submitted(published)
    analysis_use.exclude(assignment, by=person, reason="First.", replace=False)
    page = bulk(assistant, published, assignment, action="exclude", reason="Second.", replace="on")
    assert f"1 could not be decided. {assignment.worker}: These answers are left out already." in text_of(
        page
    )
    assert Inclusion.objects.values_list("reason", "decided_by", "is_replaced").get() == (
        "First.",
        person.pk,
        False,
    )


@pytest.mark.parametrize(
    ("action", "expected"), [("approve", {"Submitted"}), ("exclude", {"Submitted", "Approved"})]
)
def test_all_that_was_found_is_what_can_be_decided_so_on_whatever_page(
    assistant, published, monkeypatch, action, expected
):
    monkeypatch.setattr(assignments, "PER_PAGE", 1)
    worker = make_assignment(published.hit, status="Approved").worker
    for status in ("Submitted", "Accepted"):
        make_assignment(published.hit, status=status)
    shown = text_of(assistant.get(list_url(published)))
    assert "all of the 3 found that can be decided so" in shown
    page = bulk(assistant, published, action=action, everything="on", confirm="")
    assert {one.status for one in page.context["selected"]} == expected
    query = f"?worker={worker.worker_id}"
    page = bulk(assistant, published, action="exclude", everything="on", confirm="", query=query)
    assert [one.worker for one in page.context["selected"]] == [worker]


def test_no_more_are_decided_together_than_can_be_read(assistant, published, monkeypatch):
    monkeypatch.setattr(decision_forms, "MANY", 1)
    submitted(published), submitted(published)
    page = bulk(assistant, published, action="approve", everything="on", confirm="")
    assert "At most 1 are decided together: filter the list first." in text_of(page)
    assert page.redirect_chain[-1][0] == list_url(published)


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
