"""Simulated people fill a copy of a draft, by the rules that hold for everybody, and nothing of it costs anything."""

import pytest
from django.db import IntegrityError, transaction

from annotators.models import Assignment, Call
from config.celery import app
from surveys import sync
from surveys.models import Appeal, Batch, Item, Rating, Response, Simulation
from surveys.publishing import budget, pilots
from surveys.publishing.design import methods_in_words
from surveys.rehearsal.demo_studies import STUDIES, demo_batch, demo_survey
from surveys.results.files.layouts import LAYOUTS
from surveys.results.files.taking import filename
from surveys.simulating import asking
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(settings, tmp_path):
    """The draft of the demo study that is answered one item at a time."""
    settings.MEDIA_ROOT = tmp_path
    return demo_batch(STUDIES[2], survey=demo_survey(STUDIES[2]))


def run(batch):
    """Go on until nothing is left for anybody, as the worker does turn by turn."""
    for turn in range(100):
        sync.simulate(batch.pk, turn)
        if batch.simulation.__class__.objects.get(pk=batch.pk).ended_at:
            batch.refresh_from_db()
            return
    raise AssertionError("It does not end.")


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.slug)
def test_a_rehearsal_is_complete_and_the_draft_stays_a_draft(study, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    draft = demo_batch(study, survey=demo_survey(study))
    copy = asking.rehearse(draft, n_people=18, by=None)
    run(copy)
    draft.refresh_from_db()
    assert (draft.status, copy.status) == (Batch.Status.DRAFT, Batch.Status.COMPLETE)
    answered = Response.objects.filter(batch=copy, assignment__saved_at__isnull=False, skip_reason="")
    assert not answered.filter(ratings=None).exists()
    assert budget.money(copy).committed == 0
    assert not Call.objects.exists()
    assert copy.design["is_simulated"] is True
    assert methods_in_words(copy.design, changes=()).startswith(
        "The answers are simulated: no person gave them"
    )
    assert filename(copy, LAYOUTS["responses"]).startswith("simulated-rehearsal-1-of-")


def test_a_second_rehearsal_of_the_same_draft_answers_the_same(draft):
    said = []
    for _ in range(2):
        copy = asking.rehearse(draft, n_people=4, by=None)
        run(copy)
        ratings = Rating.objects.filter(response__batch=copy)
        said.append(sorted(ratings.values_list("response__item", "output", "criterion", "value")))
    assert said[0] == said[1] != []


def test_work_takes_as_long_as_it_would(draft):
    copy = asking.rehearse(draft, n_people=1, by=None)
    run(copy)
    assignment = Assignment.objects.filter(annotation_slot__batch=copy).exclude(submitted_at=None).first()
    measured = sum(assignment.responses.values_list("active_seconds", flat=True))
    assert abs(assignment.work_seconds - measured * 1.15) <= 2


def test_few_people_leave_work_open_and_one_of_them_appeals(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    draft = demo_batch(STUDIES[0], survey=demo_survey(STUDIES[0]))
    copy = asking.rehearse(draft, n_people=5, by=None)
    run(copy)
    assert copy.status == Batch.Status.OPEN
    assert Appeal.objects.filter(made_at__isnull=False).count() == 1
    sync.simulate(copy.pk, copy.simulation.turn)
    assert Appeal.objects.filter(made_at__isnull=False).count() == 1


def test_a_turn_is_taken_once_and_the_sweep_finds_what_was_dropped(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    copy = asking.rehearse(demo_batch(STUDIES[2], survey=demo_survey(STUDIES[2])), n_people=2, by=None)
    assert [one.pk for one in asking.due()] == [copy.pk]
    assert asking.lease(copy.pk, turn=0) is not None
    assert asking.lease(copy.pk, turn=0) is None
    assert list(asking.due()) == []
    Simulation.objects.update(leased_until="2020-01-01T00:00:00Z")
    assert [(one.pk, one.turn) for one in asking.due()] == [(copy.pk, 1)]


def test_whatever_else_waits_comes_before_the_next_turn_of_any_simulation():
    """Several simulations take turns of their own: in their order a report of results would wait for one of each."""
    with app.connection_for_write() as broker:
        channel = broker.default_channel
        channel.queue_purge(app.conf.task_default_queue)
        for pk in (1, 2, 3):
            sync.simulate.delay(pk, 1)
        sync.make_report.delay(1)
        taken = [channel.basic_get(app.conf.task_default_queue, no_ack=True) for _ in range(4)]
    assert [one.headers["task"].rpartition(".")[2] for one in taken] == ["make_report", *["simulate"] * 3]


def test_people_are_added_to_what_is_theirs_and_to_nothing_else(draft):
    with pytest.raises(asking.CannotSimulate):
        asking.add_people(draft, n=3, by=None)
    Batch.objects.filter(pk=draft.pk).update(status="open", snapshot={})
    draft.refresh_from_db()
    with pytest.raises(asking.CannotSimulate):
        asking.rehearse(draft, n_people=2, by=None)


def test_the_rest_of_their_pilot_is_theirs_too(draft):
    Batch.objects.filter(pk=draft.pk).update(pilot_items=4)
    draft.refresh_from_db()
    pilot = asking.send(draft, n_people=12, by=None).batch
    run(pilot)
    rest = pilots.plan_rest(pilot, by=None)
    assert asking.send(rest, n_people=12, by=None).batch == rest
    run(rest)
    assert (rest.status, rest.is_simulated) == (Batch.Status.COMPLETE, True)
    shown = [set(Item.objects.filter(slots__questionnaire__batch=one)) for one in (pilot, rest)]
    assert (len(shown[0]), shown[0] & shown[1]) == (4, set())
    assert shown[0] | shown[1] == set(draft.survey.items.all())


def test_the_database_keeps_simulated_people_from_markets_and_money():
    batch = factories.make_batch(factories.make_survey())
    for change in ({"is_simulated": True}, {"is_simulated": True, "endpoint": "link"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Batch.objects.filter(pk=batch.pk).update(**change)
    assert Batch.objects.filter(pk=batch.pk).update(is_simulated=True, endpoint="link", reward=0) == 1
