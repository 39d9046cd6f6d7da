"""Sending on hold: after a restore nothing is sent until a person has compared our books with the marketplace's."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from annotators.crowds.mturk.gateway import HITRecord
from annotators.crowds.mturk.mirror import SHOWN_FOR
from annotators.models import HIT, Call, Hold
from statements import Statement

HELD = "Sending is held after a restore, until somebody has compared the books (page Books)."


class Listing(NamedTuple):
    """The HITs of an account that nobody here knew: {annotation: HITId}."""

    read_at: datetime
    hits: dict[str, str]


def begin(reason: str) -> Hold:
    """Hold sending from now on; one that stands already begins anew, and whoever compares for it is too late."""
    Hold.objects.filter(released_at=None).update(
        began_at=timezone.now(), tried_at=None, leased_until=None, compared_at=None, books={}, listings={}
    )
    return current() or Hold.objects.create(reason=reason)


def current() -> Hold | None:
    """Return the hold that stands, if any."""
    return STANDING.first()


STANDING = Statement(lambda: Hold.objects.filter(released_at=None).order_by("pk")[:1])


def release(*, by: str) -> int:
    """End the hold in the name of `by`, and return how many ended: none where somebody was quicker."""
    return Hold.objects.filter(released_at=None).update(released_at=timezone.now(), released_by=by)


def last_restore() -> Hold | None:
    """Return the hold of the last restore, while a HIT may exist that was made after its backup."""
    recent = Hold.objects.filter(began_at__gt=timezone.now() - SHOWN_FOR)
    return recent.order_by("-began_at", "-pk").first()


@transaction.atomic
def keep_listing(hold: Hold, *, endpoint: str, records: Iterable[HITRecord], read_at: datetime) -> Listing:
    """Keep, of all HITs of an account, those with an annotation that nobody here knows: there are few of them.

    `read_at`: when reading began. A HIT that is listed later was made later, or only just before.
    """
    known = set(HIT.objects.filter(hit_type__endpoint=endpoint).values_list("hit_id", flat=True))
    unknown = {record.requester_annotation: record.hit_id for record in records if record.hit_id not in known}
    locked = Hold.objects.select_for_update().get(pk=hold.pk)
    if locked.began_at == hold.began_at:
        locked.listings[endpoint] = {"read_at": read_at.isoformat(), "hits": unknown}
        locked.save(update_fields=["listings"])
    return Listing(read_at, unknown)


def listing(hold: Hold, *, endpoint: str) -> Listing | None:
    """Return what was kept of an account since the restore, None where it was not read."""
    if (kept := hold.listings.get(endpoint)) is None:
        return None
    return Listing(datetime.fromisoformat(kept["read_at"]), kept["hits"])


def say_why(call: Call) -> None:
    """Write on a call that is only planned why it is not sent. The sweep tries it again."""
    Call.objects.filter(pk=call.pk, state=Call.State.PLANNED).update(error=HELD)
    call.refresh_from_db()
