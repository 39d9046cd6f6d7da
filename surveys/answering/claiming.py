"""Who only claims to be a worker: where the claim came from, and what becomes of it once the marketplace has spoken."""

import hashlib
import hmac
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from ipaddress import IPv6Address, IPv6Network, ip_address
from operator import itemgetter
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, ProtectedError, Q, QuerySet
from django.utils import timezone

from annotators.constraints import is_about
from annotators.models import HIT, IS_CLAIM, Assignment, Worker
from statements import Change, Hole, Moment, Statement
from surveys.models import AnswerRevision, Batch, Consent, ProblemReport, QuizAttempt, Response
from surveys.publishing import quota

SLACK = (
    5  # claims beyond what the marketplace can have given out: people who returned a HIT leave theirs behind
)
LISTED_BY = timedelta(hours=1)  # far longer than any lag seen between a submission and its listing
KEPT = timedelta(days=7)  # what was saved here and never handed in there, for whoever asks about it
CHUNK = 500


def origin(address: str) -> str:
    """Return what is kept of a visitor's network address: 16 hex digits of a keyed hash, "" where it is not known.

    Of an IPv6 address the /64 counts: within it one host has as many addresses as it likes (RFC 8981).
    """
    key = hmac.digest(settings.SECRET_KEY.encode(), b"origins of claims", "sha256")
    return hmac.new(key, _network(address).encode(), hashlib.sha256).hexdigest()[:16] if address else ""


def _network(address: str) -> str:
    with suppress(ValueError):
        parsed = ip_address(address)
        if isinstance(parsed, IPv6Address):
            return str(parsed.ipv4_mapped or IPv6Network((int(parsed), 64), strict=False))
    return address


def confirm(hit: HIT) -> int:
    """Believe the claims to a HIT that the marketplace has confirmed; returns how many. Safe to repeat.

    Whose worker is known to have seen an item in another HIT stays apart: an item counts once for a worker.
    """
    # In an order of workers, or two HITs with the same items and people could wait for each other.
    if not (named := sorted(NAMED.rows(hit=hit.pk), key=itemgetter(1))):
        return 0
    with transaction.atomic():
        n_believed = _believe_answers([pk for pk, _, _ in named])
        for pk, worker, claimed_from in named:
            if claimed_from:
                _believe_place(pk, {"worker": worker, "claimed_from": claimed_from}, hit)
    return n_believed


def _named() -> QuerySet[Response, Any]:
    """Return whose answers to a HIT are claims of somebody the marketplace has named by now."""
    claimed = Response.objects.filter(is_claim=True, assignment__hit=Hole("hit", HIT._meta.pk))
    named = claimed.exclude(assignment__status=Assignment.Status.ACCEPTED)
    of = ("assignment", "assignment__worker", "assignment__claimed_from")
    return named.order_by().values_list(*of).distinct()


NAMED = Statement(_named)


def _believe_place(assignment_pk: Any, theirs: dict[str, Any], hit: HIT) -> None:
    """Whatever becomes of the answers, the worker is known from now on.

    Tries of a quiz, and what was agreed to, came from where the worker is now known to have been.
    """
    batch = hit.questionnaire.batch
    _believe_all(QuizAttempt, TRIES.rows(of=batch.pk, **theirs))
    _believe_all(Consent, AGREED.rows(of=batch.survey_id, **theirs))
    NOT_CLAIMED(pk=assignment_pk)


def _believe_answers(assignment_pks: Sequence[Any]) -> int:
    """Believe all of them at once; where that can't be, each by itself."""
    try:
        with transaction.atomic():
            for pk in assignment_pks:
                BELIEVED(assignment=pk)
    except IntegrityError as error:
        if not is_about(error, Response, "worker_sees_item_once_per_batch"):
            raise
        return sum(map(_believe_answers_of, assignment_pks))
    return len(assignment_pks)


def _believe_answers_of(assignment_pk: Any) -> bool:
    try:
        with transaction.atomic():
            BELIEVED(assignment=assignment_pk)
    except IntegrityError as error:
        if not is_about(error, Response, "worker_sees_item_once_per_batch"):
            raise
        return False
    return True


def _believe_all(model: Any, rows: Sequence[tuple[Any, ...]]) -> None:
    """Believe what was claimed from there, but for what is known already."""
    known = {one for _, one, place in rows if place == ""}
    news = [pk for pk, one, place in rows if place != "" and one not in known]
    if news:
        model.objects.filter(pk__in=news).update(claimed_from="")


def _claimed(model: Any, *, by: str, once_each: str) -> Statement[Any]:
    """Find what is known of a worker and what is claimed in their name from a place; `by` leads to what it is of."""

    def made() -> Any:
        place = Hole("claimed_from", Assignment._meta.get_field("claimed_from"))
        theirs = model.objects.filter(
            **{by: Hole("of", Batch._meta.pk)}, worker=Hole("worker", Worker._meta.pk)
        )
        return theirs.filter(claimed_from__in=["", place]).values_list("pk", once_each, "claimed_from")

    return Statement(made)


TRIES = _claimed(QuizAttempt, by="batch", once_each="number")
AGREED = _claimed(Consent, by="text__survey", once_each="text")
THIS = Hole("pk", Assignment._meta.pk)
NOT_CLAIMED = Change(lambda: Assignment.objects.filter(pk=THIS), claimed_from="")
BELIEVED = Change(
    lambda: Response.objects.filter(assignment=Hole("assignment", Assignment._meta.pk)), is_claim=False
)


def make_room(claim: Assignment, *, among: Sequence[Assignment]) -> bool:
    """Before a claim is written: let one go where its HIT has more than can be true. Nobody is turned away for it.

    Return whether one went.

    `among`: the claims to the HIT. One network address holds no more than the marketplace can have given out, and all
    together twice as many, each with some slack. What was never touched goes first, then what was not saved; of these
    what came from the address with the most claims, then what is oldest.

    To be called under a lock on the questionnaire.
    """
    most = most_from_one(claim.hit)
    own = [one for one in among if one.claimed_from == claim.claimed_from]
    if len(own) >= most:
        return drop(_least(own))
    return len(among) >= 2 * most and drop(_least(among))


def most_from_one(hit: HIT) -> int:
    """Return how many claims to a HIT one network address may hold. With fewer in all there is room."""
    return hit.max_assignments + SLACK


def drop(claim: Assignment) -> bool:
    """Remove a claim and whatever only it has brought here; False where it is none any more.

    If the worker was a true one, nothing is lost that they handed in: the marketplace has the whole of it. Their own
    row goes once this is committed: workers are locked before questionnaires, and one of these may be locked here.
    """
    with transaction.atomic():
        locked = Assignment.objects.select_for_update().filter(IS_CLAIM, pk=claim.pk).first()
        if locked is None:
            return False
        quota.release(locked)
        AnswerRevision.objects.filter(assignment=locked).delete()
        ProblemReport.objects.filter(assignment=locked).delete()
        Response.objects.filter(assignment=locked).delete()
        locked.delete()
        forget = partial(_forget, locked.worker_id, claimed_from=locked.claimed_from)
        transaction.on_commit(forget, robust=True)
    return True


def sweep() -> int:
    """Remove the claims that can't be confirmed any more; returns how many. Safe to repeat."""
    return sum(drop(claim) for claim in stale()[:CHUNK])


def stale() -> QuerySet[Assignment]:
    """Return the claims whose time is over and that the marketplace, asked after that, has not named.

    Nothing that was saved goes before the marketplace was asked, however old: the server may have been off for weeks,
    or be a restored one; nor where it knows no such HIT, and so names nobody. What was not saved can't have been
    handed in, and goes after a week in any case.
    """
    now = timezone.now()
    is_asked, is_old = Q(hit__synced_at__gt=F("deadline")), Q(deadline__lt=now - KEPT)
    is_over = Q(saved_at=None) & (is_asked | is_old) | (is_asked & is_old & Q(hit__missing_since=None))
    return _claims_over(now).filter(is_over).order_by("loaded_at", "pk")


def unasked(now: datetime | Moment) -> QuerySet[Assignment]:
    """Return the saved claims whose time is over and about whose HIT the marketplace was not asked since."""
    is_asked = Q(hit__synced_at__gt=F("deadline"))
    return _claims_over(now).filter(saved_at__isnull=False).exclude(is_asked)


def _claims_over(now: datetime | Moment) -> QuerySet[Assignment]:
    deadline = F("loaded_at") + F("hit__hit_type__assignment_duration") + LISTED_BY
    claims = Assignment.objects.filter(IS_CLAIM).annotate(deadline=deadline)
    return claims.filter(deadline__lt=now)


def _least(claims: Sequence[Assignment]) -> Assignment:
    drafted = Response.objects.filter(assignment__in=claims, draft_version__gt=0)
    touched: set[Any] = set(drafted.values_list("assignment", flat=True))
    n_from = Counter(one.claimed_from for one in claims)
    return min(
        claims,
        key=lambda one: (
            one.saved_at is not None,
            one.pk in touched,
            -n_from[one.claimed_from],
            one.loaded_at,
        ),
    )


def _forget(worker_pk: int, *, claimed_from: str) -> None:
    """Remove a worker of whom nothing is known but claims that are gone."""
    # Protected: invited, sent by a panel, or named in the audit trail.
    with suppress(ProtectedError), transaction.atomic():
        unmarked = Worker.objects.select_for_update().filter(pk=worker_pk, standing=Worker.Standing.OK)
        worker = unmarked.first()
        if worker and not worker.assignments.exists():
            for table in (QuizAttempt, Consent):
                table._default_manager.filter(worker=worker, claimed_from=claimed_from).delete()
            worker.delete()
