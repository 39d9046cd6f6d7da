"""Whether submitted work is paid, decided by rule or by a person. Every change is in the audit trail."""

import dataclasses
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotators.failpoints import reach
from annotators.models import Assignment, Call, Worker
from annotators.outbox import journal
from annotators.outbox.market import OVERTURN_WITHIN
from statements import Hole, Statement, insert
from surveys import audit
from surveys.models import Batch, Decision, Inclusion, Response
from surveys.protocols.definition import FILE_GONE, FILE_UNSEEN
from surveys.protocols.policy import Policy, read_policy, rule_version
from surveys.protocols.rules import APPROVE, FLAG, PROPOSE, REJECT, Evidence, Flag, Verdict
from surveys.publishing import budget, quota
from surveys.review.analysis_use import include, leave_out
from surveys.review.appeal_codes import REASON_MAX
from surveys.review.errors import CannotDecide, check_reason
from surveys.review.evidence import evidence_of_batch, evidence_of_worker
from surveys.review.replacements import is_replaced

WATCHED = Flag("watched", "This worker is watched: a person looks at all their work.", is_hit=False)
INCOMPLETE = Verdict(FLAG, "We have no complete answers for this assignment.")


def decide(assignment: Assignment, *, batch: Batch) -> Verdict:
    """Judge a submitted assignment by the batch's policy. Pure: reads answers, writes nothing.

    What would be approved of a watched worker waits for a person.
    """
    verdict = _by_rules(assignment, batch=batch)
    return _watched(verdict) if assignment.worker.standing == Worker.Standing.WATCH else verdict


def decide_all(batch: Batch, *, policy: Policy) -> dict[int, Verdict]:
    """Judge all assignments of a batch that were handed in by some policy: {assignment: verdict}, in that order."""
    of_watched = Assignment.objects.filter(
        hit__questionnaire__batch=batch, worker__standing=Worker.Standing.WATCH
    )
    watched = set(of_watched.values_list("pk", flat=True))
    verdicts = {}
    for pk, evidence in evidence_of_batch(batch, kinds=policy.kinds).items():
        verdict = policy.judge(evidence) if evidence.is_saved and evidence.is_correct else INCOMPLETE
        verdicts[pk] = _watched(verdict) if pk in watched else verdict
    return verdicts


def _watched(verdict: Verdict) -> Verdict:
    if verdict.verdict != APPROVE:
        return verdict
    return dataclasses.replace(verdict, verdict=FLAG, flags=(*verdict.flags, WATCHED))


def _by_rules(assignment: Assignment, *, batch: Batch) -> Verdict:
    worked = WORKED.rows(assignment=assignment.pk)
    counted = [(is_correct, reason) for is_correct, reason, is_repeat in worked if not is_repeat]
    if assignment.saved_at is None or not counted:
        return INCOMPLETE
    policy = read_policy(batch.review_policy, items_per_hit=batch.items_per_hit)
    alone = Evidence(
        is_correct=tuple(is_correct for is_correct, _ in counted),
        n_gone=sum(reason == FILE_GONE for _, reason in counted),
        n_unseen=sum(reason == FILE_UNSEEN for _, reason, _ in worked),
    )
    if policy.kinds <= {"minimum_correct"}:
        return policy.judge(alone)
    by_assignment = evidence_of_worker(batch, worker=assignment.worker_id, kinds=policy.kinds)
    return policy.judge(by_assignment.get(assignment.pk, alone))


WORKED = Statement(
    lambda: Response.objects.filter(assignment=Hole("assignment", Assignment._meta.pk)).values_list(
        "is_correct", "skip_reason", "is_repeat"
    )
)
AUTO_APPROVED = "The marketplace approved it before we decided."
REJECTED_ELSEWHERE = "It was rejected on the marketplace, not here."
OVERTURNED_TOO_LATE = "Its rejection was overturned after its place had been given again: {}"
OVERTURN = "overturn"
UNDO, RELEASE = "undo", "release"
TELLING = (Call.Operation.APPROVE, Call.Operation.REJECT, Call.Operation.OVERTURN)
TELLS = {APPROVE: Call.Operation.APPROVE, REJECT: Call.Operation.REJECT}  # holding tells nothing
Status = Assignment.Status


def record_decision(assignment: Assignment, *, batch: Batch) -> Decision:
    """Write down what the policy of this moment says of the answers of this moment, once.

    A decision that exists is not changed here. What the marketplace approved before we decided is written down as
    that. If the rule would have rejected it, it is left out of the analysis and replaced where the batch says so.
    """
    return record_decisions([assignment], batch=batch)[0]


def record_decisions(assignments: Sequence[Assignment], *, batch: Batch) -> list[Decision]:
    """Write down the same of several assignments of a batch: all of them, or none where one fails."""
    verdicts = [decide(assignment, batch=batch) for assignment in assignments]
    with transaction.atomic():
        now = budget.lock(batch.pk)
        locked = {one.pk: lock(one) for one in sorted(assignments, key=attrgetter("pk"))}
        return [
            _recorded(assignment, verdict, batch=batch, now=now, locked=locked[assignment.pk])
            for assignment, verdict in zip(assignments, verdicts, strict=True)
        ]


def _recorded(
    assignment: Assignment, verdict: Verdict, *, batch: Batch, now: Batch, locked: Assignment
) -> Decision:
    """Write one decision down: `now` and `locked` are as they were locked, the others as when `verdict` was found."""
    if earlier := MADE.first(assignment=assignment.pk):
        return earlier
    if (now.review_policy, locked.saved_at) != (batch.review_policy, assignment.saved_at):
        verdict = decide(locked, batch=now)  # by link, answers change until they are accepted
    values = {**from_rule(verdict, batch=now), **_first(locked, verdict, batch=now)}
    decision = Decision(assignment=assignment, **values)
    insert([decision])
    audit_decision(decision, rule_said=verdict.verdict)
    if decision.is_auto_approved:
        answer_for_late(decision, wanted=verdict.verdict, reason=verdict.reason)
        reach("late.deciding")
    return decision


MADE = Statement(lambda: Decision.objects.filter(assignment=Hole("assignment", Assignment._meta.pk)))


def approve(assignment: Assignment, *, by: AbstractBaseUser, reason: str = "") -> Decision:
    """Record that a person approves; the next sync tells the marketplace."""
    return _by_person(assignment, APPROVE, by=by, reason=reason)


def reject(assignment: Assignment, *, by: AbstractBaseUser, reason: str) -> Decision:
    """Record that a person rejects, with the sentence the worker reads. CannotDecide without one, or a long one.

    The worker reads where to appeal behind it, which takes its share of what MTurk passes on.
    """
    reason = check_reason(reason, what="A rejection", longest=REASON_MAX)
    return _by_person(assignment, REJECT, by=by, reason=reason)


def hold(assignment: Assignment, *, by: AbstractBaseUser, reason: str) -> Decision:
    """Record that a person keeps submitted work waiting, with a reason that no worker reads. CannotDecide without one.

    No rule decides about it then. The marketplace still approves it in its time.
    """
    return _by_person(assignment, FLAG, by=by, reason=check_reason(reason, what="Holding"))


def overturn(
    assignment: Assignment, *, by: AbstractBaseUser, reason: str, use_answers: bool = False
) -> Decision:
    """Record that a rejection is taken back and the worker paid after all; a replacement that somebody has stays.

    The answers are used again, unless their place has been given again by now: then they are used beside those that
    replaced them only with `use_answers`, and left out otherwise. The first person to do so is kept, unless the
    marketplace has refused it: then it is asked again, in the new words. Raises CannotDecide without a reason, too
    late, over the batch's budget, or with nothing to take back.
    """
    reason = check_reason(reason, what="Overturning a rejection")
    taken_back = Decision.objects.filter(assignment=assignment, overturned_at__isnull=False)
    if assignment.status == Status.APPROVED and (decision := taken_back.first()):
        return decision  # sent twice, and the marketplace was told in between
    _check_can_overturn(assignment)
    try:
        with budget.spending(assignment.hit.questionnaire.batch):
            return _overturned(assignment, by=by, reason=reason, use_answers=use_answers)
    except budget.OverBudget as error:
        raise CannotDecide(str(error)) from error


def overturn_until(assignment: Assignment) -> datetime:
    """Return until when a rejection of this assignment can be overturned."""
    return (assignment.submitted_at or timezone.now()) + OVERTURN_WITHIN


def rejection_stands(assignment: Assignment) -> bool:
    """Tell whether an assignment is rejected, and nobody has taken that back."""
    decision: Decision | None = getattr(assignment, "decision", None)
    return assignment.status == Status.REJECTED and not (decision and decision.overturned_at)


def can_overturn(assignment: Assignment) -> bool:
    """Tell whether there is a rejection to take back, and time left to do so."""
    is_there = rejection_stands(assignment) or overturn_refused(assignment) is not None
    return is_there and timezone.now() <= overturn_until(assignment)


def overturn_refused(assignment: Assignment) -> Call | None:
    """Return the call, with why, if the marketplace has refused to take the rejection back that we took back."""
    calls = Call.objects.filter(assignment=assignment, operation=Call.Operation.OVERTURN)
    return calls.filter(state=Call.State.REFUSED, assignment__status=Status.REJECTED).first()


def outdated(batch: Batch) -> QuerySet[Decision]:
    """Return what rules alone decided by another policy than the batch has, or rejected while that was allowed."""
    is_outdated = ~Q(rule_version=rule_version(batch.review_policy))
    if not batch.rejects_automatically:
        is_outdated |= Q(verdict=REJECT)
    return by_rule_alone().filter(is_outdated, assignment__hit__questionnaire__batch=batch)


def by_rule_alone() -> QuerySet[Decision]:
    """Return the decisions that no person made and that are not carried out, nor on their way to the marketplace."""
    calls = Call.objects.filter(assignment=OuterRef("assignment"), operation__in=TELLING)
    return Decision.objects.filter(
        ~Exists(calls.exclude(state=Call.State.REFUSED)),
        assignment__status=Assignment.Status.SUBMITTED,
        decided_by=None,
    )


def audit_decision(decision: Decision, outcome: str = "", **details: Any) -> None:
    """Add a change of a payment decision to the trail, in the transaction of the change."""
    is_overturned = outcome == OVERTURN
    audit.record(
        audit.Kind.PAYMENT,
        outcome or decision.verdict,
        assignment=decision.assignment,
        by=decision.overturned_by if is_overturned else decision.decided_by,
        reason=decision.overturn_reason if is_overturned else decision.reason,
        rule_version=decision.rule_version,
        details={
            "flags": [{"kind": flag["kind"], "sentence": flag["sentence"]} for flag in decision.flags],
            "n_correct": decision.n_correct,
            "n_graded": decision.n_graded,
            "is_auto_approved": decision.is_auto_approved,
            **details,
        },
    )


def audit_undone(
    decision: Decision, outcome: str = UNDO, *, by: AbstractBaseUser, before: str, reason: str = ""
) -> None:
    """Add to the trail that a person took a decision back before anybody was told."""
    details = {"before": before}
    audit.record(
        audit.Kind.PAYMENT, outcome, assignment=decision.assignment, by=by, reason=reason, details=details
    )


def late_reason(wanted: str, reason: str) -> str:
    """Return why work was approved that we had not approved, and what we would have decided."""
    if wanted == APPROVE or not reason:
        return AUTO_APPROVED
    what = "It was to be rejected" if wanted in (REJECT, PROPOSE) else "It waited for a person"
    return f"{AUTO_APPROVED} {what}: {reason}"


def answer_for_late(decision: Decision, *, wanted: str, reason: str) -> None:
    """Leave out and replace what is paid although it was to be rejected, if the batch says so; a stopped one replaces
    nothing.

    What a person has decided about its use stays. Call it in the transaction that records the decision.
    """
    assignment = decision.assignment
    batch = budget.lock(assignment.hit.questionnaire.batch_id)
    if wanted not in (REJECT, PROPOSE) or not batch.replaces_auto_approved:
        return
    if not Inclusion.objects.filter(assignment=assignment).exists():
        why = late_reason(wanted, reason)
        is_collected = batch.status != Batch.Status.STOPPED
        leave_out(assignment, by=None, reason=why, replace=is_collected, rule_version=decision.rule_version)


def _first(assignment: Assignment, verdict: Verdict, *, batch: Batch) -> dict[str, Any]:
    """Return the first decision, which what is done already comes before."""
    if assignment.status == Status.APPROVED:
        reason = late_reason(verdict.verdict, verdict.reason)
        return {"verdict": APPROVE, "reason": reason, "is_auto_approved": True}
    if assignment.status == Status.REJECTED:
        return {"verdict": REJECT, "reason": assignment.feedback or REJECTED_ELSEWHERE}
    return {"verdict": carried(verdict, batch=batch), "reason": verdict.reason}


def carried(verdict: Verdict, *, batch: Batch) -> str:
    """Return what becomes of a verdict: a rejection is only proposed unless the batch rejects automatically."""
    return PROPOSE if verdict.verdict == REJECT and not batch.rejects_automatically else verdict.verdict


def from_rule(verdict: Verdict, *, batch: Batch) -> dict[str, Any]:
    """Return what the rule found out, whoever decides."""
    return {
        "n_correct": verdict.n_correct,
        "n_graded": verdict.n_graded,
        "flags": [_stored(flag) for flag in verdict.flags],
        "policy": batch.review_policy,
        "rule_version": rule_version(batch.review_policy),
        "decided_at": timezone.now(),
    }


def reason_told(decision: Decision) -> str:
    """Return the reason as a worker reads it: what rules say in the language that is active, a person's words as they
    are. The record stays English.
    """
    reason = decision.reason
    for flag in decision.flags:
        if text := flag.get("text"):
            reason = reason.replace(flag["sentence"], gettext(text) % flag["values"])
    return reason


def _stored(flag: Flag) -> dict[str, Any]:
    """Return a flag as it is kept: what the record says, and what a worker may read of it in their language."""
    kept: dict[str, Any] = {"kind": flag.kind, "sentence": flag.sentence}
    return kept | {"text": flag.text, "values": dict(flag.values)} if flag.text else kept


def _by_person(assignment: Assignment, verdict: str, *, by: AbstractBaseUser, reason: str) -> Decision:
    batch = assignment.hit.questionnaire.batch
    found_out = from_rule(decide(assignment, batch=batch), batch=batch)
    changes = {"verdict": verdict, "reason": reason, "decided_by": by, "decided_at": timezone.now()}
    with transaction.atomic():
        lock_undecided(assignment)
        before = Decision.objects.filter(assignment=assignment).first()
        if before and all(
            getattr(before, name) == changes[name] for name in ("verdict", "reason", "decided_by")
        ):
            return before
        decision, _ = Decision.objects.update_or_create(
            assignment=assignment, defaults=changes, create_defaults={**found_out, **changes}
        )
        audit_decision(decision, before=before.verdict if before else "")
        if operation := TELLS.get(verdict):
            _forget_refusal(assignment, operation)
    return decision


def lock(assignment: Assignment) -> Assignment:
    """Lock an assignment's row until the end of the transaction, and return it as it is now.

    Whoever locks its batch too does so before.
    """
    return LOCKED.get(pk=assignment.pk)


LOCKED = Statement(
    lambda: Assignment.objects.select_for_update(no_key=True).filter(pk=Hole("pk", Assignment._meta.pk))
)


def lock_undecided(assignment: Assignment) -> Assignment:
    """Lock what can still be decided, as `lock`. Raises CannotDecide for what is carried out, or on its way."""
    locked = lock(assignment)
    if locked.status != Status.SUBMITTED:
        raise CannotDecide(f"This assignment is {locked.status} already.")
    calls = Call.objects.filter(assignment=assignment, operation__in=TELLING)
    if calls.exclude(state=Call.State.REFUSED).exists():
        raise CannotDecide("The marketplace is being told an earlier decision about this assignment.")
    return locked


def _check_can_overturn(assignment: Assignment) -> None:
    if assignment.status != Status.REJECTED:
        raise CannotDecide("Only a rejected assignment can be overturned.")
    if timezone.now() > overturn_until(assignment):
        raise CannotDecide("MTurk lets a rejection be overturned within 30 days of submission only.")


def _overturned(assignment: Assignment, *, by: AbstractBaseUser, reason: str, use_answers: bool) -> Decision:
    """Take a rejection back; the batch is locked, so nothing is replaced meanwhile."""
    refused = overturn_refused(assignment)
    decisions = Decision.objects.filter(assignment=assignment)
    standing = decisions if refused else decisions.filter(overturned_at=None)
    is_new = standing.update(overturned_at=timezone.now(), overturned_by=by, overturn_reason=reason)
    decision = Decision.objects.filter(assignment=assignment).first()
    if decision is None:
        raise CannotDecide("It was rejected elsewhere. Fetch the news of this HIT first, then overturn it.")
    if is_new:
        audit_decision(decision, OVERTURN, **({"refused_before": refused.error} if refused else {}))
        _use_or_leave_out(assignment, by=by, reason=reason, use_answers=use_answers)
        quota.withdraw(assignment)
    _forget_refusal(assignment, Call.Operation.OVERTURN)
    return decision


def _use_or_leave_out(
    assignment: Assignment, *, by: AbstractBaseUser, reason: str, use_answers: bool
) -> None:
    is_decided = Inclusion.objects.filter(assignment=assignment).exists()
    if use_answers and is_decided:
        include(assignment, by=by, reason=reason)
    elif not use_answers and not is_decided and is_replaced(assignment):
        leave_out(assignment, by=by, reason=OVERTURNED_TOO_LATE.format(reason), replace=True)


def _forget_refusal(assignment: Assignment, operation: Call.Operation) -> None:
    """A person asked again: what the marketplace refused is sent once more, with the new words."""
    for call in Call.objects.filter(assignment=assignment, operation=operation):
        journal.plan_again(call)
