"""What has moved on a marketplace: all HITs of an account are listed, a hundred to a page, and compared with ours.

A HIT nobody touches costs its line in a page. What is neither available nor pending was submitted (API reference,
"HIT"); of an expired HIT that is only known when it is asked about, once.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotators.crowds.base import by_market, has_market
from annotators.crowds.mturk import mirror
from annotators.crowds.mturk.gateway import Gateway, HITRecord
from annotators.models import HIT, IS_CLAIM, Assignment, Endpoint, HITType, Listing
from statements import Hole, Statement

PAGES_EACH = 20  # in one interval of the sync: beyond, a listing comes the less often the longer it is
Status = Assignment.Status
Pair = tuple[Any, HITRecord]  # a HIT of ours, and the marketplace's


def due(*, now: datetime) -> list[str]:
    """Return the marketplaces whose HITs are to be listed now: something of ours is open there."""
    recent = {listing.endpoint for listing in Listing.objects.all() if not _is_due(listing, now=now)}
    others = [name for name in Endpoint.values if has_market(name) and name not in recent]
    used = set(HITType.objects.filter(endpoint__in=others).values_list("endpoint", flat=True).distinct())
    return [name for name in others if name in used and UNENDED.rows(endpoint=name)]


def _is_due(listing: Listing, *, now: datetime) -> bool:
    """The sweep comes once an interval, a little early or late. A time in the future: the clock was set back.

    One that was broken off, or whose task was killed, comes again with the next.
    """
    every = timedelta(seconds=settings.SYNC_EVERY_SECONDS)
    rest = every * max(1, listing.n_pages / PAGES_EACH) - every / 2
    return listing.began_at is None or not now - rest < listing.began_at <= now


def unended(endpoint: str | Hole) -> QuerySet[HIT]:
    """Return the HITs of which something may still come in, or be decided by the marketplace."""
    undecided = Assignment.objects.filter(by_market(), status=Status.SUBMITTED)
    is_untold = Q(synced_at=None) | Q(synced_at__lte=F("last_listed"))
    is_open = Q(status__in=mirror.LIVE) | (is_untold & Q(max_assignments__gt=mirror.n_handed_in()))
    ours = HIT.objects.filter(hit_type__endpoint=endpoint, gone_at=None).exclude(status=HIT.Status.DISPOSED)
    return _with_last(ours).filter(is_open | Exists(undecided.filter(hit=OuterRef("pk"))))


ENDPOINT = Hole("endpoint", HITType._meta.get_field("endpoint"))
UNENDED = Statement(lambda: unended(ENDPOINT).values_list("pk")[:1])


def take(endpoint: str, *, gateway: Gateway) -> int:
    """List an account's HITs and write down which of ours have moved; returns how many.

    Two at once would cost twice, and do no harm: whoever finds another one just begun leaves it at that.
    """
    listing, _ = Listing.objects.get_or_create(endpoint=endpoint)
    began_at = asked_at = timezone.now()
    unchanged = Listing.objects.filter(pk=listing.pk, began_at=listing.began_at)
    if not _is_due(listing, now=began_at) or not unchanged.update(began_at=began_at):
        return 0
    n_moved, n_pages, seen = 0, 0, set[int]()
    for records in gateway.listed_hits():
        pairs = _ours(records, endpoint=endpoint)
        n_moved += _note(pairs, asked_at=asked_at)
        seen.update(hit.pk for hit, _ in pairs)
        n_pages, asked_at = n_pages + 1, timezone.now()
    n_moved += _note_absent(endpoint, seen=seen, before=began_at)
    Listing.objects.filter(pk=listing.pk).update(listed_at=began_at, n_pages=n_pages)
    return n_moved


def _ours(records: Iterable[HITRecord], *, endpoint: str) -> list[Pair]:
    by_id = {record.hit_id: record for record in records}
    if not by_id:  # the last page of a list is empty
        return []
    found = _with_last(HIT.objects.filter(hit_type__endpoint=endpoint, hit_id__in=by_id))
    claims = Assignment.objects.filter(IS_CLAIM, hit=OuterRef("pk"))
    counted = found.annotate(
        n_in=mirror.n_handed_in(), n_decided=mirror.n_decided(), has_claims=Exists(claims)
    )
    return [(hit, by_id[hit.hit_id]) for hit in counted.order_by("pk")]


def _note(pairs: Iterable[Pair], *, asked_at: datetime) -> int:
    """Write down what a page says; of a HIT that was looked at since it was asked for, we know better what came in.

    One looked at in the future was looked at before the clock was set back. One at least counts as looked at, so that
    the account is seen to be the right one (`mirror.is_account_strange`).
    """
    now = timezone.now()
    older = [
        (hit, record)
        for hit, record in pairs
        if not (_is_seen(hit, since=asked_at, now=now) and _is_as_large(hit, record))
    ]
    known = [(hit, record) for hit, record in older if _agrees(hit, record)]
    news = [(hit, record) for hit, record in older if not _agrees(hit, record)]
    told = [hit.pk for number, (hit, _) in enumerate(known) if number == 0 or hit.has_claims]
    told += [hit.pk for hit, record in older if _is_end(hit, record, asked_at=asked_at)]
    _note_statuses(known)
    n_moved = _note_moved([(hit, record) for hit, record in news if hit.listed_as != _as_listed(record)])
    HIT.objects.filter(pk__in=told, moved_at=None).update(synced_at=asked_at)
    return n_moved


def _is_seen(hit: HIT, *, since: datetime, now: datetime) -> bool:
    return hit.synced_at is not None and since <= hit.synced_at <= now


def _agrees(hit: Any, record: HITRecord) -> bool:
    """Tell whether the list says of a HIT what we know: the same places, as many handed in, as many decided."""
    return (
        _is_as_large(hit, record)
        and record.most_handed_in == hit.n_in
        and record.n_completed == hit.n_decided
    )


def _is_as_large(hit: HIT, record: HITRecord) -> bool:
    return (record.max_assignments, record.expires_at) == (hit.max_assignments, hit.expires_at)


def _is_end(hit: Any, record: HITRecord, *, asked_at: datetime) -> bool:
    """Tell whether it is news that nothing more can come in."""
    is_untold = hit.synced_at is None or hit.synced_at <= hit.last_listed
    return is_untold and hit.last_listed <= asked_at and record.n_pending == 0


def _note_statuses(pairs: Collection[Pair]) -> None:
    changed = [(hit.pk, record.status) for hit, record in pairs if record.status != hit.status]
    for status in {status for _, status in changed}:
        HIT.objects.filter(pk__in=[pk for pk, now in changed if now == status]).update(status=status)


def _note_moved(pairs: Collection[Pair]) -> int:
    now = timezone.now()
    for hit, record in pairs:
        hit.listed_as, hit.moved_at = _as_listed(record), now
    return HIT.objects.bulk_update([hit for hit, _ in pairs], ["listed_as", "moved_at"])


def _note_absent(endpoint: str, *, seen: Collection[int], before: datetime) -> int:
    """What we take for open and was not listed is asked about by itself."""
    ours = unended(endpoint).filter(created_at__lt=before - timedelta(minutes=1), moved_at=None)
    pks = set(ours.filter(missing_since=None).values_list("pk", flat=True)) - set(seen)
    return HIT.objects.filter(pk__in=pks).update(moved_at=timezone.now())


def _as_listed(record: HITRecord) -> str:
    counts = f"{record.max_assignments}-{record.n_available}-{record.n_pending}-{record.n_completed}"
    return f"{record.status} {counts} {record.expires_at:%Y-%m-%dT%H:%M:%S}"


def _with_last(hits: QuerySet[HIT]) -> QuerySet[HIT]:
    """Annotate when the last submission must have been listed."""
    last = F("expires_at") + F("hit_type__assignment_duration") + mirror.LISTING_LAG
    return hits.annotate(last_listed=ExpressionWrapper(last, output_field=DateTimeField()))
