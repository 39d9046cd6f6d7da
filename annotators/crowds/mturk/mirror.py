"""The mirror of what the marketplace says about HITs and assignments."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import CharField, Count, F, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Cast, Coalesce, Concat, Greatest
from django.utils import timezone

from annotators.crowds.mturk.gateway import AssignmentRecord, Gateway, HITRecord
from annotators.failpoints import reach
from annotators.models import HIT, IS_CLAIM, Assignment, Channel, Listing, Worker
from annotators.people.pseudonyms import known_worker, worker_of
from statements import Change, Hole, Moment, Statement

FACTS = (
    "assignment_id",
    "status",
    "accepted_at",
    "submitted_at",
    "auto_approval_at",
    "approved_at",
    "rejected_at",
    "feedback",
    "answer_xml",
)
MISSING_FOR = timedelta(hours=1)  # far longer than a new HIT takes to be shown
ASKED_AGAIN = timedelta(days=1)
SHOWN_FOR = timedelta(days=120)  # MTurk disposes of a HIT by itself then
# How long a submission may be counted and not listed: far longer than any lag seen.
LISTING_LAG = timedelta(hours=1)
# While the list of all HITs is no older, one of them need not be asked about for its own sake.
LISTED_WITHIN = timedelta(minutes=10)
MARKET_CLOCK_SKEW = timedelta(minutes=1)  # between a marketplace and us; one whose clock was moved is asked
LIVE = (HIT.Status.ASSIGNABLE, HIT.Status.UNASSIGNABLE)
PERSONAL = ("feedback", "answer_xml")  # may name the worker


def fetch(hit: HIT, *, gateway: Gateway) -> list[Assignment]:
    """Mirror the HIT and its submitted assignments; returns ours, in the order of submission.

    About the HIT itself nothing is asked where only our own pages have told of something new of an open HIT: what else
    became of it is in the marketplace's list of HITs, which comes by itself as long as one is open, and marks it
    (`moved_at`).

    Only when all is written it counts as synced: what could not be listed is asked for again.

    What its worker did by link on the same HIT is left alone: the marketplace knows nothing about it.
    """
    expected, has_expired = _expected(hit), False
    if expected is None:
        described = gateway.get_hit(hit.hit_id)
        mirror_hit(hit, described)
        expected, has_expired = described.most_handed_in, described.expires_at <= timezone.now()
    reach("sync.hit_mirrored")
    records = gateway.list_assignments(hit.hit_id, most=expected)
    reach("sync.listed")
    mirrored = mirror_assignments(hit, records)
    mark_synced(hit, is_all=has_expired or len(records) >= expected)
    of_market = [assignment for assignment in mirrored if assignment.channel == Channel.MARKETPLACE]
    return sorted(
        of_market, key=lambda assignment: (assignment.submitted_at or timezone.now(), assignment.pk)
    )


def note_missing(hit: HIT) -> bool:
    """Write down that the marketplace knows no such HIT; True once, when it has said so for MISSING_FOR.

    From then on it is asked once a day (`is_asked`). What is known here stays: who came, what they saved, what was
    decided. Where no other HIT is found either, see `is_account_strange`, it is not believed.
    """
    now = timezone.now()
    HIT.objects.filter(pk=hit.pk, missing_since=None).update(missing_since=now)
    HIT.objects.filter(pk=hit.pk, gone_at__isnull=False).update(gone_at=now)
    if is_account_strange(hit):
        return False
    long_missing = HIT.objects.filter(pk=hit.pk, gone_at=None, missing_since__lte=now - MISSING_FOR)
    return long_missing.update(gone_at=now) == 1


def is_account_strange(hit: HIT) -> bool:
    """Tell whether its endpoint has known none of our HITs for MISSING_FOR: other keys are set, or its data are lost.

    Of one HIT alone nothing can be told, and one as old as MTurk shows it at most can be forgotten with all others.
    """
    now = timezone.now()
    young = HIT.objects.filter(pk=hit.pk, gone_at=None, created_at__gt=now - SHOWN_FOR)
    missing = young.filter(missing_since__lte=now - MISSING_FOR)
    if (since := missing.values_list("missing_since", flat=True).first()) is None:
        return False
    others = HIT.objects.filter(hit_type__endpoint=hit.endpoint, gone_at=None).exclude(pk=hit.pk)
    is_one_known = others.filter(missing_since=None, synced_at__gte=since).exists()
    return others.filter(missing_since__isnull=False).exists() and not is_one_known


def is_asked(now: datetime | Moment) -> Q:
    """Tell, in a query over HITs, about which the marketplace is asked.

    About one that it does not know it is asked once a day for as long as it may show it again.
    """
    return Q(gone_at=None) | Q(gone_at__lte=now - ASKED_AGAIN, created_at__gt=now - SHOWN_FOR)


def is_asked_now(hit: HIT) -> bool:
    """Tell the same of one HIT that was just read."""
    return hit.gone_at is None or HIT.objects.filter(is_asked(timezone.now()), pk=hit.pk).exists()


def ask_again(hits: QuerySet[HIT]) -> int:
    """Ask about HITs that the marketplace did not know any more, for another MISSING_FOR; returns how many."""
    return hits.filter(gone_at__isnull=False).update(gone_at=None, missing_since=timezone.now())


def mirror_hit(hit: HIT, record: HITRecord) -> None:
    """Write the marketplace's facts about a HIT that was loaded before it was asked; an older answer can't win.

    MaxAssignments only ever grows, and the expiration is left alone where it was moved since `hit` was loaded. An
    answer that says what was known then is no news, whatever has been written since.
    """
    if not _is_known(hit, record):
        _write_facts(hit, record)
    _take(hit, KNOWN.rows(hit=hit.pk)[0])


def _write_facts(hit: HIT, record: HITRecord) -> None:
    HIT.objects.filter(pk=hit.pk).update(
        status=record.status,
        max_assignments=Greatest(F("max_assignments"), record.max_assignments),
        missing_since=None,
        gone_at=None,
    )
    HIT.objects.filter(pk=hit.pk, expires_at=hit.expires_at).update(expires_at=record.expires_at)


def _is_known(hit: HIT, record: HITRecord) -> bool:
    is_shown = hit.missing_since is None and hit.gone_at is None
    known = (hit.status, hit.max_assignments, hit.expires_at)
    return is_shown and known == (record.status, record.max_assignments, record.expires_at)


def n_handed_in() -> Coalesce:
    """Count, in a query over HITs, the marketplace's assignments that were handed in."""
    return _n_of_market(~Q(status=Assignment.Status.ACCEPTED))


def n_decided() -> Coalesce:
    """Count, in a query over HITs, the marketplace's assignments that it has approved or rejected."""
    return _n_of_market(Q(status__in=[Assignment.Status.APPROVED, Assignment.Status.REJECTED]))


def _n_of_market(which: Q) -> Coalesce:
    of_hit = Assignment.objects.filter(which, hit=OuterRef("pk"), channel=Channel.MARKETPLACE)
    return Coalesce(Subquery(of_hit.order_by().values("hit").annotate(n=Count("pk")).values("n")), 0)


def _expected(hit: HIT) -> int | None:
    """Return how many submissions we know of, where our own pages have told of one; else None.

    None also where the list of all HITs may not tell what else became of this one: where it has not come lately, or
    would not come for its sake, as we take it for ended; and where it has said something else than we know, or that
    there is no such HIT. What is known of it is read anew.
    """
    *facts, moved_at, listed_at, n_saved, n_in = EXPECTED.rows(hit=hit.pk)[0]
    status, _, expires_at, missing_since, gone_at = facts
    now = timezone.now()
    is_open = status in LIVE and expires_at > now and (missing_since, gone_at) == (None, None)
    is_told = moved_at is None and listed_at is not None and listed_at > now - LISTED_WITHIN
    if not (n_saved and is_open and is_told):
        return None
    _take(hit, facts)
    return int(n_saved + n_in)


def _take(hit: HIT, facts: Iterable[Any]) -> None:
    for name, value in zip(OF_HIT, facts, strict=True):
        setattr(hit, name, value)


def _with_expected() -> QuerySet[HIT, Any]:
    is_saved = Q(status=Assignment.Status.ACCEPTED, saved_at__isnull=False)
    listed = Listing.objects.filter(endpoint=OuterRef("hit_type__endpoint")).values("listed_at")
    hits = HIT.objects.filter(pk=THIS_HIT).annotate(
        all_listed_at=Subquery(listed), n_saved=_n_of_market(is_saved), n_in=n_handed_in()
    )
    return hits.values_list(*OF_HIT, "moved_at", "all_listed_at", "n_saved", "n_in")


def mark_synced(hit: HIT, *, is_all: bool = True) -> None:
    """Write down that a HIT was looked after: all that was to be known about it is written.

    What moved since `hit` was loaded stays to be fetched, and everything does where not `is_all` of what the
    marketplace counts was listed: it lists submissions with a lag.
    """
    now = timezone.now()
    SYNCED(hit=hit.pk, now=now)
    hit.synced_at = now
    if hit.moved_at and (is_all or hit.moved_at < now - LISTING_LAG):
        HIT.objects.filter(pk=hit.pk, moved_at=hit.moved_at).update(moved_at=None)
        hit.refresh_from_db(fields=["moved_at"])


def mirror_assignments(hit: HIT, records: Sequence[AssignmentRecord]) -> list[Assignment]:
    """Write the same as `mirror_assignment` about several submissions of a HIT, whose rows are read at once.

    What is not plainly the row of a worker is looked for by itself afterwards, and so is all where one row contradicts
    another.
    """
    if not records:
        return []
    try:
        found = _written(hit, records)
    except IntegrityError:
        found = {}
    return [found.get(record) or mirror_assignment(hit, record) for record in records]


@transaction.atomic
def _written(hit: HIT, records: Sequence[AssignmentRecord]) -> dict[AssignmentRecord, Assignment]:
    """Write submissions on the rows that are plainly theirs, and return these: in the order all lock them in."""
    rows = defaultdict(list)
    for one in OF_HIT_ROWS.all(hit=hit.pk):
        if one.worker.source == hit.endpoint:
            rows[one.worker.worker_id].append(one)
    pairs = [(row, record) for record in records if (row := _row_among(rows[record.worker_id], record))]
    in_order = sorted(pairs, key=lambda pair: pair[0].pk)
    return {record: row for row, record in in_order if _is_written(row, record, hit)}


def _row_among(rows: Iterable[Assignment], record: AssignmentRecord) -> Assignment | None:
    """Return which of a worker's rows of the HIT a submission is of; a claim is under its own AssignmentId alone."""
    theirs = [row for row in rows if not row.is_claim or row.assignment_id == record.assignment_id]
    return min(theirs, key=lambda row: row.is_claim, default=None)


def _is_written(row: Assignment, record: AssignmentRecord, hit: HIT) -> bool:
    """Write a submission on its row; False where the row is gone, or of somebody whose texts were purged."""
    if _kept_up(row, row.worker) is not FACTS:
        return False
    facts = {name: getattr(record, name) for name in FACTS}
    if row.channel == Channel.MARKETPLACE and any(getattr(row, name) != facts[name] for name in FACTS):
        if not MIRRORED(row=row.pk, **facts):
            return False
        for name in FACTS:
            setattr(row, name, facts[name])
        reach("sync.mirroring")
    row.hit = hit  # with what is known of it, which nobody has to read again
    return True


def mirror_assignment(hit: HIT, record: AssignmentRecord) -> Assignment:
    """Write the marketplace's facts about one submission on our row for it, or on a new one.

    A claim is confirmed only where worker and AssignmentId are the ones submitted; what was claimed under another
    AssignmentId is left alone, and not believed. Once the worker is known they have one assignment a HIT, so that
    (HIT, WorkerId) finds the row. A row that says the same already is left alone.
    """
    try:
        return _mirrored(hit, record)
    except IntegrityError:
        _refute_claims(hit, record)
        return _mirrored(hit, record)


@transaction.atomic
def _mirrored(hit: HIT, record: AssignmentRecord) -> Assignment:
    worker = known_worker(record.worker_id, source=hit.endpoint)
    facts = {name: getattr(record, name) for name in FACTS}
    assignment = _row_of(hit, worker, record) or _row_of_renamed(hit, record)
    if assignment is None:
        author = worker or worker_of(record.worker_id, source=hit.endpoint)
        assignment = Assignment.objects.create(hit=hit, worker=author, **facts)
    author = worker if worker and assignment.worker_id == worker.pk else assignment.worker
    changed = [name for name in _kept_up(assignment, author) if getattr(assignment, name) != facts[name]]
    if changed and assignment.channel == Channel.MARKETPLACE:
        for name in changed:
            setattr(assignment, name, facts[name])
        assignment.save(update_fields=changed)
        reach("sync.mirroring")
    assignment.hit = hit  # with what is known of it, which nobody has to read again
    return assignment


def note_approval(assignment: Assignment, *, at: datetime) -> bool:
    """Write down that the marketplace has approved submitted work at this time, which it told with its answer.

    False where the row was not waiting for that any more, or the time can't be: it is asked for then.
    """
    if at > timezone.now() + MARKET_CLOCK_SKEW or not APPROVED(pk=assignment.pk, at=at):
        return False
    assignment.status, assignment.approved_at = Assignment.Status.APPROVED, at
    return True


def _row_of(hit: HIT, worker: Worker | None, record: AssignmentRecord) -> Assignment | None:
    if worker is None:
        return None
    rows = ROWS.all(hit=hit.pk, worker=worker.pk, assignment_id=record.assignment_id)
    return min(rows, key=lambda row: row.is_claim, default=None)


def _rows() -> QuerySet[Assignment]:
    """Return what is known of a worker in a HIT, and what is claimed of this one assignment."""
    this = Q(assignment_id=Hole("assignment_id", Assignment._meta.get_field("assignment_id")))
    worker = Hole("worker", Worker._meta.pk)
    return Assignment.objects.filter(~IS_CLAIM | this, hit=THIS_HIT, worker=worker)


THIS_HIT = Hole("hit", HIT._meta.pk)
ROWS = Statement(_rows)
OF_HIT_ROWS = Statement(lambda: Assignment.objects.filter(hit=THIS_HIT).select_related("worker"))
MIRRORED = Change(
    lambda: Assignment.objects.filter(pk=Hole("row", Assignment._meta.pk)),
    **{name: Hole(name, Assignment._meta.get_field(name)) for name in FACTS},
)
APPROVED = Change(
    lambda: Assignment.objects.filter(
        pk=Hole("pk", Assignment._meta.pk), status=Assignment.Status.SUBMITTED, submitted_at__lte=Moment("at")
    ),
    status=Assignment.Status.APPROVED,
    approved_at=Moment("at"),
)
OF_HIT = ("status", "max_assignments", "expires_at", "missing_since", "gone_at")
KNOWN = Statement(lambda: HIT.objects.filter(pk=THIS_HIT).values_list(*OF_HIT))
EXPECTED = Statement(_with_expected)
SYNCED = Change(lambda: HIT.objects.filter(pk=THIS_HIT), synced_at=Moment("now"))


def _row_of_renamed(hit: HIT, record: AssignmentRecord) -> Assignment | None:
    """Return the row of work that came in under another id: the account was erased there since, and renamed.

    A submitted assignment's id is never given out again, so it is the same work, and nobody new is made of the id.
    """
    handed_in = Assignment.objects.filter(~IS_CLAIM, hit=hit, assignment_id=record.assignment_id)
    return handed_in.filter(channel=Channel.MARKETPLACE).exclude(status="Accepted").first()


def _kept_up(assignment: Assignment, worker: Worker) -> Iterable[str]:
    """Return the facts to keep up with; what a purge has erased does not come back with an old HIT."""
    is_purged = worker.purged_at is not None and assignment.loaded_at < worker.purged_at
    return [name for name in FACTS if name not in PERSONAL] if is_purged else FACTS


def _refute_claims(hit: HIT, record: AssignmentRecord) -> None:
    """Take this AssignmentId from the worker's other HITs: their frame was opened with it, which proves nothing.

    Those rows keep what they hold, and get an AssignmentId of their own once the worker opens that HIT with it.
    """
    claims = Assignment.objects.filter(
        worker=worker_of(record.worker_id, source=hit.endpoint),
        assignment_id=record.assignment_id,
        status=Assignment.Status.ACCEPTED,
    )
    claims.exclude(hit=hit).update(assignment_id=Concat(Value("refuted:"), Cast("pk", CharField())))
