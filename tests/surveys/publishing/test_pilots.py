"""A pilot shows some items to some people; the rest shows the others to others."""

import pytest

from annotators.models import Channel, Worker
from surveys.answering import admissions, allocation
from surveys.answering.arrival import CannotServe
from surveys.models import Batch, Item, Survey
from surveys.publishing import hits, pilots, pricing, questionnaires
from surveys.publishing.preconditions import problems
from tests import factories, link_people
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
    with pytest.raises(allocation.NothingLeft, match="in this study before"):
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


def of_new_people(study: Survey, **terms) -> Batch:
    batch = make_pilot(study, pilot_items=None, only_new_people=True, name="Second", **terms)
    publish(batch)
    return batch


def test_a_batch_of_only_new_people_leaves_out_who_worked_in_an_earlier_one(study: Survey) -> None:
    first = make_pilot(study)
    publish(first)
    worker, other = (factories.make_worker(source="link") for _ in range(2))
    allocation.take(first, worker=worker, channel=Channel.LINK)
    second = of_new_people(study)
    with pytest.raises(allocation.NothingLeft, match="in this study before"):
        allocation.take(second, worker=worker, channel=Channel.LINK)
    for _ in range(2):  # their own work in the batch leaves nobody out
        assert allocation.take(second, worker=other, channel=Channel.LINK).worker == other
    Batch.objects.filter(pk=second.pk).update(only_new_people=False)
    second.refresh_from_db()
    assert allocation.take(second, worker=worker, channel=Channel.LINK).worker == worker


@pytest.mark.parametrize(
    "ask",
    [
        lambda batch, worker: allocation.take(batch, worker=worker, channel=Channel.LINK),
        lambda batch, worker: allocation.take_number(batch, number=1, worker=worker, channel=Channel.LINK),
        lambda batch, worker: allocation.suggest(batch, worker=worker),
        lambda batch, worker: allocation.coming(batch, worker=worker),
    ],
)
def test_whether_somebody_took_part_before_is_asked_once(study: Survey, monkeypatch, ask) -> None:
    second, asked, took_part = of_new_people(study), [], pilots.took_part

    def ask_and_count(worker: Worker, *, batch: Batch) -> bool:
        asked.append(worker)
        return took_part(worker, batch=batch)

    monkeypatch.setattr(pilots, "took_part", ask_and_count)
    worker = factories.make_worker(source="link")
    ask(second, worker)
    assert asked == [worker]


def test_work_in_a_later_batch_leaves_nobody_out(study: Survey) -> None:
    first = of_new_people(study)
    worker = factories.make_worker(source="link")
    allocation.take(first, worker=worker, channel=Channel.LINK)
    later = make_pilot(study, pilot_items=None, name="Later")
    publish(later)
    allocation.take(later, worker=worker, channel=Channel.LINK)
    assert allocation.suggest(first, worker=worker, limit=None) is not None


def test_work_in_another_study_leaves_nobody_out(study: Survey) -> None:
    elsewhere = link_people.make_batch()
    worker = factories.make_worker(source="link")
    allocation.take(elsewhere, worker=worker, channel=Channel.LINK)
    assert allocation.take(of_new_people(study), worker=worker, channel=Channel.LINK).worker == worker


def test_a_panel_is_told_that_nothing_is_left_for_whoever_it_sends_again(study: Survey) -> None:
    first = make_pilot(study)
    publish(first)
    panel = link_people.make_panel(first, provider="prolific")
    admission = admissions.admit_panel(panel.code, link_people.from_prolific("aa"))
    allocation.take(first, worker=admission.worker, channel=Channel.PANEL)
    again = link_people.make_panel(of_new_people(study), provider="prolific")
    with pytest.raises(admissions.NotAdmitted) as refused:
        admissions.admit_panel(again.code, link_people.from_prolific("aa"))
    assert (refused.value.kind, refused.value.visit.panel) == ("full", again)
    assert str(refused.value) == (
        "You have taken part in this study before. Please return it on your panel's page."
    )
    assert admissions.admit_panel(again.code, link_people.from_prolific("bb")).batch == again.batch


def test_a_marketplaces_worker_is_asked_to_return_the_hit() -> None:
    survey = factories.make_survey(n_items=2)
    first, second = (
        factories.make_questionnaire(
            factories.make_batch(survey, name=item.external_id, only_new_people=True),
            items=[item],
            hit=factories.make_hit(),
        )
        for item in survey.items.all()
    )
    factories.submitted(first, worker="A1")
    factories.open_for(second, worker="A2")
    with pytest.raises(CannotServe) as refused:
        factories.open_for(second, worker="A1")
    assert refused.value.kind == "seen_before"
