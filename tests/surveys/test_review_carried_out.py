"""Decisions over the wire: told to the marketplace once, changed by people, settled at the end."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.mirror import fetch
from annotators.models import Assignment, Call
from marketplace import models as marketplace
from surveys import review
from surveys.models import Batch, Decision, Replacement
from tests.market_site import Site
from tests.market_study import REASON, max_assignments, open_study, rejected_on, statuses, sync, work

pytestmark = pytest.mark.django_db
FLAG_ONLY = {"kind": "flag_only", "minimum": 3, "out_of": 5}


def test_the_rule_is_carried_out_and_each_rejection_buys_one_assignment(site: Site) -> None:
    questionnaire = open_study(site)
    for n_correct in (5, 4, 3, 2, 0):
        work(site, questionnaire, n_correct=n_correct)
    for _ in range(3):
        sync(site, questionnaire)
    assert statuses(questionnaire) == ["Approved"] * 3 + ["Rejected"] * 2
    rejected = marketplace.Assignment.objects.filter(status="Rejected").order_by("pk")
    assert [a.feedback for a in rejected] == [REASON, REASON.replace("2 of 5", "0 of 5", 1)]
    assert (max_assignments(questionnaire), Replacement.objects.count()) == (7, 2)
    assert Replacement.objects.filter(opened_at=None).count() == 0
    assert (site.wire.calls["RejectAssignment"], site.wire.calls["ApproveAssignment"]) == (2, 3)
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == 2
    assert (site.spent(), site.held()) == (3 * 46, 2 * 46)


def test_a_batch_is_complete_when_every_questionnaire_is_filled(site: Site) -> None:
    questionnaire = open_study(site)
    batch = questionnaire.batch
    for n_correct in (5, 5, 5, 5, 1):
        work(site, questionnaire, n_correct=n_correct)
    assert review.finish(batch) is False  # submitted, not decided
    sync(site, questionnaire)
    assert review.finish(batch) is False  # four kept
    work(site, questionnaire)
    sync(site, questionnaire)
    assert review.finish(batch) is True
    assert review.finish(batch) is False
    assert Batch.objects.get().status == "complete"
    assert (site.spent(), site.held()) == (5 * 46, 0)


def test_overturned_by_a_person_is_paid_and_its_replacement_stays(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    sync(site, questionnaire)
    rejected = Assignment.objects.get()
    decision = review.overturn(rejected, by=person, reason="We were wrong.")
    assert (decision.verdict, decision.reason, decision.decided_by) == (
        "reject",
        "You answered 0 of 5 questions correctly; at least 3 are needed.",
        None,
    )
    assert (decision.overturn_reason, decision.overturned_by) == ("We were wrong.", person)
    sync(site, questionnaire)
    paid = marketplace.Assignment.objects.get()
    assert (paid.status, paid.feedback) == ("Approved", "We were wrong.")
    assert (statuses(questionnaire), max_assignments(questionnaire)) == (["Approved"], 6)
    sync(site, questionnaire)
    assert (Replacement.objects.count(), site.spent()) == (1, 46)


def test_overturned_before_it_was_replaced_buys_no_replacement(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)
    review.overturn(rejected, by=person, reason="We were wrong.")
    site.wire.block.add("ApproveAssignment")
    sync(site, questionnaire)
    assert (statuses(questionnaire), Replacement.objects.count()) == (["Rejected"], 0)
    site.wire.heal()
    Call.objects.filter(state="sent").update(sent_at=timezone.now() - timedelta(hours=1))
    sync(site, questionnaire)
    assert (statuses(questionnaire), Replacement.objects.count()) == (["Approved"], 0)


def test_flagged_work_waits_until_a_person_decides(site: Site, person: User) -> None:
    questionnaire = open_study(site, review_policy=FLAG_ONLY)
    for n_correct in (1, 1):
        work(site, questionnaire, n_correct=n_correct)
    sync(site, questionnaire)
    assert statuses(questionnaire) == ["Submitted", "Submitted"]
    first, second = Assignment.objects.order_by("pk")
    review.approve(first, by=person)
    review.reject(second, by=person, reason="Only one right.")
    sync(site, questionnaire)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status, second.feedback) == ("Approved", "Rejected", "Only one right.")
    assert max_assignments(questionnaire) == 6


def test_a_person_who_is_faster_than_the_sync_is_heard(site: Site, person: User) -> None:
    """The sync has read the rule's rejection and still deals with another assignment of the HIT."""
    questionnaire = open_study(site)
    assert questionnaire.hit is not None
    work(site, questionnaire, n_correct=0)
    (assignment,) = fetch(questionnaire.hit, gateway=site.gateway)
    review.record_decision(assignment, batch=questionnaire.batch)
    (due,) = review.to_carry_out(questionnaire.hit)
    review.approve(assignment, by=person)
    review.carry_out(due, gateway=site.gateway)
    assert statuses(questionnaire) == ["Approved"]
    assert site.wire.calls["RejectAssignment"] == 0


def test_a_refused_rejection_can_be_worded_anew(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    body = b'{"__type":"ParameterValidationError","Message":"The value is not valid"}'
    site.wire.replies["RejectAssignment"] = (400, {"Content-Type": "application/x-amz-json-1.1"}, body)
    sync(site, questionnaire)
    site.wire.heal()
    sync(site, questionnaire)
    assert (statuses(questionnaire), Call.objects.get(assignment__isnull=False).state) == (
        ["Submitted"],
        "refused",
    )
    review.reject(Assignment.objects.get(), by=person, reason="In other words.")
    sync(site, questionnaire)
    assert statuses(questionnaire) == ["Rejected"]
    assert marketplace.Assignment.objects.get().feedback == "In other words."


def test_too_late_to_reject_is_recorded_as_paid(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    site.pass_time(seconds=3 * 86_400)
    sync(site, questionnaire)
    decision = Decision.objects.get()
    assert (decision.verdict, decision.reason) == (
        "approve",
        "The marketplace approved it before we decided.",
    )
    assert (statuses(questionnaire), Replacement.objects.count(), site.spent()) == (["Approved"], 0, 46)
