"""Invitations: people who come to a batch by personal links."""

from datetime import date, datetime
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any

from django.contrib.admin.models import ADDITION, LogEntry
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from surveys.answering import invitations
from surveys.answering.invitations import MOST_PEOPLE, CannotInvite, Person
from surveys.api.paging import Paged, PageOf, page
from surveys.api.problems import Mistake, invalid
from surveys.api.schemas import Number, Strict, Text, batch_for
from surveys.api.security import Bearer, person, token_of
from surveys.models import Batch, Invitation
from surveys.publishing import quota

router = Router(tags=["Invitations"])
VIEW = ("surveys.view_batch", "surveys.view_invitation")


class PersonIn(Strict):
    """Somebody to invite. With their id on the batch's marketplace as `worker_id` they see nothing twice.

    By their e-mail address they are the same person in all batches; without either they are somebody new in each.
    """

    name: Text
    email: Text = ""
    worker_id: Text = ""


class Invite(Strict):
    """Whom to invite, until which day (30 days from now), and how many assignments each may do (all there are)."""

    people: Annotated[list[PersonIn], Field(min_length=1, max_length=MOST_PEOPLE)]
    valid_until: date | None = None
    max_assignments: Annotated[int, Field(ge=1, le=32767)] | None = None


class InvitedOut(Schema):
    """Somebody who is invited. Their link is in the list of invitations, which no answer kept for a key holds."""

    id: int
    name: str


class InvitedList(Schema):
    results: list[InvitedOut]


class InvitationOut(InvitedOut):
    """An invitation. Whoever has `link` is that person; it is null once it opens nothing any more."""

    email: str
    expires_at: datetime
    is_revoked: bool
    max_assignments: int | None
    link: str | None


@router.get("/batches/{int:pk}/invitations", response=PageOf[InvitationOut], auth=Bearer(*VIEW))
def list_invitations(request: HttpRequest, pk: Number, paging: Paged) -> dict[str, Any]:
    """List whom a batch has invited, in the order they were, with the links that are valid.

    A token that only reads gets no links: whoever has one answers as that person.
    """
    found, token = _of_links(request, pk).invitations.select_related("worker"), token_of(request)
    show = partial(_shown, with_link=bool(token and not token.is_read_only))
    return page(found, paging, show=show, newest_first=False)


@router.post(
    "/batches/{int:pk}/invitations",
    response={201: InvitedList},
    auth=Bearer(*VIEW, "surveys.add_invitation"),
)
def invite_people(request: HttpRequest, pk: Number, wanted: Invite) -> Status[InvitedList]:
    """Invite people, all or none. Nobody is sent anything: the list of invitations has their links."""
    batch = _of_links(request, pk)
    people = _people(wanted)
    try:
        invited = invitations.invite(
            batch,
            people=people,
            expires_at=_until(wanted),
            max_assignments=wanted.max_assignments,
            by=person(request),
        )
    except CannotInvite as error:
        raise invalid([Mistake(detail=str(error), field="people")]) from None
    made = [one.invitation for one in invited]
    LogEntry.objects.log_actions(person(request).pk, made, ADDITION, change_message="Invited by the API.")
    rows = [InvitedOut(id=one.pk, name=one.name) for one in made]
    return Status(HTTPStatus.CREATED, InvitedList(results=rows))


def _of_links(request: HttpRequest, pk: int) -> Batch:
    batch = batch_for(request, pk)
    if not quota.has_slots(batch):
        raise Http404("Nobody comes to this batch by link.")
    return batch


def _people(wanted: Invite) -> list[Person]:
    people, mistakes = [], []
    for n, one in enumerate(wanted.people):
        try:
            people.append(Person(one.name.strip(), one.email.strip(), one.worker_id.strip()).checked())
        except ValidationError as error:
            mistakes.append(Mistake(detail=" ".join(error.messages), field=f"people.{n}"))
    if mistakes:
        raise invalid(mistakes)
    return people


def _until(wanted: Invite) -> datetime:
    if wanted.valid_until is None:
        return invitations.in_a_month()
    until = invitations.end_of(wanted.valid_until)
    if until <= timezone.now():
        raise invalid([Mistake(detail="This day is over.", field="valid_until")])
    return until


def _shown(invitation: Invitation, *, with_link: bool) -> InvitationOut:
    is_valid = invitation.revoked_at is None and invitation.expires_at > timezone.now()
    return InvitationOut(
        id=invitation.pk,
        name=invitation.name,
        email=invitation.email,
        expires_at=invitation.expires_at,
        is_revoked=invitation.revoked_at is not None,
        max_assignments=invitation.max_assignments,
        link=invitations.address(invitation) if is_valid and with_link else None,
    )
