"""A pilot shows some of a study's items to some people; the rest follows without either."""

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import Q, QuerySet

from annotators.models import IS_CLAIM, Assignment, Worker
from surveys import audit
from surveys.models import Batch, Item, Publishing
from surveys.studies.importing.batch_layout import take_apart


class CannotFollow(Exception):
    """Nothing can follow this batch; the message says why."""


def items_of(batch: Batch) -> QuerySet[Item]:
    """Return the items a batch shows: its study's, without those of the pilot it follows; of a pilot so many.

    A pilot is drawn by the seed, in whole rows of a batch CSV or else whole subjects, so that what stands together in
    the study does so in the pilot; it has a few items more than asked for where the last of them is not cut.
    """
    items = batch.survey.items.order_by("position")
    if batch.follows_id:
        items = items.exclude(slots__questionnaire__batch=batch.follows_id)
    if batch.pilot_items is None:
        return items
    return items.filter(pk__in=_drawn(list(items), batch=batch))


def are_rows(items: Sequence[Item], *, size: int) -> bool:
    """Tell whether the items came as rows of a batch CSV, `size` of them in a row."""
    headers = {tuple(item.payload.get("header", ())) for item in items}
    return len(items) % size == 0 and {take_apart(header).n for header in headers} == {size}


def took_part(worker: Worker, *, batch: Batch) -> bool:
    """Tell whether somebody has worked in an earlier batch whose people this one leaves out.

    That is the pilot that it follows, or all of its study where it wants only new people. A claim to be somebody
    counts for nothing. Who was invited without an e-mail address or a worker id is not known again.
    """
    if not batch.leaves_people_out:
        return False
    leaves_out = Q(hit__questionnaire__batch=batch.follows_id)
    if batch.only_new_people:
        leaves_out |= Q(
            hit__questionnaire__batch__survey=batch.survey_id, hit__questionnaire__batch__lt=batch.pk
        )
    return Assignment.objects.filter(leaves_out, worker=worker).exclude(IS_CLAIM).exists()


@transaction.atomic
def plan_rest(
    pilot: Batch, *, reward: Decimal | None = None, by: AbstractBaseUser | AnonymousUser | None
) -> Batch:
    """Return a draft with the pilot's terms and all items that it did not show. Raises CannotFollow.

    What follows a simulated pilot is simulated too: its items were not shown to people.
    """
    rest = _copy(pilot)
    if pilot.status == Batch.Status.DRAFT or pilot.pilot_items is None:
        raise CannotFollow("Only what was published as a pilot is followed by the rest.")
    if Publishing.objects.filter(batch=pilot, written_at=None).exists():
        raise CannotFollow("The pilot’s items are being drawn. Try again in a moment.")
    if not items_of(rest).exists():
        raise CannotFollow("The pilot has shown all items there are.")
    if reward is not None and not pilot.is_simulated:
        rest.reward = reward
    rest.created_by_id = by.pk if by else None
    rest.save()
    audit.record(audit.Kind.PUBLISHING, "follow", batch=rest, by=by, details={"pilot": pilot.name})
    return rest


def _copy(pilot: Batch) -> Batch:
    copied = {field.attname: getattr(pilot, field.attname) for field in Batch._meta.concrete_fields}
    own = ("id", "created_at", "published_at", "hit_type_id", "design", "snapshot", "error", "status", "seed")
    terms = {name: value for name, value in copied.items() if name not in own}
    return Batch(**terms | {"name": _free_name(pilot), "pilot_items": None, "follows_id": pilot.pk})


def _free_name(pilot: Batch) -> str:
    start = f"{pilot.name[:180]}, the rest"
    taken = set(Batch.objects.filter(name__startswith=start).values_list("name", flat=True))
    numbered = (f"{start} {n}" for n in range(2, len(taken) + 3))
    return next(name for name in (start, *numbered) if name not in taken)


def _drawn(items: Sequence[Item], *, batch: Batch) -> list[int]:
    groups = _together(items, size=batch.items_per_hit)
    random.Random(f"{batch.seed}:pilot").shuffle(groups)  # noqa: S311 (a draw that can be repeated, not a secret)
    drawn: list[int] = []
    for group in groups:
        if len(drawn) >= (batch.pilot_items or 0):
            break
        drawn += group
    return drawn


def _together(items: Sequence[Item], *, size: int) -> list[list[int]]:
    if are_rows(items, size=size):
        return [[item.pk for item in items[start : start + size]] for start in range(0, len(items), size)]
    return _by_subject(items)


def _by_subject(items: Iterable[Item]) -> list[list[int]]:
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for item in items:
        groups[item.subject].append(item.pk)
    return list(groups.values())
