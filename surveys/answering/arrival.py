"""Somebody opens the frame of a HIT: who they claim to be, and the assignment they get, once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet, Subquery
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from annotators.constraints import is_about
from annotators.crowds.base import crowd_of, has_market
from annotators.failpoints import reach
from annotators.models import HIT, IS_CLAIM, Assignment, Worker
from annotators.people.names import names_of
from annotators.people.pseudonyms import by_name, locked_worker_of, name_holes
from statements import Hole, Statement, insert
from surveys.answering import claiming
from surveys.answering.answer_copy import NOT_XML
from surveys.answering.orders import draw_responses, slots_to_draw, to_draw
from surveys.answering.presentation import by_place, opened_responses
from surveys.models import AnnotationSlot, Batch, Questionnaire, QuestionnaireItem, Response
from surveys.publishing import giving, pilots, quota
from surveys.publishing.quota import cap_of, has_reached_cap

ONCE_EACH: tuple[tuple[type[Model], str], ...] = (
    (Assignment, "assignment_once_per_hit_and_worker"),
    (Assignment, "assignment_id_once_per_worker"),
    (Response, "worker_sees_item_once_per_batch"),
)
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
SEEN_BEFORE = gettext_lazy(
    "You have already worked on these questions in another HIT. Please return this one; it costs you nothing."
)
SHARE_DONE = gettext_lazy(
    "You have done as many of these HITs as one person may do ({most}), so that many people are heard. Please return "
    "this one: you lose nothing by it, and nothing is rejected because of it. Thank you for your work!"
)
TOOK_PART = gettext_lazy(
    "You have taken part in this study before. Please return this HIT; it costs you nothing."
)
EXCLUDED = gettext_lazy("This HIT is not open to you. Please return it; returning costs you nothing.")
ALL_IN = gettext_lazy(
    "All answers that are wanted here have come in. Please return the HIT; it costs you nothing."
)


class CannotServe(Exception):
    """This work can't be given to this person; the message tells them what to do. `kind` is for the page."""

    def __init__(self, kind: str, message: str | Promise) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Claims:
    """What the frame's address says about who is looking. Nothing proves it until the marketplace confirms it."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str

    @property
    def is_preview(self) -> bool:
        return self.assignment_id in {"", PREVIEW}


def read_claims(params: Mapping[str, str], *, endpoint: str) -> Claims:
    """Read MTurk's query.

    Raises CannotServe where turkSubmitTo is none of the endpoint's own addresses, and where there is no marketplace
    that could have sent anybody.
    """
    if not has_market(endpoint):
        raise CannotServe(
            "unknown", gettext("People come to this study by a personal link. Please use yours.")
        )
    given = _given(params)
    submit_to = given.get("turkSubmitTo", "").rstrip("/")
    if submit_to and submit_to not in settings.MTURK_ENDPOINTS[endpoint]["submit_origins"]:
        raise CannotServe(
            "bad_claims",
            gettext("This page was opened from an address we don't know. Please return the HIT."),
        )
    return Claims(
        assignment_id=given.get("assignmentId", "")[:64],
        hit_id=given.get("hitId", "")[:64],
        worker_id=given.get("workerId", "")[:64],
        submit_to=submit_to,
    )


def named(params: Mapping[str, str]) -> tuple[str, str]:
    """Return AssignmentId and WorkerId of MTurk's query, whoever sent it; "" for what MTurk can't have given."""
    given = _given(params)
    ids = (given.get(key, "")[:64] for key in ("assignmentId", "workerId"))
    assignment_id, worker_id = (one if is_entity_id(one) else "" for one in ids)
    return assignment_id, worker_id


def _given(params: Mapping[str, str]) -> dict[str, str]:
    """Keys that arrive as `amp;hitId` are real traffic (Dallinger#1963)."""
    return {key.removeprefix("amp;"): value.strip() for key, value in params.items()}


@dataclass(frozen=True, slots=True)
class Opened:
    """An assignment, and its responses as `draw_responses` gave them where they were drawn just now.

    `is_newcomer`: its worker was not known before this.
    """

    assignment: Assignment
    drawn: list[Response]
    is_newcomer: bool = False

    def responses(self, batch: Batch) -> list[Response]:
        """Return what the page shows, in its order; read only where it was drawn before."""
        return by_place(self.drawn) or opened_responses(self.assignment, batch=batch)


def open_assignment(
    questionnaire: Questionnaire,
    *,
    claims: Claims,
    user_agent: str = "",
    address: str = "",
    is_new: bool = False,
    is_unknown: bool = False,
) -> Opened:
    """Return the assignment that is claimed, with its orders drawn; opened anew for each AssignmentId.

    What was claimed under another AssignmentId is neither shown nor changed: nobody has said yet that both are one
    person's. `address` is the visitor's network address, "" where it is not known. `is_new`: a moment ago nobody had
    opened the HIT under this AssignmentId, so that it is not looked for before a lock is taken; `is_unknown`: nor was
    their worker known. Raises CannotServe; a worker who is turned away is asked to return the HIT and loses nothing by
    it. Who was excluded after they began may finish what they began.
    """
    hit = _check_claims(questionnaire, claims)
    if not is_new and (opened := _opened_earlier(questionnaire, claims)):
        return Opened(opened, [])  # a reload takes no lock
    claim = Assignment(
        hit=hit,
        assignment_id=claims.assignment_id,
        user_agent=NOT_XML.sub("", user_agent)[:255],
        claimed_from=claiming.origin(address),
    )
    try:
        return _opened(questionnaire, claim, worker_id=claims.worker_id, is_unknown=is_unknown)
    except IntegrityError as error:
        # The same worker at once on a sibling HIT, or with another HIT's AssignmentId.
        if any(is_about(error, model, name) for model, name in ONCE_EACH):
            raise CannotServe("seen_before", SEEN_BEFORE) from error
        raise


def _opened_earlier(questionnaire: Questionnaire, claims: Claims) -> Assignment | None:
    names = names_of(claims.worker_id)
    return _opened_before(len(names)).first(
        hit=questionnaire.hit_id,
        source=questionnaire.batch.endpoint,
        assignment_id=claims.assignment_id,
        **by_name(names),
    )


@cache
def _opened_before(n_names: int) -> Statement[Assignment]:
    """Return the statement that finds a claim, opened by a worker with so many names."""

    def made() -> QuerySet[Assignment]:
        claimed = Assignment.objects.select_related("worker").filter(
            Exists(Response.objects.filter(assignment=OuterRef("pk"))),
            hit=Hole("hit", HIT._meta.pk),
            worker__source=Hole("source", Worker._meta.get_field("source")),
            worker__worker_id__in=name_holes(n_names),
            assignment_id=Hole("assignment_id", Assignment._meta.get_field("assignment_id")),
        )
        return claimed.order_by("hit_id", "submitted_at", "pk")[:1]

    return Statement(made)


# Claims to a HIT, and a worker's rows of it.
HERE = Statement(
    lambda: Assignment.objects.filter(
        IS_CLAIM | Q(worker=Hole("worker", Worker._meta.pk)), hit=Hole("hit", HIT._meta.pk)
    )
)


def is_entity_id(text: str) -> bool:
    """Tell whether MTurk could have given this name: ASCII letters and digits."""
    return text.isascii() and text.isalnum()


def _check_claims(questionnaire: Questionnaire, claims: Claims) -> HIT:
    if questionnaire.hit is None:
        raise CannotServe(
            "not_published", gettext("This HIT is just being published. Please open it again in a moment.")
        )
    is_ours = claims.hit_id == questionnaire.hit.hit_id and not claims.is_preview
    if not is_ours or not is_entity_id(claims.worker_id) or not is_entity_id(claims.assignment_id):
        raise CannotServe(
            "bad_claims", gettext("This address does not belong to this HIT. Please open it from your queue.")
        )
    return questionnaire.hit


@transaction.atomic
def _opened(questionnaire: Questionnaire, claim: Assignment, *, worker_id: str, is_unknown: bool) -> Opened:
    """Worker before questionnaire: the order in which `allocation` locks too."""
    source = questionnaire.batch.endpoint
    claim.worker, is_newcomer = locked_worker_of(worker_id, source=source, is_unknown=is_unknown)
    if claim.worker.standing == Worker.Standing.EXCLUDED:
        raise CannotServe("excluded", EXCLUDED)
    _lock(questionnaire)
    place = _place(questionnaire, claim)
    here = _here(claim, place)
    if opened := _existing(claim, here):
        quota.keep(opened, batch=questionnaire.batch)
    else:
        if claiming.make_room(claim, among=[one for one in here if one.is_claim]):
            place = _place(questionnaire, claim)
        if place.is_seen:
            raise CannotServe("seen_before", SEEN_BEFORE)
        if pilots.took_part(claim.worker, batch=questionnaire.batch):
            raise CannotServe("seen_before", TOOK_PART)
        _check_share(questionnaire, claim)
        slot = _free_slot(questionnaire, claim.worker)
        insert([claim])
        if slot:
            quota.give(slot, assignment=claim)
    drawn = draw_responses(
        questionnaire,
        assignment=opened or claim,
        is_new=opened is None,
        is_newcomer=is_newcomer,
        slots=place.slots,
    )
    reach("open.drawing")
    return Opened(opened or claim, drawn, is_newcomer)


def _lock(questionnaire: Questionnaire) -> None:
    """SQLite has no locks of rows: of it a transaction locks the whole."""
    if connection.features.has_select_for_update:
        LOCKED.rows(pk=questionnaire.pk)


LOCKED = Statement(
    lambda: (
        Questionnaire.objects.select_for_update(no_key=True)
        .filter(pk=Hole("pk", Questionnaire._meta.pk))
        .values_list("pk")
    )
)


@dataclass(frozen=True, slots=True)
class _Place:
    """What there is for a worker in a HIT, as one statement finds it under the questionnaire's lock.

    `slots`: as `slots_to_draw` returns them. `n_claims`: how many claims to the HIT there are; `is_here`: whether the
    worker has rows of it; `is_seen`: whether they have seen one of its items elsewhere.
    """

    slots: list[QuestionnaireItem]
    n_claims: int
    is_here: bool
    is_seen: bool


def _place(questionnaire: Questionnaire, claim: Assignment) -> _Place:
    asked = {"hit": claim.hit_id, "worker": claim.worker_id, "claimed_from": claim.claimed_from}
    slots = slots_to_draw(questionnaire, by=PLACE, **asked)
    if not slots:
        return _Place([], n_claims=0, is_here=True, is_seen=False)
    one: Any = slots[0]  # of each the same
    return _Place(slots, one.n_claims or 0, one.is_here, one.is_seen)


def _to_place() -> QuerySet[QuestionnaireItem]:
    here = Assignment.objects.filter(hit=Hole("hit", HIT._meta.pk))
    claims = here.filter(IS_CLAIM).order_by().values("hit").annotate(n=Count("pk")).values("n")
    theirs = here.filter(worker=Hole("worker", Worker._meta.pk))
    return to_draw().annotate(n_claims=Subquery(claims), is_here=Exists(theirs), is_seen=Exists(_seen()))


PLACE = Statement(_to_place)


def _here(claim: Assignment, place: _Place) -> list[Assignment]:
    """Return the claims to a HIT and the worker's rows of it; nothing where none of them can matter."""
    if place.is_here or place.n_claims >= claiming.most_from_one(claim.hit):
        return HERE.all(worker=claim.worker_id, hit=claim.hit_id)
    return []


def _existing(claim: Assignment, here: list[Assignment]) -> Assignment | None:
    """Return the row of this very claim. Who is known to have handed in this HIT can't open it once more."""
    theirs = [row for row in here if row.worker_id == claim.worker_id]
    rows = [row for row in theirs if not row.is_claim or row.assignment_id == claim.assignment_id]
    for row in rows:
        if row.assignment_id != claim.assignment_id or not crowd_of(row).has_market:
            raise CannotServe("seen_before", SEEN_BEFORE)
    return rows[0] if rows else None


def _seen() -> QuerySet[QuestionnaireItem]:
    """Return what counts as seen of a questionnaire's items; a claim to its own HIT does not.

    Somebody else's claim to be this worker closes no HIT to them, nor does their own of before a return.
    """
    claimed_from = Hole("claimed_from", Assignment._meta.get_field("claimed_from"))
    responses = Response.objects.filter(
        quota.is_borne_out(claimed_from, assignment="assignment__"),
        batch=Hole("batch", Batch._meta.pk),
        worker=Hole("worker", Worker._meta.pk),
        item=OuterRef("item"),
    ).exclude(is_claim=True, assignment__hit=Hole("hit", HIT._meta.pk))
    here = Hole("questionnaire", Questionnaire._meta.pk)
    return QuestionnaireItem.objects.filter(Exists(responses), questionnaire=here)


def _check_share(questionnaire: Questionnaire, claim: Assignment) -> None:
    if has_reached_cap(questionnaire.batch, claim=claim):
        raise CannotServe("share", SHARE_DONE.format(most=cap_of(questionnaire.batch)))


def _free_slot(questionnaire: Questionnaire, worker: Worker) -> AnnotationSlot | None:
    """Return one of the annotations still wanted of these items, where people who come by link share them."""
    if not quota.has_slots(questionnaire.batch):
        return None
    free = giving.free_slots(questionnaire.batch, worker=worker)
    root = questionnaire.sibling_of_id or questionnaire.pk
    if slot := giving.lock_free(free.filter(questionnaire=root)):
        return slot
    raise CannotServe("complete", ALL_IN)
