"""What stands in the way of publishing a batch, and what a researcher may not expect."""

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings

from annotators.models import Endpoint
from surveys.models import Batch
from surveys.protocols.policy_reading import needs_gold, read_policy, rule_data
from surveys.protocols.rules import PolicyError
from surveys.publishing.funding import budget_problems


def problems(batch: Batch) -> list[str]:
    """Return the sentences that say why this batch can't be published; empty if it can."""
    return list(_problems(batch))


def warnings(batch: Batch) -> list[str]:
    """Return the sentences about what a researcher may not expect, although it can be published."""
    return list(_warnings(batch))


def _problems(batch: Batch) -> Iterator[str]:
    if not batch.survey.items.exists():
        yield "The survey has no items yet."
    yield from _marketplace_problems(batch)
    yield from _kind_problems(batch)
    yield from budget_problems(batch)
    try:
        read_policy(batch.review_policy, items_per_hit=batch.items_per_hit)
    except PolicyError as error:
        yield str(error)
    ungraded = batch.survey.items.filter(gold="").count()
    if ungraded and needs_gold(batch.review_policy):
        yield f"{ungraded} items have no gold answer, which the review policy needs."


def _marketplace_problems(batch: Batch) -> Iterator[str]:
    if batch.endpoint == Endpoint.LINK:
        return
    endpoint = settings.MTURK_ENDPOINTS[batch.endpoint]
    missing = batch.survey.items.filter(pictures__file="").distinct().count()
    if missing and endpoint["is_paying"]:
        yield f"{missing} items still wait for their pictures; paid HITs need all of them."
    if batch.auto_approval_delay < timedelta(seconds=2 * settings.SYNC_EVERY_SECONDS):
        yield "The auto-approval delay leaves no time to review: it must be at least two sync intervals."
    if batch.endpoint != "embedded" and not settings.APP_URL.startswith("https://"):
        yield "MTurk shows HITs from https addresses only; ASSENT_APP_URL is not one."


def _kind_problems(batch: Batch) -> Iterator[str]:
    definition = batch.definition
    if definition.skip_reasons and batch.items_per_hit != 1:
        yield "Items of this survey type can be skipped one by one, so a HIT must show exactly one."
    if batch.uses_quiz and not definition.quiz:
        yield "This survey type has no quiz to begin with."


def _warnings(batch: Batch) -> Iterator[str]:
    left_over = batch.survey.items.count() % batch.items_per_hit
    if left_over and rule_data(batch.review_policy, "minimum_correct"):
        yield (
            f"The items don't fill the last HIT: it shows {left_over} of {batch.items_per_hit}. "
            "The review rule can't judge it, so a person decides about each of its assignments."
        )
