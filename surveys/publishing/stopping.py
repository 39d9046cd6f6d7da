"""Stopping a batch: no more workers at once, its HITs off the marketplace one by one, and what is still in flight."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotators.crowds.base import MORE_TIME, by_market, on_market
from annotators.crowds.mturk import mirror
from annotators.crowds.mturk.gateway import Gateway
from annotators.failpoints import reach
from annotators.models import HIT, Assignment, Call
from annotators.outbox import journal, market
from surveys import audit
from surveys.models import Batch, create_token, is_undecided
from surveys.publishing import budget, quota

Status = Assignment.Status


@dataclass(frozen=True, slots=True)
class InFlight:
    """What of a batch can still come in, and how far its HITs are off the marketplace.

    `n_at_work` have opened our page; `n_late` came by link and have let their time run out, but may still hand in what
    they began, as late work counts there. MTurk tells nobody who has accepted a HIT without opening it: `n_unseen` is
    how many that can be at most, none after `last_deadline` (of a batch that runs: if it is stopped now). `error` is
    why the last HIT could not be expired.
    """

    n_hits: int
    n_expired: int
    n_at_work: int
    n_late: int
    n_unseen: int
    n_undecided: int
    n_unsettled: int
    last_deadline: datetime | None
    error: str

    @property
    def is_expiring(self) -> bool:
        return self.n_expired < self.n_hits


def stop(batch: Batch, *, by: AbstractBaseUser | AnonymousUser | None = None) -> bool:
    """Take no more workers: status first, so that a HIT that is still being created is expired too.

    False, and no change, if it does not run.
    """
    running = Batch.objects.filter(pk=batch.pk, status__in=Batch.RUNNING)
    with transaction.atomic():
        if running.update(status=Batch.Status.STOPPED) != 1:
            return False
        audit.record(audit.Kind.PUBLISHING, "stop", batch=batch, by=by)
    return True


def in_flight(batch: Batch) -> InFlight:
    """Say what is still out there, by what the marketplace said last."""
    places = [place for place in budget.places(batch) if place.may_exist]
    open_places = [place for place in places if not (place.is_over or _is_disposed(place.hit))]
    assignments = Assignment.objects.filter(hit__questionnaire__batch=batch)
    at_work = assignments.filter(quota.is_at_work(batch))
    by_link = assignments.filter(~by_market(), status=Status.ACCEPTED, worker__purged_at=None)
    end = _last_end(batch, open_places)
    n_expired = sum(_has_expired(place.hit) for place in places)
    return InFlight(
        n_hits=len(places),
        n_expired=n_expired,
        n_at_work=at_work.count(),
        n_late=by_link.exclude(pk__in=at_work).count(),
        n_unseen=sum(max(place.n - place.status.total(), 0) for place in open_places),
        n_undecided=assignments.filter(is_undecided()).count(),
        n_unsettled=_unsettled(batch).count(),
        last_deadline=end + batch.assignment_duration + MORE_TIME if end else None,
        error=_error(batch) if n_expired < len(places) else "",
    )


def _last_end(batch: Batch, places: Iterable[budget.Places]) -> datetime | None:
    """Return until when somebody may still begin; where the batch runs, it would be stopped now."""
    ends = [place.hit.expires_at for place in places if place.hit]
    last = max(ends, default=None)
    return min(last, timezone.now()) if last and batch.status in Batch.RUNNING else last


def _has_expired(hit: HIT | None) -> bool:
    return hit is not None and (hit.expires_at <= timezone.now() or _is_disposed(hit))


def hits_to_expire() -> QuerySet[HIT]:
    """Return the HITs that still take workers, by what the marketplace said last, and should not.

    Their batch is stopped, or complete and they have places left, or people who came by link have filled the
    questionnaire. A HIT that is disposed of, or gone, takes nobody, whenever it was to expire.
    """
    there = (
        HIT.objects.filter(on_market("hit_type__"))
        .exclude(status=HIT.Status.DISPOSED)
        .filter(expires_at__gt=timezone.now(), gone_at=None)
    )
    stopped = Q(questionnaire__batch__status=Batch.Status.STOPPED)
    complete = Q(questionnaire__batch__status=Batch.Status.COMPLETE, max_assignments__gt=mirror.n_handed_in())
    return there.filter(stopped | complete | Q(questionnaire__in=_full(there)))


def expire(hit: HIT, *, gateway: Gateway) -> bool:
    """Expire a HIT that still takes workers, and tell whether the marketplace answered, a refusal too.

    Nothing happens to one that has expired. Raises MarketError where the HIT can't be read.
    """
    if hit.expires_at <= timezone.now():
        return True
    call = market.move_expiration(hit, when=timezone.now(), gateway=gateway)
    reach("expire.moved")
    mirror.mirror_hit(hit, gateway.get_hit(hit.hit_id))
    return call.state in (Call.State.DONE, Call.State.REFUSED)


def _is_disposed(hit: HIT | None) -> bool:
    return hit is not None and (hit.status == HIT.Status.DISPOSED or hit.gone_at is not None)


def _full(hits: QuerySet[HIT]) -> list[uuid.UUID]:
    """Return the questionnaires of these HITs, siblings too, that want no more answers from anybody."""
    mixed = Batch.objects.filter(takes_links=True, status=Batch.Status.OPEN)
    full: list[uuid.UUID] = []
    for batch in mixed.filter(questionnaires__hit__in=hits).distinct():
        wanting = {questionnaire.pk for questionnaire in quota.unfilled(batch)}
        families = batch.questionnaires.values_list("pk", "sibling_of")
        full += [pk for pk, root in families if (root or pk) not in wanting]
    return full


def _unsettled(batch: Batch) -> QuerySet[Call]:
    tokens = [create_token(pk) for pk in batch.questionnaires.filter(hit=None).values_list("pk", flat=True)]
    of_hits = Q(hit__questionnaire__batch=batch) | Q(assignment__hit__questionnaire__batch=batch)
    return journal.unsettled().filter(of_hits | Q(token__in=tokens))


def _error(batch: Batch) -> str:
    calls = Call.objects.filter(operation=Call.Operation.EXPIRE, hit__questionnaire__batch=batch)
    return calls.exclude(error="").order_by("pk").values_list("error", flat=True).last() or ""
