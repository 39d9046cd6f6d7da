"""An emergency stop on a real marketplace: every HIT off it, those nobody knew of too; late work is kept."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import HIT, Assignment, Call
from marketplace import clock
from surveys import sync
from surveys.answering.collection import task_answers
from surveys.models import AuditEntry, Batch, Questionnaire, Replacement
from surveys.publishing import budget, hits, questionnaires, stopping
from surveys.review import analysis_use, decisions, due_work, replacements
from tests import link_people
from tests.factories import answer, make_draft, make_survey, open_for
from tests.market_site import Site
from tests.market_study import again, max_assignments, open_study, work

pytestmark = pytest.mark.django_db
D = Decimal
AFTER_EXTENDING = ("replace.extended", "replace.mirrored")


@pytest.fixture
def person() -> User:
    return User.objects.create_user("ada")


def running(site: Site, *, n_hits: int = 4, **values: Any) -> Batch:
    batch = make_draft(make_survey(n_items=5 * n_hits), **values)
    questionnaires.start_publishing(batch)
    sync.publish_batch(batch.pk)
    batch.refresh_from_db()
    return batch


def stop(batch: Batch) -> Batch:
    assert stopping.stop(batch) is True
    sync.expire_batch(batch.pk)
    return Batch.objects.get(pk=batch.pk)


def expired(batch: Batch) -> tuple[int, int]:
    found = stopping.in_flight(batch)
    return found.n_expired, found.n_hits


def test_every_hit_is_expired_and_its_money_is_back(site: Site, eager: None) -> None:
    batch = running(site)
    assert site.held() == 920
    batch = stop(batch)
    assert expired(batch) == (4, 4)
    assert stopping.in_flight(batch).is_expiring is False
    assert site.held() == 0


def test_repeated_stopping_changes_nothing(site: Site, eager: None) -> None:
    batch = stop(running(site, n_hits=1))
    calls = site.wire.calls.copy()
    assert stopping.stop(batch) is False
    sync.expire_batch(batch.pk)
    sync.sweep()
    assert site.wire.calls["UpdateExpirationForHIT"] == calls["UpdateExpirationForHIT"] == 1
    assert AuditEntry.objects.filter(kind="publishing", outcome="stop").count() == 1


def test_unreachable_marketplace_is_left_alone_after_three_and_asked_again(site: Site, eager: None) -> None:
    batch = running(site)
    site.wire.block |= {"UpdateExpirationForHIT", "GetHIT"}
    batch = stop(batch)
    found = stopping.in_flight(batch)
    assert (found.n_expired, found.n_hits) == (0, 4)
    assert found.error != ""
    assert Call.objects.filter(operation="UpdateExpirationForHIT").values("hit").distinct().count() == 3
    site.wire.heal()
    sync.sweep()
    assert expired(batch) == (4, 4)
    assert stopping.in_flight(batch).error == ""
    assert site.held() == 0


def disposed_three_of_five(site: Site) -> Batch:
    """A batch of five HITs, the first three of them full, decided and deleted on the marketplace."""
    batch = running(site, n_hits=5, assignments_per_hit=1)
    for questionnaire in batch.questionnaires.order_by("position")[:3]:
        done = again(questionnaire)
        work(site, done)
        sync.sync_hit(done.hit.pk)
        site.gateway._client.delete_hit(HITId=done.hit.hit_id)
    return batch


def test_three_hits_that_are_disposed_of_keep_no_other_from_being_expired(site: Site, eager: None) -> None:
    batch = disposed_three_of_five(site)
    sync.sync_batch(batch.pk)
    HIT.objects.filter(status="Reviewable").update(status="Disposed")
    batch = stop(batch)
    assert (expired(batch), site.held()) == ((5, 5), 0)
    assert Call.objects.filter(operation="UpdateExpirationForHIT").count() == 2


def test_three_refusals_keep_no_other_hit_from_being_expired(site: Site, eager: None) -> None:
    batch = disposed_three_of_five(site)
    batch = stop(batch)
    assert (expired(batch), site.held()) == ((5, 5), 0)
    assert HIT.objects.filter(status="Disposed").count() == 3
    assert Call.objects.filter(operation="UpdateExpirationForHIT", state="refused").count() == 3
    sync.sweep()
    assert Call.objects.filter(operation="UpdateExpirationForHIT").count() == 5


def test_hit_the_marketplace_does_not_know_keeps_no_other_from_being_expired(site: Site, eager: None) -> None:
    batch = running(site, n_hits=5, assignments_per_hit=1)
    gone = list(HIT.objects.order_by("pk").values_list("pk", flat=True)[:3])
    for pk in gone:
        HIT.objects.filter(pk=pk).update(hit_id=f"GONE{pk}")
    batch = stop(batch)
    assert expired(batch) == (2, 5)


def place_left_in_complete_batch(site: Site, person: User) -> Questionnaire:
    """Rejected, replaced by a place nobody took, then overturned and used after all: that completes the batch."""
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire, n_correct=0)
    sync.sync_hit(questionnaire.hit.pk)
    assert (Assignment.objects.get().status, max_assignments(questionnaire)) == ("Rejected", 2)
    decisions.overturn(Assignment.objects.get(), by=person, reason="Our mistake.", use_answers=True)
    sync.sync_hit(questionnaire.hit.pk)
    assert due_work.finish(questionnaire.batch) is True
    assert site.held() == 46
    return questionnaire


def test_place_left_in_a_complete_batch_is_expired(site: Site, eager: None, person: User) -> None:
    place_left_in_complete_batch(site, person)
    for _ in range(2):
        sync.sweep()
    assert (stopping.hits_to_expire().count(), site.held()) == (0, 0)
    assert site.wire.calls["UpdateExpirationForHIT"] == 1


def test_complete_batch_whose_hits_are_full_is_left_alone(site: Site, eager: None) -> None:
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire)
    sync.sync_hit(questionnaire.hit.pk)
    sync.sweep()
    assert Batch.objects.get().status == "complete"
    sync.sweep()
    assert site.wire.calls["UpdateExpirationForHIT"] == 0


def test_complete_batch_that_is_open_again_offers_its_place_again(
    site: Site, eager: None, person: User
) -> None:
    questionnaire = place_left_in_complete_batch(site, person)
    sync.sweep()
    analysis_use.exclude(Assignment.objects.get(), by=person, reason="Copied text.", replace=True)
    assert Batch.objects.get().status == "open"
    sync.sync_hit(questionnaire.hit.pk)
    assert (max_assignments(questionnaire), Replacement.objects.count(), site.held()) == (2, 1, 46)
    work(site, questionnaire)
    sync.sync_hit(questionnaire.hit.pk)
    sync.sweep()
    assert (Batch.objects.get().status, site.held()) == ("complete", 0)


@pytest.mark.parametrize(
    "point", ["sync.carried_out", "replace.planned", "replace.extended", "replace.mirrored"]
)
def test_stopping_in_the_middle_of_a_sync_opens_nothing_again(
    site: Site, eager: None, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    questionnaire = open_study(site)
    for _ in range(3):
        work(site, questionnaire, n_correct=0)

    def stop_at(reached: str, **about: Any) -> None:
        if reached == point and stopping.stop(questionnaire.batch):
            sync.expire_batch(questionnaire.batch_id)

    monkeypatch.setattr(sync, "reach", stop_at)
    monkeypatch.setattr(replacements, "reach", stop_at)
    sync.sync_hit(questionnaire.hit.pk)
    hit = HIT.objects.get()
    assert Batch.objects.get().status == "stopped"
    assert hit.expires_at <= timezone.now()
    assert site.hit(hit).expires_at <= clock.now()
    assert (site.held(), stopping.hits_to_expire().count()) == (0, 0)
    # What was asked for before the stop stays; nothing was asked for after it.
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == (point in AFTER_EXTENDING)
    assert site.wire.calls["UpdateExpirationForHIT"] == 1


def test_hit_whose_creation_is_unknown_is_found_and_expired(site: Site, eager: None) -> None:
    batch = make_draft(make_survey(n_items=10), budget=D("4.60"))
    questionnaires.start_publishing(batch)
    hits.register_hit_type(batch, gateway=site.gateway)
    site.wire.lose.add("CreateHITWithHITType")
    first, _ = batch.questionnaires.select_related("batch__hit_type").order_by("position")
    hits.publish_questionnaire(first, gateway=site.gateway)
    assert stopping.stop(batch) is True
    batch.refresh_from_db()
    # One HIT was made without our knowing; the other one never will be.
    assert expired(batch) == (0, 1)
    assert stopping.in_flight(batch).n_unsettled == 1
    assert budget.money(batch).committed == D("2.30")
    assert site.held() == 230
    site.wire.heal()
    hits.publish_questionnaire(again(first), gateway=site.gateway)
    sync.expire_batch(batch.pk)
    assert expired(batch) == (1, 1)
    assert site.held() == 0
    assert HIT.objects.count() == 1


def test_stopped_batch_makes_no_hit_that_was_never_made(site: Site, eager: None) -> None:
    batch = make_draft(make_survey(n_items=5))
    questionnaires.start_publishing(batch)
    hits.register_hit_type(batch, gateway=site.gateway)
    site.wire.block.add("CreateHITWithHITType")
    questionnaire = batch.questionnaires.select_related("batch__hit_type").get()
    hits.publish_questionnaire(questionnaire, gateway=site.gateway)
    stopping.stop(batch)
    site.wire.heal()
    made = site.wire.calls["CreateHITWithHITType"]
    hits.publish_questionnaire(again(questionnaire), gateway=site.gateway)
    assert site.wire.calls["CreateHITWithHITType"] == made
    assert site.held() == 0


def test_work_handed_in_after_the_stop_is_kept_and_paid(site: Site, eager: None) -> None:
    questionnaire = open_study(site)
    hit = questionnaire.hit
    assert hit is not None
    accepted = site.accept(hit)
    opened = open_for(questionnaire, worker=accepted.worker.worker_id, assignment=accepted.assignment_id)
    answer(opened)
    batch = stop(questionnaire.batch)
    site.submit(accepted, taskAnswers=task_answers(opened), nonce=str(opened.nonce))
    sync.sync_hit(hit.pk)
    opened.refresh_from_db()
    assert opened.status == "Approved"
    assert budget.money(batch).paid == D("0.46")
    assert site.spent() == 46


def test_committed_shrinks_to_what_came_in(site: Site, eager: None) -> None:
    questionnaire = open_study(site)
    hit = questionnaire.hit
    assert hit is not None
    work(site, questionnaire)
    batch = stop(questionnaire.batch)
    assert budget.money(batch).committed == D("2.30")  # somebody may have accepted one
    ago = timezone.now() - timedelta(hours=1, minutes=41)
    HIT.objects.filter(pk=hit.pk).update(expires_at=ago, synced_at=ago)
    assert budget.money(batch).committed == D("2.30")  # and we have not looked since
    HIT.objects.filter(pk=hit.pk).update(expires_at=ago, synced_at=timezone.now())
    Assignment.objects.filter(hit=hit).update(status="Submitted", submitted_at=timezone.now())
    assert budget.money(batch).committed == D("0.46")


def test_who_came_by_link_and_left_may_still_hand_in() -> None:
    batch = link_people.make_batch(n_items=3)
    for name, has_left in (("gone", True), ("here", False)):
        begun = link_people.take(batch, link_people.make_person(name))
        if has_left:
            link_people.run_out(begun)
    link_people.answered(link_people.take(batch, link_people.make_person("done")))
    assert stopping.stop(batch)
    found = stopping.in_flight(Batch.objects.get(pk=batch.pk))
    assert (found.n_at_work, found.n_late, found.n_undecided) == (1, 1, 1)
