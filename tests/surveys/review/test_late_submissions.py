"""The marketplace approves by itself what we have not decided in time: recorded as that, left out and replaced."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.crowds.mturk.mirror import fetch
from annotators.models import Assignment, Call
from surveys.models import AuditEntry, Batch, Decision, Inclusion, Questionnaire, Replacement
from surveys.protocols.policy import rule_version
from surveys.review import analysis_use, decisions, delivery, due_work
from tests.market_site import Site
from tests.market_study import max_assignments, open_study, statuses, sync_study, work

pytestmark = pytest.mark.django_db
DELAY = 3 * 86_400
LATE = "The marketplace approved it before we decided."
COUNT = "You answered 0 of 5 questions correctly; at least 3 are needed."


def trail(questionnaire: Questionnaire) -> list[tuple[Any, ...]]:
    entries = AuditEntry.objects.filter(assignment__hit__questionnaire=questionnaire).order_by("pk")
    return [(e.kind, e.outcome, e.actor, e.reason) for e in entries]


@pytest.mark.parametrize("rejects_automatically", [True, False])
def test_what_the_rule_would_reject_is_paid_left_out_and_replaced_once(
    site: Site, rejects_automatically: bool
) -> None:
    questionnaire = open_study(site, rejects_automatically=rejects_automatically)
    work(site, questionnaire, n_correct=0)
    site.pass_time(seconds=DELAY)
    for _ in range(3):
        sync_study(site, questionnaire)
    decision, inclusion = Decision.objects.get(), Inclusion.objects.get()
    reason = f"{LATE} It was to be rejected: {COUNT}"
    assert (decision.verdict, decision.is_auto_approved, decision.reason) == ("approve", True, reason)
    assert (decision.n_correct, decision.decided_by) == (0, None)
    (flag,) = decision.flags
    assert (flag["kind"], flag["sentence"]) == ("minimum_correct", COUNT)
    version = rule_version(questionnaire.batch.review_policy)
    assert (decision.rule_version, inclusion.rule_version) == (version, version)
    assert (inclusion.is_included, inclusion.is_replaced, inclusion.reason) == (False, True, reason)
    assert (inclusion.decided_by, site.spent()) == (None, 46)
    assert (statuses(questionnaire), max_assignments(questionnaire)) == (["Approved"], 6)
    assert Replacement.objects.get().opened_at is not None
    assert trail(questionnaire) == [
        ("payment", "approve", None, reason),
        ("inclusion", "exclude", None, reason),
    ]


def test_good_work_nobody_decided_about_is_used(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=4)
    site.pass_time(seconds=DELAY)
    sync_study(site, questionnaire)
    decision = Decision.objects.get()
    assert (decision.verdict, decision.is_auto_approved, decision.reason) == ("approve", True, LATE)
    assert (Inclusion.objects.count(), Replacement.objects.count()) == (0, 0)


def test_a_batch_that_replaces_none_of_these_uses_them(site: Site) -> None:
    questionnaire = open_study(site, replaces_auto_approved=False)
    work(site, questionnaire, n_correct=0)
    site.pass_time(seconds=DELAY)
    sync_study(site, questionnaire)
    assert (Decision.objects.get().is_auto_approved, Inclusion.objects.count()) == (True, 0)
    assert (Replacement.objects.count(), max_assignments(questionnaire)) == (0, 5)


def test_a_stopped_batch_leaves_it_out_and_collects_nothing(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    Batch.objects.update(status="stopped")
    site.pass_time(seconds=DELAY)
    for _ in range(2):
        sync_study(site, questionnaire)
    inclusion = Inclusion.objects.get()
    assert (inclusion.is_included, inclusion.is_replaced, Replacement.objects.count()) == (False, False, 0)


def test_a_proposed_rejection_nobody_confirmed(site: Site) -> None:
    questionnaire = open_study(site, rejects_automatically=False)
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    assert (Decision.objects.get().verdict, statuses(questionnaire)) == ("propose", ["Submitted"])
    site.pass_time(seconds=DELAY)
    for _ in range(3):
        sync_study(site, questionnaire)
    decision = Decision.objects.get()
    reason = f"{LATE} It was to be rejected: {COUNT}"
    assert (decision.verdict, decision.is_auto_approved, decision.reason) == ("approve", True, reason)
    assert (Replacement.objects.count(), max_assignments(questionnaire)) == (1, 6)
    assert trail(questionnaire) == [
        ("payment", "propose", None, COUNT),
        ("payment", "approve", None, reason),
        ("inclusion", "exclude", None, reason),
    ]


def test_a_rejection_that_comes_too_late(site: Site, person: User) -> None:
    """It is decided, and the marketplace approves before the call arrives."""
    questionnaire = open_study(site, rejects_automatically=False)
    work(site, questionnaire, n_correct=5)
    sync_study(site, questionnaire)  # approved by rule, carried out
    work(site, questionnaire, n_correct=0)
    (waiting,) = [a for a in fetch(questionnaire.hit, gateway=site.gateway) if a.status == "Submitted"]  # type: ignore[arg-type]
    decisions.record_decision(waiting, batch=questionnaire.batch)
    decisions.reject(waiting, by=person, reason="Only letters.")
    (due,) = due_work.to_carry_out(questionnaire.hit)  # type: ignore[arg-type]
    site.pass_time(seconds=DELAY)
    delivery.carry_out(due, gateway=site.gateway)
    assert Call.objects.get(operation="RejectAssignment").state == "refused"
    decision = Decision.objects.get(assignment=waiting)
    reason = f"{LATE} It was to be rejected: Only letters."
    assert (decision.verdict, decision.is_auto_approved, decision.decided_by) == ("approve", True, None)
    assert decision.reason == reason
    for _ in range(2):
        sync_study(site, questionnaire)
    assert (Replacement.objects.get().replaces, max_assignments(questionnaire)) == (waiting, 6)
    entries = AuditEntry.objects.filter(assignment=waiting).order_by("pk")
    assert [(e.kind, e.outcome, e.actor) for e in entries] == [
        ("payment", "propose", None),
        ("payment", "reject", person),
        ("payment", "approve", None),
        ("inclusion", "exclude", None),
    ]
    assert site.spent() == 2 * 46


def test_a_process_that_dies_after_the_refusal_leaves_it_to_the_next_sync(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    (assignment,) = fetch(questionnaire.hit, gateway=site.gateway)  # type: ignore[arg-type]
    decisions.record_decision(assignment, batch=questionnaire.batch)
    site.pass_time(seconds=DELAY)
    fetch(questionnaire.hit, gateway=site.gateway)  # type: ignore[arg-type]
    assert due_work.due_hits(every=timedelta(0)).filter(pk=questionnaire.hit.pk).exists()  # type: ignore[union-attr]
    sync_study(site, questionnaire)
    assert Decision.objects.get().is_auto_approved is True
    assert site.wire.calls["RejectAssignment"] == 0
    assert Replacement.objects.count() == 1


def test_what_waited_for_a_person_is_approved_and_used(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire)
    Assignment.objects.update(saved_at=None)  # we have no complete answers
    sync_study(site, questionnaire)
    assert Decision.objects.get().verdict == "flag"
    site.pass_time(seconds=DELAY)
    sync_study(site, questionnaire)
    decision = Decision.objects.get()
    reason = f"{LATE} It waited for a person: We have no complete answers for this assignment."
    assert (decision.verdict, decision.is_auto_approved, decision.reason) == ("approve", True, reason)
    assert Inclusion.objects.count() == 0


def test_what_a_person_said_about_its_use_stays(site: Site, person: User) -> None:
    questionnaire = open_study(site, rejects_automatically=False)
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    analysis_use.exclude(Assignment.objects.get(), by=person, reason="Only letters.", replace=False)
    site.pass_time(seconds=DELAY)
    sync_study(site, questionnaire)
    inclusion = Inclusion.objects.get()
    assert (inclusion.reason, inclusion.is_replaced, inclusion.decided_by) == ("Only letters.", False, person)
    assert (Decision.objects.get().is_auto_approved, Replacement.objects.count()) == (True, 0)


def test_an_overturned_rejection_is_not_taken_for_late(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    assert statuses(questionnaire) == ["Rejected"]
    decisions.overturn(Assignment.objects.get(), by=person, reason="We were wrong.")
    for _ in range(2):
        sync_study(site, questionnaire)
    decision = Decision.objects.get()
    assert (decision.verdict, decision.is_auto_approved) == ("reject", False)
    assert statuses(questionnaire) == ["Approved"]


def test_overturned_on_the_marketplace_is_not_taken_for_late(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    assignment = Assignment.objects.get()
    site.gateway.approve(assignment.assignment_id, feedback="By hand.", override_rejection=True)
    sync_study(site, questionnaire)
    assert (statuses(questionnaire), Decision.objects.get().is_auto_approved) == (["Approved"], False)
    assert Inclusion.objects.count() == 0


def test_a_complete_batch_that_was_complete_too_early_is_open_again(site: Site) -> None:
    """The sweep finishes the batch in the moment between the marketplace's approval and our noticing it."""
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire, n_correct=0)
    (assignment,) = fetch(questionnaire.hit, gateway=site.gateway)  # type: ignore[arg-type]
    decisions.record_decision(assignment, batch=questionnaire.batch)
    Assignment.objects.update(status="Approved", approved_at=timezone.now())
    assert due_work.finish(questionnaire.batch) is True
    site.pass_time(seconds=DELAY)
    sync_study(site, questionnaire)
    questionnaire.batch.refresh_from_db()
    assert (questionnaire.batch.status, max_assignments(questionnaire)) == ("open", 2)
