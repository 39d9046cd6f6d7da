"""Which status a HIT has, as a rule over one HIT and as the same rule over a query."""

from datetime import datetime

from django.db.models import F, Q

from marketplace.models import HIT

ASSIGNABLE, UNASSIGNABLE, DISPOSED = "Assignable", "Unassignable", "Disposed"
REVIEWABLE, REVIEWING = "Reviewable", "Reviewing"


def hit_status(hit: HIT, *, now: datetime) -> str:
    """Return the HITStatus. Source: the life-cycle table of MTurk's developer guide."""
    if hit.disposed_at is not None:
        return DISPOSED
    # A clock that was read before the HIT's lock may be behind an expiry that was acted upon.
    if hit.free > 0 and hit.expires_at > now and not hit.is_expired:
        return ASSIGNABLE
    if hit.pending:
        return UNASSIGNABLE
    return REVIEWING if hit.is_reviewing else REVIEWABLE


def became_reviewable(hit: HIT, *, now: datetime) -> list[str]:
    """Return the event HITReviewable if that is what the HIT, which was not, has just become."""
    return ["HITReviewable"] if hit_status(hit, now=now) == REVIEWABLE else []


def is_full() -> Q:
    return Q(max_assignments=F("pending") + F("submitted") + F("approved") + F("rejected"))


def assignable(*, now: datetime) -> Q:
    return Q(disposed_at=None, expires_at__gt=now, is_expired=False) & ~is_full()


def reviewable(*, now: datetime) -> Q:
    return Q(disposed_at=None, pending=0) & (is_full() | Q(expires_at__lte=now) | Q(is_expired=True))


def slots_to_fund(hit: HIT, *, now: datetime) -> int:
    """Return how many assignments may still have to be paid."""
    undecided = hit.pending + hit.submitted
    return undecided + (hit.free if hit_status(hit, now=now) == ASSIGNABLE else 0)
