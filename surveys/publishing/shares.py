"""How much of a batch one worker may do, and whether they have done it."""

from django.db.models import Q, Sum
from django.utils import timezone

from annotators.models import Assignment, Worker
from surveys.models import Batch
from surveys.protocols.policy_reading import cap
from surveys.protocols.worker_cap import most_assignments


def n_wanted(batch: Batch) -> int:
    """Return how many kept assignments a batch is to get."""
    roots = batch.questionnaires.filter(sibling_of=None)
    return int(roots.aggregate(n=Sum("target_assignments"))["n"] or 0)


def cap_of(batch: Batch) -> int | None:
    """Return how many of the batch's assignments one worker may have; None without a cap."""
    share = cap(batch.review_policy)
    return None if share is None else most_assignments(share, n_wanted=n_wanted(batch))


def has_reached_cap(batch: Batch, *, worker: Worker) -> bool:
    """Tell whether a worker has had their share. What they may be working on now counts too.

    The marketplace does not tell when somebody returns a HIT: until the time for it is over it counts as worked on.
    """
    most = cap_of(batch)
    if most is None:
        return False
    begun_since = timezone.now() - batch.assignment_duration
    is_given_up = Q(status=Assignment.Status.ACCEPTED, saved_at=None, loaded_at__lt=begun_since)
    works = Assignment.objects.filter(hit__questionnaire__batch=batch, worker=worker).exclude(is_given_up)
    return works.count() >= most
