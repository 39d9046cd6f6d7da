"""Each step runs its own transaction: where its last part fails, nothing of it has happened, whoever calls it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotators.models import Assignment, Worker
from surveys.answering import allocation
from surveys.models import (
    AnnotationSlot,
    Appeal,
    AuditEntry,
    Batch,
    Decision,
    Inclusion,
    Questionnaire,
    Replacement,
    Response,
)
from surveys.protocols.policy import rule_version
from surveys.publishing import budget, quota
from surveys.review import (
    analysis_use,
    appeal_codes,
    appeals,
    by_hand,
    decisions,
    delivery,
    policy_change,
    replacements,
    standing,
)
from tests.appeals import appealed, rejected
from tests.factories import answer, make_assignment, make_published, make_worker, submitted
from tests.judged import handed_in
from tests.link_people import make_batch, make_person, skipped, take
from tests.policy_data import NEVER

pytestmark = pytest.mark.django_db

MODELS = (
    AnnotationSlot,
    Appeal,
    Assignment,
    AuditEntry,
    Batch,
    Decision,
    Inclusion,
    Questionnaire,
    Replacement,
    Response,
    Worker,
)
Step = Callable[[], Any]
AUDIT = "surveys.audit.record"
TAKING = "surveys.answering.allocation.reach"


class Broken(Exception):
    pass


def fail(*_: Any, **__: Any) -> None:
    raise Broken


def everything() -> dict[str, list[dict[str, Any]]]:
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in MODELS}


def making_an_appeal(person: User) -> Step:
    appeal = rejected(make_published())
    return lambda: appeal_codes.make(appeal, text="I did look.")


def answering_an_appeal(person: User) -> Step:
    appeal = appealed(make_published())
    return lambda: appeals.answer_appeal(appeal, outcome="upheld", answer="Two of five.", by=person)


def leaving_out(person: User) -> Step:
    assignment = submitted(make_published())
    return lambda: analysis_use.exclude(assignment, by=person, reason="Letters.", replace=False)


def using_again(person: User) -> Step:
    assignment = submitted(make_published())
    analysis_use.exclude(assignment, by=person, reason="Letters.", replace=False)
    return lambda: analysis_use.include(assignment, by=person, reason="They meant it.")


def accepting_what_was_approved_late(person: User) -> Step:
    assignment = handed_in(make_published(rejects_automatically=False), n_correct=1)
    return lambda: delivery._accept(assignment)


def rejecting_by_link(person: User) -> Step:
    assignment = take(make_batch(), make_person())
    answer(assignment)
    allocation.settle(assignment)
    decisions.reject(assignment, by=person, reason="Letters.")
    return lambda: delivery._carry_out_here(assignment)


def judging_by_another_policy(person: User) -> Step:
    assignment = handed_in(make_published(rejects_automatically=False), n_correct=1)
    batch = Batch.objects.get()
    policy_change.apply_policy(
        batch,
        policy=NEVER,
        rejects_automatically=False,
        instead_of=rule_version(batch.review_policy),
        by=person,
        reason="Too hard.",
    )
    assert assignment.decision.verdict == "propose"
    return lambda: policy_change.judge_again(batch)


def taking_a_decision_back(person: User) -> Step:
    assignment = handed_in(make_published(rejects_automatically=False), n_correct=1)
    decisions.approve(assignment, by=person)
    return lambda: by_hand.undo(assignment, by=person)


def watching(person: User) -> Step:
    worker = make_worker()
    return lambda: standing.change_standing(
        worker, to="watch", was=worker.standing, reason="Letters.", by=person
    )


def using_a_sibling(person: User) -> Step:
    questionnaire = make_published()
    replacement = Replacement.objects.create(
        replaces=make_assignment(questionnaire.hit, status="Rejected"),
        questionnaire=questionnaire,
        opened_by=Replacement.OpenedBy.EXTEND,
    )
    return lambda: replacements._use_sibling(replacement)


def giving_a_place_back(person: User) -> Step:
    batch = make_batch(copies=2)
    first = skipped(take(batch, make_person()))
    assert AnnotationSlot.objects.filter(reopens__assignment=first).count() == 1
    return lambda: quota.release(first)


def handing_in_by_link(person: User) -> Step:
    assignment = answer(take(make_batch(), make_person()))
    return lambda: allocation.settle(assignment)


def taking(person: User) -> Step:
    batch, worker = make_batch(), make_person()
    return lambda: take(batch, worker)


def taking_by_number(person: User) -> Step:
    batch, worker = make_batch(), make_person()
    return lambda: allocation.take_number(batch, number=2, worker=worker, channel="link")


# The part that fails, and what prepares the step, which has written something by then.
STEPS: list[tuple[str, Callable[[User], Step]]] = [
    (AUDIT, making_an_appeal),
    (AUDIT, answering_an_appeal),
    (AUDIT, leaving_out),
    (AUDIT, using_again),
    (AUDIT, accepting_what_was_approved_late),
    ("surveys.review.delivery.reach", rejecting_by_link),
    (AUDIT, judging_by_another_policy),
    (AUDIT, taking_a_decision_back),
    (AUDIT, watching),
    ("surveys.models.Replacement.refresh_from_db", using_a_sibling),
    ("surveys.models.AnnotationSlot.delete", giving_a_place_back),
    (TAKING, handing_in_by_link),
    (TAKING, taking),
    (TAKING, taking_by_number),
]


@pytest.mark.parametrize(("last_part", "prepared"), STEPS, ids=[prepared.__name__ for _, prepared in STEPS])
def test_a_step_that_fails_at_its_end_has_done_nothing(
    person: User, monkeypatch: Any, last_part: str, prepared: Callable[[User], Step]
) -> None:
    step = prepared(person)
    before = everything()
    with monkeypatch.context() as patch:
        patch.setattr(last_part, fail)
        with pytest.raises(Broken):
            step()
    assert everything() == before
    step()
    assert everything() != before


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer, and locks no row")
def test_what_a_step_locks_nobody_else_can() -> None:
    assignment = make_assignment(make_published().hit)
    with CaptureQueriesContext(connection) as captured:
        budget.lock(assignment.hit.questionnaire.batch_id)
        decisions.lock(assignment)
    assert [query["sql"].endswith(" FOR NO KEY UPDATE") for query in captured.captured_queries] == [True] * 2


def reopening(person: User) -> Step:
    assignment = take(make_batch(copies=2), make_person())
    assignment.responses.update(skip_reason="text_missing")
    return lambda: quota.reopen(assignment)


def planning_a_replacement(person: User) -> Step:
    questionnaire = make_published()
    assignment = make_assignment(questionnaire.hit, status="Rejected")
    return lambda: replacements._planned_replacement(assignment, questionnaire)


@pytest.mark.parametrize("prepared", [reopening, planning_a_replacement])
def test_a_step_locks_the_batch_in_a_transaction_of_its_own(
    person: User, monkeypatch: Any, prepared: Callable[[User], Step]
) -> None:
    """Its writing is a transaction anyway: this one is for the lock, which lasts as long as it."""
    step = prepared(person)
    depths, locked = [], budget.lock

    def watched(batch_pk: int) -> Batch:
        depths.append(len(connection.savepoint_ids))
        return locked(batch_pk)

    monkeypatch.setattr(budget, "lock", watched)
    before = len(connection.savepoint_ids)
    step()
    assert depths[0] == before + 1
