"""What stands in the way of publishing a batch, and what a researcher may not expect."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import Count, Max

from annotators.crowds.mturk.gateway import Gateway
from surveys import audit
from surveys.models import Batch
from surveys.protocols.criteria import Criterion
from surveys.protocols.policy import needs_gold, read_policy, rule_data
from surveys.protocols.rules import PolicyError
from surveys.publishing import budget
from surveys.publishing.comparisons import comparisons
from surveys.publishing.pilots import items_of
from surveys.publishing.pricing import Quote, quote
from surveys.publishing.quota import has_slots

# RFC 6762, RFC 8375, ICANN's .internal, and habit.
LOCAL_NAMES = (".local", ".lan", ".internal", ".home.arpa")


class CannotChangeBudget(ValueError):
    """This can't be the batch's budget; the message says why."""


def budget_problems(batch: Batch) -> Iterator[str]:
    """Yield the sentence that says why the budget is too small to publish, if it is."""
    total = quote(batch).total
    if batch.budget is not None and total > batch.budget:
        yield f"Publishing it costs ${total:.2f}, but its budget is ${batch.budget:.2f}."


def proposed_budget(batch: Batch, *, price: Quote) -> Decimal:
    """Return dollars that cover a batch and its expected replacements.

    Beside a marketplace, people who come by link are paid on top of the places held there.
    """
    by_link = price.reward_total if batch.takes_links and batch.has_market else 0
    return price.total + price.replacement_total + by_link


@transaction.atomic
def raise_budget(batch: Batch, amount: Decimal, *, by: AbstractBaseUser | AnonymousUser) -> None:
    """Give a published batch a budget, or a larger one. Raises CannotChangeBudget."""
    before = budget.lock(batch.pk)
    committed = budget.money(before).committed
    if before.budget is not None and amount <= before.budget:
        raise CannotChangeBudget(f"The budget is ${before.budget:.2f}; it can only be raised.")
    if amount < committed:
        raise CannotChangeBudget(f"${committed:.2f} are committed already; the budget can't be less.")
    Batch.objects.filter(pk=batch.pk).update(budget=amount)
    was = None if before.budget is None else f"{before.budget:.2f}"
    details = {"before": was, "after": f"{amount:.2f}"}
    audit.record(audit.Kind.BUDGET, "raise", batch=batch, by=by, details=details)


def balance_problem(batch: Batch, *, gateway: Gateway) -> str:
    """Ask the marketplace whether the account covers what a batch still has to have held; empty if it does.

    Raises MarketError. Runs outside transactions.
    """
    needed, balance = _still_to_hold(batch), gateway.balance()
    return (
        "" if balance >= needed else f"The account holds ${balance:.2f}; this batch may need ${needed:.2f}."
    )


def _still_to_hold(batch: Batch) -> Decimal:
    if batch.status == Batch.Status.DRAFT:
        return quote(batch).total
    money = budget.money(batch)
    return money.committed - money.paid - money.held - money.bonuses


def problems(batch: Batch) -> list[str]:
    """Return the sentences that say why this batch can't be published; empty if it can."""
    return list(_problems(batch))


def warnings(batch: Batch) -> list[str]:
    """Return the sentences about what a researcher may not expect, although it can be published."""
    return list(_warnings(batch))


def out_of_reach() -> str:
    """Return the sentence that says who alone can open the addresses this site gives out; empty if strangers can."""
    if not (who := _within_reach(urlsplit(settings.APP_URL).hostname or "")):
        return ""
    return (
        f"Addresses of this site begin with {settings.APP_URL}, which only somebody {who} can open. "
        "For everybody else set ASSENT_APP_URL to an address that they can reach."
    )


def _within_reach(host: str) -> str:
    """Return where somebody has to be to reach a host; empty if anywhere."""
    if host == "localhost" or host.endswith(".localhost"):
        return "at this computer"
    try:
        address = ip_address(host)
    except ValueError:
        return "in its own network" if "." not in host or host.endswith(LOCAL_NAMES) else ""
    if address.is_loopback or address.is_unspecified:
        return "at this computer"
    return "" if address.is_global else "in its own network"


def _problems(batch: Batch) -> Iterator[str]:
    if not batch.survey.items.exists():
        yield "The survey has no items yet."
    elif not items_of(batch).exists():
        yield "The pilot has shown all items there are."
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
    if not batch.has_market:
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
    if (n := _most_fields(batch)) > settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:
        most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        yield f"A HIT would ask for up to {n:,} answers; {most:,} are the most. Show fewer items in each."
    if batch.uses_quiz and not definition.quiz:
        yield "This survey type has no quiz to begin with."


def _most_fields(batch: Batch) -> int:
    """Return how many fields the page of a HIT sends at most, as its server takes so many and no more."""
    definition = batch.definition
    counted = items_of(batch).annotate(n=Count("outputs")).aggregate(most=Max("n"))
    n_outputs = definition.outputs_per_item or counted["most"] or 0
    of_outputs = n_outputs * sum(map(_fields_of, definition.output_criteria))
    of_item = sum(map(_fields_of, definition.item_criteria))
    n_items = batch.items_per_hit + batch.repeats_per_hit
    return n_items * (of_outputs + of_item + n_outputs + FIELDS_OF_ITEM) + FIELDS_OF_PAGE


FIELDS_OF_ITEM = 4  # answer, preference, skip and time, at most; a ranking has one for each output
FIELDS_OF_PAGE = 10
FIELDS_OF_MARKS = 20  # what is marked, and the fields of marks made without scripts


def _fields_of(criterion: Criterion) -> int:
    if criterion.spans:
        return FIELDS_OF_MARKS
    return len(criterion.choices) if criterion.is_checklist else 1


def _warnings(batch: Batch) -> Iterator[str]:
    if has_slots(batch) and not batch.is_simulated and (sentence := out_of_reach()):
        yield sentence
    if batch.repeats_per_hit:
        n, size = batch.repeats_per_hit, batch.items_per_hit
        yield (
            f"{n} of a HIT's {size} items {'is' if n == 1 else 'are'} asked twice: an assignment has up to {size + n} "
            "questions, and its reward and minutes are for all of them."
        )
    compared = comparisons(batch)
    if compared and compared.warning:
        yield compared.warning
    left_over = items_of(batch).count() % batch.items_per_hit
    if left_over and rule_data(batch.review_policy, "minimum_correct"):
        short = "the last HIT: it shows" if batch.draws_per_item == 1 else "one HIT of each draw: it shows"
        yield (
            f"The items don't fill {short} {left_over} of {batch.items_per_hit}. "
            "The review rule can't judge it, so a person decides about each of its assignments."
        )
