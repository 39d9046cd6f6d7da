"""Invitations: personal links and access codes to hand out, and the address a panel sends its people to."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from annotators.crowds.links import addresses
from annotators.crowds.links.panels import PANELS, PROLIFIC
from annotators.models import Source, Worker
from annotators.people.pseudonyms import worker_of
from surveys.models import Batch, Invitation, Panel

VALID_DAYS = 30
MOST_PEOPLE = 1000  # at once
LONGEST_NAME = 200
MADE = "P"  # begins an id that was made here, with 16 hexadecimal digits behind it


class CannotInvite(Exception):
    """Somebody on the list can't be invited; the message says who and why."""


@dataclass(frozen=True, slots=True)
class Person:
    """Whom to invite. `worker_id`: theirs on the batch's marketplace, so that they see nothing twice."""

    name: str
    email: str = ""
    worker_id: str = ""

    def checked(self) -> Self:
        """Return the same person. Raises ValidationError for what is no name, address or id."""
        if not self.name or len(self.name) > LONGEST_NAME or not self.name.isprintable():
            raise ValidationError(f"a name of 1 to {LONGEST_NAME} characters is needed.")
        if self.email:
            validate_email(self.email)
        if self.worker_id and not addresses.PANEL_VALUE.fullmatch(self.worker_id):
            raise ValidationError(f"{self.worker_id} is no worker id.")
        return self


@dataclass(frozen=True, slots=True)
class Invited:
    """An invitation with what is shown once: its address and its access code."""

    invitation: Invitation
    address: str
    access_code: str


def in_a_month() -> datetime:
    return timezone.now() + timedelta(days=VALID_DAYS)


def end_of(day: date) -> datetime:
    """Return the last second of a day, which is how long a link given until that day opens."""
    return timezone.make_aware(datetime.combine(day, time(23, 59, 59)))


def invite(
    batch: Batch,
    *,
    people: Sequence[Person],
    expires_at: datetime,
    max_assignments: int | None = None,
    by: AbstractBaseUser | None,
) -> list[Invited]:
    """Invite people to a batch, all or none. Raises CannotInvite for a person who is invited already.

    Who was invited by the same e-mail address before is known as the same worker; without one, and without a worker
    id, everybody is somebody new.
    """
    _check_people(batch, people)
    with transaction.atomic():
        return [
            _invited(batch, person, expires_at=expires_at, max_assignments=max_assignments, by=by)
            for person in people
        ]


def revoke(invitation: Invitation) -> bool:
    """Make an address and its access code void; the answers stay. False if it was before."""
    standing = Invitation.objects.filter(pk=invitation.pk, revoked_at=None)
    return standing.update(revoked_at=timezone.now()) == 1


def renew_key(invitation: Invitation, *, expires_at: datetime | None = None) -> Invited:
    """Give a new address and access code for an old one, which is void from now on."""
    code = addresses.new_access_code()
    invitation.key, invitation.access_code = uuid.uuid4(), addresses.hashed_code(code)
    invitation.revoked_at, invitation.expires_at = None, expires_at or invitation.expires_at
    invitation.save(update_fields=["key", "access_code", "revoked_at", "expires_at"])
    return Invited(invitation, address(invitation), code)


def address(invitation: Invitation) -> str:
    """Return the personal address of an invitation."""
    token = addresses.issue(addresses.Holder("invitation", invitation.key))
    return settings.APP_URL + reverse("link", args=[token])


def panel_address(panel: Panel) -> str:
    """Return the study address to give to a panel, with what it fills in; one that adds all by itself gets it bare."""
    known = PANELS.get(panel.provider, PROLIFIC)
    named = {
        panel.worker_parameter: known.placeholders.get("worker"),
        panel.study_parameter: known.placeholders.get("study"),
        panel.session_parameter: known.placeholders.get("session"),
    }
    query = "&".join(f"{name}={place}" for name, place in named.items() if name and place)
    bare = f"{settings.APP_URL}{reverse('panel', args=[panel.code])}"
    return f"{bare}?{query}" if query else bare


def not_known_again(batch: Batch) -> QuerySet[Invitation]:
    """Return the standing invitations of people who are new to every batch: without e-mail address and worker id."""
    unnamed = batch.invitations.filter(email="", revoked_at=None)
    return unnamed.filter(worker__source=Source.LINK, worker__worker_id__regex=f"^{MADE}[0-9a-f]{{16}}$")


def one_line(name: str) -> str:
    """Return a name as it is compared: typed with whatever spaces."""
    return " ".join(name.split())


def _check_people(batch: Batch, people: Iterable[Person]) -> None:
    """Names are what people sign in by: one name, one invitation, however it is written."""
    there = {name.casefold() for name in batch.invitations.values_list("name", flat=True)}
    for person in people:
        name = one_line(person.name)
        if not name:
            raise CannotInvite("Everybody needs a name.")
        if name.casefold() in there:
            raise CannotInvite(f"{name} is invited already, or stands in the list twice.")
        there.add(name.casefold())


def _invited(
    batch: Batch,
    person: Person,
    *,
    expires_at: datetime,
    max_assignments: int | None,
    by: AbstractBaseUser | None,
) -> Invited:
    code = addresses.new_access_code()
    try:
        invitation = Invitation.objects.create(
            batch=batch,
            worker=_worker(batch, person),
            name=one_line(person.name),
            email=person.email,
            access_code=addresses.hashed_code(code),
            max_assignments=max_assignments,
            expires_at=expires_at,
            created_by_id=by.pk if by else None,
        )
    except IntegrityError as error:
        raise CannotInvite(f"{person.name} is invited already, by another name or just now.") from error
    return Invited(invitation, address(invitation), code)


def _worker(batch: Batch, person: Person) -> Worker:
    if person.worker_id:
        return worker_of(person.worker_id, source=batch.endpoint)
    earlier = Invitation.objects.filter(email__iexact=person.email).select_related("worker")
    if person.email and (known := earlier.order_by("pk").first()):
        return known.worker
    return Worker.objects.create(source=Source.LINK, worker_id=f"{MADE}{uuid.uuid4().hex[:16]}")
