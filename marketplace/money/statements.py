"""A requester's account over a span of days (of UTC), and a worker's earnings, from the ledger's entries alone."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from marketplace.models import Assignment, Entry, Requester, Worker

Account = Entry.Account
KINDS = {
    (Account.OUTSIDE, Account.AVAILABLE): "deposited",
    (Account.AVAILABLE, Account.HELD): "held",
    (Account.HELD, Account.AVAILABLE): "released",
    (Account.HELD, Account.WORKERS): "rewards",
    (Account.AVAILABLE, Account.WORKERS): "bonuses",
    (Account.HELD, Account.FEES): "fees",
    (Account.AVAILABLE, Account.FEES): "fees",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """Cents at one moment."""

    available: int = 0
    on_hold: int = 0

    @property
    def total(self) -> int:
        return self.available + self.on_hold

    def after(self, *, source: str, target: str, cents: int) -> "Standing":
        change = Counter({target: cents})
        change[source] -= cents
        return Standing(self.available + change[Account.AVAILABLE], self.on_hold + change[Account.HELD])


@dataclass(slots=True)
class Sums:
    """Cents moved in a span, by kind, and where the account stood at its end."""

    cents: Counter[str] = field(default_factory=Counter)
    standing: Standing = field(default_factory=Standing)

    @property
    def charged(self) -> int:
        """What left the account for good."""
        return self.cents["rewards"] + self.cents["bonuses"] + self.cents["fees"]


@dataclass(frozen=True, slots=True)
class Statement:
    """`days` have entries; `total` sums them up and stands where the account closed."""

    since: date
    until: date
    opening: Standing
    days: dict[date, Sums]
    total: Sums


def statement(requester: Requester, *, since: date, until: date) -> Statement:
    """Return the account from the first to the last day, both included. Three queries."""
    standing = opening = standing_before(requester, _start(since))
    days: dict[date, Sums] = defaultdict(Sums)
    total = Sums(standing=opening)
    for day, source, target, cents in _by_day(requester, since=since, until=until):
        standing = standing.after(source=source, target=target, cents=cents)
        for sums in (days[day], total):
            sums.cents[KINDS[Account(source), Account(target)]] += cents
            sums.standing = standing
    return Statement(since, until, opening, dict(days), total)


def standing_before(requester: Requester, moment: datetime) -> Standing:
    """Return where the account stood just before a moment."""
    earlier = requester.entries.filter(created_at__lt=moment)
    return Standing(_left(earlier, Account.AVAILABLE), _left(earlier, Account.HELD))


def _left(entries: "QuerySet[Entry]", account: Account) -> int:
    sums = entries.aggregate(
        received=Sum("cents", filter=Q(target=account), default=0),
        spent=Sum("cents", filter=Q(source=account), default=0),
    )
    left: int = sums["received"] - sums["spent"]
    return left


def _start(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)


def entries(requester: Requester, *, since: date, until: date) -> "QuerySet[Entry]":
    """Return the entries of a span in the order of time."""
    end = _start(until) + timedelta(days=1)
    booked = requester.entries.filter(created_at__gte=_start(since), created_at__lt=end)
    return booked.order_by("created_at", "pk")


def _by_day(
    requester: Requester, *, since: date, until: date
) -> "QuerySet[Entry, tuple[date, str, str, int]]":
    rows = entries(requester, since=since, until=until).order_by()
    days = rows.annotate(day=TruncDate("created_at", tzinfo=UTC)).values("day", "source", "target")
    return days.annotate(sum=Sum("cents")).order_by("day").values_list("day", "source", "target", "sum")


def running(requester: Requester, *, since: date, until: date) -> Iterator[tuple[Entry, str, Standing]]:
    """Yield every entry with its kind and where the account stood after it."""
    standing = standing_before(requester, _start(since))
    rows = entries(requester, since=since, until=until).select_related("hit", "assignment__worker")
    for entry in rows.iterator(chunk_size=500):
        standing = standing.after(source=entry.source, target=entry.target, cents=entry.cents)
        yield entry, KINDS[Account(entry.source), Account(entry.target)], standing


@dataclass(frozen=True, slots=True)
class Earnings:
    """Cents: `rewards` and `bonuses` were paid; `pending` is for the `waiting` assignments not decided yet."""

    rewards: int
    bonuses: int
    waiting: int
    pending: int

    @property
    def paid(self) -> int:
        return self.rewards + self.bonuses


@dataclass(frozen=True, slots=True)
class Day:
    """Cents that reached a worker on a day of UTC, out of how many HITs, bonuses apart."""

    day: date
    n_hits: int
    rewards: int
    bonuses: int

    @property
    def paid(self) -> int:
        return self.rewards + self.bonuses


def earned_by_day(worker: Worker) -> list[Day]:
    """Return the days on which a worker was paid, the last first. One query."""
    entries = Entry.objects.filter(assignment__worker=worker, target=Account.WORKERS).order_by()
    rows = entries.values(day=TruncDate("created_at", tzinfo=UTC)).annotate(
        n_hits=Count("assignment", filter=Q(source=Account.HELD), distinct=True),
        rewards=Sum("cents", filter=Q(source=Account.HELD), default=0),
        bonuses=Sum("cents", filter=Q(source=Account.AVAILABLE), default=0),
    )
    return [Day(**row) for row in rows.order_by("-day")]


def earnings_of(worker: Worker) -> Earnings:
    """Add a worker's money up. Two queries."""
    # Rewards come out of what is held, bonuses out of what is available (`ledger`).
    paid = Entry.objects.filter(assignment__worker=worker, target=Account.WORKERS).aggregate(
        rewards=Sum("cents", filter=Q(source=Account.HELD), default=0),
        bonuses=Sum("cents", filter=Q(source=Account.AVAILABLE), default=0),
    )
    open_rows = Assignment.objects.filter(worker=worker, status=Assignment.Status.SUBMITTED)
    undecided = open_rows.aggregate(
        waiting=Count("pk"), pending=Sum("hit__hit_type__reward_cents", default=0)
    )
    return Earnings(**paid, **undecided)
