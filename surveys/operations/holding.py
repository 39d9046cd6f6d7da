"""What keeps a worker's name: work that is not finished, and money or an answer that is on its way to them.

One list of rules, asked by the calendar for many workers at once, and by a person who wants to be forgotten. What is
lost with a HIT that its marketplace forgot holds nobody: nothing comes of it, however long one waits.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import DateTimeField, ExpressionWrapper, F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotators.crowds.base import MORE_TIME
from annotators.models import IS_LOST, IS_UNTOLD, Assignment, Call, Worker
from annotators.outbox.market import OVERTURN_WITHIN
from annotators.people.names import pseudonym, purged_name
from surveys.models import Appeal, Batch, Invitation, PanelVisit

FINISHED = (Batch.Status.STOPPED, Batch.Status.COMPLETE)
BATCH = "hit__questionnaire__batch"
Status = Assignment.Status


@dataclass(frozen=True, slots=True)
class Kept:
    """A worker who is due and was not purged; they are named as in exports."""

    pk: int
    pseudonym: str
    reason: str


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows that hold their worker: where they name worker and batch, and why the calendar keeps who has some.

    `sentence`: what a person is told who would lose something by being forgotten now; empty where they would not.
    `is_theirs`: they may give it up, as it hangs on somebody who may never come to it.
    """

    rows: QuerySet[Any]
    worker: str
    batch: str
    reason: str
    sentence: str = ""
    is_theirs: bool = False
    is_paid: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """What is on its way to a person who wants to be forgotten: what it is, how often, and how many dollars."""

    sentence: str
    n: int
    amount: Decimal
    can_be_given_up: bool


def kept(workers: Collection[Worker]) -> dict[int, Kept]:
    """Return by primary key which of these workers have to stay as they are, and why."""
    names = {worker.pk: pseudonym(worker.worker_id) for worker in workers}
    found: dict[int, Kept] = {}
    for rule in _rules():
        held = rule.rows.filter(**{f"{rule.worker}__in": list(names)})
        for pk, batch_name in held.values_list(rule.worker, f"{rule.batch}__name"):
            found.setdefault(pk, Kept(pk, names[pk], rule.reason.format(batch=batch_name)))
    return found | {pk: Kept(pk, names[pk], "another worker has this pseudonym") for pk in _taken(workers)}


def waiting(worker: Worker) -> list[Waiting]:
    """Return what a person would lose by being forgotten now: money or an answer is on its way."""
    waits = [_waiting(rule, worker) for rule in _rules() if rule.sentence]
    return [one for one in waits if one.n]


def _waiting(rule: Rule, worker: Worker) -> Waiting:
    rewards = rule.rows.filter(**{rule.worker: worker}).values_list(f"{rule.batch}__reward", flat=True)
    amount = sum(rewards, Decimal(0)) if rule.is_paid else Decimal(0)
    return Waiting(gettext(rule.sentence), len(rewards), amount, rule.is_theirs)


def in_the_way(worker: Worker) -> list[str]:
    """Return the same for researchers: why, and in which batch."""
    found: list[str] = []
    for rule in (rule for rule in _rules() if rule.sentence):
        batches = rule.rows.filter(**{rule.worker: worker}).values_list(f"{rule.batch}__name", flat=True)
        found += [rule.reason.format(batch=name) for name in sorted(set(batches))]
    return list(dict.fromkeys(found))


def _rules() -> Iterator[Rule]:
    yield from _unfinished()
    yield from _undecided()
    yield from _rejected()
    calls = Call.objects.order_by().filter(state__in=Call.OPEN).exclude(IS_UNTOLD)
    yield Rule(
        calls,
        "assignment__worker",
        f"assignment__{BATCH}",
        "is named in a call that is not settled",
        gettext_noop("A payment to you is under way"),
    )


def _unfinished() -> Iterator[Rule]:
    work = Assignment.objects.order_by().exclude(hit__questionnaire__batch__status__in=FINISHED)
    yield Rule(work, "worker", BATCH, "has worked in {batch}, which is not finished")
    invited = Invitation.objects.order_by().exclude(batch__status__in=FINISHED)
    yield Rule(invited, "worker", "batch", "is invited to {batch}, which is not finished")
    visits = PanelVisit.objects.order_by().exclude(panel__batch__status__in=FINISHED)
    yield Rule(visits, "worker", "panel__batch", "was sent to {batch}, which is not finished")


def _undecided() -> Iterator[Rule]:
    """Who was to get nothing for their work loses nothing by a decision that is never made."""
    work, now, is_paid = Assignment.objects.order_by(), timezone.now(), Q(**{f"{BATCH}__reward__gt": 0})
    undecided = work.filter(status=Status.SUBMITTED).exclude(IS_LOST)
    reason = "has work in {batch} that nobody has decided on"
    sentence = gettext_noop("Nobody has decided yet about your pay for work you handed in")
    yield Rule(undecided.filter(is_paid), "worker", BATCH, reason, sentence, is_theirs=True, is_paid=True)
    yield Rule(undecided.exclude(is_paid), "worker", BATCH, reason)
    deadline = ExpressionWrapper(
        F("loaded_at") + F("hit__hit_type__assignment_duration") + MORE_TIME, output_field=DateTimeField()
    )
    at_work = work.annotate(deadline=deadline).filter(status=Status.ACCEPTED, deadline__gt=now)
    yield Rule(at_work, "worker", BATCH, "can still hand in work in {batch}")


def _rejected() -> Iterator[Rule]:
    in_time = Q(submitted_at=None) | Q(submitted_at__gt=timezone.now() - OVERTURN_WITHIN)
    rejected = Assignment.objects.order_by().filter(in_time, status=Status.REJECTED).exclude(IS_LOST)
    yield Rule(rejected, "worker", BATCH, "has a rejection in {batch} that can still be overturned")
    appeals = Appeal.objects.order_by().filter(made_at__isnull=False, answered_at=None)
    yield Rule(
        appeals,
        "assignment__worker",
        f"assignment__{BATCH}",
        "waits for the answer to an appeal in {batch}",
        gettext_noop("An appeal of yours has no answer yet"),
        is_theirs=True,
    )


def _taken(workers: Collection[Worker]) -> list[int]:
    """Return who can't get their purged name because somebody has it: a chance of 1 in 10**14 for a pair."""
    wanted = {(worker.source, purged_name(worker.worker_id)): worker.pk for worker in workers}
    names = {name for _, name in wanted}
    holders = Worker.objects.filter(worker_id__in=names).values_list("source", "worker_id", "pk")
    return [wanted[source, name] for source, name, pk in holders if wanted.get((source, name), pk) != pk]
