"""The numbers Prometheus collects: eleven queries, one more for a marketplace, and one question to the broker."""

import logging
from collections.abc import Callable, Iterator

from django.db.models import Count, Min, Q
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily

from annotators.crowds.mturk import listing
from annotators.models import HIT, IS_CLAIM, Assignment, Call, Endpoint, Listing
from annotators.outbox import holds
from surveys.answering import claiming
from surveys.models import Batch
from surveys.operations import disk
from surveys.operations.backups import recency
from surveys.operations.health import BEAT, WORKER, pulse, queue_depth
from surveys.review import due_work, replacements
from surveys.review.progress import LONGEST_WARNING, undecided

logger = logging.getLogger(__name__)

Gauges = Iterator[GaugeMetricFamily]
OPEN_CALLS = (Call.State.PLANNED, Call.State.SENT, Call.State.UNKNOWN)


class _Collector:
    """Asks everything anew at each collection; what does not answer is left out, and `assent_up` says so."""

    def collect(self) -> Gauges:
        up = GaugeMetricFamily("assent_up", "1 where it answered just now.", labels=["part"])
        for part, measured in PARTS.items():
            try:
                gauges = list(measured())
            except Exception as error:
                logger.warning("Not measured: %s (%s)", part, type(error).__name__)
                gauges = []
                up.add_metric([part], 0)
            else:
                up.add_metric([part], 1)
            yield from gauges
        yield up


def measure() -> bytes:
    """Return all gauges in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector())
    return generate_latest(registry)


def _queue() -> Gauges:
    yield GaugeMetricFamily("assent_queue_depth", "Tasks that wait for a worker.", value=queue_depth())


def _heartbeats() -> Gauges:
    ages = GaugeMetricFamily(
        "assent_heartbeat_age_seconds", "Since it was last heard of.", labels=["process"]
    )
    for name in (WORKER, BEAT):
        if (age := pulse(name).age) is not None:
            ages.add_metric([name], age)
    yield ages


def _database() -> Gauges:
    yield _sync_lag()
    yield _listing_age()
    yield _open_hits()
    yield from _assignments()
    yield _claims()
    yield _replacements()
    yield from _calls()
    yield from _batches()
    text = "1 while nothing is sent, after a restore, until somebody has compared the books."
    yield GaugeMetricFamily("assent_sending_held", text, value=1 if holds.current() else 0)


def _sync_lag() -> GaugeMetricFamily:
    """Of the HITs about which something is to be done: the longest time that one has waited to be looked at."""
    oldest = due_work.waiting_since()
    lag = (timezone.now() - oldest).total_seconds() if oldest else 0
    return GaugeMetricFamily("assent_sync_lag_seconds", "The HIT that waits longest.", value=max(0, lag))


def _listing_age() -> GaugeMetricFamily:
    """Where something is open: how long ago the marketplace was asked last what has moved."""
    gauge = GaugeMetricFamily("assent_listing_age_seconds", "Since HITs were listed.", labels=["endpoint"])
    for last in Listing.objects.all():
        if last.listed_at and listing.unended(last.endpoint).exists():
            gauge.add_metric([last.endpoint], (timezone.now() - last.listed_at).total_seconds())
    return gauge


def _open_hits() -> GaugeMetricFamily:
    gauge = GaugeMetricFamily("assent_hits_open", "HITs that can be accepted.", labels=["endpoint"])
    is_open = Q(status=HIT.Status.ASSIGNABLE, expires_at__gt=timezone.now(), gone_at=None)
    counted = HIT.objects.filter(is_open).values_list("hit_type__endpoint").annotate(n=Count("pk")).order_by()
    found = dict(counted)
    for endpoint in Endpoint.values:
        gauge.add_metric([endpoint], found.get(endpoint, 0))
    return gauge


def _assignments() -> Gauges:
    is_near = Q(auto_approval_at__lte=timezone.now() + LONGEST_WARNING)
    counts = undecided().aggregate(all=Count("pk"), near=Count("pk", filter=is_near))
    hours = LONGEST_WARNING.seconds // 3600
    yield GaugeMetricFamily(
        "assent_assignments_undecided",
        "Submitted; the marketplace approves it by itself unless it hears from us.",
        value=counts["all"],
    )
    yield GaugeMetricFamily(
        "assent_assignments_near_auto_approval", f"Of these, within {hours} hours.", value=counts["near"]
    )


def _claims() -> GaugeMetricFamily:
    """A HIT's address claims who opens it; what stays unconfirmed is removed by the sweep."""
    gauge = GaugeMetricFamily(
        "assent_claims", "Opened, and not confirmed by the marketplace.", labels=["state"]
    )
    n_stale = claiming.stale().count()
    gauge.add_metric(["open"], Assignment.objects.filter(IS_CLAIM).count() - n_stale)
    gauge.add_metric(["stale"], n_stale)
    return gauge


def _replacements() -> GaugeMetricFamily:
    """In a batch with a budget one that waits longer than a sync is held back: the budget does not cover it."""
    waiting = replacements.unreplaced().filter(replacement=None)
    limited = Q(hit__questionnaire__batch__budget__isnull=False)
    counts = waiting.aggregate(limited=Count("pk", filter=limited), none=Count("pk", filter=~limited))
    gauge = GaugeMetricFamily(
        "assent_replacements_waiting",
        "Assignments that do not count and are not replaced.",
        labels=["budget"],
    )
    for budget in ("limited", "none"):
        gauge.add_metric([budget], counts[budget])
    return gauge


def _calls() -> Gauges:
    rows = (
        Call.objects.filter(state__in=OPEN_CALLS)
        .values("state")
        .annotate(n=Count("pk"), since=Min("created_at"))
    )
    found = {row["state"]: row for row in rows.order_by()}
    calls = GaugeMetricFamily(
        "assent_calls_unsettled", "Calls to a marketplace without an outcome.", labels=["state"]
    )
    for state in OPEN_CALLS:
        calls.add_metric([state.value], found[state]["n"] if state in found else 0)
    now = timezone.now()
    oldest = min((row["since"] for row in found.values()), default=now)
    yield calls
    yield GaugeMetricFamily(
        "assent_calls_unsettled_oldest_seconds", "Age of the oldest.", value=(now - oldest).total_seconds()
    )


def _batches() -> Gauges:
    rows = Batch.objects.values("status").annotate(n=Count("pk"), failing=Count("pk", filter=~Q(error="")))
    found = {row["status"]: row for row in rows.order_by()}
    batches = GaugeMetricFamily("assent_batches", "Batches by status.", labels=["status"])
    for status in Batch.Status.values:
        batches.add_metric([status], found[status]["n"] if status in found else 0)
    yield batches
    failing = sum(row["failing"] for row in found.values())
    yield GaugeMetricFamily(
        "assent_batches_in_error", "Batches that stand still with an error.", value=failing
    )


def _disk() -> Gauges:
    if (age := recency.age()) is not None:
        yield GaugeMetricFamily("assent_backup_age_seconds", "Since the last backup was made.", value=age)
    yield GaugeMetricFamily(
        "assent_disk_free_ratio", "Free share of the fullest disk of ours, 0 to 1.", value=disk.free_share()
    )


PARTS: dict[str, Callable[[], Gauges]] = {
    "database": _database,
    "broker": _queue,
    "heartbeats": _heartbeats,
    "disk": _disk,
}
