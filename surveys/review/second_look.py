"""The door once more: standing, share and "seen before" of whoever the marketplace has named.

Who opens a HIT can name another worker, or nobody we know; who submitted it is known at sync. What slipped through is
paid or not by the batch's rule, as all work is, and never used.
"""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from annotators.crowds.base import crowd_of
from annotators.models import Assignment, Worker
from statements import Hole, Statement
from surveys.models import Batch, Inclusion, Questionnaire, Response
from surveys.publishing import budget, quota
from surveys.review.analysis_use import leave_out

EXCLUDED = "The worker is excluded, and the HIT was not opened in their name."
SHARE = "The worker had done their share of this batch, which is {most}."
SEEN = "The worker had seen these items in another HIT of this batch."
RULE = "door-1"


def look(assignment: Assignment) -> Inclusion | None:
    """Leave out what should not have been let in, with the reason; None if there is none. Safe to repeat.

    To be called before the claim is confirmed. It is collected once more, unless the batch is stopped or its budget
    does not cover that. What a person has decided about its use stays.
    """
    if not crowd_of(assignment).has_market or not (reason := _why_not(assignment)):
        return None
    with transaction.atomic():
        batch = budget.lock(assignment.hit.questionnaire.batch_id)
        if earlier := Inclusion.objects.filter(assignment=assignment).first():
            return earlier
        return _left_out(assignment, reason=reason, replace=batch.status != Batch.Status.STOPPED)


def _left_out(assignment: Assignment, *, reason: str, replace: bool) -> Inclusion:
    try:
        with transaction.atomic():
            return leave_out(assignment, by=None, reason=reason, replace=replace, rule_version=RULE)
    except budget.OverBudget:
        return leave_out(assignment, by=None, reason=reason, replace=False, rule_version=RULE)


def _why_not(assignment: Assignment) -> str:
    """Who was excluded after they began may finish: at the door, where they opened our page, they were not yet."""
    batch = assignment.hit.questionnaire.batch
    is_excluded = assignment.worker.standing == Worker.Standing.EXCLUDED
    if is_excluded and not _was_opened(assignment):
        return EXCLUDED
    if _has_seen(assignment, batch):
        return SEEN
    return SHARE.format(most=quota.cap_of(batch)) if _is_over_share(assignment, batch) else ""


def _was_opened(assignment: Assignment) -> bool:
    """Tell whether our page was opened in the worker's own name.

    A row that a sync has made never met a browser. Answers that wait to be confirmed tell it too, where a browser did
    not say what it is; what was handed in before there were claims, or is looked at after them, has none of these.
    """
    return assignment.user_agent != "" or assignment.responses.filter(is_claim=True).exists()


def _has_seen(assignment: Assignment, batch: Batch) -> bool:
    of = {"assignment": assignment.pk, "worker": assignment.worker_id}
    return bool(SEEN_BEFORE.rows(batch=batch.pk, questionnaire=assignment.hit.questionnaire.pk, **of))


def _seen_before() -> QuerySet[Response, Any]:
    """Return what a worker was shown of a questionnaire's items, other than in this assignment; one is enough."""
    known = Response.objects.filter(
        batch=Hole("batch", Batch._meta.pk), worker=Hole("worker", Worker._meta.pk), is_claim=False
    )
    shown = known.filter(item__slots__questionnaire=Hole("questionnaire", Questionnaire._meta.pk))
    others = shown.exclude(assignment=Hole("assignment", Assignment._meta.pk))
    return others.order_by().values_list("pk")[:1]


SEEN_BEFORE = Statement(_seen_before)


def _is_over_share(assignment: Assignment, batch: Batch) -> bool:
    """Count what was handed in before; what is left out already took nothing of the share."""
    if (most := quota.cap_of(batch)) is None or assignment.submitted_at is None:
        return False
    handed_in = Assignment.objects.filter(hit__questionnaire__batch=batch, worker=assignment.worker_id)
    before = handed_in.filter(submitted_at__lt=assignment.submitted_at).exclude(inclusion__is_included=False)
    return before.exclude(pk=assignment.pk).count() >= most
