"""Batches whose people come by link, from publishing to completion, by sweeps alone and over no wire."""

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotators.models import HIT, Assignment, Call
from surveys import sync
from surveys.models import AnnotationSlot, Batch, Decision, Replacement
from surveys.publishing import pricing, questionnaires, stopping
from surveys.review import decisions
from tests.factories import answer, make_draft, make_survey
from tests.link_people import answered, make_person, number_of, skipped, take
from tests.policy_data import FLAG_ONLY, NEVER

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("eager")]


@pytest.fixture(autouse=True)
def _sync_at_once(settings: Any) -> None:
    settings.SYNC_EVERY_SECONDS = 0
    settings.MTURK_ENDPOINTS = {}


def opened(*, n_items: int = 5, definition: str = "evil-vqax", **values: Any) -> Batch:
    survey = make_survey(n_items=n_items, definition_key=definition)
    values = {"endpoint": "link", "reward": Decimal(0), "assignments_per_hit": 2, **values}
    batch = make_draft(survey, **values)
    questionnaires.start_publishing(batch)
    sync.sweep()
    return Batch.objects.get(pk=batch.pk)


def skippable(**values: Any) -> Batch:
    return opened(n_items=1, definition="vtt", items_per_hit=1, review_policy=NEVER, **values)


def everything() -> list[Any]:
    hits = HIT.objects.order_by("pk").values_list("pk", "status", "max_assignments", "leased_until")
    models = (Assignment, Batch, Decision, AnnotationSlot, Replacement, Call)
    return [list(hits), *[list(model.objects.order_by("pk").values_list()) for model in models]]


def statuses() -> list[str]:
    return list(Assignment.objects.order_by("pk").values_list("status", flat=True))


def test_it_is_published_here() -> None:
    batch = opened(n_items=10)
    assert (batch.status, batch.hit_type.endpoint, batch.hit_type.reward) == ("open", "link", 0)
    assert [h.max_assignments for h in HIT.objects.all()] == [2, 2]
    assert list(AnnotationSlot.objects.values_list("number", "questionnaire__position")) == [
        (1, 1),
        (2, 2),
        (3, 1),
        (4, 2),
    ]
    assert Call.objects.count() == 0


def test_published_twice_it_is_published_once() -> None:
    batch = opened(n_items=10)
    before = everything()
    Batch.objects.update(status="publishing")
    for _ in range(2):
        sync.publish_batch(batch.pk)
    assert everything() == before


def test_the_whole_study_with_a_rejection_reopened() -> None:
    batch = opened()
    for n_correct in (5, 2):
        answered(take(batch, make_person()), n_correct=n_correct)
    sync.sweep()
    assert (statuses(), Batch.objects.get().status) == (["Approved", "Rejected"], "open")
    assert Decision.objects.get(verdict="reject").reason == (
        "You answered 2 of 5 questions correctly; at least 3 are needed."
    )
    last = answered(take(batch, make_person()))
    assert number_of(last) == 3
    for _ in range(2):
        sync.sweep()
    assert (statuses(), Batch.objects.get().status) == (["Approved", "Rejected", "Approved"], "complete")
    assert Replacement.objects.count() == 0


def test_sweeping_again_changes_nothing() -> None:
    batch = opened()
    for n_correct in (5, 2, 0):
        answered(take(batch, make_person()), n_correct=n_correct)
        sync.sweep()
    take(batch, make_person())
    before = everything()
    for _ in range(3):
        sync.sweep()
        sync.sync_batch(batch.pk)
    assert everything() == before


def test_answers_saved_before_a_crash_are_handed_in() -> None:
    batch = opened()
    answer(take(batch, make_person()))
    sync.sweep()
    assert statuses() == ["Approved"]


def test_it_is_not_complete_while_somebody_works_or_a_person_has_to_decide() -> None:
    batch = opened(assignments_per_hit=1, review_policy=FLAG_ONLY)
    mine = take(batch, make_person())
    sync.sweep()
    assert Batch.objects.get().status == "open"
    answered(mine, n_correct=0)
    sync.sweep()
    assert (statuses(), Batch.objects.get().status) == (["Submitted"], "open")
    decisions.approve(Assignment.objects.get(), by=User.objects.create_user("ada"))
    for _ in range(2):
        sync.sweep()
    assert (statuses(), Batch.objects.get().status) == (["Approved"], "complete")


def test_a_rejection_taken_back_counts_again() -> None:
    batch = opened(assignments_per_hit=1)
    answered(take(batch, make_person()), n_correct=0)
    sync.sweep()
    assert AnnotationSlot.objects.count() == 2
    decisions.overturn(Assignment.objects.get(), by=User.objects.create_user("ada"), reason="Our mistake.")
    for _ in range(2):
        sync.sweep()
    assert (statuses(), Batch.objects.get().status) == (["Approved"], "complete")
    assert Assignment.objects.get().feedback == "Our mistake."


def test_a_skipped_item_is_asked_again_and_comes_to_an_end() -> None:
    batch = skippable(assignments_per_hit=1)
    skipped(take(batch, make_person()))
    sync.sweep()
    assert (statuses(), Batch.objects.get().status) == (["Approved"], "open")
    skipped(take(batch, make_person()))
    for _ in range(2):
        sync.sweep()
    assert (statuses(), Batch.objects.get().status) == (["Approved", "Approved"], "complete")
    assert pricing.progress(batch).n_skipped == 2


def test_a_stopped_batch_reopens_nothing_but_decides() -> None:
    batch = opened()
    answered(take(batch, make_person()), n_correct=0)
    assert stopping.stop(batch) is True
    for _ in range(2):
        sync.sweep()
    assert (statuses(), AnnotationSlot.objects.count()) == (["Rejected"], 2)
    assert stopping.hits_to_expire().count() == 0


def test_progress_tells_the_channels() -> None:
    batch = opened()
    answered(take(batch, make_person()))
    answered(take(batch, make_person("prolific:1", "panel"), channel="panel"))
    counts = pricing.progress(batch)
    assert (counts.n_wanted, counts.n_submitted, counts.n_by_link, counts.n_by_panel) == (2, 2, 1, 1)
