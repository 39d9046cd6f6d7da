"""What a batch will cost and what it pays, to the cent."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Decision, Inclusion
from surveys.publishing import preconditions, pricing
from tests.factories import (
    make_assignment,
    make_batch,
    make_draft,
    make_hit,
    make_published,
    make_questionnaire,
    make_survey,
)
from tests.policy_data import NEVER

pytestmark = pytest.mark.django_db


def test_the_quote_of_ofa_xs_vqa_x_study() -> None:
    """60 HITs of 5 questions, 5 assignments each at $0.38: 300 × ($0.38 + $0.08)."""
    quote = pricing.quote(make_draft(make_survey(n_items=300)))
    assert (quote.n_items, quote.n_hits, quote.n_assignments) == (300, 60, 300)
    assert (quote.reward, quote.fee_rate) == (Decimal("0.38"), Decimal("0.20"))
    assert (quote.reward_total, quote.fee_total, quote.total) == (
        Decimal("114.00"),
        Decimal("24.00"),
        Decimal("138.00"),
    )
    assert (quote.expected_rejections, quote.replacement_total) == (Decimal(30), Decimal("13.80"))
    assert quote.worst_case_total == Decimal("276.00")  # each rejected, replaced, and paid after all
    assert (quote.minutes, quote.hourly_wage, quote.is_piloted) == (8, Decimal("2.85"), False)


def test_ten_assignments_cost_forty_percent() -> None:
    quote = pricing.quote(make_draft(make_survey(n_items=5), assignments_per_hit=10))
    assert (quote.fee_rate, quote.fee_total, quote.total) == (
        Decimal("0.40"),
        Decimal("1.50"),
        Decimal("5.30"),
    )
    assert quote.replacement_total == Decimal("0.53")
    assert quote.worst_case_total == Decimal("10.60")


def test_without_rejections_nothing_is_replaced() -> None:
    quote = pricing.quote(make_draft(make_survey(n_items=5), review_policy=NEVER))
    assert (quote.expected_rejections, quote.replacement_total) == (0, Decimal("0.00"))
    assert quote.worst_case_total == quote.total == Decimal("2.30")


def test_the_last_hit_may_be_shorter() -> None:
    quote = pricing.quote(make_draft(make_survey(n_items=11), items_per_hit=5))
    assert (quote.n_items, quote.n_hits, quote.total) == (11, 3, Decimal("6.90"))


def test_the_wage_comes_from_a_pilot_where_there_is_one() -> None:
    survey = make_survey(n_items=5)
    pilot = make_questionnaire(make_batch(survey), items=list(survey.items.all()), hit=make_hit())
    assert pilot.hit is not None
    now = timezone.now()
    for seconds in (300, 600, 6000):
        make_assignment(
            pilot.hit, status="Submitted", accepted_at=now - timedelta(seconds=seconds), submitted_at=now
        )
    make_assignment(pilot.hit)
    quote = pricing.quote(make_draft(survey))
    assert (quote.minutes, quote.hourly_wage, quote.is_piloted) == (Decimal("10.00"), Decimal("2.28"), True)


@pytest.mark.parametrize("kind", ["flagged", "rejected", "left out"])
def test_work_that_does_not_count_sets_no_wage(kind: str) -> None:
    questionnaire = make_published()
    draft, now = make_draft(questionnaire.batch.survey), timezone.now()
    assert questionnaire.hit is not None
    seconds = {"accepted_at": now - timedelta(seconds=6), "submitted_at": now}
    bad = make_assignment(questionnaire.hit, status="Submitted", **seconds)
    assert pricing.quote(draft).n_measured == 1
    if kind == "flagged":
        flags = [{"kind": "too_fast", "sentence": "Answered in 6 s."}]
        Decision.objects.create(assignment=bad, verdict="flag", flags=flags, decided_at=now)
    elif kind == "rejected":
        Assignment.objects.filter(pk=bad.pk).update(status="Rejected", rejected_at=now)
    else:
        Inclusion.objects.create(assignment=bad, is_included=False, reason="Mine.", decided_at=now)
    quote = pricing.quote(draft)
    assert (quote.minutes, quote.n_measured, quote.is_piloted) == (draft.assumed_minutes, 0, False)


def test_a_survey_without_items_costs_nothing_and_cant_be_published() -> None:
    batch = make_draft(make_survey())
    assert (pricing.quote(batch).total, pricing.quote(batch).n_hits) == (0, 0)
    assert preconditions.problems(batch) == ["The survey has no items yet."]


def test_a_quote_reads_no_item_however_many_there_are(django_assert_num_queries: Any) -> None:
    draft = make_draft(make_survey(n_items=7), items_per_hit=2)
    with django_assert_num_queries(2) as captured:  # the number of items, and the earlier assignments
        assert pricing.quote(draft).n_hits == 4
    assert "payload" not in "".join(query["sql"] for query in captured.captured_queries)
