"""A batch's terms as the API says them, and as the launch page's form reads them: one form judges both."""

from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

from ninja import Field

from surveys.api.problems import Mistake, invalid, of_form
from surveys.api.schemas import Money, Strict, Text, dollars
from surveys.models import Batch, Survey
from surveys.publishing.terms.batch_form import OWN, split
from surveys.publishing.terms.launch_form import LaunchForm, as_shown
from surveys.publishing.terms.policy_form import SHOWN

DURATIONS = ("assignment_duration", "lifetime", "auto_approval_delay")
AMOUNTS = ("reward", "budget")
PLAIN = (
    "name", "endpoint", "takes_links", "only_new_people", "title", "description", "keywords", "items_per_hit",
    "repeats_per_hit", "draws_per_item", "assignments_per_hit", "pilot_items", "page_language",
    "uses_quiz", "rejects_automatically", "replaces_auto_approved", "seed",
)  # fmt: skip
SMALL = Field(None, ge=0, le=32_767)  # what a small number's column holds
Seconds = Annotated[int | None, Field(ge=0, le=10**9)]


class Review(Strict):
    """What happens to bad work. `rules`: {a rule: its number}, for `own`; the kinds are those of the launch page."""

    kind: Literal["never", "of_type", "own"] = "never"
    cap_percent: int | None = Field(10, ge=1, le=100)
    rules: dict[Text, float] = {}
    enough_alone: bool = True
    reject_at: int | None = Field(2, ge=2, le=100)


class Terms(Strict):
    """The terms of a batch. What is left out is as the launch page proposes it, or as the draft has it."""

    name: Text | None = None
    endpoint: Literal["embedded", "sandbox", "production", "link"] | None = None
    takes_links: bool | None = None
    only_new_people: bool | None = None
    title: Text | None = None
    description: Text | None = None
    keywords: Text | None = None
    items_per_hit: int | None = SMALL
    repeats_per_hit: int | None = SMALL
    draws_per_item: int | None = SMALL
    assignments_per_hit: int | None = SMALL
    reward: Money | None = None
    assumed_minutes: Annotated[Text | None, Field(description="A number, for the hourly wage.")] = None
    pilot_items: Annotated[
        int | None, Field(ge=1, le=2**31 - 1, description="Only so many items, the rest later.")
    ] = None
    budget: Money | None = None
    page_language: Text | None = None
    uses_quiz: bool | None = None
    assignment_duration_seconds: Seconds = None
    lifetime_seconds: Seconds = None
    auto_approval_delay_seconds: Seconds = None
    review: Review | None = None
    rejects_automatically: bool | None = None
    replaces_auto_approved: bool | None = None
    seed: int | None = Field(None, ge=0, le=2**31 - 1)


class TermsOf(Strict):
    """The terms a batch has."""

    name: str
    endpoint: str
    takes_links: bool
    only_new_people: bool
    title: str
    description: str
    keywords: str
    items_per_hit: int
    repeats_per_hit: int
    draws_per_item: int
    assignments_per_hit: int
    reward: Money
    assumed_minutes: str
    pilot_items: int | None
    budget: Money | None
    page_language: str
    uses_quiz: bool
    assignment_duration_seconds: int
    lifetime_seconds: int
    auto_approval_delay_seconds: int
    review_policy: dict[str, Any]
    rejects_automatically: bool
    replaces_auto_approved: bool
    seed: int


def terms_of(batch: Batch) -> TermsOf:
    terms: dict[str, Any] = {name: getattr(batch, name) for name in PLAIN}
    terms |= {f"{name}_seconds": int(getattr(batch, name).total_seconds()) for name in DURATIONS}
    return TermsOf(
        **terms,
        reward=dollars(batch.reward),
        assumed_minutes=f"{batch.assumed_minutes.normalize():f}",
        budget=None if batch.budget is None else dollars(batch.budget),
        review_policy=batch.review_policy,
    )


def form_for(terms: Terms, *, survey: Survey, draft: Batch | None = None) -> LaunchForm:
    """Return the launch page's form with these terms in it, valid. Raises Refusal with all that is wrong."""
    untouched = as_shown(LaunchForm(survey=survey, instance=draft)).data
    given = terms.dict(exclude_unset=True)
    data = {**untouched, **_fields(given)}
    for name in [name for name, value in data.items() if value is None or value is False]:
        del data[name]  # as a browser sends no empty box
    form = LaunchForm(data, survey=survey, instance=draft)
    if not form.is_valid():
        raise of_form(form.errors, names={name: f"{name}_seconds" for name in DURATIONS} | _OF_REVIEW)
    return form


_OF_REVIEW = {
    "policy_kind": "review.kind",
    "cap_percent": "review.cap_percent",
    "reject_at": "review.reject_at",
    **{one.switch: f"review.rules.{one.rule.kind}" for one in SHOWN},
    **{one.number: f"review.rules.{one.rule.kind}" for one in SHOWN},
}


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """Return what the form calls what was given."""
    fields = {name: given[name] for name in (*PLAIN, "assumed_minutes") if name in given}
    fields |= {name: given[name] and given[name]["amount"] for name in AMOUNTS if name in given}
    for name in DURATIONS:
        if (seconds := given.get(f"{name}_seconds")) is not None:
            fields |= _duration(name, timedelta(seconds=seconds))
    return fields | (_review(given["review"]) if given.get("review") else {})


def _duration(name: str, duration: timedelta) -> dict[str, Any]:
    number, unit = split(duration)
    exact = number if unit != "minutes" else Decimal(duration.total_seconds()) / 60
    return {f"{name}_number": round(exact, 6), f"{name}_unit": unit}


def _review(given: dict[str, Any]) -> dict[str, Any]:
    review = Review(**given)
    kinds = {one.rule.kind: one for one in SHOWN}
    fields: dict[str, Any] = {"policy_kind": review.kind, "cap_percent": review.cap_percent}
    if review.kind != OWN:
        return fields
    if unknown := sorted(set(review.rules) - set(kinds)):
        detail = f"There is no rule {unknown[0]!r}; there is {', '.join(kinds)}."
        raise invalid([Mistake(detail=detail, field="review.rules")])
    for kind, one in kinds.items():
        fields[one.switch] = "on" if kind in review.rules else None
        if kind in review.rules:
            fields[one.number] = f"{review.rules[kind]:g}"
    return fields | {"alone": review.enough_alone, "reject_at": review.reject_at}
