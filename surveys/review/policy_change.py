"""Another policy for a batch that runs: written down, in the audit trail, and used for what no person has decided."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction

from statements import Statement
from surveys import audit
from surveys.models import Batch, Decision
from surveys.protocols.policy import parse, read_policy, rule_version
from surveys.protocols.rules import Verdict
from surveys.publishing import budget
from surveys.review.decisions import (
    audit_decision,
    by_rule_alone,
    carried,
    decide_all,
    from_rule,
    lock,
    outdated,
)
from surveys.review.errors import CannotDecide, check_reason

Data = dict[str, Any]


def apply_policy(
    batch: Batch,
    *,
    policy: Data,
    rejects_automatically: bool,
    instead_of: str,
    by: AbstractBaseUser | AnonymousUser | None,
    reason: str,
) -> None:
    """Put another policy in the place of the one whose rule version is `instead_of`; `judge_again` then judges by it.

    From then on no rejection is carried out that a rule made by the policy before. Raises PolicyError, and CannotDecide
    where the batch does not run, somebody else was quicker, or no reason is given.
    """
    read_policy(policy, items_per_hit=batch.items_per_hit)
    reason = check_reason(reason, what="Another policy")
    with transaction.atomic():
        locked = budget.lock(batch.pk)
        _check(locked, instead_of=instead_of)
        after = {"policy": policy, "rejects_automatically": rejects_automatically}
        before = {"policy": locked.review_policy, "rejects_automatically": locked.rejects_automatically}
        Batch.objects.filter(pk=batch.pk).update(
            review_policy=policy, rejects_automatically=rejects_automatically
        )
        audit.record(
            audit.Kind.POLICY,
            "change",
            batch=batch,
            by=by,
            reason=reason,
            rule_version=rule_version(policy),
            details={"before": before, "after": after},
        )
    batch.refresh_from_db()


def judge_again(batch: Batch) -> int:
    """Judge again what is outdated in a batch; returns how many verdicts changed. Safe to repeat.

    What a person decided, and what the marketplace knows already, stays as it is, with its rule version. What comes in
    meanwhile is left to the next time.
    """
    waiting = list(outdated(batch).select_related("assignment__worker"))
    verdicts = decide_all(batch, policy=parse(batch.review_policy)) if waiting else {}
    judged = [decision for decision in waiting if decision.assignment_id in verdicts]
    return sum(_judged_again(decision, verdicts[decision.assignment_id], batch) for decision in judged)


def to_judge_again() -> list[Batch]:
    """Return the batches with something outdated in them."""
    return [batch for batch in DECIDED_BY_RULE.all() if outdated(batch).exists()]


DECIDED_BY_RULE = Statement(
    lambda: Batch.objects.filter(
        pk__in=by_rule_alone().values("assignment__hit__questionnaire__batch")
    ).order_by("pk")
)


def _check(batch: Batch, *, instead_of: str) -> None:
    if batch.status not in Batch.UNDER_REVIEW:
        raise CannotDecide("The policy of this batch can’t be changed on this page: it is not running.")
    if rule_version(batch.review_policy) != instead_of:
        raise CannotDecide(
            "Somebody has changed the policy in the meantime. Look at it before you change it."
        )


@transaction.atomic
def _judged_again(decision: Decision, verdict: Verdict, batch: Batch) -> bool:
    """Write what the new rule says, unless the decision, answers or policy have changed since they were read."""
    now = budget.lock(batch.pk)
    has_changed = lock(decision.assignment).saved_at != decision.assignment.saved_at
    before = outdated(now).filter(pk=decision.pk).first()
    if before is None or has_changed or now.review_policy != batch.review_policy:
        return False
    values = {
        **from_rule(verdict, batch=now),
        "verdict": carried(verdict, batch=now),
        "reason": verdict.reason,
    }
    Decision.objects.filter(pk=before.pk).update(**values)
    decision.refresh_from_db()
    audit_decision(decision, before=before.verdict)
    return decision.verdict != before.verdict
