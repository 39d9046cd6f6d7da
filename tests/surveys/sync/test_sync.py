"""The tasks, over the wire: each may be lost, doubled or late; the sweep finds everything again."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotators.models import HIT, Assignment, Call
from marketplace import models as marketplace
from marketplace.engine import assignments
from surveys import sync
from surveys.answering.collection import task_answers
from surveys.models import Batch, Decision, Questionnaire, Rating, Replacement, Response
from surveys.publishing import questionnaires, stopping
from tests.factories import answer, make_draft, make_survey, open_for
from tests.market_site import Site
from tests.market_study import again, work
from tests.policy_data import NEVER

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("eager")]


@pytest.fixture(autouse=True)
def _sync_at_once(settings: Any) -> None:
    settings.SYNC_EVERY_SECONDS = 0


def started(site: Site, *, n_items: int = 5, **values: Any) -> Batch:
    """A batch whose publishing has started; every task that should follow was lost."""
    batch = make_draft(make_survey(n_items=n_items), auto_approval_delay=timedelta(days=3), **values)
    questionnaires.start_publishing(batch)
    return batch


def opened(site: Site, **values: Any) -> Questionnaire:
    started(site, **values)
    sync.sweep()
    assert Batch.objects.get().status == "open"
    return again(Questionnaire.objects.get())


def everything() -> list[Any]:
    """All rows that anything depends on, but for when a HIT was last looked at."""
    hits = HIT.objects.order_by("pk").values_list(
        "pk", "status", "max_assignments", "expires_at", "leased_until"
    )
    rows = [
        model.objects.order_by("pk").values_list()
        for model in (Assignment, Call, Batch, Questionnaire, Response, Rating, Decision, Replacement)
    ]
    theirs = [
        model.objects.order_by("pk").values_list() for model in (marketplace.HIT, marketplace.Assignment)
    ]
    return [list(query) for query in [hits, *rows, *theirs]]


def test_the_sweep_judges_again_what_a_lost_task_has_left(site: Site) -> None:
    questionnaire = opened(site, rejects_automatically=False)
    work(site, questionnaire, n_correct=0)
    sync.sync_hit(questionnaire.hit.pk)
    assert Decision.objects.get().verdict == "propose"
    Batch.objects.update(review_policy=NEVER)
    sync.sweep()
    assert (Decision.objects.get().verdict, Assignment.objects.get().status) == ("approve", "Approved")


def test_a_lost_publish_is_found_by_the_sweep(site: Site) -> None:
    started(site, n_items=10)
    sync.sweep()
    assert (Batch.objects.get().status, marketplace.HIT.objects.count()) == ("open", 2)


def test_a_publish_done_twice_is_one_set_of_hits(site: Site) -> None:
    batch = started(site, n_items=10)
    for _ in range(2):
        sync.publish_batch(batch.pk)
        for questionnaire in Questionnaire.objects.all():
            sync.publish_questionnaire(str(questionnaire.pk))
        sync.sweep()
    assert (HIT.objects.count(), marketplace.HIT.objects.count(), site.held()) == (2, 2, 2 * 5 * 46)


def test_a_marketplace_that_is_away_is_named_and_tried_again(site: Site) -> None:
    batch = started(site)
    site.wire.block.add("CreateHITType")
    sync.publish_batch(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.error != "") == ("publishing", True)
    site.wire.heal()
    sync.sweep()
    batch.refresh_from_db()
    assert (batch.status, batch.error) == ("open", "")


def test_the_whole_study_by_sweeps_alone(site: Site) -> None:
    questionnaire = opened(site)
    for n_correct in (5, 4, 3, 2, 1):
        work(site, questionnaire, n_correct=n_correct)
    sync.sweep()
    assert Batch.objects.get().status == "open"
    for _ in range(2):
        work(site, again(questionnaire))
    sync.sweep()
    sync.sweep()
    assert Batch.objects.get().status == "complete"
    assert Assignment.objects.filter(status="Approved").count() == 5
    assert Assignment.objects.filter(status="Rejected").count() == Replacement.objects.count() == 2
    assert (site.spent(), site.held()) == (5 * 46, 0)


def test_syncing_again_changes_nothing(site: Site) -> None:
    questionnaire = opened(site)
    for n_correct in (5, 2, 0):
        work(site, questionnaire, n_correct=n_correct)
    hit = questionnaire.hit
    assert hit is not None
    sync.sync_hit(hit.pk)
    before, calls = everything(), dict(site.wire.calls)
    for _ in range(2):
        sync.sync_hit(hit.pk)
        sync.sync_batch(questionnaire.batch_id)
        sync.sweep()
    assert everything() == before
    costly = (
        "ApproveAssignment",
        "RejectAssignment",
        "CreateAdditionalAssignmentsForHIT",
        "CreateHITWithHITType",
    )
    assert {name: site.wire.calls[name] for name in costly} == {name: calls[name] for name in costly}


def test_a_hit_somebody_is_working_on_is_left_alone(site: Site) -> None:
    questionnaire = opened(site)
    work(site, questionnaire)
    HIT.objects.update(leased_until=timezone.now() + timedelta(seconds=60))
    sync.sync_hit(questionnaire.hit_id)
    assert Assignment.objects.get().status == "Accepted"
    HIT.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    sync.sync_hit(questionnaire.hit_id)
    assert Assignment.objects.get().status == "Approved"


def test_an_interrupted_sync_is_carried_on(site: Site) -> None:
    questionnaire = opened(site)
    for n_correct in (5, 2):
        work(site, questionnaire, n_correct=n_correct)
    for operation in (
        "ListAssignmentsForHIT",
        "RejectAssignment",
        "CreateAdditionalAssignmentsForHIT",
        "GetHIT",
    ):
        site.wire.block.add(operation)
        sync.sweep()
        assert HIT.objects.get().leased_until is None
        site.wire.heal()
        Call.objects.filter(state="sent").update(sent_at=timezone.now() - timedelta(hours=1))
    sync.sweep()
    sync.sweep()
    assert sorted(Assignment.objects.values_list("status", flat=True)) == ["Approved", "Rejected"]
    assert (
        site.hit(HIT.objects.get()).max_assignments,
        Replacement.objects.exclude(opened_at=None).count(),
    ) == (6, 1)


def test_a_sibling_is_published_by_the_sync_that_made_it(site: Site) -> None:
    questionnaire = opened(site, assignments_per_hit=9)
    work(site, questionnaire, n_correct=0)
    for _ in range(8):
        work(site, questionnaire)
    sync.sweep()
    sibling = Questionnaire.objects.get(sibling_of=questionnaire)
    assert sibling.hit is not None
    sync.sweep()
    assert Replacement.objects.get().opened_at is not None
    work(site, again(sibling))
    sync.sweep()
    sync.sweep()
    assert (Batch.objects.get().status, marketplace.HIT.objects.count()) == ("complete", 2)


def test_lost_answers_come_back_from_the_marketplace(site: Site) -> None:
    questionnaire = opened(site)
    work(site, questionnaire, n_correct=2)
    Rating.objects.all().delete()
    Response.objects.all().delete()
    Assignment.objects.update(saved_at=None)
    sync.sweep()
    decision = Decision.objects.get()
    assert (decision.verdict, decision.n_correct, decision.n_graded) == ("reject", 2, 5)
    assert (Response.objects.count(), Rating.objects.count()) == (5, 50)


def test_an_unreadable_submission_waits_and_doesnt_hold_up_the_others(site: Site) -> None:
    questionnaire = opened(site)
    assert questionnaire.hit is not None
    site.submit(site.accept(questionnaire.hit), taskAnswers="[{]")
    work(site, questionnaire)
    sync.sweep()
    verdicts = Decision.objects.order_by("pk").values_list("verdict", "assignment__status")
    assert list(verdicts) == [("flag", "Submitted"), ("approve", "Approved")]


def test_a_sibling_answered_past_our_frame_doesnt_hold_up_the_sync(site: Site) -> None:
    """Who saw the items takes the sibling on the marketplace and posts there directly: a person decides."""
    questionnaire = opened(site, assignments_per_hit=9)
    cheat = site.worker()
    copy = task_answers(work(site, questionnaire, n_correct=0, worker=cheat))
    for _ in range(8):
        work(site, questionnaire)
    sync.sweep()
    sibling = again(Questionnaire.objects.get(sibling_of=questionnaire))
    assert sibling.hit is not None
    site.submit(site.accept(sibling.hit, worker=cheat), taskAnswers=copy)
    sync.sweep()
    posted = Assignment.objects.get(hit=sibling.hit)
    assert (posted.status, posted.decision.verdict, posted.responses.count()) == ("Submitted", "flag", 0)


def test_a_stopped_batch_expires_its_hits_and_still_pays(site: Site) -> None:
    questionnaire = opened(site)
    assert questionnaire.hit is not None
    accepted = site.accept(questionnaire.hit)
    working = open_for(questionnaire, worker=accepted.worker.worker_id, assignment=accepted.assignment_id)
    stopping.stop(questionnaire.batch)
    for _ in range(3):
        sync.sweep()
    assert site.wire.calls["UpdateExpirationForHIT"] == 1
    assert HIT.objects.get().expires_at <= timezone.now()
    site.submit(accepted, taskAnswers=task_answers(answer(working)))
    sync.sweep()
    assert Assignment.objects.get().status == "Approved"
    assert (Batch.objects.get().status, site.spent(), site.held()) == ("stopped", 46, 0)


def test_a_stopped_batch_with_nothing_left_to_do_costs_no_task(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    questionnaire = opened(site)
    stopping.stop(questionnaire.batch)
    asked: list[int] = []
    monkeypatch.setattr(sync.expire_batch, "delay", asked.append)
    sync.sweep()
    HIT.objects.update(expires_at=timezone.now())
    sync.sweep()
    assert asked == [questionnaire.batch_id]


def test_a_hit_that_cant_be_expired_doesnt_hold_up_the_others(site: Site) -> None:
    started(site, n_items=10)
    sync.sweep()
    batch = Batch.objects.get()
    stopping.stop(batch)
    first = HIT.objects.order_by("pk")[0]
    marketplace.HIT.objects.filter(hit_id=first.hit_id).update(hit_id="3GONE")
    sync.expire_batch(batch.pk)
    assert list(HIT.objects.filter(expires_at__gt=timezone.now())) == [first]


def test_a_hit_created_while_the_batch_was_stopped_is_found_and_expired(site: Site) -> None:
    batch = started(site)
    site.wire.lose.add("CreateHITWithHITType")
    site.wire.block.add("GetHIT")
    sync.publish_batch(batch.pk)
    stopping.stop(batch)
    site.wire.heal()
    Call.objects.filter(state="sent").update(sent_at=timezone.now() - timedelta(hours=1))
    sync.sweep()
    sync.sweep()
    made = marketplace.HIT.objects.get()
    assert (HIT.objects.get().hit_id, made.expires_at <= timezone.now()) == (made.hit_id, True)
    assert (Batch.objects.get().status, site.held()) == ("stopped", 0)


def test_auto_approved_before_the_sync_is_recorded(site: Site) -> None:
    questionnaire = opened(site)
    work(site, questionnaire, n_correct=0)
    site.pass_time(seconds=3 * 86_400)
    sync.sweep()
    assert (Assignment.objects.get().status, Decision.objects.get().verdict) == ("Approved", "approve")
    assert (Decision.objects.get().is_auto_approved, Replacement.objects.count()) == (True, 1)


def test_work_given_back_and_taken_by_another_is_graded_by_worker(site: Site) -> None:
    """The AssignmentId is recycled: the first worker's perfect draft is not the second one's answer."""
    questionnaire = opened(site, assignments_per_hit=1)
    assert questionnaire.hit is not None
    first = site.accept(questionnaire.hit)
    answer(
        open_for(questionnaire, worker=first.worker.worker_id, assignment=first.assignment_id), n_correct=5
    )
    assignments.give_back(first, now=timezone.now())
    done = work(site, questionnaire, n_correct=1)
    assert done.assignment_id == first.assignment_id
    sync.sync_hit(questionnaire.hit_id)
    graded = {d.assignment.worker.worker_id: (d.verdict, d.n_correct) for d in Decision.objects.all()}
    assert graded == {done.worker.worker_id: ("reject", 1)}


def test_a_batch_settled_long_ago_is_not_synced(site: Site, settings: Any) -> None:
    questionnaire = opened(site, assignments_per_hit=1)
    work(site, questionnaire)
    sync.sweep()
    sync.sweep()
    assert Batch.objects.get().status == "complete"
    before = dict(site.wire.calls)
    sync.sweep()
    assert dict(site.wire.calls) == before
