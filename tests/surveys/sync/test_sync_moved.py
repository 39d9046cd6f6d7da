"""What the sync costs: a HIT nobody touches costs nothing, and tasks are never more than HITs."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotators.models import HIT, Assignment, Listing
from config.celery import app
from config.schedule import MOVED_EVERY, beat_schedule
from surveys import sync
from surveys.answering.collection import task_answers
from surveys.models import Batch, Questionnaire
from surveys.publishing import questionnaires
from surveys.review import due_work
from tests.factories import answer, make_batch, make_draft, make_questionnaire, make_survey, open_for
from tests.market_site import Site, eager, site, wire
from tests.market_study import again, work

__all__ = ["eager", "site", "wire"]
pytestmark = pytest.mark.django_db
N_HITS = 4


@pytest.fixture
def opened(site: Site, eager: None, settings: Any) -> list[Questionnaire]:
    """The questionnaires of an open batch of some HITs, all of which were looked at a minute ago."""
    settings.SYNC_EVERY_SECONDS = 0
    batch = make_draft(make_survey(n_items=5 * N_HITS), assignments_per_hit=3)
    questionnaires.start_publishing(batch)
    sync.sweep()
    assert Batch.objects.get().status == "open"
    HIT.objects.update(synced_at=timezone.now() - timedelta(minutes=1))
    return [again(questionnaire) for questionnaire in Questionnaire.objects.order_by("position")]


def asked(site: Site, *steps: Any) -> Counter[str]:
    """What the marketplace is asked by these steps."""
    site.wire.calls.clear()
    for step in steps:
        step()
    return site.wire.calls


def test_hits_nobody_touches_cost_one_list(site: Site, opened: list[Questionnaire]) -> None:
    """One page for a hundred of them, and the one after the last, which is empty."""
    assert asked(site, sync.sweep) == {"ListHITs": 2}
    assert asked(site, sync.sync_moved) == {}


def test_only_what_moved_is_asked_about(site: Site, opened: list[Questionnaire]) -> None:
    """Handed in past our pages, and one of three on its HIT: no page of ours and no review status tells of it."""
    hit = opened[2].hit
    assert hit is not None
    site.submit(site.accept(hit), taskAnswers="[{}]")
    calls = asked(site, sync.sweep)
    assert calls == {"ListHITs": 2, "GetHIT": 1, "ListAssignmentsForHIT": 1}
    assert Assignment.objects.get().hit == hit
    assert asked(site, sync.sweep) == {"ListHITs": 2}


def test_what_is_saved_with_us_is_looked_at_before_the_marketplace_is_listed(
    site: Site, opened: list[Questionnaire]
) -> None:
    work(site, opened[1])
    calls = asked(site, sync.sync_moved, sync.sync_moved)
    assert calls == {"ListAssignmentsForHIT": 1, "ApproveAssignment": 1}
    assert Assignment.objects.get().status == "Approved"
    assert asked(site, sync.sweep, sync.sweep) == {"ListHITs": 4}  # what we did is no news


def test_more_on_a_hit_take_less_each(site: Site, opened: list[Questionnaire]) -> None:
    """One list for all of them, one approval each; rows are read and written together where they can be."""
    work(site, opened[0])
    with CaptureQueriesContext(connection) as one:
        assert asked(site, sync.sync_moved) == {"ListAssignmentsForHIT": 1, "ApproveAssignment": 1}
    for _ in range(3):
        work(site, opened[1])
    with CaptureQueriesContext(connection) as three:
        assert asked(site, sync.sync_moved) == {"ListAssignmentsForHIT": 1, "ApproveAssignment": 3}
    assert set(Assignment.objects.values_list("status", flat=True)) == {"Approved"}
    assert len(three) < 2.25 * len(one)


def test_a_marketplace_that_does_not_tell_when_is_asked_when(site: Site, opened: list[Questionnaire]) -> None:
    site.wire.tells_time = False
    work(site, opened[1])
    calls = asked(site, sync.sync_moved)
    assert calls == {"ListAssignmentsForHIT": 1, "ApproveAssignment": 1, "GetAssignment": 1}
    done = Assignment.objects.get()
    assert done.approved_at == site.gateway.get_assignment(done.assignment_id).approved_at


def test_what_our_pages_do_not_tell_of_a_hit_is_asked_for(site: Site, opened: list[Questionnaire]) -> None:
    """Somebody has opened more places on it: the list says so, and the next look asks about the HIT, too."""
    hit = opened[1].hit
    assert hit is not None
    work(site, opened[1])
    site.gateway.extend(hit.hit_id, n=2, token="by-hand")
    assert "GetHIT" not in asked(site, sync.sync_moved)
    assert HIT.objects.get(pk=hit.pk).max_assignments == 3
    assert asked(site, sync.sweep)["GetHIT"] == 1
    assert HIT.objects.get(pk=hit.pk).max_assignments == 5


def test_a_hit_that_moved_by_the_list_is_asked_about_with_what_is_saved(
    site: Site, opened: list[Questionnaire]
) -> None:
    """Somebody else's work came in past our page, and is listed before what was saved with us is handed in."""
    hit = opened[1].hit
    assert hit is not None
    site.submit(site.accept(hit), taskAnswers="[{}]")
    HIT.objects.filter(pk=hit.pk).update(moved_at=timezone.now())
    work(site, opened[1])
    assert asked(site, sync.sync_moved)["GetHIT"] == 1
    assert HIT.objects.get(pk=hit.pk).moved_at is None


def test_who_came_past_our_page_is_found_beside_who_did_not(site: Site, opened: list[Questionnaire]) -> None:
    """Listed more than our pages know of: all of it is taken, and the list has nothing to add."""
    hit = opened[1].hit
    assert hit is not None
    site.submit(site.accept(hit), taskAnswers="[{}]")
    work(site, opened[1])
    assert asked(site, sync.sync_moved) == {"ListAssignmentsForHIT": 1, "ApproveAssignment": 1}
    assert sorted(Assignment.objects.values_list("status", flat=True)) == ["Approved", "Submitted"]
    assert "GetHIT" not in asked(site, sync.list_marketplaces)


def test_a_page_is_asked_for_beyond_a_short_one_until_what_is_saved_was_listed(
    site: Site, opened: list[Questionnaire]
) -> None:
    """Whoever saved and did not hand in may be on the next page: MTurk names one after each that is not empty."""
    hit = opened[0].hit
    assert hit is not None
    accepted = site.accept(hit)
    answer(open_for(opened[0], worker=accepted.worker.worker_id, assignment=accepted.assignment_id))
    work(site, opened[0])
    assert asked(site, sync.sync_moved) == {"ListAssignmentsForHIT": 2, "ApproveAssignment": 1}


def test_a_hit_that_is_gone_says_so_when_its_assignments_are_listed(
    site: Site, opened: list[Questionnaire]
) -> None:
    hit = opened[0].hit
    assert hit is not None
    accepted = site.accept(hit)
    answer(open_for(opened[0], worker=accepted.worker.worker_id, assignment=accepted.assignment_id))
    text = b'"Message": "Hit X does not exist.", "TurkErrorCode": "AWS.MechanicalTurk.HITDoesNotExist"'
    kind = {"Content-Type": "application/x-amz-json-1.1"}
    site.wire.replies["ListAssignmentsForHIT"] = (400, kind, b'{"__type": "RequestError", %s}' % text)
    assert asked(site, sync.sync_moved) == {"ListAssignmentsForHIT": 1}
    assert HIT.objects.get(pk=hit.pk).missing_since is not None
    site.wire.heal()
    HIT.objects.filter(pk=hit.pk).update(synced_at=None)
    sync.sync_hit(hit.pk)
    assert (site.wire.calls["GetHIT"], HIT.objects.get(pk=hit.pk).missing_since) == (1, None)


def test_what_is_saved_and_handed_in_late_is_found(site: Site, opened: list[Questionnaire]) -> None:
    hit = opened[0].hit
    assert hit is not None
    accepted = site.accept(hit)
    claim = open_for(opened[0], worker=accepted.worker.worker_id, assignment=accepted.assignment_id)
    answer(claim)
    Assignment.objects.update(saved_at=timezone.now() - timedelta(seconds=30))
    assert asked(site, sync.sync_moved) == {"ListAssignmentsForHIT": 1}
    assert asked(site, sync.sync_moved) == {}  # too soon to look again: it rests as long as it was late
    site.submit(accepted, taskAnswers=task_answers(claim), nonce=str(claim.nonce))
    ago = timezone.now() - timedelta(seconds=20)
    Assignment.objects.update(saved_at=ago)
    HIT.objects.filter(pk=hit.pk).update(synced_at=ago + timedelta(seconds=5))
    sync.sync_moved()
    assert Assignment.objects.get().status == "Approved"


def test_a_submission_that_is_counted_and_not_listed_yet_is_looked_for_again(
    site: Site, opened: list[Questionnaire]
) -> None:
    hit = opened[0].hit
    assert hit is not None
    site.submit(site.accept(hit), taskAnswers="[{}]")
    kind = {"Content-Type": "application/x-amz-json-1.1"}
    site.wire.replies["ListAssignmentsForHIT"] = (200, kind, b'{"NumResults": 0, "Assignments": []}')
    # By the list alone: a sweep looks once more for what has moved, and on a slow machine that is due again by then.
    assert asked(site, sync.list_marketplaces)["GetHIT"] == 1
    assert (Assignment.objects.count(), HIT.objects.get(pk=hit.pk).moved_at is None) == (0, False)
    site.wire.heal()
    HIT.objects.filter(pk=hit.pk).update(synced_at=None)
    sync.sync_moved()
    assert (Assignment.objects.count(), HIT.objects.get(pk=hit.pk).moved_at) == (1, None)


def test_what_moves_while_a_hit_is_looked_at_is_looked_at_again(
    site: Site, opened: list[Questionnaire], monkeypatch: pytest.MonkeyPatch
) -> None:
    hit = HIT.objects.all()[0]
    HIT.objects.filter(pk=hit.pk).update(moved_at=timezone.now())
    later = timezone.now() + timedelta(seconds=1)
    list_assignments = sync.Gateway.list_assignments

    def list_and_move(gateway: Any, hit_id: str, **known: Any) -> Any:
        HIT.objects.filter(pk=hit.pk).update(moved_at=later)
        return list_assignments(gateway, hit_id, **known)

    monkeypatch.setattr(sync.Gateway, "list_assignments", list_and_move)
    sync.sync_hit(hit.pk)
    assert HIT.objects.get(pk=hit.pk).moved_at == later


def test_a_marketplace_that_can_not_be_listed_holds_nothing_up(
    site: Site, opened: list[Questionnaire]
) -> None:
    work(site, opened[0])
    site.wire.block.add("ListHITs")
    before = Listing.objects.get().listed_at
    sync.sweep()
    assert (Assignment.objects.get().status, Listing.objects.get().listed_at) == ("Approved", before)


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """What is enqueued to sync HITs, which no worker takes: (HIT, seconds until it is dropped)."""
    tasks: list[tuple[int, float]] = []
    enqueue = lambda arguments, *, expires: tasks.append((arguments[0], expires))  # noqa: E731
    monkeypatch.setattr(sync.sync_hit, "apply_async", enqueue)
    return tasks


def test_however_often_the_sweep_comes_a_hit_has_one_task(
    site: Site, opened: list[Questionnaire], queued: list[tuple[int, float]], settings: Any
) -> None:
    for questionnaire in opened[:3]:
        work(site, questionnaire)
    settings.SYNC_EVERY_SECONDS = 60
    for _ in range(5):
        sync.sweep()
        sync.sync_moved()
    assert Counter(pk for pk, _ in queued) == {q.hit_id: 1 for q in opened[:3]}
    assert {expires for _, expires in queued} == {60}
    HIT.objects.update(enqueued_at=timezone.now() - timedelta(seconds=61))  # dropped, and nobody took it
    sync.sync_moved()
    assert Counter(pk for pk, _ in queued) == {q.hit_id: 2 for q in opened[:3]}


def test_tasks_come_in_the_order_of_what_is_due(
    site: Site, opened: list[Questionnaire], queued: list[tuple[int, float]], settings: Any
) -> None:
    settings.SYNC_EVERY_SECONDS = 60
    now, order = timezone.now(), [opened[n].hit_id for n in (2, 0, 3, 1)]
    for ago, pk in reversed(list(zip((40, 30, 20, 10), order, strict=True))):
        HIT.objects.filter(pk=pk).update(moved_at=now - timedelta(seconds=ago))
    sync.sync_moved()
    assert [pk for pk, _ in queued] == order


def test_a_task_that_was_taken_makes_room_for_the_next(
    site: Site, opened: list[Questionnaire], settings: Any
) -> None:
    settings.SYNC_EVERY_SECONDS = 60
    hit = opened[0].hit
    HIT.objects.update(enqueued_at=timezone.now())
    sync.sync_hit(hit.pk)  # type: ignore[union-attr]
    waiting = HIT.objects.exclude(enqueued_at=None)
    assert (waiting.count(), waiting.filter(pk=hit.pk).exists()) == (N_HITS - 1, False)  # type: ignore[union-attr]


def test_hits_that_fail_hold_up_no_others(
    site: Site,
    opened: list[Questionnaire],
    queued: list[tuple[int, float]],
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their marketplace is away, say: without an end to it they are the first of all that is due."""
    settings.SYNC_EVERY_SECONDS = 60
    monkeypatch.setattr(due_work, "MOST_WAITING", 1)
    failing, sound = opened[0].hit_id, opened[1].hit_id
    now = timezone.now()
    HIT.objects.filter(pk=failing).update(moved_at=now - timedelta(seconds=30))
    HIT.objects.filter(pk=sound).update(moved_at=now)
    for _ in range(3):
        sync.sync_moved()
        HIT.objects.exclude(enqueued_at=None).update(enqueued_at=F("enqueued_at") - timedelta(seconds=61))
    assert [pk for pk, _ in queued] == [failing, sound, failing]


def test_while_the_marketplace_is_away_a_hit_is_not_asked_about_at_every_tick(
    site: Site, opened: list[Questionnaire], settings: Any
) -> None:
    settings.SYNC_EVERY_SECONDS = 60
    work(site, opened[0])
    site.wire.block.add("GetHIT")
    sync.sync_moved()
    assert asked(site, sync.sync_moved) == {}
    site.wire.heal()
    HIT.objects.update(enqueued_at=timezone.now() - due_work.waits_at_most())
    sync.sync_moved()
    assert Assignment.objects.get().status == "Approved"


def test_while_thousands_of_hits_are_published_what_comes_in_is_looked_at() -> None:
    """One task after the other would be an hour of them, and those behind them are dropped after a minute.

    One of them goes ahead, or none ever would where something always comes in.
    """
    batch = make_batch(make_survey(n_items=3), status="publishing")
    for item in batch.survey.items.all():
        make_questionnaire(batch, items=[item])
    with app.connection_for_write() as broker:
        channel: Any = broker.default_channel
        channel.queue_purge(app.conf.task_default_queue)
        sync._enqueue_unpublished(batch)
        sync.sync_hit.delay(1)
        taken = [channel.basic_get(app.conf.task_default_queue, no_ack=True) for _ in range(4)]
    headers = [message.headers for message in taken]
    publish, sync_hit = "surveys.sync.publish_questionnaire", "surveys.sync.sync_hit"
    assert [one["task"] for one in headers] == [publish, sync_hit, publish, publish]
    assert [one["expires"] is None for one in headers] == [True, True, False, False]


def test_beat_looks_for_what_moved_oftener_than_it_sweeps() -> None:
    schedule = beat_schedule(sync_seconds=60, heartbeat_seconds=15)
    assert [schedule[name]["schedule"] for name in ("sweep", "moved")] == [60, MOVED_EVERY]
    assert beat_schedule(sync_seconds=1, heartbeat_seconds=15)["moved"]["schedule"] == 1
