"""Taking back what a person has just decided, where the crowd allows it.

What nobody was told yet is judged by the rule again, as if nobody had decided. A rejection that was carried out is
overturned. What is paid stays paid.
"""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from annotators.models import Assignment
from surveys.models import Decision
from surveys.review import decisions
from surveys.review.errors import CannotDecide

OVERTURN_REASON = "This rejection was a mistake of ours, and is taken back."
Status = Assignment.Status


def undo(assignment: Assignment, *, by: AbstractBaseUser) -> None:
    """Take a person's decision back. Safe to repeat. Raises CannotDecide where it is too late for that."""
    status = Assignment.objects.values_list("status", flat=True).get(pk=assignment.pk)
    if status == Status.APPROVED:
        raise CannotDecide("It is paid already, and that can’t be taken back.")
    if status == Status.REJECTED:
        assignment.refresh_from_db()
        decisions.overturn(assignment, by=by, reason=OVERTURN_REASON, use_answers=True)
    else:
        _judge_again(assignment, by=by)


@transaction.atomic
def _judge_again(assignment: Assignment, *, by: AbstractBaseUser) -> None:
    decisions.lock_undecided(assignment)
    decided = Decision.objects.filter(assignment=assignment, decided_by__isnull=False).first()
    if decided is None:
        return
    batch = assignment.hit.questionnaire.batch
    said = decisions.decide(assignment, batch=batch)
    values = {**decisions.from_rule(said, batch=batch), "verdict": decisions.carried(said, batch=batch)}
    before = decided.verdict
    Decision.objects.filter(pk=decided.pk).update(**values, reason=said.reason, decided_by=None)
    decisions.audit_undone(decided, by=by, before=before)
