"""Paid, to come and bonuses are the whole, for any batch and any set of batches, however they were mixed."""

import random
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotators.models import Call, Channel
from surveys.models import AnnotationSlot, Batch, Decision, Questionnaire
from surveys.pages.publishing.money import money_counts
from surveys.publishing import budget
from tests.factories import make_assignment, make_published, new_id

pytestmark = pytest.mark.django_db
D = Decimal
STATUSES = ("Accepted", "Submitted", "Approved", "Rejected")


def random_batch(chance: random.Random) -> Batch:
    """A batch with any work by any way, bonuses and rejections taken back among it, maybe with places left."""
    questionnaire = make_published(
        n_items=1,
        reward=D(chance.randrange(1, 300)) / 100,
        endpoint=chance.choice(["embedded", "link"]),
        takes_links=True,
        budget=chance.choice([None, D("50.00")]),
        status=chance.choice(["open", "stopped", "complete"]),
    )
    for number in range(1, chance.randrange(1, 6)):
        _work(questionnaire, chance, number=number)
    return questionnaire.batch


def _work(questionnaire: Questionnaire, chance: random.Random, *, number: int) -> None:
    assert questionnaire.hit is not None
    batch = questionnaire.batch
    by_market = batch.has_market and chance.random() < 0.5
    channel = Channel.MARKETPLACE if by_market else Channel.LINK
    found = make_assignment(questionnaire.hit, status=chance.choice(STATUSES), channel=channel)
    if found.status == "Rejected" and chance.random() < 0.5:
        now = timezone.now()
        Decision.objects.create(
            assignment=found, verdict="reject", reason="No.", decided_at=now,
            overturned_at=now, overturn_reason="Yes.",
        )  # fmt: skip
    if found.status == "Approved" and by_market:
        Call.objects.create(
            token=new_id("bonus:"), operation="SendBonus", endpoint="embedded", assignment=found,
            amount=D(chance.randrange(1, 200)) / 100, state=chance.choice(["done", "refused", "sent"]),
            hit=questionnaire.hit,
        )  # fmt: skip
    AnnotationSlot.objects.create(batch=batch, questionnaire=questionnaire, replicate=number, number=number)


def written(figures: dict[str, object], name: str) -> Decimal:
    return D(str(figures[f"money_{name}"]).removeprefix("$").replace(",", ""))


@pytest.mark.parametrize("seed", range(4))
def test_what_a_page_writes_adds_up(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(5):
        figures = money_counts(random_batch(chance))
        parts = [written(figures, name) for name in ("paid", "to_come", "bonuses")]
        assert sum(parts) == written(figures, "committed")


def test_several_batches_are_the_sum_of_each_in_as_many_queries_as_one() -> None:
    chance = random.Random(5)
    batches = [random_batch(chance) for _ in range(6)]
    each = {batch.pk: budget.money(batch) for batch in batches}
    with CaptureQueriesContext(connection) as captured:
        assert budget.money_of(batches) == each
    assert len(captured) <= 5
    whole = budget.together(each.values())
    for name in ("committed", "paid", "held", "bonuses", "to_come"):
        assert getattr(whole, name) == sum(getattr(one, name) for one in each.values())
    assert (whole.limit is None) == any(one.limit is None for one in each.values())
