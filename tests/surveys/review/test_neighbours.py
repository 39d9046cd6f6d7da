"""A study gives the same results, and changes nothing else, whatever other studies there are beside it.

Each step runs twice: alone, and beside a study of the same people in which everything has happened that can. A
condition that forgets whose rows it is about (a batch, a worker, an assignment) shows in the outcome or in the
neighbour's rows.
"""

import dataclasses
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import models, transaction
from django.utils import timezone

from annotators.models import HIT, Assignment, Call, Worker
from annotators.outbox import holds, journal, outcomes
from surveys.answering import allocation
from surveys.models import (
    AnnotationSlot,
    Appeal,
    Batch,
    Decision,
    Inclusion,
    PanelVisit,
    Questionnaire,
    Replacement,
    Response,
)
from surveys.publishing import budget, giving, quota
from surveys.review import analysis_use, appeals, decisions, standing
from surveys.review.errors import CannotDecide
from surveys.review.evidence import evidence_of_batch, evidence_of_worker
from tests.factories import make_hit, make_published, submitted
from tests.link_people import answered, make_panel, run_out, skipped, take
from tests.link_people import make_batch as make_link_batch
from tests.made_once import made_once

pytestmark = pytest.mark.django_db
STORED: tuple[type[models.Model], ...] = (
    Worker, HIT, Assignment, Call, AnnotationSlot, Appeal, Batch, Decision, Inclusion, PanelVisit, Questionnaire,
    Replacement, Response,
)  # fmt: skip
BONUS = {"amount": "0.50", "reason": "Thanks."}


def worker(worker_id: str, source: str = "embedded") -> Worker:
    return Worker.objects.get_or_create(worker_id=worker_id, source=source)[0]


def call(token: str, operation: str, **values: Any) -> Call:
    if values.get("state") in ("done", "refused"):
        values["finished_at"] = timezone.now()
    return Call.objects.create(token=token, operation=operation, endpoint="embedded", **values)


def rejected(questionnaire: Questionnaire, name: str, by: User) -> Assignment:
    found = submitted(questionnaire, n_correct=0, worker=name)
    decisions.reject(found, by=by, reason="Too hasty.")
    return shown_rejected(found)


def shown_rejected(assignment: Assignment) -> Assignment:
    Assignment.objects.filter(pk=assignment.pk).update(status="Rejected", rejected_at=timezone.now())
    assignment.refresh_from_db()
    return assignment


def make_neighbour(by: User) -> None:
    """Make a study for the marketplace and one by link, in the middle of everything."""
    market = make_published()
    left_out, used_again, waits = (submitted(market, worker=f"A{name}") for name in ("ONE", "TWO", "THREE"))
    analysis_use.exclude(left_out, by=by, reason="Odd.", replace=False)
    analysis_use.exclude(used_again, by=by, reason="Odd.", replace=False)
    analysis_use.include(used_again, by=by, reason="Not so odd.")
    decisions.record_decision(waits, batch=market.batch)
    for n, opened_by in enumerate(("extend", "create")):
        lost = rejected(market, f"A{n}", by)
        Appeal.objects.create(assignment=lost, code=f"{n}", text="Why?", made_at=timezone.now())
        Replacement.objects.create(replaces=lost, questionnaire=market, opened_by=opened_by)
    for state in ("planned", "done", "refused"):
        call(f"bonus:{state}", "SendBonus", state=state, assignment=left_out, arguments=BONUS)
        call(f"extend:{state}", "CreateAdditionalAssignmentsForHIT", state=state, hit=make_hit())
        call(f"expire:{state}", "UpdateExpirationForHIT", state=state, hit=market.hit)
    call("create:elsewhere", "CreateHITWithHITType", state="unknown")
    make_link_neighbour(by)


def make_link_neighbour(by: User) -> None:
    batch = make_link_batch(n_items=4, copies=3)
    ann, ben, cid = (worker(name, "panel") for name in ("ann", "ben", "cid"))
    make_panel(batch, assignments_per_worker=9).visits.create(worker=ann)
    for _ in range(2):
        answered(take(batch, ann, channel="panel"))
    for _ in range(2):
        skipped(take(batch, ben))
    gone = take(batch, cid)
    run_out(gone)
    take(batch, worker("dan"))
    analysis_use.exclude(answered(take(batch, worker("eve"))), by=by, reason="Odd.", replace=True)
    quota.reopen(shown_rejected(answered(take(batch, worker("fay")))))


def evidence(by: User) -> Any:
    questionnaire = make_published()
    for n_correct, name in ((5, "AONE"), (2, "ATWO"), (3, "ATHREE")):
        submitted(questionnaire, n_correct=n_correct, worker=name)
    of_batch = evidence_of_batch(questionnaire.batch)
    of_worker = evidence_of_worker(questionnaire.batch, worker=worker("AONE").pk)
    return [dataclasses.asdict(found) for found in (*of_batch.values(), *of_worker.values())]


def exclusion(by: User) -> Any:
    four = worker("AFOUR")
    return standing.change_standing(four, to="excluded", was=four.standing, reason="Bots.", by=by)


def appeal(by: User) -> Any:
    made = Appeal.objects.create(
        assignment=rejected(make_published(), "AONE", by), code="mine", text="Why?", made_at=timezone.now()
    )
    appeals.answer_appeal(made, outcome="upheld", answer="Because.", by=by)
    made.refresh_from_db()
    return made.outcome, made.answer


def left_out_and_used_again(by: User) -> Any:
    mine = submitted(make_published(), worker="AONE")
    with pytest.raises(CannotDecide, match="used already"):
        analysis_use.include(mine, by=by, reason="It is fine.")
    out = analysis_use.exclude(mine, by=by, reason="Mine is odd.", replace=False).reason
    used = analysis_use.include(mine, by=by, reason="It is fine.").reason
    return out, used, Inclusion.objects.get(assignment=mine).is_included


def plans(by: User) -> Any:
    arguments = [{"n": 1}, {"n": 2}]
    for given in arguments:
        planned = journal.plan("mine", "SendBonus", endpoint="embedded", arguments=given)
    refused = call("refused of mine", "SendBonus", state="refused")
    again = [journal.plan_again(one) for one in (planned, refused, refused)]
    holds.say_why(planned)
    return planned.arguments, again, planned.error


def bonuses(by: User) -> Any:
    mine = submitted(make_published(), worker="AONE")
    call("mine:1", "SendBonus", state="done", assignment=mine, arguments=BONUS)
    call("mine:2", "SendBonus", state="refused", assignment=mine, arguments=BONUS)
    return outcomes.booked(call("mine:3", "SendBonus", assignment=mine, arguments=BONUS))


def places_by_link(by: User) -> Any:
    batch = make_link_batch(n_items=2, copies=2)
    ann, ben, cid, dan = (worker(name) for name in ("ann", "ben", "cid", "dan"))
    answered(take(batch, ann))
    skipped(take(batch, ben))
    run_out(take(batch, cid))
    opened = take(batch, dan)
    slots = AnnotationSlot.objects.filter(batch=batch).order_by("number")
    states = [[one.state for one in allocation.own(batch, worker=one)] for one in (ann, ben, cid, dan)]
    free = [giving.n_free(batch, worker=one) for one in (ann, ben, cid, dan)]
    chain = list(slots.values_list("number", "replicate", "reopens__number", "assignment__worker__worker_id"))
    quota.keep(opened, batch=batch)
    money = budget.money(Batch.objects.get(pk=batch.pk))
    return chain, states, free, dataclasses.astuple(money)


def visits(by: User) -> Any:
    batch, ann = make_link_batch(n_items=3), worker("ann", "panel")
    visit = make_panel(batch, assignments_per_worker=2).visits.create(worker=ann)
    found = []
    for _ in range(2):
        answered(take(batch, ann, channel="panel"))
        visit.refresh_from_db()
        found.append(visit.completed_at is not None)
    return found


def money(by: User) -> Any:
    market = make_published(reward=Decimal("0.38"))
    submitted(market, worker="AONE")
    rejected(market, "ATWO", by)
    unpublished = make_published()
    Questionnaire.objects.filter(pk=unpublished.pk).update(hit=None)
    Batch.objects.filter(pk=unpublished.batch_id).update(status="stopped")
    batches = Batch.objects.filter(pk__in=[market.batch_id, unpublished.batch_id]).order_by("pk")
    return [dataclasses.astuple(budget.money(batch)) for batch in batches]


STEPS: list[Callable[[User], Any]] = [
    evidence, exclusion, appeal, left_out_and_used_again, plans, bonuses, places_by_link, visits, money,
]  # fmt: skip


def stored() -> dict[type[models.Model], dict[Any, dict[str, Any]]]:
    rows = {model: model._default_manager.order_by("pk").values() for model in STORED}
    return {model: {row[model._meta.pk.attname]: row for row in of} for model, of in rows.items()}


@dataclasses.dataclass
class Beside:
    """What came of each step alone, and the rows of a neighbour that is there since."""

    by: User
    alone: dict[str, Any]
    rows: dict[type[models.Model], dict[Any, dict[str, Any]]]


def move_in() -> Beside:
    by = User.objects.create_user("ada")
    alone = {}
    for step in STEPS:
        with transaction.atomic():
            alone[step.__name__] = step(by)
            transaction.set_rollback(True)
    make_neighbour(by)
    return Beside(by, alone, stored())


beside = made_once(move_in)


@pytest.mark.parametrize("step", STEPS)
def test_beside_another_study_all_is_as_it_is_alone(step: Callable[[User], Any], beside: Beside) -> None:
    assert step(beside.by) == beside.alone[step.__name__]
    after = stored()
    changed = [
        (model.__name__, row, after[model].get(pk))
        for model, rows in beside.rows.items()
        for pk, row in rows.items()
        if after[model].get(pk) != row
    ]
    assert changed == []
