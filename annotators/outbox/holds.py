"""Sending on hold: after a restore nothing is sent until a person has compared our books with the marketplace's."""

from datetime import timedelta

from django.utils import timezone

from annotators.models import Call, Hold

HELD = "Sending is held after a restore, until somebody has compared the books (page Books)."
SHOWN_FOR = timedelta(days=120)  # MTurk disposes of a HIT by itself then


def begin(reason: str) -> Hold:
    """Hold sending from now on; one that stands already begins anew, and whoever compares for it is too late."""
    Hold.objects.filter(released_at=None).update(
        began_at=timezone.now(), tried_at=None, leased_until=None, compared_at=None, books={}
    )
    return current() or Hold.objects.create(reason=reason)


def current() -> Hold | None:
    """Return the hold that stands, if any."""
    return Hold.objects.filter(released_at=None).order_by("pk").first()


def release(*, by: str) -> int:
    """End the hold in the name of `by`, and return how many ended: none where somebody was quicker."""
    return Hold.objects.filter(released_at=None).update(released_at=timezone.now(), released_by=by)


def was_restored() -> bool:
    """Tell whether a HIT may exist that was made after a backup which was restored since."""
    return Hold.objects.filter(began_at__gt=timezone.now() - SHOWN_FOR).exists()


def say_why(call: Call) -> None:
    """Write on a call that is only planned why it is not sent. The sweep tries it again."""
    Call.objects.filter(pk=call.pk, state=Call.State.PLANNED).update(error=HELD)
    call.refresh_from_db()
