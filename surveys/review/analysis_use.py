"""Whether the answers of an assignment are used in the analysis: decided apart from its payment.

Without a decision everything is used that is not rejected. What is left out can be collected once more, exactly once:
included again after that, it is used beside the answers that replaced it.
"""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from annotators.models import Assignment
from surveys import audit
from surveys.models import Batch, Decision, Inclusion, is_rejected
from surveys.publishing import budget, quota
from surveys.review.errors import CannotDecide, check_reason
from surveys.review.replacements import is_replaced, offer_again, reopen_batch

READER = "it is part of the study's record"
UNDO_REASON = "Leaving them out was a mistake, and is taken back."
Status = Assignment.Status


@transaction.atomic
def exclude(assignment: Assignment, *, by: AbstractBaseUser, reason: str, replace: bool) -> Inclusion:
    """Leave answers out of the analysis, paid as they are; with `replace` they are collected once more.

    Who left them out first is kept; a replacement can be asked for later. Raises CannotDecide without a reason, for
    what was not handed in or is rejected, and with `replace` in a stopped batch or over its budget.
    """
    reason = check_reason(reason, what="Leaving answers out", reader=READER)
    now = _locked(assignment)
    if now.status not in (Status.SUBMITTED, Status.APPROVED):
        raise CannotDecide(f"This assignment is {now.status}: its answers are not used anyway.")
    if replace and now.hit.questionnaire.batch.status == Batch.Status.STOPPED:
        raise CannotDecide("The batch is stopped: nothing is collected any more. Leave it out without that.")
    earlier = Inclusion.objects.filter(assignment=now, is_included=False).first()
    if earlier and (earlier.is_replaced or not replace):
        return earlier
    try:
        return leave_out(now, by=by, reason=reason, replace=replace)
    except budget.OverBudget as error:
        raise CannotDecide(str(error)) from error


@transaction.atomic
def include(assignment: Assignment, *, by: AbstractBaseUser, reason: str) -> Inclusion:
    """Use answers again that were left out. What replaced them stays, and what a marketplace has opened for that.

    Raises CannotDecide without a reason, for rejected work, and where the answers are used anyway.
    """
    reason = check_reason(reason, what="Using answers again", reader=READER)
    now = _locked(assignment)
    if Assignment.objects.filter(is_rejected(), pk=now.pk).exists():
        raise CannotDecide("Rejected work is not used. Overturn the rejection first.")
    earlier = Inclusion.objects.filter(assignment=now).first()
    if earlier is None:
        raise CannotDecide("These answers are used already.")
    if earlier.is_included:
        return earlier
    inclusion = _write(now, is_included=True, by=by, reason=reason)
    quota.withdraw(now)
    return inclusion


@transaction.atomic
def exclude_used(assignment: Assignment, *, by: AbstractBaseUser, reason: str, replace: bool) -> Inclusion:
    """Leave out answers that are used, as `exclude` does. Raises CannotDecide for what is left out already.

    So whoever takes back what they decided about many takes back nothing that was decided before.
    """
    _locked(assignment)
    if Inclusion.objects.filter(assignment=assignment, is_included=False).exists():
        raise CannotDecide("These answers are left out already.")
    return exclude(assignment, by=by, reason=reason, replace=replace)


def leave_out(
    assignment: Assignment,
    *,
    by: AbstractBaseUser | None,
    reason: str,
    replace: bool,
    rule_version: str = "",
) -> Inclusion:
    """Write down that answers are left out, `by` None by rule; call it in a transaction that has locked the batch.

    A batch that was complete is open again if the answers are to be collected once more. Raises OverBudget where the
    place they were to be collected at has closed meanwhile, and opening it again could cost too much.
    """
    if replace and is_replaced(assignment):
        offer_again(assignment)
    elif replace:
        reopen_batch(assignment.hit.questionnaire.batch_id)
    return _write(
        assignment, is_included=False, is_replaced=replace, by=by, reason=reason, rule_version=rule_version
    )


def _locked(assignment: Assignment) -> Assignment:
    """Lock the batch, so that nothing is replaced meanwhile, and return the assignment as it is now."""
    budget.lock(assignment.hit.questionnaire.batch_id)
    related = ("worker", "hit__questionnaire__batch")
    return Assignment.objects.select_related(*related).get(pk=assignment.pk)


def _write(
    assignment: Assignment,
    *,
    is_included: bool,
    by: AbstractBaseUser | None,
    reason: str,
    is_replaced: bool = False,
    rule_version: str = "",
) -> Inclusion:
    values = {
        "is_included": is_included,
        "is_replaced": is_replaced,
        "reason": reason,
        "rule_version": rule_version,
        "decided_by": by,
        "decided_at": timezone.now(),
    }
    inclusion, _ = Inclusion.objects.update_or_create(assignment=assignment, defaults=values)
    audit.record(
        audit.Kind.INCLUSION,
        "include" if is_included else "exclude",
        assignment=assignment,
        by=by,
        reason=reason,
        rule_version=rule_version,
        details={"is_replaced": is_replaced, "payment": _payment(assignment)},
    )
    return inclusion


def _payment(assignment: Assignment) -> str:
    """Return what is decided about the payment, for whoever reads the trail."""
    decision = Decision.objects.filter(assignment=assignment).first()
    return decision.verdict if decision else ""
