"""Each step runs its own transaction: where its last part fails, nothing of it has happened, whoever calls it."""

import dataclasses
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from marketplace.accounts import keys
from marketplace.engine import assignments, deadlines, forgetting, hits
from marketplace.models import (
    HIT,
    Assignment,
    Balance,
    Bonus,
    Entry,
    HITType,
    Message,
    Requester,
    Token,
    Worker,
)
from marketplace.models.work import HITQuerySet
from marketplace.money import ledger
from tests.marketplace.conftest import TYPE
from tests.marketplace.question_documents import QUESTION

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SOON = NOW + timedelta(minutes=1)
DAY = timedelta(days=1)
MODELS = (Assignment, Balance, Bonus, Entry, HIT, HITType, Message, Token, Worker)


class Broken(Exception):
    pass


def fail(*_: Any, **__: Any) -> None:
    raise Broken


@dataclasses.dataclass(frozen=True)
class Scene:
    """A HIT with an assignment of each kind, another that nobody has taken, and somebody who has done nothing."""

    kind: HITType
    dearer: HITType
    hit: HIT
    untouched: HIT
    opened: Assignment
    submitted: Assignment
    rejected: Assignment
    newcomer: Worker


@pytest.fixture
def scene(db: None) -> Scene:
    lab = Requester.objects.create(name="Vision Lab")
    ledger.deposit(lab, cents=100_000, now=NOW)
    kind, dearer = (kind_of(lab, reward_cents=cents) for cents in (38, 50))
    hit, untouched = published(kind), published(kind)
    people = [keys.create_worker()[0] for _ in range(4)]
    opened, submitted, rejected = (assignments.accept(hit, worker=one, now=NOW) for one in people[:3])
    for one in (submitted, rejected):
        assignments.submit(one, answer="-", now=NOW)
    assignments.reject(rejected, now=NOW, feedback="-")
    Message.objects.create(worker=rejected.worker, requester=lab, subject="-", text="-", sent_at=NOW)
    submitted.refresh_from_db()
    return Scene(kind, dearer, hit, untouched, opened, submitted, rejected, people[3])


def kind_of(lab: Requester, **changes: Any) -> HITType:
    return hits.hit_type_for(lab, values=hits.TypeValues(**{**TYPE, **changes}), now=NOW)


def published(kind: HITType) -> HIT:
    return hits.publish(kind, offer=hits.Offer(question=QUESTION, max_assignments=5, lifetime=DAY), now=NOW)


def everything() -> dict[str, list[dict[str, Any]]]:
    return {model.__name__: list(model._base_manager.order_by("pk").values()) for model in MODELS}


EVENTS = "marketplace.notifications.events.record"
COUNT = "marketplace.models.work.HITTypeManager.count_open"
REMEMBER = "marketplace.models.work.TokenManager.remember"
Step = Callable[[Scene], Any]
# The part that fails, and the step: each has written something by then.
STEPS: dict[str, tuple[str, Step]] = {
    "accept": (EVENTS, lambda it: assignments.accept(it.hit, worker=it.newcomer, now=SOON)),
    "give back": (EVENTS, lambda it: assignments.give_back(it.opened, now=SOON)),
    "abandon": (EVENTS, lambda it: assignments.abandon(it.opened, now=SOON)),
    "submit": (EVENTS, lambda it: assignments.submit(it.opened, answer="-", now=SOON)),
    "approve": (EVENTS, lambda it: assignments.approve(it.submitted, now=SOON)),
    "override": (EVENTS, lambda it: assignments.approve(it.rejected, now=SOON, override=True)),
    "approve by time": (EVENTS, lambda it: assignments.approve_by_time(it.submitted, now=SOON)),
    "reject": (EVENTS, lambda it: assignments.reject(it.submitted, now=SOON, feedback="-")),
    "publish": (EVENTS, lambda it: published(it.kind)),
    "extend": (EVENTS, lambda it: hits.extend(it.hit, additional=1, token="t", now=SOON)),
    "move the expiry": (EVENTS, lambda it: hits.move_expiry(it.hit, expires_at=NOW + 2 * DAY, now=SOON)),
    "dispose": (EVENTS, lambda it: hits.dispose(it.untouched, now=NOW + 2 * DAY)),
    "dispose by time": (EVENTS, lambda it: deadlines._dispose_by_time(it.untouched, now=NOW + 122 * DAY)),
    "set the type": (COUNT, lambda it: hits.set_type(it.untouched, hit_type=it.dearer, now=SOON)),
    "expire": (COUNT, lambda it: deadlines._expire([it.hit.pk, it.untouched.pk], now=NOW + 2 * DAY)),
    "bonus": (REMEMBER, lambda it: bonus(it.submitted)),
    "erase": (
        "marketplace.engine.forgetting._texts",
        lambda it: forgetting.erase(it.rejected.worker, now=NOW + 2 * DAY),
    ),
}


def bonus(assignment: Assignment) -> None:
    worker_id = assignment.worker.worker_id
    ledger.send_bonus(assignment, worker_id=worker_id, cents=100, reason="-", token="t", now=SOON)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_fails_at_its_end_has_done_nothing(scene: Scene, monkeypatch: Any, name: str) -> None:
    last_part, step = STEPS[name]
    before = everything()
    with monkeypatch.context() as patch:
        patch.setattr(last_part, fail)
        with pytest.raises(Broken):
            step(scene)
    assert everything() == before
    step(scene)
    assert everything() != before


def test_a_type_whose_qualifications_cannot_be_noted_is_not_made(scene: Scene, monkeypatch: Any) -> None:
    before = everything()
    monkeypatch.setattr("marketplace.qualifications.requirements.check", lambda _: [object()])
    with pytest.raises(TypeError):
        kind_of(scene.kind.requester, title="New")
    assert everything() == before


def test_reviewing_locks_the_hit_in_a_transaction_of_its_own(scene: Scene, monkeypatch: Any) -> None:
    """It writes one row: what the transaction is for is the lock, which lasts as long as it."""
    depths, locked = [], HITQuerySet.locked

    def watched(rows: HITQuerySet, pk: int) -> HIT:
        depths.append(len(connection.savepoint_ids))
        return locked(rows, pk)

    monkeypatch.setattr(HITQuerySet, "locked", watched)
    before = len(connection.savepoint_ids)
    hits.set_reviewing(scene.untouched, is_reviewing=True, now=NOW + 2 * DAY)
    assert depths == [before + 1]
