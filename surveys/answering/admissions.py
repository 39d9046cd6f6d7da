"""Admissions: who comes by an address, by name and access code, or from a panel, and what a panel gets back."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from annotators.crowds.base import CROWDS, Crowd
from annotators.crowds.links import addresses
from annotators.models import Assignment, Channel, Source, Worker
from annotators.people.pseudonyms import worker_of
from statements import Hole, Statement
from surveys.answering.invitations import one_line
from surveys.answering.throttling import NotCounting, Throttle
from surveys.models import Batch, Invitation, Panel, PanelVisit
from surveys.publishing import giving, pilots, quota
from surveys.publishing.quota import cap_of

SIGN_IN = Throttle("links.sign-in", limit=5, seconds=15 * 60)
RUNNING_OUT = (Batch.Status.STOPPED, Batch.Status.COMPLETE)


FULL = gettext_lazy("All places in this study are taken. Please return it on your panel's page.")
BEFORE = gettext_lazy("You have taken part in this study before. Please return it on your panel's page.")
UNCOUNTED = gettext_lazy(
    "Nobody can sign in right now. The fault is ours, and your code was not looked at. Please try again in a minute."
)
UNPROVEN = gettext_lazy(
    "This link does not prove who you are: a panel or a marketplace knows you, and not we. Ask there, or ask the "
    "researchers through it, and give them the id that you have there."
)


class NotAdmitted(Exception):
    """This person can't come in; the message tells them why and what to do.

    `kind`: "unknown", "expired", "revoked", "closed", "full", "unproven" where an id was only claimed, "throttled"
    after too many wrong codes, "uncounted" where nobody can count them. `visit` is that of a panel's person for whom
    nothing is left.
    """

    def __init__(self, kind: str, message: str | Promise, *, visit: PanelVisit | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.visit = visit


@dataclass(frozen=True, slots=True)
class Admission:
    """Somebody who may work: on what, as whom, and how much. `token` is for the addresses of their pages."""

    batch: Batch
    worker: Worker
    channel: str
    limit: int | None
    token: str
    visit: PanelVisit | None
    name: str

    @property
    def crowd(self) -> Crowd:
        return CROWDS[self.channel]


def admit(token: str) -> Admission:
    """Return who comes with this address. Raises NotAdmitted."""
    try:
        holder = addresses.read(token)
    except addresses.BadLink as error:
        raise NotAdmitted("unknown", str(error)) from error
    if holder.kind == "visit":
        return _admitted_visit(holder.key, token=token)
    return _admitted(INVITATION.first(key=holder.key))


def owner(token: str) -> Invitation:
    """Return the invitation of whoever comes to see what is kept about them, its time or study over too.

    Raises NotAdmitted for who is not proven to be the person: a panel's address names anybody who is typed into it, and
    a marketplace's worker was only named by whoever invited them.
    """
    try:
        holder = addresses.read(token)
    except addresses.BadLink as error:
        raise NotAdmitted("unknown", str(error)) from error
    invitation = INVITATION.first(key=holder.key) if holder.kind == "invitation" else None
    if holder.kind == "visit" or (invitation and invitation.worker.source != Source.LINK):
        raise NotAdmitted("unproven", UNPROVEN)
    if invitation is None or invitation.revoked_at:
        raise NotAdmitted("revoked", gettext("This link leads to nobody any more, or was taken back."))
    return invitation


def admit_by_code(batch_code: int | str, *, name: str, access_code: str) -> Admission:
    """Return who signs in to a batch by name and access code. Raises NotAdmitted.

    After five wrong codes for a name within a quarter of an hour, right ones are refused too.
    """
    attempt = f"{batch_code}:{one_line(name).casefold()}"
    _check_attempts(attempt)
    batches = (
        Batch.objects.filter(pk=int(batch_code)) if str(batch_code).isdecimal() else Batch.objects.none()
    )
    named = _invitations().filter(batch__in=batches, name__iexact=one_line(name)).first()
    if not addresses.is_code(access_code, hashed=named.access_code if named else ""):
        SIGN_IN.count(attempt)
        raise NotAdmitted("unknown", gettext("The name and the access code don't belong together."))
    return _admitted(named)


def _check_attempts(attempt: str) -> None:
    try:
        if SIGN_IN.is_closed(attempt):
            raise NotAdmitted("throttled", gettext("Too many wrong codes. Please wait a quarter of an hour."))
    except NotCounting as error:
        raise NotAdmitted("uncounted", UNCOUNTED) from error


def admit_panel(panel_code: str, params: Mapping[str, str]) -> Admission:
    """Return whom a panel has sent, the same visit where they come again. Raises NotAdmitted."""
    panel = Panel.objects.select_related("batch__survey").filter(code=panel_code).first()
    if panel is None:
        raise NotAdmitted(
            "unknown", gettext("There is no such study here. Please start again from your panel's page.")
        )
    person = _panel_person(panel, params)
    worker = worker_of(f"{panel.provider}:{person.worker_id}", source=Source.PANEL)
    visit, _ = PanelVisit.objects.get_or_create(
        panel=panel, worker=worker, defaults={"study": person.study, "session": person.session}
    )
    _check_visit(visit)
    if not (works(panel.batch, worker).exists() or giving.free_slots(panel.batch, worker=worker).exists()):
        message = BEFORE if pilots.took_part(worker, batch=panel.batch) else FULL
        raise NotAdmitted("full", message, visit=visit)
    return _visiting(visit)


def _invitations() -> QuerySet[Invitation]:
    return Invitation.objects.select_related("batch__survey", "worker")


INVITATION = Statement(lambda: _invitations().filter(key=Hole("key", Invitation._meta.get_field("key"))))


def _admitted(invitation: Invitation | None) -> Admission:
    if invitation is None:
        raise NotAdmitted(
            "revoked",
            gettext(
                "This address is not in use any more: a newer one took its place, or what leads to its person was "
                "deleted. If you got a newer one, please use that."
            ),
        )
    if invitation.revoked_at:
        raise NotAdmitted(
            "revoked", gettext("This invitation was taken back. Please ask whoever sent it to you.")
        )
    if invitation.expires_at <= timezone.now():
        raise NotAdmitted(
            "expired", gettext("This invitation has expired. Please ask whoever sent it to you.")
        )
    _check_open(invitation.batch, invitation.worker)
    if invitation.opened_at is None:
        Invitation.objects.filter(pk=invitation.pk, opened_at=None).update(opened_at=timezone.now())
    return Admission(
        batch=invitation.batch,
        worker=invitation.worker,
        channel=Channel.LINK,
        limit=invitation.max_assignments,
        token=addresses.issue(addresses.Holder("invitation", invitation.key)),
        visit=None,
        name=invitation.name,
    )


def _admitted_visit(key: uuid.UUID, *, token: str) -> Admission:
    visits = PanelVisit.objects.select_related("panel__batch__survey", "worker")
    visit = visits.filter(key=key).first()
    if visit is None:
        raise NotAdmitted(
            "unknown", gettext("This visit is over. Please start again from your panel's page.")
        )
    _check_visit(visit)
    return _visiting(visit)


def _check_visit(visit: PanelVisit) -> None:
    """Let a panel's person in where there is work. Of a study that is over nothing is left for who has done nothing."""
    batch = visit.panel.batch
    try:
        _check_open(batch, visit.worker)
    except NotAdmitted as error:
        error.visit = visit if batch.status in (Batch.Status.OPEN, *RUNNING_OUT) else None
        raise


def _visiting(visit: PanelVisit) -> Admission:
    return Admission(
        batch=visit.panel.batch,
        worker=visit.worker,
        channel=Channel.PANEL,
        limit=_panel_limit(visit.panel),
        token=addresses.issue(addresses.Holder("visit", visit.key)),
        visit=visit,
        name="",
    )


def _panel_limit(panel: Panel) -> int:
    """Return how many assignments a panel's person may have: no more than anybody's share of the batch."""
    most = cap_of(panel.batch)
    wanted = panel.assignments_per_worker
    return wanted if most is None else min(wanted, most)


def _check_open(batch: Batch, worker: Worker) -> None:
    """Let in where there is work; once a batch is over, and of the excluded, only who comes back to what they did."""
    if worker.standing == Worker.Standing.EXCLUDED and not works(batch, worker).exists():
        raise NotAdmitted("closed", gettext("This study is not open to you."))
    if batch.status == Batch.Status.OPEN and quota.has_slots(batch):
        return
    if batch.status not in RUNNING_OUT:
        raise NotAdmitted("closed", gettext("This study has not begun yet. Please come back later."))
    if not works(batch, worker).exists():
        raise NotAdmitted("closed", gettext("This study is over. Thank you for your interest!"))


def _panel_person(panel: Panel, params: Mapping[str, str]) -> addresses.PanelPerson:
    names = addresses.ParameterNames(panel.worker_parameter, panel.study_parameter, panel.session_parameter)
    try:
        person = addresses.read_panel(params, names=names, provider=panel.provider)
    except addresses.BadLink as error:
        raise NotAdmitted("unknown", str(error)) from error
    if panel.study_id and person.study != panel.study_id:
        raise NotAdmitted(
            "unknown", gettext("Your panel sent you for another study. Please start again from its page.")
        )
    return person


def works(batch: Batch, worker: Worker) -> QuerySet[Assignment]:
    return Assignment.objects.filter(annotation_slot__batch=batch, worker=worker)
