"""A pilot shows some items to some people; the rest shows the others to others."""

import pytest

from annotators.models import Channel
from surveys.answering import allocation
from surveys.models import Batch, Item, Survey
from surveys.publishing import hits, pilots, pricing, questionnaires
from surveys.publishing.preconditions import problems
from tests import factories
from tests.policy_data import NEVER

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Survey:
    """Six subjects, each with the output of either of two systems as an item of its own."""
    survey = factories.make_survey(definition_key="vtt")
    for n in range(12):
        factories.make_item(
            survey,
            position=n + 1,
            external_id=f"i{n}",
            subject=f"s{n // 2}",
            systems=("careful", "hasty")[n % 2 :][:1],
        )
    return survey


def make_pilot(survey: Survey, **terms) -> Batch:
    values = {
        "endpoint": "link",
        "takes_links": True,
        "items_per_hit": 1,
        "assignments_per_hit": 2,
        "reward": 0,
    }
    values |= {"review_policy": NEVER}
    made = {"status": "draft", "snapshot": None, "pilot_items": 3, **values, **terms}
    return Batch.objects.get(pk=factories.make_batch(survey, **made).pk)


def publish(batch: Batch) -> None:
    assert questionnaires.start_publishing(batch) is True
    assert hits.publish_here(batch) is True
    batch.refresh_from_db()


def shown(batch: Batch) -> set[int]:
    return set(Item.objects.filter(slots__questionnaire__batch=batch).values_list("pk", flat=True))


def test_a_pilot_draws_whole_subjects_by_its_seed_and_is_priced_so(study: Survey) -> None:
    pilot = make_pilot(study, seed=5)
    drawn = list(pilots.items_of(pilot))
    assert len(drawn) == 4
    assert sorted(item.subject for item in drawn) == sorted(2 * [one.subject for one in drawn[::2]])
    assert (pricing.quote(pilot).n_items, pricing.quote(pilot).n_assignments) == (4, 8)
    assert list(pilots.items_of(pilot)) == drawn
    publish(pilot)
    assert shown(pilot) == {item.pk for item in drawn}


def test_the_rest_shows_what_the_pilot_did_not_to_who_was_not_in_it(study: Survey) -> None:
    pilot = make_pilot(study)
    publish(pilot)
    worker, other = (factories.make_worker(source="link") for _ in range(2))
    allocation.take(pilot, worker=worker, channel=Channel.LINK)
    rest = pilots.plan_rest(pilot, by=None)
    assert (rest.status, rest.follows, rest.pilot_items) == (Batch.Status.DRAFT, pilot, None)
    assert rest.seed != pilot.seed
    publish(rest)
    assert shown(rest) == set(study.items.values_list("pk", flat=True)) - shown(pilot)
    with pytest.raises(allocation.NothingLeft, match="first part of this study"):
        allocation.take(rest, worker=worker, channel=Channel.LINK)
    assert allocation.take(rest, worker=other, channel=Channel.LINK).worker == other


def test_nothing_follows_a_draft_or_a_pilot_of_everything(study: Survey) -> None:
    pilot = make_pilot(study, pilot_items=99)
    with pytest.raises(pilots.CannotFollow, match="published as a pilot"):
        pilots.plan_rest(pilot, by=None)
    publish(pilot)
    with pytest.raises(pilots.CannotFollow, match="shown all items"):
        pilots.plan_rest(pilot, by=None)
    Batch.objects.filter(pk=pilot.pk).update(pilot_items=None)
    late = make_pilot(study, pilot_items=None, follows=pilot, name="late")
    assert "The pilot has shown all items there are." in problems(late)
