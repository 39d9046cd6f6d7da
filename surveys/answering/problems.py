"""What somebody says is wrong with an item they are shown: written down once, and not without end."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import ProblemReport

LONGEST = 1000  # characters
MOST, WITHIN = 10, timedelta(hours=1)  # of one person, from one place


class TooMany(Exception):
    """Somebody has reported as much as one may within an hour."""


@transaction.atomic
def report(assignment: Assignment, *, position: int, text: str) -> bool:
    """Write down what is wrong with the item at `position`; False, and no change, if the same was said before.

    Raises TooMany, and Response.DoesNotExist where nothing is shown there.
    """
    Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    item = assignment.responses.get(position=position).item
    text = text.replace("\0", "").strip()[:LONGEST]
    if not text or ProblemReport.objects.filter(assignment=assignment, item=item, text=text).exists():
        return False
    if _n_lately(assignment) >= MOST:
        raise TooMany
    ProblemReport.objects.create(assignment=assignment, item=item, text=text)
    return True


def _n_lately(assignment: Assignment) -> int:
    theirs = ProblemReport.objects.filter(
        assignment__worker=assignment.worker_id, assignment__claimed_from=assignment.claimed_from
    )
    return theirs.filter(reported_at__gt=timezone.now() - WITHIN).count()
