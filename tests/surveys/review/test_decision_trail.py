"""Every change of a payment decision stands in the audit trail, beside what the rules noticed."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.models import AuditEntry, Decision, Inclusion, Questionnaire, Replacement
from surveys.protocols.policy import rule_version
from surveys.review import analysis_use, decisions, delivery, due_work
from surveys.review.errors import CannotDecide
from tests.factories import make_published, submitted
from tests.link_people import answered, make_person, take
from tests.link_people import make_batch as make_link_batch

pytestmark = pytest.mark.django_db
REASON = "You answered 2 of 5 questions correctly; at least 3 are needed."
NOTICED = [{"kind": "minimum_correct", "sentence": REASON}]
TEXT = "You answered %(n_correct)s of %(n_graded)s questions correctly; at least %(minimum)s are needed."
FLAGS = [{**NOTICED[0], "text": TEXT, "values": {"n_correct": 2, "n_graded": 5, "minimum": 3}}]


def trail(assignment: Assignment, kind: str = "payment") -> list[tuple[Any, ...]]:
    entries = AuditEntry.objects.filter(kind=kind, assignment=assignment).order_by("pk")
    return [(e.outcome, e.actor, e.reason) for e in entries]


def details(assignment: Assignment) -> dict[str, Any]:
    return AuditEntry.objects.get(assignment=assignment).details


def rejected(questionnaire: Questionnaire, *, is_replaced: bool = False) -> Assignment:
    """Rejected by rule and on the marketplace."""
    assignment = submitted(questionnaire, n_correct=2)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    Assignment.objects.filter(pk=assignment.pk).update(status="Rejected", rejected_at=timezone.now())
    if is_replaced:
        Replacement.objects.create(
            replaces=assignment, questionnaire=questionnaire, opened_by="extend", opened_at=timezone.now()
        )
    assignment.refresh_from_db()
    return assignment


@pytest.mark.parametrize(
    ("n_correct", "rejects_automatically", "outcome"),
    [(3, True, "approve"), (2, True, "reject"), (2, False, "propose"), (3, False, "approve")],
)
def test_what_the_rule_decides(n_correct: int, rejects_automatically: bool, outcome: str) -> None:
    questionnaire = make_published(rejects_automatically=rejects_automatically)
    assignment = submitted(questionnaire, n_correct=n_correct)
    for _ in range(2):
        decision = decisions.record_decision(assignment, batch=questionnaire.batch)
    is_bad = n_correct < 3
    assert trail(assignment) == [(outcome, None, REASON if is_bad else "")]
    flags = FLAGS if is_bad else []
    version = rule_version(questionnaire.batch.review_policy)
    assert (decision.flags, decision.rule_version) == (flags, version)
    assert AuditEntry.objects.get().rule_version == version
    assert details(assignment) == {
        "flags": NOTICED if is_bad else [],
        "n_correct": n_correct,
        "n_graded": 5,
        "is_auto_approved": False,
        "rule_said": "reject" if is_bad else "approve",
    }


def test_a_person_confirms_what_was_proposed(person: User) -> None:
    questionnaire = make_published(rejects_automatically=False)
    assignment = submitted(questionnaire, n_correct=2)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    decision = decisions.reject(assignment, by=person, reason=REASON)
    assert (decision.verdict, decision.flags, decision.decided_by) == ("reject", FLAGS, person)
    assert trail(assignment) == [("propose", None, REASON), ("reject", person, REASON)]
    assert AuditEntry.objects.first().details["before"] == "propose"  # type: ignore[union-attr]


def test_a_person_decides_before_the_rule_and_is_told_what_it_would_say(person: User) -> None:
    questionnaire = make_published()
    assignment = submitted(questionnaire, n_correct=2)
    decision = decisions.approve(assignment, by=person, reason="The picture was missing.")
    assert (decision.flags, decision.n_correct, decision.n_graded) == (FLAGS, 2, 5)
    assert decision.policy == questionnaire.batch.review_policy
    assert trail(assignment) == [("approve", person, "The picture was missing.")]


def test_the_same_decision_twice_is_one_entry_and_another_one_more(person: User) -> None:
    assignment = submitted(make_published())
    for _ in range(2):
        decisions.reject(assignment, by=person, reason="Only letters.")
    decisions.reject(assignment, by=person, reason="Only one letter.")
    second = User.objects.create_user("bob")
    decisions.approve(assignment, by=second)
    assert trail(assignment) == [
        ("reject", person, "Only letters."),
        ("reject", person, "Only one letter."),
        ("approve", second, ""),
    ]


def test_what_is_refused_leaves_no_entry(person: User) -> None:
    assignment = submitted(make_published())
    for reason in ("", "x" * 1025):
        with pytest.raises(CannotDecide):
            decisions.reject(assignment, by=person, reason=reason)
    with pytest.raises(CannotDecide):
        decisions.overturn(assignment, by=person, reason="We were wrong.")
    assert trail(assignment) == []


def test_a_bonus_on_its_way_does_not_stand_in_the_way_of_a_decision(person: User) -> None:
    assignment = submitted(make_published())
    Call.objects.create(token="t", operation=Call.Operation.BONUS, assignment=assignment, state="planned")
    assert decisions.approve(assignment, by=person).verdict == "approve"


def test_an_overturned_rejection_is_one_entry_whoever_asks_again(person: User) -> None:
    assignment = rejected(make_published())
    decisions.overturn(assignment, by=person, reason=" We were wrong. ")
    decisions.overturn(assignment, by=User.objects.create_user("bob"), reason="Indeed.")
    assert trail(assignment) == [("reject", None, REASON), ("overturn", person, "We were wrong.")]


def test_nobody_replaced_it_so_the_answers_of_an_overturned_one_are_used(person: User) -> None:
    decisions.overturn(rejected(make_published()), by=person, reason="We were wrong.")
    assert Inclusion.objects.count() == 0


def test_the_answers_of_an_overturned_one_stay_out_where_they_were_replaced(person: User) -> None:
    assignment = rejected(make_published(), is_replaced=True)
    decisions.overturn(assignment, by=person, reason="We were wrong.")
    inclusion = Inclusion.objects.get()
    reason = "Its rejection was overturned after its place had been given again: We were wrong."
    assert (inclusion.is_included, inclusion.is_replaced, inclusion.reason) == (False, True, reason)
    assert trail(assignment, "inclusion") == [("exclude", person, reason)]


def test_or_are_used_too_where_somebody_says_so(person: User) -> None:
    assignment = rejected(make_published(), is_replaced=True)
    decisions.overturn(assignment, by=person, reason="We were wrong.", use_answers=True)
    assert Inclusion.objects.count() == 0


def test_what_was_left_out_before_it_was_rejected_is_used_if_somebody_says_so(person: User) -> None:
    assignment = submitted(make_published())
    analysis_use.exclude(assignment, by=person, reason="Only letters.", replace=False)
    decisions.reject(assignment, by=person, reason="Only letters.")
    Assignment.objects.update(status="Rejected", rejected_at=timezone.now())
    assignment.refresh_from_db()
    decisions.overturn(assignment, by=person, reason="We were wrong.", use_answers=True)
    assert Inclusion.objects.get().is_included is True
    assert trail(assignment, "inclusion") == [
        ("exclude", person, "Only letters."),
        ("include", person, "We were wrong."),
    ]


@pytest.mark.parametrize(("somebody_has_begun", "n_left_out"), [(False, 0), (True, 1)])
def test_by_link_a_place_is_given_again_once_somebody_has_it(
    person: User, somebody_has_begun: bool, n_left_out: int
) -> None:
    batch = make_link_batch(n_items=1)
    done = answered(take(batch, make_person()))
    decisions.reject(done, by=person, reason="Only letters.")
    delivery.carry_out(done, gateway=None)
    due_work.reopen(done.hit)
    if somebody_has_begun:
        take(batch, make_person())
    decisions.overturn(done, by=person, reason="We were wrong.")
    assert Inclusion.objects.filter(is_replaced=True).count() == n_left_out


def test_a_budget_that_does_not_cover_it_keeps_a_rejection(person: User) -> None:
    questionnaire = make_published(n_items=5, budget=Decimal("0.50"), assignments_per_hit=5)
    assignment = rejected(questionnaire)
    with pytest.raises(CannotDecide, match="of the batch's budget is left"):
        decisions.overturn(assignment, by=person, reason="We were wrong.")
    assert (Decision.objects.get().overturned_at, trail(assignment)) == (None, [("reject", None, REASON)])
    questionnaire.batch.budget = None
    questionnaire.batch.save()
    assert decisions.overturn(assignment, by=person, reason="We were wrong.").overturned_by == person


@pytest.mark.django_db(transaction=True)
def test_decisions_at_once_leave_one_trail(person: User, in_parallel: Callable[..., list[Any]]) -> None:
    questionnaire = make_published()
    assignment = submitted(questionnaire, n_correct=2)
    record = [lambda: decisions.record_decision(assignment, batch=questionnaire.batch)] * 4
    assert {type(result) for result in in_parallel(*record)} == {Decision}
    assert trail(assignment) == [("reject", None, REASON)]
    long_ago = timezone.now() - timedelta(days=1)
    Assignment.objects.update(status="Rejected", rejected_at=long_ago)
    assignment.refresh_from_db()
    in_parallel(*[lambda: decisions.overturn(assignment, by=person, reason="We were wrong.")] * 4)
    assert trail(assignment) == [("reject", None, REASON), ("overturn", person, "We were wrong.")]
