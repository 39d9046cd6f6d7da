"""Answering the appeal of a rejected worker: the rejection is taken back, or stays."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone

from surveys import audit
from surveys.models import Appeal
from surveys.review.decisions import overturn
from surveys.review.errors import CannotDecide


@transaction.atomic
def answer_appeal(
    appeal: Appeal, *, outcome: str, answer: str, by: AbstractBaseUser, use_answers: bool = False
) -> None:
    """Record what a person answers, once; overturn the rejection if that is the outcome.

    The worker reads `answer`. `use_answers` is passed on to `overturn`. Raises CannotDecide without one, if the appeal
    was answered before or never made, and if the rejection can't be overturned any more; then nothing is changed.
    """
    if not answer.strip():
        raise CannotDecide("An appeal needs an answer: the worker reads it.")
    changes = {"outcome": outcome, "answer": answer.strip(), "answered_at": timezone.now(), "answered_by": by}
    if not Appeal.objects.filter(pk=appeal.pk, made_at__isnull=False, answered_at=None).update(**changes):
        raise CannotDecide(_why_not(appeal))
    if outcome == Appeal.Outcome.OVERTURNED:
        overturn(appeal.assignment, by=by, reason=answer, use_answers=use_answers)
    audit.record(audit.Kind.APPEAL, outcome, assignment=appeal.assignment, by=by, reason=answer.strip())


def _why_not(appeal: Appeal) -> str:
    appeal.refresh_from_db()
    if appeal.made_at is None:
        return "Nobody has appealed."
    return f"{appeal.answered_by or 'Somebody'} has answered this appeal already."
