"""One HIT offered to the marketplace, and what became of it."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from annotators.models import HIT, Assignment, Call, HITType
from annotators.outbox import market
from annotators.outbox.journal import IN_FLIGHT
from marketplace import models as marketplace
from tests.market_site import Site

TERMS = market.HITTypeTerms(
    title="Judge explanations",
    description="Five questions about pictures.",
    keywords="image",
    reward=Decimal("0.38"),
    assignment_duration=timedelta(hours=1),
    auto_approval_delay=timedelta(days=3),
)


def offer(site: Site, hit_type: HITType, *, token: str = "create:1", max_assignments: int = 5) -> Call:
    return market.offer_hit(
        hit_type,
        token=token,
        url="http://127.0.0.1/hits/1/",
        lifetime=timedelta(days=1),
        max_assignments=max_assignments,
        gateway=site.gateway,
    )


def listed(site: Site, hit: HIT) -> Assignment:
    """An assignment that a worker has submitted and we have mirrored."""
    from annotators.crowds.mturk.mirror import fetch

    site.submit(site.accept(hit))
    return fetch(hit, gateway=site.gateway)[-1]


def decide(site: Site, assignment: Assignment, operation: str, *, feedback: str = "") -> Call:
    """Tell the marketplace a decision, as the sync does; the assignment is as the marketplace then shows it."""
    call = market.plan_decision(
        assignment, Call.Operation[operation], feedback=feedback, endpoint=site.gateway.endpoint
    )
    market.settle(call, gateway=site.gateway)
    assignment.refresh_from_db()
    return call


def pay(site: Site, assignment: Assignment, *, amount: Decimal, reason: str, token: str) -> Call:
    """Write a bonus down and pay it, as the task does after a researcher has confirmed it."""
    endpoint = site.gateway.endpoint
    call = market.plan_bonus(assignment, amount=amount, reason=reason, token=token, endpoint=endpoint)
    return market.settle(call, gateway=site.gateway)


def long_ago(call: Call, **changes: Any) -> Call:
    """Let the time pass in which the call could still be on its way."""
    Call.objects.filter(pk=call.pk).update(
        sent_at=timezone.now() - IN_FLIGHT - timedelta(seconds=1), **changes
    )
    return Call.objects.get(pk=call.pk)


def on_the_market() -> list[str]:
    return sorted(marketplace.HIT.objects.values_list("annotation", flat=True))
