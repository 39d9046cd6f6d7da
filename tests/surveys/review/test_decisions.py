from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.models import AuditEntry, Decision, Questionnaire
from surveys.review import decisions
from surveys.review.errors import CannotDecide
from tests.factories import (
    make_assignment,
    make_hit,
    make_published,
    open_for,
    submitted,
)
from tests.policy_data import FLAG_ONLY, NEVER, THREE_OF_FIVE

pytestmark = pytest.mark.django_db
REASON = "You answered 2 of 5 questions correctly; at least 3 are needed."


def decided(questionnaire: Questionnaire, assignment: Assignment) -> tuple[Any, ...]:
    decision = decisions.record_decision(assignment, batch=questionnaire.batch)
    return decision.verdict, decision.reason, decision.n_correct, decision.n_graded


def test_two_of_five_is_rejected_and_three_approved() -> None:
    questionnaire = make_published()
    assert decided(questionnaire, submitted(questionnaire, n_correct=2)) == ("reject", REASON, 2, 5)
    assert decided(questionnaire, submitted(questionnaire, n_correct=3)) == ("approve", "", 3, 5)
    rejected = Decision.objects.get(verdict="reject")
    assert rejected.policy == THREE_OF_FIVE
    assert (rejected.decided_by, rejected.overturned_at) == (None, None)


def test_never_and_flag_only() -> None:
    kind = make_published(review_policy=NEVER)
    assert decided(kind, submitted(kind, n_correct=0)) == ("approve", "", 0, 5)
    wary = make_published(review_policy=FLAG_ONLY)
    assert decided(wary, submitted(wary, n_correct=2)) == ("flag", REASON, 2, 5)
    assert decided(wary, submitted(wary, n_correct=3)) == ("approve", "", 3, 5)


def test_work_without_our_answers_waits_for_a_person() -> None:
    questionnaire = make_published()
    assert questionnaire.hit is not None
    never_seen = make_assignment(questionnaire.hit, status="Submitted")
    expected = ("flag", "We have no complete answers for this assignment.", None, None)
    assert decided(questionnaire, never_seen) == expected
    only_opened = open_for(questionnaire)
    Assignment.objects.filter(pk=only_opened.pk).update(status="Submitted", submitted_at=timezone.now())
    only_opened.refresh_from_db()
    assert decided(questionnaire, only_opened) == expected


def test_a_decision_is_recorded_once() -> None:
    questionnaire = make_published()
    assignment = submitted(questionnaire, n_correct=2)
    first = decisions.record_decision(assignment, batch=questionnaire.batch)
    questionnaire.batch.review_policy = NEVER
    again = decisions.record_decision(assignment, batch=questionnaire.batch)
    assert (again.pk, again.verdict, again.decided_at) == (first.pk, "reject", first.decided_at)


def test_several_decisions_are_recorded_as_each_by_itself() -> None:
    """In the order they are given; one that is there already is kept."""
    questionnaire = make_published()
    works = [submitted(questionnaire, n_correct=n) for n in (5, 2, 5)]
    first = decisions.record_decision(works[2], batch=questionnaire.batch)
    recorded = decisions.record_decisions(works, batch=questionnaire.batch)
    assert [(one.assignment_id, one.verdict) for one in recorded] == [
        (works[0].pk, "approve"),
        (works[1].pk, "reject"),
        (works[2].pk, "approve"),
    ]
    assert recorded[2] == first
    assert [one.pk for one in recorded[:2]] == sorted(one.pk for one in recorded[:2])
    assert list(AuditEntry.objects.order_by("pk").values_list("assignment", "outcome")) == [
        (works[2].pk, "approve"),
        (works[0].pk, "approve"),
        (works[1].pk, "reject"),
    ]


def test_what_the_marketplace_approved_by_itself_is_recorded() -> None:
    questionnaire = make_published()
    assignment = submitted(questionnaire)
    Assignment.objects.update(status="Approved", approved_at=timezone.now())
    assignment.refresh_from_db()
    expected = ("approve", "The marketplace approved it before we decided.", 5, 5)
    assert decided(questionnaire, assignment) == expected


@pytest.mark.parametrize(
    ("feedback", "reason"), [("By hand.", "By hand."), ("", "It was rejected on the marketplace, not here.")]
)
def test_what_was_rejected_elsewhere_is_recorded(feedback: str, reason: str) -> None:
    questionnaire = make_published()
    assignment = submitted(questionnaire, n_correct=5)
    Assignment.objects.update(status="Rejected", rejected_at=timezone.now(), feedback=feedback)
    assignment.refresh_from_db()
    assert decided(questionnaire, assignment) == ("reject", reason, 5, 5)


def test_a_rejection_without_a_reason_cant_be_stored() -> None:
    assignment = make_assignment(make_hit(), status="Submitted")
    with pytest.raises(IntegrityError, match="rejection_has_reason"):
        Decision.objects.create(assignment=assignment, verdict="reject", decided_at=timezone.now())


def test_a_person_approves_what_was_flagged(person: User) -> None:
    questionnaire = make_published(review_policy=FLAG_ONLY)
    assignment = submitted(questionnaire, n_correct=1)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    decision = decisions.approve(assignment, by=person, reason="Looked fine.")
    assert (decision.verdict, decision.reason, decision.decided_by) == ("approve", "Looked fine.", person)
    assert (decision.n_correct, Decision.objects.count()) == (1, 1)


def test_a_person_rejects_before_the_rule_has_decided(person: User) -> None:
    assignment = submitted(make_published())
    decision = decisions.reject(assignment, by=person, reason="  Only one letter.  ")
    assert (decision.verdict, decision.reason) == ("reject", "Only one letter.")


@pytest.mark.parametrize("reason", ["", " \n", "x" * 1025])
def test_a_rejection_needs_a_reason_of_a_length_mturk_takes(person: User, reason: str) -> None:
    assignment = submitted(make_published())
    with pytest.raises(CannotDecide):
        decisions.reject(assignment, by=person, reason=reason)
    assert Decision.objects.count() == 0


@pytest.mark.parametrize("status", ["Accepted", "Approved", "Rejected"])
def test_only_submitted_work_is_decided(person: User, status: str) -> None:
    assignment = make_assignment(make_published().hit, status=status)
    with pytest.raises(CannotDecide, match=f"^This assignment is {status} already.$"):
        decisions.approve(assignment, by=person)


@pytest.mark.parametrize("state", ["planned", "sent", "done"])
def test_a_decision_on_its_way_isnt_changed(person: User, state: str) -> None:
    assignment = submitted(make_published())
    now = timezone.now()
    Call.objects.create(
        token="t", operation="ApproveAssignment", assignment=assignment, state=state, finished_at=now
    )
    with pytest.raises(CannotDecide, match="being told an earlier decision"):
        decisions.reject(assignment, by=person, reason="No.")


def test_only_a_rejection_is_overturned_and_within_30_days(person: User) -> None:
    approved = make_assignment(make_hit(), status="Approved")
    with pytest.raises(CannotDecide, match="Only a rejected assignment"):
        decisions.overturn(approved, by=person, reason="Sorry.")
    long_ago = timezone.now() - timedelta(days=30, seconds=1)
    old = make_assignment(make_hit(), status="Rejected", accepted_at=long_ago, submitted_at=long_ago)
    with pytest.raises(CannotDecide, match="30 days"):
        decisions.overturn(old, by=person, reason="Sorry.")


@pytest.mark.parametrize(
    ("status", "age", "is_taken_back", "stands", "can"),
    [
        ("Rejected", timedelta(days=29), False, True, True),
        ("Rejected", timedelta(days=31), False, True, False),
        ("Rejected", timedelta(days=29), True, False, False),
        ("Approved", timedelta(days=29), False, False, False),
    ],
)
def test_a_rejection_stands_until_it_is_taken_back_which_is_possible_for_30_days(
    status: str, age: timedelta, is_taken_back: bool, stands: bool, can: bool
) -> None:
    then = timezone.now() - age
    assignment = make_assignment(make_hit(), status=status, accepted_at=then, submitted_at=then)
    if is_taken_back:
        now = timezone.now()
        Decision.objects.create(
            assignment=assignment,
            verdict="reject",
            reason="So.",
            decided_at=now,
            overturned_at=now,
            overturn_reason="Sorry.",
        )
    assert decisions.overturn_until(assignment) == then + timedelta(days=30)
    assert (decisions.rejection_stands(assignment), decisions.can_overturn(assignment)) == (stands, can)


def test_overturning_needs_a_reason_and_a_decision_of_ours(person: User) -> None:
    rejected = make_assignment(make_published().hit, status="Rejected")
    with pytest.raises(CannotDecide, match="Overturning a rejection needs a reason"):
        decisions.overturn(rejected, by=person, reason=" ")
    with pytest.raises(CannotDecide, match="It was rejected elsewhere"):
        decisions.overturn(rejected, by=person, reason="Sorry.")


def test_a_rejection_is_overturned_once(person: User) -> None:
    assignment = submitted(make_published(), n_correct=0)
    rejection = decisions.reject(assignment, by=person, reason="Too hasty.")
    Assignment.objects.filter(pk=assignment.pk).update(status="Rejected", rejected_at=timezone.now())
    assignment.refresh_from_db()
    overturned = decisions.overturn(assignment, by=person, reason=" We were wrong. ")
    assert (overturned.reason, overturned.decided_at) == ("Too hasty.", rejection.decided_at)
    assert (overturned.overturn_reason, overturned.overturned_by) == ("We were wrong.", person)
    second = User.objects.create(username="second")
    for status in ("Rejected", "Approved"):  # before the marketplace was told, and after
        Assignment.objects.filter(pk=assignment.pk).update(status=status, approved_at=timezone.now())
        assignment.refresh_from_db()
        again = decisions.overturn(assignment, by=second, reason="Indeed.")
        assert (again.overturn_reason, again.overturned_by) == ("We were wrong.", person)


def taken_back(person: User) -> Assignment:
    """A rejection that was overturned, and of which the marketplace knows."""
    assignment = submitted(make_published(), n_correct=0)
    decisions.reject(assignment, by=person, reason="Too hasty.")
    Assignment.objects.filter(pk=assignment.pk).update(status="Rejected", rejected_at=timezone.now())
    assignment.refresh_from_db()
    decisions.overturn(assignment, by=person, reason="We were wrong.")
    Assignment.objects.filter(pk=assignment.pk).update(status="Approved", approved_at=timezone.now())
    return assignment


def test_what_was_never_rejected_is_not_overturned_by_what_was(person: User) -> None:
    taken_back(person)
    approved = make_assignment(make_published().hit, status="Approved")
    with pytest.raises(CannotDecide):
        decisions.overturn(approved, by=person, reason="Sorry.")


def test_asking_again_sends_nobody_elses_refused_call_again(person: User) -> None:
    theirs = submitted(make_published(), n_correct=0)
    refused = Call.objects.create(
        token="overturn:theirs",
        operation=Call.Operation.OVERTURN,
        endpoint="embedded",
        assignment=theirs,
        state="refused",
        error="No.",
        finished_at=timezone.now(),
    )
    taken_back(person)
    refused.refresh_from_db()
    assert refused.state == "refused"
