"""Rejected workers who appeal."""

from datetime import timedelta

from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Appeal, Decision, Questionnaire, Replacement
from surveys.review import appeal_codes
from tests import factories

REASON = "You answered 2 of 5 questions correctly; at least 3 are needed."


def rejected(questionnaire: Questionnaire, *, days_ago: float = 1, **values) -> Appeal:
    """A rejection some days after its submission, with a code nobody has used yet."""
    then = timezone.now() - timedelta(days=days_ago)
    times = {"accepted_at": then, "submitted_at": then, "rejected_at": then}
    assignment = factories.make_assignment(questionnaire.hit, status="Rejected", **{**times, **values})
    Decision.objects.create(assignment=assignment, verdict="reject", reason=REASON, decided_at=then)
    message = appeal_codes.with_code(assignment, REASON)
    Assignment.objects.filter(pk=assignment.pk).update(feedback=message)
    return assignment.appeal


def appealed(
    questionnaire: Questionnaire, *, text: str = "I did look.", hours_ago: float = 1, **values
) -> Appeal:
    """A rejection its worker has appealed against."""
    appeal = rejected(questionnaire, **values)
    appeal_codes.make(appeal, text=text)
    Appeal.objects.filter(pk=appeal.pk).update(made_at=timezone.now() - timedelta(hours=hours_ago))
    appeal.refresh_from_db()
    return appeal


def replaced(assignment: Assignment) -> None:
    """Its place is opened for somebody else."""
    questionnaire = assignment.hit.questionnaire
    Replacement.objects.create(
        replaces=assignment, questionnaire=questionnaire, opened_by="extend", opened_at=timezone.now()
    )
