"""Asking simulated people to work, on a copy of a draft or on a batch that is theirs; and whose turn it is."""

from datetime import timedelta
from decimal import Decimal

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotators.models import Endpoint
from surveys import audit
from surveys.models import Batch, Simulation
from surveys.models.simulation import MOST_PEOPLE
from surveys.publishing import preconditions

Person = AbstractBaseUser | AnonymousUser | None
LEASE = timedelta(minutes=2)


class CannotSimulate(Exception):
    """Nobody simulated can work here; the message says why."""


def rehearse(draft: Batch, *, n_people: int, by: Person) -> Batch:
    """Have simulated people work on a copy of a draft, which stays as it is. Returns the copy. CannotSimulate."""
    copy = copy_of(draft)
    if draft.status != Batch.Status.DRAFT or draft.is_simulated:
        raise CannotSimulate("Only a draft can be rehearsed: what is published is for people.")
    if found := preconditions.problems(copy):
        raise CannotSimulate(" ".join(found))
    with transaction.atomic():
        copy.created_by_id = by.pk if by else None
        copy.save()
        begin(copy, n_people=n_people, by=by)
    return copy


def send(batch: Batch, *, n_people: int, by: Person) -> Simulation:
    """Send simulated people to a copy of a draft, or more of them to a batch that is theirs. CannotSimulate.

    The rest of a pilot that was theirs is a draft of theirs, to which nobody was sent yet.
    """
    if not batch.is_simulated:
        return rehearse(batch, n_people=n_people, by=by).simulation
    if batch.status != Batch.Status.DRAFT or Simulation.objects.filter(batch=batch).exists():
        return add_people(batch, n=n_people, by=by)
    if found := preconditions.problems(batch):
        raise CannotSimulate(" ".join(found))
    return begin(batch, n_people=n_people, by=by)


def begin(batch: Batch, *, n_people: int, by: Person) -> Simulation:
    """Ask for so many simulated people, once. The batch is marked as theirs."""
    simulation, is_new = Simulation.objects.get_or_create(
        batch=batch, defaults={"n_people": n_people, "asked_by_id": by.pk if by else None}
    )
    if is_new:
        _record(batch, by=by, n_people=n_people)
    return simulation


@transaction.atomic
def add_people(batch: Batch, *, n: int, by: Person) -> Simulation:
    """Send more simulated people to a batch that is theirs and open. Raises CannotSimulate."""
    simulation = Simulation.objects.select_for_update(no_key=True).filter(batch=batch).first()
    if simulation is None or batch.status not in (Batch.Status.DRAFT, *Batch.RUNNING):
        raise CannotSimulate(
            "Simulated people work on open batches that are marked as theirs, and on no other."
        )
    simulation.n_people = min(MOST_PEOPLE, simulation.n_people + n)
    simulation.ended_at = None
    simulation.save(update_fields=["n_people", "ended_at"])
    _record(batch, by=by, n_people=simulation.n_people)
    return simulation


def due() -> QuerySet[Simulation]:
    """Return the simulations that nobody is at and that have not ended."""
    now = timezone.now()
    return Simulation.objects.filter(Q(leased_until=None) | Q(leased_until__lt=now), ended_at=None)


def lease(batch_pk: int, *, turn: int) -> Simulation | None:
    """Take a turn. None if somebody else has taken it."""
    its_turn = Simulation.objects.filter(pk=batch_pk, turn=turn, ended_at=None)
    if not its_turn.update(turn=turn + 1, leased_until=timezone.now() + LEASE):
        return None
    return Simulation.objects.select_related("batch__survey").get(pk=batch_pk)


def copy_of(draft: Batch) -> Batch:
    """Return the terms of a draft as a batch of simulated people, not saved: no marketplace, no money."""
    copied = {field.attname: getattr(draft, field.attname) for field in Batch._meta.concrete_fields}
    own = ("id", "created_at", "created_by_id", "published_at", "hit_type_id", "design", "snapshot", "error")
    terms = {name: value for name, value in copied.items() if name not in own}
    changes = {"name": _name(draft), "endpoint": Endpoint.LINK, "takes_links": True, "is_simulated": True}
    return Batch(**terms | changes | {"reward": Decimal(0), "budget": None})


def _name(draft: Batch) -> str:
    """Return the first free name of a rehearsal."""
    longest = 200 - len("Rehearsal 999 of ")
    n = 1 + Batch.objects.filter(survey=draft.survey_id, is_simulated=True).count()
    while Batch.objects.filter(name=(name := f"Rehearsal {n} of {draft.name[:longest]}")).exists():
        n += 1
    return name


def _record(batch: Batch, *, by: Person, n_people: int) -> None:
    audit.record(audit.Kind.PUBLISHING, "simulate", batch=batch, by=by, details={"n_people": n_people})
