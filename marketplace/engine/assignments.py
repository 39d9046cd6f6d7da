"""What a worker does with a HIT, and what a requester decides about it. One locked HIT per step.

Every function takes the marketplace's time and runs its own transaction, but for those named `locked`.
"""

from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext

from marketplace import ids, refusals
from marketplace.accounts.sessions import checked, locked_account
from marketplace.models import HIT, LIVE, Assignment, HITType, Requester, Worker
from marketplace.models.work import HITQuerySet
from marketplace.money import ledger
from marketplace.notifications import events
from marketplace.refusals import WorkerRefusal
from statements import Change, Hole, Moment, Statement, insert, insert_if

Status = Assignment.Status
MORE_TIME = timedelta(minutes=30)  # MTurk has none; a requester waits at most that much longer
OVERRIDE_WITHIN = timedelta(days=30)  # API reference, ApproveAssignment


def offered(worker: Worker | Hole | None) -> HITQuerySet:
    """Return the HITs that are open and that a worker has not had, qualifications aside."""
    hits = HIT.objects.filter(is_open=True)
    if worker is None:
        return hits
    mine = Assignment.objects.filter(hit=OuterRef("pk"), worker=worker, status__in=LIVE)
    return hits.exclude(Exists(mine))


def next_hit(
    hit_type: HITType | str, *, worker: Worker | None, now: datetime, oldest: HIT | None = None
) -> HIT | None:
    """Return the oldest HIT of the type, or of the one with this HITTypeId, that the worker could accept.

    `oldest`: what OLDEST found a moment ago.
    """
    return _next(hit_type, worker=worker, now=now, is_locked=False, oldest=oldest)


def lock_next(hit_type: HITType | str, *, worker: Worker, now: datetime) -> HIT | None:
    """Return the `next_hit` with its row locked, in the caller's transaction.

    One that is closed while this waits for it stays locked too, and the next of them is returned.
    """
    return _next(hit_type, worker=worker, now=now, is_locked=True)


def _next(
    hit_type: HITType | str,
    *,
    worker: Worker | None,
    now: datetime,
    is_locked: bool,
    oldest: HIT | None = None,
) -> HIT | None:
    is_named, of = isinstance(hit_type, str), hit_type if isinstance(hit_type, str) else hit_type.pk
    known = {"hit_type": of, "worker": worker and worker.pk, "now": now}
    asked = partial(_oldest, is_named, worker is not None, is_locked=is_locked)
    # Without a word of time, so that the index of open HITs is read, and one row of it.
    oldest = oldest or asked(is_timed=False).first(**known)
    is_over = oldest is not None and oldest.expires_at <= now
    return asked(is_timed=True).first(**known) if is_over else oldest


@cache
def _oldest(is_named: bool, has_worker: bool, *, is_timed: bool, is_locked: bool) -> Statement[HIT]:
    """Return the statement of `_next`: of a type by its id or its key, for a worker or for anybody."""

    def made() -> QuerySet[HIT]:
        name = Hole("hit_type", HITType._meta.get_field("type_id"))
        by_id = HITType.objects.filter(type_id=name).values("pk")[:1]
        hits = offered(Hole("worker", Worker._meta.pk) if has_worker else None)
        kind: Any = by_id if is_named else Hole("hit_type", HITType._meta.pk)
        hits = hits.filter(hit_type=kind)
        if is_timed:
            hits = hits.filter(expires_at__gt=Moment("now"))
        read = hits.to_lock() if is_locked else hits.select_related("hit_type__requester")
        return read.order_by("pk")[:1]

    return Statement(made)


# What `next_hit` asks first, of a type by its id, for a page that asks for more in the same statement.
OLDEST = _oldest(True, True, is_timed=False, is_locked=False)


@transaction.atomic
def accept(hit: HIT, *, worker: Worker, now: datetime) -> Assignment:
    """Give the worker an assignment of the HIT. Raises WorkerRefusal when there is none to give."""
    return accept_locked(HIT.objects.locked(hit.pk), worker=worker, now=now)


def accept_locked(hit: HIT, *, worker: Worker, now: datetime) -> Assignment:
    """Do as `accept` with a HIT whose row is locked, in the caller's transaction."""
    if hit.status(now=now) != HIT.Status.ASSIGNABLE:
        raise WorkerRefusal(gettext("No more of this HIT is available."))
    assignment = Assignment(
        assignment_id=ids.entity_id(),
        hit=hit,
        worker=worker,
        accepted_at=now,
        deadline=now + hit.hit_type.duration,
    )
    if not insert_if(assignment, NEW_TO_HIT, pk=worker.pk, hit=hit.pk):
        assignment.assignment_id = _returned_id(hit, worker=worker)
        insert([assignment])
    hit.pending += 1
    ledger.settle(hit, now=now)
    events.record(hit, "AssignmentAccepted", at=now, assignment=assignment)
    return assignment


def _returned_id(hit: HIT, *, worker: Worker) -> str:
    """Recycle the id of work given back by another worker; who comes back gets a new one, as on MTurk.

    The account is locked, and asked in the same statement whether it has the HIT and what was given back: both are as
    they stay, because the HIT is locked.
    """
    account: Any = checked(ACCOUNT.first(pk=worker.pk, hit=hit.pk))
    if account.has_hit:
        raise WorkerRefusal(gettext("You already have, or have done, this HIT."))
    if account.returned is None:  # the account was closed a moment ago, and is open again
        return ids.entity_id()
    Assignment.objects.filter(pk=account.returned).update(is_reusable=False)
    return str(Assignment.objects.values_list("assignment_id", flat=True).get(pk=account.returned))


def _first(rows: QuerySet[Assignment], column: str) -> Subquery:
    return Subquery(rows.order_by("pk").values(column)[:1])


def _account() -> QuerySet[Worker]:
    """Return a worker's locked account with whether it has a HIT, and what of it can be given out again."""
    here = Assignment.objects.filter(hit=Hole("hit", HIT._meta.pk))
    mine = here.filter(worker=OuterRef("pk"), status__in=LIVE)
    returned = here.filter(is_reusable=True).exclude(worker=OuterRef("pk"))
    questions = {"has_hit": Exists(mine), "returned": _first(returned, "pk")}
    return locked_account(Hole("pk", Worker._meta.pk)).annotate(**questions)


ACCOUNT = Statement(_account)


def _new_to_hit() -> QuerySet[Worker, Any]:
    """Return the account where it may have the HIT under a new id, which is nearly always."""
    account: Any = _account()
    found: QuerySet[Worker, Any] = account.filter(is_active=True, has_hit=False, returned=None)
    return found.values_list("pk")


NEW_TO_HIT = Statement(_new_to_hit)


def more_time(assignment: Assignment) -> timedelta:
    """Return what an assignment may be given once: its time again, half an hour at most. Nothing where it was."""
    duration = assignment.hit.hit_type.duration
    is_given = assignment.deadline > assignment.accepted_at + duration
    return timedelta(0) if is_given else min(duration, MORE_TIME)


def extend(assignment: Assignment, *, now: datetime) -> None:
    """Give the worker of an open assignment more time. Raises WorkerRefusal when it had it, or is over."""
    unchanged = Assignment.objects.filter(pk=assignment.pk, status=Status.OPEN, deadline=assignment.deadline)
    more = more_time(assignment)
    if not more or not unchanged.filter(deadline__gt=now).update(deadline=assignment.deadline + more):
        raise WorkerRefusal(gettext("There is no more time for this HIT."))


def give_back(assignment: Assignment, *, now: datetime) -> None:
    """Return an open assignment. Raises WorkerRefusal when it is not open any more."""
    if not _release(assignment, Q(), status=Status.RETURNED, now=now):
        raise WorkerRefusal(gettext("This assignment is not open any more."))


def abandon(assignment: Assignment, *, now: datetime) -> bool:
    """Take back an open assignment; False for one that was given more time since it was read."""
    return _release(assignment, Q(deadline=assignment.deadline), status=Status.ABANDONED, now=now)


@transaction.atomic
def _release(assignment: Assignment, which: Q, *, status: str, now: datetime) -> bool:
    hit = HIT.objects.locked(assignment.hit_id)
    open_row = Assignment.objects.filter(which, pk=assignment.pk, status=Status.OPEN)
    if not open_row.update(status=status, is_reusable=True):
        return False
    hit.pending -= 1
    ledger.settle(hit, now=now)
    ended = [f"Assignment{status}", *events.reviewable(hit, now=now)]
    events.record(hit, *ended, at=min(now, assignment.deadline), assignment=assignment)
    return True


@transaction.atomic
def submit(assignment: Assignment, *, answer: str, now: datetime) -> None:
    """Record the worker's answer document. Raises WorkerRefusal unless the assignment is open and in time."""
    assignment.hit = HIT.objects.locked(assignment.hit_id)
    submit_locked(assignment, answer=answer, now=now)


def submit_locked(assignment: Assignment, *, answer: str, now: datetime) -> None:
    """Do as `submit` where the row of the assignment's HIT is locked, in the caller's transaction."""
    hit = assignment.hit
    if not RECORD(
        pk=assignment.pk, answer=answer, now=now, auto_approval_at=now + hit.hit_type.auto_approval_delay
    ):
        raise WorkerRefusal(gettext("This assignment is not open any more."))
    hit.pending -= 1
    hit.submitted += 1
    ledger.settle(hit, now=now)
    ended = ["AssignmentSubmitted", *events.reviewable(hit, now=now)]
    events.record(hit, *ended, at=now, assignment=assignment)


RECORD = Change(
    lambda: Assignment.objects.filter(
        pk=Hole("pk", Assignment._meta.pk), status=Status.OPEN, deadline__gt=Moment("now")
    ),
    status=Status.SUBMITTED,
    answer=Hole("answer", Assignment._meta.get_field("answer")),
    submitted_at=Moment("now"),
    auto_approval_at=Moment("auto_approval_at"),
)


def find_assignment(assignment_id: str, *, requester: Requester) -> Assignment:
    """Return the live row of an AssignmentId. Raises Refusal AssignmentDoesNotExist."""
    rows = Assignment.objects.filter(assignment_id=assignment_id, hit__requester=requester, status__in=LIVE)
    assignment = rows.select_related("hit__hit_type", "hit__requester", "worker").first()
    if assignment is None:
        raise refusals.assignment_does_not_exist(assignment_id)
    return assignment


@transaction.atomic
def approve(
    assignment: Assignment, *, now: datetime, feedback: str | None = None, override: bool = False
) -> None:
    """Approve submitted work, or with `override` rejected work. Raises Refusal on any other state."""
    hit = _reread(assignment)
    if assignment.status == Status.REJECTED and override:
        _check_override(assignment, now=now)
        ledger.set_hold(hit, slots=hit.held_slots + 1, now=now)
        hit.rejected -= 1
    elif assignment.status == Status.SUBMITTED:
        hit.submitted -= 1
    else:
        raise _undecidable(assignment)
    _pay_out(assignment, approved_at=now, feedback=feedback, now=now)


@transaction.atomic
def approve_by_time(assignment: Assignment, *, now: datetime) -> None:
    """Approve work whose AutoApprovalTime has come, unless it was decided meanwhile."""
    hit = _reread(assignment)
    if assignment.status == Status.SUBMITTED and assignment.auto_approval_at is not None:
        hit.submitted -= 1
        _pay_out(assignment, approved_at=assignment.auto_approval_at, feedback=None, now=now)


def _reread(assignment: Assignment) -> HIT:
    """Lock the HIT, then read the assignment again; what stands in both now stays so to the end."""
    hit = HIT.objects.locked(assignment.hit_id)
    assignment.refresh_from_db()
    assignment.hit = hit
    return hit


def _pay_out(assignment: Assignment, *, approved_at: datetime, feedback: str | None, now: datetime) -> None:
    hit = assignment.hit
    hit.approved += 1
    _decide(assignment, status=Status.APPROVED, feedback=feedback, at=approved_at)
    ledger.pay(assignment, now=approved_at)
    ledger.settle(hit, now=now)
    events.record(hit, "AssignmentApproved", at=approved_at, assignment=assignment)


def _check_override(assignment: Assignment, *, now: datetime) -> None:
    submitted_at = assignment.submitted_at or now
    if now - submitted_at > OVERRIDE_WITHIN or assignment.hit.disposed_at is not None:
        raise refusals.wrong_assignment_state("Submitted")


def _undecidable(assignment: Assignment) -> refusals.Refusal:
    # "status of: null" is what MTurk says of work it has not seen submitted (ParlAI#2957).
    return refusals.wrong_assignment_state("null" if assignment.status == Status.OPEN else "Submitted")


@transaction.atomic
def reject(assignment: Assignment, *, now: datetime, feedback: str) -> None:
    """Reject submitted work and release its money. Raises Refusal on any other state."""
    hit = _reread(assignment)
    if assignment.status != Status.SUBMITTED:
        raise _undecidable(assignment)
    hit.submitted -= 1
    hit.rejected += 1
    _decide(assignment, status=Status.REJECTED, feedback=feedback, at=now)
    ledger.settle(hit, now=now)
    events.record(hit, "AssignmentRejected", at=now, assignment=assignment)


def _decide(assignment: Assignment, *, status: Status, feedback: str | None, at: datetime) -> None:
    assignment.status = status
    if feedback is not None:
        assignment.feedback = feedback
    if status == Status.APPROVED:
        assignment.approved_at, assignment.rejected_at = at, None
    else:
        assignment.rejected_at = at
    assignment.save(update_fields=["status", "feedback", "approved_at", "rejected_at"])
