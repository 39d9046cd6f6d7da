"""Publishing where people come by link, and where several systems spoke about one subject."""

from decimal import Decimal

import pytest
from django.db import IntegrityError

from surveys.models import AnnotationSlot, Batch, QuestionnaireItem, Survey
from surveys.publishing import preconditions, pricing, questionnaires
from tests.factories import make_draft, make_item, make_survey
from tests.policy_data import NEVER

pytestmark = pytest.mark.django_db


def survey_of(subjects: str, *, definition: str = "xai", system: str = "") -> Survey:
    """One item for each letter, in this order: what `system`, or one of its own, said about that subject."""
    survey = make_survey(definition_key=definition)
    for position, subject in enumerate(subjects, 1):
        name = f"{subject}{position}"
        make_item(
            survey, position=position, external_id=name, subject=subject, systems=(system or name,), gold=""
        )
    return survey


def shown(batch: Batch) -> list[str]:
    slots = QuestionnaireItem.objects.filter(questionnaire__batch=batch)
    names = slots.order_by("questionnaire__position", "position").values_list(
        "questionnaire__position", "item__external_id"
    )
    hits: dict[int, list[str]] = {}
    for position, name in names:
        hits.setdefault(position, []).append(name)
    return [" ".join(hit) for hit in hits.values()]


def draft(survey: Survey, **values) -> Batch:
    values = {"review_policy": NEVER, "endpoint": "link", "reward": Decimal(0), **values}
    return make_draft(survey, **values)


def test_what_systems_said_of_one_subject_is_spread_over_hits() -> None:
    batch = draft(survey_of("aaabbbccc"), items_per_hit=3)
    questionnaires.start_publishing(batch)
    hits = shown(batch)
    assert sorted(" ".join(hits).split()) == ["a1", "a2", "a3", "b4", "b5", "b6", "c7", "c8", "c9"]
    assert ["".join(sorted(name[0] for name in hit.split())) for hit in hits] == ["abc"] * 3


def test_different_subjects_come_in_an_order_of_the_seed() -> None:
    survey = survey_of("dbca", system="model")
    orders = []
    for seed in (1, 1, 2, 3, 4):
        batch = draft(survey, items_per_hit=2, seed=seed)
        questionnaires.start_publishing(batch)
        orders.append(" ".join(shown(batch)))
    assert orders[0] == orders[1]
    assert len(set(orders)) > 2
    assert {"".join(sorted(order.split())) for order in orders} == {"a4b2c3d1"}


@pytest.mark.parametrize(
    ("endpoint", "takes_links", "n_slots"),
    [("link", False, 4), ("link", True, 4), ("embedded", True, 4), ("embedded", False, 0)],
)
def test_slots_are_written_where_people_come_by_link(endpoint, takes_links, n_slots) -> None:
    values = {"endpoint": endpoint, "takes_links": takes_links, "reward": Decimal("0.10")}
    questionnaires.start_publishing(draft(survey_of("ab"), items_per_hit=1, assignments_per_hit=2, **values))
    assert AnnotationSlot.objects.count() == n_slots


def test_only_where_people_come_by_link_may_it_cost_nothing() -> None:
    survey = survey_of("a")
    assert draft(survey).reward == 0
    with pytest.raises(IntegrityError):
        draft(survey, endpoint="embedded", takes_links=True)


def test_nothing_of_a_marketplace_stands_in_the_way(settings) -> None:
    settings.MTURK_ENDPOINTS, settings.APP_URL = {}, "http://lab.example"
    assert preconditions.problems(draft(survey_of("ab"), items_per_hit=2)) == []


def test_what_can_be_skipped_stands_alone() -> None:
    problem = "Items of this survey type can be skipped one by one, so a HIT must show exactly one."
    survey = survey_of("ab", definition="vtt")
    assert preconditions.problems(draft(survey, items_per_hit=2)) == [problem]
    assert preconditions.problems(draft(survey, items_per_hit=1)) == []


def test_a_quiz_needs_questions() -> None:
    survey = survey_of("a", definition="vtt")
    batch = draft(survey, items_per_hit=1, uses_quiz=True)
    assert preconditions.problems(batch) == ["This survey type has no quiz to begin with."]


def test_nobody_takes_a_fee_where_there_is_no_marketplace() -> None:
    batch = draft(survey_of("ab"), items_per_hit=1, reward=Decimal("1.50"), assignments_per_hit=10)
    quote = pricing.quote(batch)
    assert (quote.reward_total, quote.fee_total, quote.total, quote.fee_rate) == (30, 0, 30, 0)
    assert pricing.quote(draft(batch.survey, items_per_hit=1)).total == 0
