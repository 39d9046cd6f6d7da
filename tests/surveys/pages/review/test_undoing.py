"""The last decision about many is taken back where nobody was told of it, and a rejection afterwards too."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.models import AuditEntry, Decision, Inclusion, Questionnaire
from surveys.pages.review.undoing import KEY
from surveys.review import analysis_use, decisions, policy_change
from surveys.review.by_hand import UNRELEASED
from tests.factories import submitted
from tests.people import client_of
from tests.surveys.pages.pages import list_url, text_of

pytestmark = pytest.mark.django_db


def bulk(client: Client, published: Questionnaire, *selected: Assignment, action: str) -> None:
    data = {
        "selected": [one.pk for one in selected],
        "action": action,
        "reason": "Because.",
        "confirm": "yes",
    }
    client.post(reverse("decide_many", args=[published.batch_id]), data)


def undo(client: Client, published: Questionnaire) -> str:
    address = reverse("undo_many", args=[published.batch_id])
    return text_of(client.post(address, {"next": list_url(published)}, follow=True))


@pytest.mark.parametrize("action", ["approve", "reject"])
def test_what_nobody_was_told_is_as_if_nobody_had_decided(assistant, published, action):
    bad, good = submitted(published, n_correct=2), submitted(published, n_correct=5)
    before = decisions.record_decision(bad, batch=published.batch)
    bulk(assistant, published, bad, good, action=action)
    assert "You " + {"approve": "approved", "reject": "rejected"}[action] + " 2. Undo" in text_of(
        assistant.get(list_url(published))
    )
    page = undo(assistant, published)
    assert "2 taken back: as if you had not decided." in page
    now = Decision.objects.get(assignment=bad)
    assert (now.verdict, now.reason, now.decided_by) == (before.verdict, before.reason, None)
    assert Decision.objects.get(assignment=good).verdict == "approve"
    assert AuditEntry.objects.filter(outcome="undo").count() == 2
    assert "Undo" not in page
    assert "There is nothing to take back any more." in undo(assistant, published)


def test_a_rejection_that_was_carried_out_is_overturned(assistant, published):
    assignment = submitted(published, n_correct=2)
    bulk(assistant, published, assignment, action="reject")
    Assignment.objects.update(status="Rejected", rejected_at=timezone.now(), feedback="Because.")
    assert "1 taken back" in undo(assistant, published)
    assert Decision.objects.get().overturned_at is not None


def test_what_is_paid_stays_paid(assistant, published):
    paid, open_one = submitted(published), submitted(published)
    bulk(assistant, published, paid, open_one, action="approve")
    Assignment.objects.filter(pk=paid.pk).update(status="Approved", approved_at=timezone.now())
    assert "You approved 2. Undo 1 of them" in text_of(assistant.get(list_url(published)))
    page = undo(assistant, published)
    assert "1 taken back" in page
    assert "1 could not be taken back." in page
    assert Decision.objects.get(assignment=paid).decided_by is not None


def test_what_is_on_its_way_to_the_marketplace_is_not_taken_back(assistant, published):
    assignment = submitted(published)
    bulk(assistant, published, assignment, action="approve")
    Call.objects.create(
        assignment=assignment,
        operation=Call.Operation.APPROVE,
        token="t",
        state=Call.State.SENT,
        endpoint="embedded",
        sent_at=timezone.now(),
    )
    assert "The marketplace is being told an earlier decision" in undo(assistant, published)
    assert Decision.objects.get().decided_by is not None


def test_only_who_decided_takes_it_back_and_only_for_a_while(assistant, published):
    assignment = submitted(published)
    bulk(assistant, published, assignment, action="reject")
    assert "Undo" not in text_of(client_of("Researcher").get(list_url(published)))
    session = assistant.session
    session[KEY] = session[KEY] | {"at": (timezone.now() - timedelta(minutes=16)).isoformat()}
    session.save()
    assert "Undo" not in text_of(assistant.get(list_url(published)))
    assert "There is nothing to take back any more." in undo(assistant, published)


def test_what_was_left_out_is_used_again_but_not_what_was_left_out_before(assistant, published, person):
    before, paid, waits = submitted(published), submitted(published), submitted(published)
    Assignment.objects.filter(pk=paid.pk).update(status="Approved", approved_at=timezone.now())
    mine = assistant.session["_auth_user_id"]
    analysis_use.exclude(before, by=User.objects.get(pk=mine), reason="First.", replace=False)
    bulk(assistant, published, before, paid, waits, action="exclude")
    assert "You left out 2. Undo What was opened by then" in text_of(assistant.get(list_url(published)))
    assert "2 taken back: as if you had not decided." in undo(assistant, published)
    kept = Inclusion.objects.values_list("assignment", "is_included")
    assert dict(kept) == {before.pk: False, paid.pk: True, waits.pk: True}
    assert "There is nothing to take back any more." in undo(assistant, published)


def test_of_a_whole_study(assistant, published):
    assignment = submitted(published)
    bulk(assistant, published, assignment, action="reject")
    slug = published.batch.survey.slug
    assert "Undo" in text_of(assistant.get(reverse("study_review", args=[slug])))
    assistant.post(reverse("undo_many_of_study", args=[slug]), {"next": "https://evil.example/"})
    assert Decision.objects.get().decided_by is None


def held(assignment: Assignment) -> tuple[str, str, bool]:
    now = Decision.objects.get(assignment=assignment)
    return now.verdict, now.reason, now.decided_by is not None


def test_what_is_held_waits_whatever_the_rules_say_until_it_is_released(assistant, published):
    good = submitted(published, n_correct=5)
    bulk(assistant, published, good, action="hold")
    assert decisions.record_decision(good, batch=published.batch).verdict == "flag"
    published.batch.rejects_automatically = not published.batch.rejects_automatically
    published.batch.save()
    policy_change.judge_again(published.batch)
    assert held(good) == ("flag", "Because.", True)
    assert "You held 1. Undo" in text_of(assistant.get(list_url(published)))
    bulk(assistant, published, good, action="release")
    assert held(good) == ("approve", "", False)
    assert list(AuditEntry.objects.order_by("pk").values_list("outcome", "reason", "actor__username")) == [
        ("flag", "Because.", "assistant"),
        ("release", "Because.", "assistant"),
    ]


def test_holding_and_releasing_are_taken_back(assistant, published):
    good = submitted(published, n_correct=5)
    bulk(assistant, published, good, action="hold")
    assert "1 taken back" in undo(assistant, published)
    assert held(good) == ("approve", "", False)
    bulk(assistant, published, good, action="hold")
    bulk(assistant, published, good, action="release")
    assert "You released 1. Undo" in text_of(assistant.get(list_url(published)))
    assert "1 taken back" in undo(assistant, published)
    assert held(good) == ("flag", UNRELEASED, True)


def test_undo_of_what_is_held_leaves_what_was_decided_of_it_since(assistant, published):
    bad, other = (submitted(published, n_correct=2) for _ in range(2))
    bulk(assistant, published, bad, other, action="hold")
    decide = reverse("decide", args=[published.batch_id, bad.pk])
    assistant.post(decide, {"action": "reject", "reason": "Guessed."})
    Assignment.objects.filter(pk=bad.pk).update(
        status="Rejected", rejected_at=timezone.now(), feedback="Guessed."
    )
    assert "1 taken back" in undo(assistant, published)
    decision = Decision.objects.get(assignment=bad)
    assert (decision.verdict, decision.overturned_at) == ("reject", None)


def test_only_what_somebody_holds_is_released(assistant, published):
    bad = submitted(published, n_correct=2)
    before = decisions.record_decision(bad, batch=published.batch)
    bulk(assistant, published, bad, action="release")
    assert "Nobody holds this assignment." in text_of(assistant.get(list_url(published)))
    assert held(bad) == (before.verdict, before.reason, False)


def test_holding_many_needs_a_reason_and_what_is_paid_is_not_held(assistant, published):
    waiting, paid = submitted(published), submitted(published)
    Assignment.objects.filter(pk=paid.pk).update(status="Approved", approved_at=timezone.now())
    address = reverse("decide_many", args=[published.batch_id])
    asked = {"action": "hold", "selected": [waiting.pk, paid.pk]}
    page = text_of(assistant.post(address, asked))
    assert ("Hold 2 assignments?" in page, "still approves by itself" in page) == (True, True)
    text = text_of(assistant.post(address, {**asked, "confirm": "yes"}, follow=True))
    assert "Give a reason" in text
    assert Decision.objects.count() == 0
    text = text_of(assistant.post(address, {**asked, "confirm": "yes", "reason": "Ask them."}, follow=True))
    assert ("1 decided. It waits" in text, "1 could not be decided" in text) == (True, True)
    assert list(Decision.objects.values_list("assignment", "verdict")) == [(waiting.pk, "flag")]
