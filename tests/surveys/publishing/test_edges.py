"""The money of one HIT, of work by link and of batches together, worked by hand; nothing is stored."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal as D
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from annotators.crowds.base import MORE_TIME
from annotators.models import HIT
from annotators.outbox import market
from surveys.answering import allocation
from surveys.models import Batch, Publishing, create_token
from surveys.publishing import budget
from surveys.publishing.budget import LISTED_WITHIN, OVERTURNED, Money, OverBudget, Places
from surveys.publishing.quota import Room
from surveys.review import appeal_codes, due_work, evidence, progress, replacements
from tests.factories import make_published, submitted
from tests.link_people import make_batch

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
LAST_LISTED = NOW + HOUR + MORE_TIME + LISTED_WITHIN
KEY = UUID(int=7)
DONE = Counter({"Accepted": 1, "Submitted": 1, "Approved": 2, "Rejected": 1, OVERTURNED: 1})


def test_what_left_and_what_is_to_come() -> None:
    found = Money(limit=D(10), committed=D(7), paid=D(2), held=D(4), bonuses=D(1))
    assert (found.left, found.to_come) == (D(3), D(4))
    assert Money(committed=D(7)).left is None


def test_batches_together_have_a_limit_where_each_has_one() -> None:
    one = Money(limit=D(10), committed=D(7), paid=D(2), held=D(4), bonuses=D(1))
    other = Money(limit=D(5), committed=D(3), paid=D(1), held=D(1), bonuses=D(2))
    both = Money(limit=D(15), committed=D(10), paid=D(3), held=D(5), bonuses=D(3))
    assert one + other == budget.together([one, other]) == both
    without = Money(committed=D(1))
    assert [(one + without).limit, (without + one).limit] == [None, None]
    assert budget.together([]) == Money(limit=D(0))


@pytest.mark.parametrize(("amount", "covers"), [("3.00", True), ("3.01", False), ("0.01", True)])
def test_a_budget_covers_what_is_left_to_the_cent(amount: str, covers: bool) -> None:
    now = Money(limit=D(10), committed=D(7))
    if covers:
        assert budget._compare(now, amount=D(amount)) is None
    else:
        with pytest.raises(
            OverBudget, match=r"It could cost \$3\.01, but \$3\.00 of the batch's budget is left\."
        ):
            budget._compare(now, amount=D(amount))


def test_a_budget_that_is_spent_covers_what_costs_nothing() -> None:
    spent = Money(limit=D(5), committed=D(7))
    assert budget._compare(spent, amount=D(0)) is None
    assert budget._compare(Money(committed=D(7)), amount=D(9)) is None
    with pytest.raises(OverBudget, match=r"\$0\.00 of the batch's budget is left"):
        budget._compare(spent, amount=D("0.01"))


@pytest.mark.parametrize(
    ("size", "is_over", "committed", "held"),
    [(6, False, 7 - 1, 6 - 4), (6, True, 4, 1), (3, False, 7 - 1, 0), (None, False, 7 - 1, 0)],
)
def test_a_place_costs_until_it_is_rejected_or_nobody_can_hand_it_in(size, is_over, committed, held) -> None:
    hit = size and HIT(max_assignments=size)
    found = budget._price(Places(hit, 7, DONE, may_exist=True, is_over=is_over), reward=D("1.00"))
    each = D("1.20")
    assert found == Money(committed=each * committed, paid=each * 2, held=each * held)


def of_hit(*, status: str = "open", uncertain: set[str] = frozenset(), **values: Any) -> Places:
    terms = {"pk": KEY, "hit": None, "target_assignments": 3, "n_extended": 0, "n_to_extend": 0, **values}
    batch = Batch(status=status, assignment_duration=HOUR)
    return budget._of_hit(batch, SimpleNamespace(**terms), Counter(), uncertain=uncertain)


def hit(**values: Any) -> HIT:
    return HIT(**{"max_assignments": 5, "expires_at": NOW, "synced_at": LAST_LISTED, **values})


@pytest.mark.parametrize(
    ("values", "may_exist", "is_over"),
    [
        ({}, True, False),
        ({"status": "stopped"}, False, True),
        ({"status": "stopped", "uncertain": {create_token(KEY)}}, True, False),
        ({"hit": hit()}, True, True),
        ({"hit": hit(), "n_to_extend": 1}, True, False),
        ({"hit": hit(), "n_to_extend": 1, "status": "stopped"}, True, True),
        ({"hit": hit(synced_at=LAST_LISTED - timedelta(microseconds=1))}, True, False),
        ({"hit": hit(synced_at=None), "status": "stopped"}, True, False),
    ],
)
def test_places_are_over_once_their_hit_was_looked_at_after_its_last_deadline(
    values, may_exist, is_over
) -> None:
    found = of_hit(**values)
    assert (found.may_exist, found.is_over) == (may_exist, is_over)


@pytest.mark.django_db
def test_what_is_to_extend_are_the_planned_extensions_alone() -> None:
    questionnaire = make_published(n_items=1)
    plans = [("extend", None), ("extend", NOW), ("create", None)]
    for opened_by, opened_at in plans:
        replaced = submitted(questionnaire)
        questionnaire.replacements.create(replaces=replaced, opened_by=opened_by, opened_at=opened_at)
    (found,) = budget._questionnaires({questionnaire.batch_id: questionnaire.batch})
    assert (found.n_extended, found.n_to_extend) == (2, 1)


def test_a_hit_has_as_many_places_as_it_was_given_or_is_to_get() -> None:
    assert [of_hit(**v).n for v in ({}, {"hit": hit()}, {"hit": hit(), "n_extended": 3})] == [3, 5, 6]


def test_work_by_link_costs_its_reward_and_no_fee() -> None:
    by_link = Counter({"Accepted": 1, "Approved": 2, "Rejected": 1})
    counts = {(KEY, False): by_link, (UUID(int=8), False): Counter({"Submitted": 1}), (KEY, True): DONE}
    found = budget._by_link(Batch(reward=D(2)), counts, n_wanted=3)
    assert found == Money(committed=D(2) * (3 + 5 - 1), paid=D(4))


def test_there_is_room_for_more_than_what_came_late() -> None:
    assert [Room(n_free, 1).is_there for n_free in (0, 1, 2)] == [False, False, True]


@pytest.mark.django_db
def test_what_is_added_up_is_of_the_batches_that_are_asked_about() -> None:
    batches = [make_batch(endpoint="link") for _ in range(2)]
    assert budget._wanted_by_link(batches[:1]) == {batches[0].pk: 2}
    for batch in batches:
        Batch.objects.filter(pk=batch.pk).update(status=Batch.Status.PUBLISHING)
        Publishing.objects.create(batch=batch, n_hits=2, total=D(7))
    begun = list(Batch.objects.order_by("pk"))
    assert budget._to_write(begun[:1]) == {begun[0].pk: D(7)}
    assert budget._to_write(begun) == {batch.pk: D(7) for batch in begun}
    Publishing.objects.filter(batch=begun[0]).update(written_at=NOW)
    assert budget._to_write(begun) == {begun[1].pk: D(7)}
    assert budget._to_write(batches) == {}  # as they were read, open


def test_limits_of_publishing_and_review_are_those_of_their_sources() -> None:
    """MTurk's rules on growing HITs and messages (API reference), ParlAI#2957 on lists that lag; else what docs say."""
    assert timedelta(minutes=10) == budget.LISTED_WITHIN
    assert (replacements.LARGEST_GROWING_HIT, market.FEEDBACK_MAX) == (9, 1024)
    assert timedelta(days=30) == market.OVERTURN_WITHIN
    assert (appeal_codes.REASON_MAX, appeal_codes.TEXT_MAX) == (800, 4000)
    assert (appeal_codes.GROUPS, appeal_codes.GROUP_LENGTH) == (4, 5)
    assert timedelta(hours=6) == progress.LONGEST_WARNING
    assert due_work.MOST_WAITING == 200
    assert (evidence.LEAST_FOR_MEDIAN, evidence.DIGITS) == (5, 9)
    assert (allocation.TRIES, allocation.MOST_COMING) == (5, 8)
