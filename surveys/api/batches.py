"""Batches: drafted with a price, published once, watched, stopped."""

from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from http import HTTPStatus
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Field, Router, Schema, Status

from annotators.failpoints import reach
from surveys import sync
from surveys.api.paging import Paged, PageOf, page
from surveys.api.problems import Mistake, invalid, refused
from surveys.api.schemas import Money, Number, Strict, Text, batch_for, dollars, study_for, url_of
from surveys.api.security import Bearer, person
from surveys.api.terms import Terms, TermsOf, form_for, terms_of
from surveys.enqueue import enqueue
from surveys.models import Batch, Simulation
from surveys.models.simulation import MOST_AT_ONCE
from surveys.publishing import budget, launching, pilots, preconditions, pricing, stopping
from surveys.publishing.questionnaires import CannotPublish
from surveys.publishing.terms.batch_form import PublishForm, is_paying, write_draft
from surveys.review.progress import urgent
from surveys.simulating import asking

router = Router(tags=["Batches"])
OTHER_PRICE = "The price is not the one you gave: it is ${total:,.2f} now. Publish with that if it is right."
NOT_MEASURED = "Nobody has handed in enough yet to tell how long it takes."
GONE_HOME = "The simulated people have done what they may do; send more of them."
GONE_ON = "The batch was published in the meantime. Nothing was changed."


class Price(Schema):
    """What a batch costs if it is published as it stands. `total` has the fee, and is what publishing wants to hear."""

    n_items: int
    n_hits: int
    n_assignments: int
    reward_total: Money
    fee_total: Money
    total: Money
    replacement_total: Money
    worst_case_total: Money
    hourly_wage: Money
    proposed_budget: Money


class BatchOut(Schema):
    """A batch. A draft has a `price`, and `problems` that stand in the way of publishing it; in a list it is without.

    Answers in one that `is_simulated` are no person's.
    """

    id: int
    study: str
    name: str
    status: str
    error: str
    is_paying: bool
    is_simulated: bool
    follows: int | None = Field(description="The pilot before it.")
    created_at: datetime
    published_at: datetime | None
    url: str
    terms: TermsOf
    price: Price | None = None
    problems: list[str] = []
    warnings: list[str] = []


class Spent(Schema):
    """A published batch's money, fees included. `committed` is the most it can come to as things stand."""

    committed: Money
    paid: Money
    bonuses: Money
    budget: Money | None
    left: Money | None


class Progress(Schema):
    """Where a batch stands. It is done when it is `complete`, or when `n_kept` has reached `n_wanted`."""

    status: str
    error: str
    is_done: bool
    n_questionnaires: int
    n_published: int
    n_wanted: int
    n_kept: int
    n_open: int
    n_submitted: int
    n_approved: int
    n_rejected: int
    n_waiting: int = Field(description="Assignments that wait for a person's decision.")
    n_urgent: int = Field(description="Undecided, and about to be approved by the marketplace.")
    n_replaced: int
    n_skipped: int
    n_left_out: int
    money: Spent


class Publishing(Strict):
    """That somebody has seen what publishing costs: `total` is the draft's price.

    Where money is real, `confirmation` is the batch's name.
    """

    total: Money
    confirmation: Text = ""


class Simulating(Strict):
    """How many simulated people are sent."""

    n_people: Annotated[int, Field(ge=1, le=MOST_AT_ONCE)] = 12


class Resting(Strict):
    """How the rest of a pilot is paid: at a `wage` an hour for the minutes it took, else as the pilot was."""

    wage: Money | None = None


class NewBudget(Strict):
    """A larger budget for a published batch."""

    budget: Money


@router.get("/studies/{slug:slug}/batches", response=PageOf[BatchOut], auth=Bearer("surveys.view_batch"))
def list_batches(request: HttpRequest, slug: str, paging: Paged) -> dict[str, Any]:
    """List a study's batches, the newest first."""
    batches = study_for(request, slug).batches.select_related("survey__protocol")
    return page(batches, paging, show=_listed)


@router.post(
    "/studies/{slug:slug}/batches",
    response={201: BatchOut},
    auth=Bearer("surveys.view_batch", "surveys.add_batch"),
)
def draft_batch(request: HttpRequest, slug: str, terms: Terms) -> Status[BatchOut]:
    """Draft a batch. Nothing is published, and nothing costs yet: the answer has the price."""
    form = form_for(terms, survey=study_for(request, slug))
    form.instance.created_by_id = person(request).pk
    form.instance.save()
    return Status(HTTPStatus.CREATED, shown(batch_for(request, form.instance.pk)))


@router.get("/batches/{int:pk}", response=BatchOut, auth=Bearer("surveys.view_batch"))
def read_batch(request: HttpRequest, pk: Number) -> BatchOut:
    """Return one batch, a draft with its price."""
    return shown(batch_for(request, pk))


@router.patch(
    "/batches/{int:pk}", response=BatchOut, auth=Bearer("surveys.view_batch", "surveys.change_batch")
)
def change_draft(request: HttpRequest, pk: Number, terms: Terms) -> BatchOut:
    """Change a draft's terms. What is published is not changed here."""
    batch = batch_for(request, pk)
    if batch.status != Batch.Status.DRAFT:
        raise refused(GONE_ON)
    form = form_for(terms, survey=batch.survey, draft=batch)
    if not write_draft(form.instance, form=form):
        raise refused(GONE_ON)
    return shown(batch_for(request, pk))


@router.post("/batches/{int:pk}/publish", response=BatchOut, auth=Bearer("surveys.publish_batch"))
def publish_batch(request: HttpRequest, pk: Number, seen: Publishing) -> BatchOut:
    """Publish a draft at the price that was seen. A batch that is published already is returned as it is."""
    batch = batch_for(request, pk)
    if batch.status == Batch.Status.DRAFT:
        _check_seen(batch, seen)
        _start(request, batch)
    return shown(batch_for(request, pk))


@router.post("/batches/{int:pk}/stop", response=BatchOut, auth=Bearer("surveys.publish_batch"))
def stop_batch(request: HttpRequest, pk: Number) -> BatchOut:
    """Take no more workers. Stopped twice, the second changes nothing."""
    batch = batch_for(request, pk)
    if stopping.stop(batch, by=person(request)):
        reach("stop.stopped")
    batch.refresh_from_db()
    if batch.status != Batch.Status.STOPPED:
        raise refused("This batch is not running.")
    enqueue(sync.expire_batch, batch.pk)
    reach("stop.requested")
    return shown(batch)


@router.post("/batches/{int:pk}/simulate", response={201: BatchOut}, auth=Bearer("surveys.publish_batch"))
def simulate_people(request: HttpRequest, pk: Number, wanted: Simulating) -> Status[BatchOut]:
    """Have simulated people answer a copy of a draft, which is returned; or send more to a batch that is theirs.

    It costs nothing, and its answers are marked as simulated wherever they are shown.
    """
    batch = batch_for(request, pk)
    try:
        simulation = asking.send(batch, n_people=wanted.n_people, by=person(request))
    except asking.CannotSimulate as error:
        raise refused(str(error)) from None
    enqueue(sync.simulate, simulation.pk, simulation.turn)
    return Status(HTTPStatus.CREATED, shown(batch_for(request, simulation.pk)))


@router.post(
    "/batches/{int:pk}/rest",
    response={201: BatchOut},
    auth=Bearer("surveys.view_batch", "surveys.add_batch"),
)
def plan_rest(request: HttpRequest, pk: Number, wanted: Resting) -> Status[BatchOut]:
    """Draft what follows a pilot: its terms, the items it did not show, none of its people."""
    pilot = batch_for(request, pk)
    try:
        rest = pilots.plan_rest(pilot, reward=_reward(pilot, wanted.wage), by=person(request))
    except pilots.CannotFollow as error:
        raise refused(str(error)) from None
    return Status(HTTPStatus.CREATED, shown(batch_for(request, rest.pk)))


@router.post("/batches/{int:pk}/budget", response=BatchOut, auth=Bearer("surveys.publish_batch"))
def raise_budget(request: HttpRequest, pk: Number, new: NewBudget) -> BatchOut:
    """Give a published batch a budget, or a larger one."""
    batch = batch_for(request, pk)
    if batch.status == Batch.Status.DRAFT:
        raise refused("A draft's budget is changed with its other terms.")
    try:
        preconditions.raise_budget(batch, _amount(new.budget), by=person(request))
    except preconditions.CannotChangeBudget as error:
        raise invalid([Mistake(detail=str(error), field="budget")]) from None
    reach("budget.raised")
    enqueue(sync.sync_batch, batch.pk)
    return shown(batch_for(request, pk))


@router.get("/batches/{int:pk}/progress", response=Progress, auth=Bearer("surveys.view_batch"))
def read_progress(request: HttpRequest, pk: Number) -> Progress:
    """Return how far a batch is, and its money."""
    batch = batch_for(request, pk)
    counts = pricing.progress(batch)
    known = {name: value for name, value in asdict(counts).items() if name in Progress.model_fields}
    is_done = _is_done(batch, counts)
    return Progress(
        **known | {"error": counts.error or ("" if is_done else _why_it_rests(batch))},
        n_kept=counts.n_kept,
        n_waiting=counts.n_flagged,
        n_urgent=urgent(batch).count(),
        is_done=is_done,
        money=_spent(batch),
    )


def shown(batch: Batch) -> BatchOut:
    """Return a batch; a draft with its price."""
    more: dict[str, Any] = {}
    if batch.status == Batch.Status.DRAFT:
        price = pricing.quote(batch)
        more = {
            "price": _price(batch, price),
            "problems": preconditions.problems(batch),
            "warnings": preconditions.warnings(batch),
        }
    return BatchOut(**_facts(batch), **more)


def _listed(batch: Batch) -> BatchOut:
    return BatchOut(**_facts(batch))


def _facts(batch: Batch) -> dict[str, Any]:
    return {
        "id": batch.pk,
        "study": batch.survey.slug,
        "name": batch.name,
        "status": batch.status,
        "error": batch.error,
        "is_paying": is_paying(batch),
        "is_simulated": batch.is_simulated,
        "follows": batch.follows_id,
        "created_at": batch.created_at,
        "published_at": batch.published_at,
        "url": url_of(batch.get_absolute_url()),
        "terms": terms_of(batch),
    }


def _price(batch: Batch, price: pricing.Quote) -> Price:
    amounts = ("reward_total", "fee_total", "total", "replacement_total", "worst_case_total", "hourly_wage")
    return Price(
        n_items=price.n_items,
        n_hits=price.n_hits,
        n_assignments=price.n_assignments,
        proposed_budget=dollars(preconditions.proposed_budget(batch, price=price)),
        **{name: dollars(getattr(price, name)) for name in amounts},
    )


def _spent(batch: Batch) -> Spent:
    found = budget.money(batch)
    return Spent(
        committed=dollars(found.committed),
        paid=dollars(found.paid),
        bonuses=dollars(found.bonuses),
        budget=None if found.limit is None else dollars(found.limit),
        left=None if found.left is None else dollars(found.left),
    )


def _is_done(batch: Batch, counts: pricing.Progress) -> bool:
    is_full = 0 < counts.n_wanted <= counts.n_kept
    return batch.status == Batch.Status.COMPLETE or (batch.status != Batch.Status.DRAFT and is_full)


def _why_it_rests(batch: Batch) -> str:
    """Return why nobody comes any more, "" where somebody may."""
    is_over = Simulation.objects.filter(batch=batch, ended_at__isnull=False).exists()
    return GONE_HOME if is_over else ""


def _reward(pilot: Batch, wage: Money | None) -> Decimal | None:
    reward = pricing.measured_reward(pilot, wage=_amount(wage)) if wage else None
    if wage and reward is None and pilot.status != Batch.Status.DRAFT:
        raise invalid([Mistake(detail=NOT_MEASURED, field="wage")])
    return reward


def _amount(money: Money) -> Decimal:
    return Decimal(money.amount)


def _check_seen(batch: Batch, seen: Publishing) -> None:
    """Refuse a price that is not today's, and where money is real whoever has not typed the name."""
    total = pricing.quote(batch).total
    if _amount(seen.total) != total:
        raise invalid([Mistake(detail=OTHER_PRICE.format(total=total), field="total.amount")])
    form = PublishForm({"confirmation": seen.confirmation}, batch=batch)
    if not form.is_valid():
        raise invalid([Mistake(detail=str(form.errors["confirmation"][0]), field="confirmation")])


def _start(request: HttpRequest, batch: Batch) -> None:
    try:
        started = launching.start(batch, by=person(request))
    except CannotPublish as error:
        raise refused(str(error)) from None
    if started.is_first:
        reach("publish.started")
        enqueue(sync.publish_batch, batch.pk)
        reach("publish.requested")
