"""What of a batch is lost with HITs that the marketplace does not know any more."""

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotators.models import HIT, Assignment, Call
from annotators.outbox.market import plan_bonus
from surveys.models import Batch, Decision
from surveys.publishing import gone
from surveys.publishing.gone import Lost
from tests.factories import make_assignment, make_hit, make_published, make_questionnaire
from tests.people import client_of

pytestmark = pytest.mark.django_db
HOST = {"host": "127.0.0.1"}


@pytest.fixture
def batch() -> Batch:
    """Two HITs for five at $0.38; the first is gone, with three assignments handed in and one only begun."""
    questionnaire = make_published()
    batch = questionnaire.batch
    there = make_questionnaire(batch, items=[], hit=make_hit()).hit
    for hit in (questionnaire.hit, there):
        for status in ("Approved", "Submitted", "Submitted", "Accepted"):
            make_assignment(hit, status=status)
    HIT.objects.filter(pk=questionnaire.hit.pk).update(gone_at=timezone.now(), missing_since=timezone.now())
    return batch


def on_gone(**values: Any) -> Assignment:
    return Assignment.objects.filter(hit__gone_at__isnull=False, **values).order_by("pk")[0]


def decide(assignment: Assignment, **values: Any) -> None:
    defaults = {"verdict": "reject", "reason": "No.", "decided_at": timezone.now()}
    Decision.objects.create(assignment=assignment, **{**defaults, **values})


def page(batch: Batch) -> str:
    return " ".join(
        client_of("Researcher").get(batch.get_absolute_url(), headers=HOST).content.decode().split()
    )


def test_nothing_is_lost_while_all_hits_are_there(batch: Batch) -> None:
    HIT.objects.update(gone_at=None)
    assert gone.lost(batch) is None
    assert "does not know" not in page(batch)


def test_what_was_never_paid_is_told(batch: Batch) -> None:
    work = on_gone(status="Approved")
    plan_bonus(work, token="b:1", amount=Decimal("0.50"), reason="Thorough.", endpoint="embedded")
    assert gone.lost(batch) == Lost(1, 2, Decimal("0.76"), 1, Decimal("0.50"), 2)
    text = page(batch)
    assert "The marketplace does not know 1 HIT of this batch any more." in text
    assert "Never seen paid: 2 assignments handed in, $0.76 of rewards; 1 bonus, $0.50." in text
    assert "2 assignments can’t come in there any more" in text


def test_what_is_refused_is_not_owed_unless_that_was_taken_back(batch: Batch) -> None:
    first, second = Assignment.objects.filter(hit__gone_at__isnull=False, status="Submitted").order_by("pk")
    decide(first)
    decide(second)
    assert gone.lost(batch) == Lost(1, 0, Decimal("0.00"), 0, Decimal("0.00"), 2)
    assert "Nothing that was handed in there is owed." in page(batch)
    Assignment.objects.filter(pk=first.pk).update(status="Rejected", rejected_at=timezone.now())
    Decision.objects.update(overturned_at=timezone.now(), overturn_reason="We were wrong.")
    assert gone.lost(batch) == Lost(1, 2, Decimal("0.76"), 0, Decimal("0.00"), 2)


def test_a_bonus_that_was_paid_is_not_lost(batch: Batch) -> None:
    call = plan_bonus(
        on_gone(status="Approved"),
        token="b:1",
        amount=Decimal("0.50"),
        reason="Thorough.",
        endpoint="embedded",
    )
    Call.objects.filter(pk=call.pk).update(state="done", finished_at=timezone.now())
    assert gone.lost(batch) == Lost(1, 2, Decimal("0.76"), 0, Decimal("0.00"), 2)


def test_who_came_by_link_is_paid_without_the_marketplace(batch: Batch) -> None:
    Assignment.objects.update(channel="link")
    assert gone.lost(batch) == Lost(1, 0, Decimal("0.00"), 0, Decimal("0.00"), 5)
