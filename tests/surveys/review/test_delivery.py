"""Decisions over the wire: told to the marketplace once, changed by people, settled at the end."""

from collections.abc import Callable
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from annotators.crowds.mturk.mirror import fetch
from annotators.models import Assignment, Call
from annotators.outbox import market
from marketplace import models as marketplace
from surveys.models import Appeal, AuditEntry, Batch, Decision, Replacement, Response
from surveys.protocols.rules import Flag, Verdict
from surveys.review import decisions, delivery, due_work, errors
from surveys.review.decisions import from_rule
from tests.link_people import answered, make_batch, make_person, take
from tests.market_site import Site
from tests.market_study import (
    REASON,
    max_assignments,
    open_study,
    reason_told,
    rejected_on,
    statuses,
    sync_study,
    work,
)
from tests.policy_data import FLAG_ONLY

pytestmark = pytest.mark.django_db


def test_the_rule_is_carried_out_and_each_rejection_buys_one_assignment(site: Site) -> None:
    questionnaire = open_study(site)
    for n_correct in (5, 4, 3, 2, 0):
        work(site, questionnaire, n_correct=n_correct)
    for _ in range(3):
        sync_study(site, questionnaire)
    assert statuses(questionnaire) == ["Approved"] * 3 + ["Rejected"] * 2
    rejected = marketplace.Assignment.objects.filter(status="Rejected").order_by("pk")
    assert [reason_told(a.feedback) for a in rejected] == [REASON, REASON.replace("2 of 5", "0 of 5", 1)]
    assert (max_assignments(questionnaire), Replacement.objects.count()) == (7, 2)
    assert Replacement.objects.filter(opened_at=None).count() == 0
    assert (site.wire.calls["RejectAssignment"], site.wire.calls["ApproveAssignment"]) == (2, 3)
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == 2
    assert (site.spent(), site.held()) == (3 * 46, 2 * 46)


def test_what_came_by_link_is_decided_here_beside_any_marketplace(site: Site) -> None:
    assignment = answered(take(make_batch(), make_person()))
    assignment.refresh_from_db()
    Decision.objects.create(assignment=assignment, verdict="approve", reason="", decided_at=timezone.now())
    assert delivery.carry_out(assignment, gateway=site.gateway) is None
    assert (Assignment.objects.get().status, Call.objects.count()) == ("Approved", 0)


MINIMUM = "You answered %(n_correct)s of %(n_graded)s questions correctly; at least %(minimum)s are needed."
RUSSIAN = "Правильных ответов: 2 из 5; нужно не меньше 3."


@pytest.mark.parametrize(
    ("language", "pages", "words"),
    [("", "", REASON), ("ru", "", RUSSIAN), ("", "ru", RUSSIAN), ("en", "ru", REASON)],
)
def test_a_rule_speaks_the_language_of_the_answers_and_a_person_theirs(
    site: Site, language: str, pages: str, words: str
) -> None:
    assignment = answered(take(make_batch(), make_person()))
    assignment.refresh_from_db()
    Batch.objects.update(page_language=pages)
    Response.objects.update(shown={"language": language} if language else {})
    flag = Flag.told("minimum_correct", MINIMUM, n_correct=2, n_graded=5, minimum=3)
    said = from_rule(Verdict("reject", flags=(flag,)), batch=assignment.hit.questionnaire.batch)
    reason = f"{flag.sentence} I looked, too."
    decision = Decision.objects.create(assignment=assignment, verdict="reject", reason=reason, **said)
    Batch.objects.update(rejects_automatically=True)
    delivery.carry_out(assignment, gateway=site.gateway)
    told = Assignment.objects.get().feedback
    assert told.startswith(f"{words} I looked, too. ")
    assert told.endswith(f"/appeals/{Appeal.objects.get().code}/.")
    decision.refresh_from_db()
    assert (flag.sentence, decision.reason) == (REASON, reason)


def test_a_batch_is_complete_when_every_questionnaire_is_filled(site: Site) -> None:
    questionnaire = open_study(site)
    batch = questionnaire.batch
    for n_correct in (5, 5, 5, 5, 1):
        work(site, questionnaire, n_correct=n_correct)
    assert due_work.finish(batch) is False  # submitted, not decided
    sync_study(site, questionnaire)
    assert due_work.finish(batch) is False  # four kept
    work(site, questionnaire)
    sync_study(site, questionnaire)
    assert due_work.finish(batch) is True
    assert due_work.finish(batch) is False
    assert Batch.objects.get().status == "complete"
    assert (site.spent(), site.held()) == (5 * 46, 0)


def test_overturned_by_a_person_is_paid_and_its_replacement_stays(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    rejected = Assignment.objects.get()
    decision = decisions.overturn(rejected, by=person, reason="We were wrong.")
    assert (decision.verdict, decision.reason, decision.decided_by) == (
        "reject",
        "You answered 0 of 5 questions correctly; at least 3 are needed.",
        None,
    )
    assert (decision.overturn_reason, decision.overturned_by) == ("We were wrong.", person)
    sync_study(site, questionnaire)
    paid = marketplace.Assignment.objects.get()
    assert (paid.status, paid.feedback) == ("Approved", "We were wrong.")
    assert (statuses(questionnaire), max_assignments(questionnaire)) == (["Approved"], 6)
    sync_study(site, questionnaire)
    assert (Replacement.objects.count(), site.spent()) == (1, 46)


def test_overturned_before_it_was_replaced_buys_no_replacement(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)
    decisions.overturn(rejected, by=person, reason="We were wrong.")
    site.wire.block.add("ApproveAssignment")
    sync_study(site, questionnaire)
    assert (statuses(questionnaire), Replacement.objects.count()) == (["Rejected"], 0)
    site.wire.heal()
    Call.objects.filter(state="sent").update(sent_at=timezone.now() - timedelta(hours=1))
    sync_study(site, questionnaire)
    assert (statuses(questionnaire), Replacement.objects.count()) == (["Approved"], 0)


def test_flagged_work_waits_until_a_person_decides(site: Site, person: User) -> None:
    questionnaire = open_study(site, review_policy=FLAG_ONLY)
    for n_correct in (1, 1):
        work(site, questionnaire, n_correct=n_correct)
    sync_study(site, questionnaire)
    assert statuses(questionnaire) == ["Submitted", "Submitted"]
    first, second = Assignment.objects.order_by("pk")
    decisions.approve(first, by=person)
    decisions.reject(second, by=person, reason="Only one right.")
    sync_study(site, questionnaire)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("Approved", "Rejected")
    assert reason_told(second.feedback) == "Only one right."
    assert max_assignments(questionnaire) == 6


def test_a_person_who_is_faster_than_the_sync_is_heard(site: Site, person: User) -> None:
    """The sync has read the rule's rejection and still deals with another assignment of the HIT."""
    questionnaire = open_study(site)
    assert questionnaire.hit is not None
    work(site, questionnaire, n_correct=0)
    (assignment,) = fetch(questionnaire.hit, gateway=site.gateway)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    (due,) = due_work.to_carry_out(questionnaire.hit)
    decisions.approve(assignment, by=person)
    delivery.carry_out(due, gateway=site.gateway)
    assert statuses(questionnaire) == ["Approved"]
    assert site.wire.calls["RejectAssignment"] == 0


def at_the_same_moment(monkeypatch: pytest.MonkeyPatch, decide: Callable[[], Any]) -> list[str]:
    """While the call is being written down a person decides; returns what they hear."""
    heard: list[str] = []
    real = market.plan

    def by_person() -> None:
        try:
            decide()
        except errors.CannotDecide as error:
            heard.append(str(error))
        finally:
            connections.close_all()

    def plan(token: str, *arguments: Any, **values: Any) -> Call:
        if token.startswith(("approve:", "reject:")):
            thread = Thread(target=by_person)
            thread.start()
            thread.join(timeout=0.5)  # longer than deciding takes; behind the lock it goes on after this
            threads.append(thread)
        return real(token, *arguments, **values)

    threads: list[Thread] = []
    settle = market.settle

    def settled(call: Call, **values: Any) -> Call:
        for thread in threads:
            thread.join()
        return settle(call, **values)

    monkeypatch.setattr(market, "plan", plan)
    monkeypatch.setattr(market, "settle", settled)
    return heard


@pytest.mark.parametrize(("n_correct", "ends"), [(0, ("reject", "Rejected")), (5, ("approve", "Approved"))])
def test_a_person_who_is_slower_than_the_call_is_told_so(
    site: Site, person: User, monkeypatch: pytest.MonkeyPatch, n_correct: int, ends: tuple[str, str]
) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=n_correct)
    heard = at_the_same_moment(monkeypatch, lambda: contradict(Assignment.objects.get(), person=person))
    sync_study(site, questionnaire)
    decision = Decision.objects.get()
    assert heard == ["The marketplace is being told an earlier decision about this assignment."]
    assert (decision.verdict, decision.assignment.status) == ends
    assert (decision.decided_by, decision.is_auto_approved) == (None, False)


def contradict(assignment: Assignment, *, person: User) -> Decision:
    if assignment.decision.verdict == "reject":
        return decisions.approve(assignment, by=person)
    return decisions.reject(assignment, by=person, reason="Copied text.")


def test_a_refused_rejection_can_be_worded_anew(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    body = b'{"__type":"ParameterValidationError","Message":"The value is not valid"}'
    site.wire.replies["RejectAssignment"] = (400, {"Content-Type": "application/x-amz-json-1.1"}, body)
    sync_study(site, questionnaire)
    site.wire.heal()
    sync_study(site, questionnaire)
    assert (statuses(questionnaire), Call.objects.get(assignment__isnull=False).state) == (
        ["Submitted"],
        "refused",
    )
    decisions.reject(Assignment.objects.get(), by=person, reason="In other words.")
    sync_study(site, questionnaire)
    assert statuses(questionnaire) == ["Rejected"]
    assert reason_told(marketplace.Assignment.objects.get().feedback) == "In other words."


NO_MONEY = (
    400,
    {"Content-Type": "application/x-amz-json-1.1"},
    b'{"__type":"RequestError","Message":"This account does not hold enough. (1)",'
    b'"TurkErrorCode":"AWS.MechanicalTurk.InsufficientFunds"}',
)


def test_refused_overturn_is_asked_for_again_in_the_new_words(site: Site) -> None:
    questionnaire = open_study(site, assignments_per_hit=1)
    (assignment,) = rejected_on(site, questionnaire)
    ada, bob = (User.objects.create_user(name) for name in ("ada", "bob"))
    decisions.overturn(assignment, by=ada, reason="Our mistake.")
    site.wire.replies["ApproveAssignment"] = NO_MONEY
    sync_study(site, questionnaire)
    refused = decisions.overturn_refused(assignment)
    assert refused is not None
    assert (refused.error != "", decisions.can_overturn(assignment)) == (True, True)
    site.wire.heal()
    sync_study(site, questionnaire)
    assert statuses(questionnaire) == ["Rejected"]  # nobody has asked again
    for _ in range(2):
        decisions.overturn(assignment, by=bob, reason="Our mistake, once more.")
    assert (decisions.overturn_refused(assignment), decisions.can_overturn(assignment)) == (None, False)
    sync_study(site, questionnaire)
    assert statuses(questionnaire) == ["Approved"]
    assert Assignment.objects.get().feedback == "Our mistake, once more."
    trail = AuditEntry.objects.filter(outcome="overturn").order_by("pk")
    assert [(entry.actor, entry.details.get("refused_before")) for entry in trail] == [
        (ada, None),
        (bob, refused.error),
    ]
    assert due_work.finish(questionnaire.batch) is True
