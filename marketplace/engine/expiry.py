"""HITs whose expiry has come: thousands of a batch expire at one moment."""

from datetime import datetime

from django.db import transaction
from django.db.models import F

from marketplace.engine.hits import expire
from marketplace.models import HIT, NotificationSetting
from marketplace.money import ledger

CHUNK = 500


def expire_due(*, now: datetime) -> None:
    """Release what nobody took of every HIT that is due. One indexed query when nothing is."""
    due = HIT.objects.filter(expires_at__lte=now, is_expired=False, disposed_at=None)
    keys = list(due.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(keys), CHUNK):
        _expire(keys[start : start + CHUNK], now=now)


@transaction.atomic
def _expire(keys: list[int], *, now: datetime) -> None:
    due = HIT.objects.filter(pk__in=keys, expires_at__lte=now, is_expired=False, disposed_at=None)
    locked = due.select_for_update(of=("self",), no_key=True).select_related("hit_type", "requester")
    hits = list(locked.defer("question").order_by("pk"))
    told = _types_told_of(hits)
    silent = [hit for hit in hits if hit.hit_type_id not in told]
    ledger.release_unsold(silent, now=now)
    HIT.objects.filter(pk__in=[hit.pk for hit in silent]).update(
        is_expired=True, held_slots=F("pending") + F("submitted")
    )
    for hit in hits:
        if hit.hit_type_id in told:
            expire(hit, now=now)


def _types_told_of(hits: list[HIT]) -> set[int]:
    """Return the keys of the types whose requesters are told of events."""
    settings = NotificationSetting.objects.filter(hit_type__in={hit.hit_type_id for hit in hits})
    return set(settings.filter(is_active=True).values_list("hit_type_id", flat=True))
