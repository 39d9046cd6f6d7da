"""One batch, two ways to it: the marketplace and links share one quota."""

from typing import Any

import pytest

from annotators.models import Assignment, Call
from surveys import sync
from surveys.answering.arrival import CannotServe
from surveys.answering.collection import task_answers
from surveys.models import AnnotationSlot, Batch, Questionnaire, Replacement, Response
from surveys.publishing import questionnaires
from tests.factories import answer, make_draft, make_survey, open_for
from tests.link_people import answered, make_person, run_out, skipped, take
from tests.market_site import Site
from tests.market_study import again, max_assignments, work
from tests.policy_data import NEVER

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("eager")]


@pytest.fixture(autouse=True)
def _sync_at_once(settings: Any) -> None:
    settings.SYNC_EVERY_SECONDS = 0


def opened(site: Site, *, n_items: int = 5, definition: str = "evil-vqax", **values: Any) -> Questionnaire:
    survey = make_survey(n_items=n_items, definition_key=definition)
    batch = make_draft(survey, **{"takes_links": True, "assignments_per_hit": 2, **values})
    questionnaires.start_publishing(batch)
    sync.sweep()
    return again(Questionnaire.objects.get(sibling_of=None))


def expirations() -> int:
    return Call.objects.filter(operation=Call.Operation.EXPIRE, state="done").count()


def outcomes() -> list[tuple[str, str]]:
    return sorted(Assignment.objects.values_list("channel", "status"))


def test_both_fill_it_and_the_hit_is_taken_off_once(site: Site) -> None:
    questionnaire = opened(site)
    work(site, questionnaire)
    sync.sweep()
    assert expirations() == 0
    answered(take(questionnaire.batch, make_person()))
    for _ in range(3):
        sync.sweep()
    assert outcomes() == [("link", "Approved"), ("marketplace", "Approved")]
    assert Batch.objects.get().status == "complete"
    assert expirations() == 1
    assert (site.spent(), Call.objects.filter(operation="ApproveAssignment").count()) == (46, 1)


def test_a_worker_who_comes_when_all_is_given_is_asked_to_return_it(site: Site) -> None:
    questionnaire = opened(site)
    late, _ = (take(questionnaire.batch, make_person()) for _ in range(2))
    accepted = site.accept(questionnaire.hit)
    with pytest.raises(CannotServe, match="have come in") as refused:
        open_for(questionnaire, worker=accepted.worker.worker_id, assignment=accepted.assignment_id)
    assert refused.value.kind == "complete"
    assert Assignment.objects.filter(channel="marketplace").count() == 0
    run_out(late)
    opened_now = open_for(questionnaire, worker=accepted.worker.worker_id, assignment=accepted.assignment_id)
    assert opened_now.annotation_slot.number == 1


def test_a_worker_who_returned_it_leaves_their_place_in_time(site: Site) -> None:
    questionnaire = opened(site, assignments_per_hit=1)
    left = open_for(questionnaire, worker="A1")
    run_out(left)
    assert take(questionnaire.batch, make_person()).annotation_slot.number == 1
    again_here = open_for(questionnaire, worker="A1", assignment=left.assignment_id)
    assert (again_here, again_here.annotation_slot.number) == (left, 2)
    with pytest.raises(CannotServe, match="have come in"):
        open_for(questionnaire, worker="A1", assignment="ANOTHER")


def test_who_worked_by_link_is_turned_away_on_the_marketplace(site: Site) -> None:
    questionnaire = opened(site)
    mine = take(questionnaire.batch, make_person("A1", "embedded"))
    with pytest.raises(CannotServe) as refused:
        open_for(questionnaire, worker="A1")
    assert refused.value.kind == "seen_before"
    mine.refresh_from_db()
    assert mine.assignment_id[0] == "L"


def test_a_rejected_worker_is_replaced_by_whoever_comes_first(site: Site) -> None:
    questionnaire = opened(site, assignments_per_hit=1)
    work(site, questionnaire, n_correct=0)
    for _ in range(2):
        sync.sweep()
    assert (max_assignments(questionnaire), AnnotationSlot.objects.count()) == (2, 2)
    answered(take(questionnaire.batch, make_person()))
    for _ in range(3):
        sync.sweep()
    assert outcomes() == [("link", "Approved"), ("marketplace", "Rejected")]
    assert (Batch.objects.get().status, expirations()) == ("complete", 1)


def test_rejected_link_work_buys_nothing_on_the_marketplace(site: Site) -> None:
    questionnaire = opened(site, assignments_per_hit=1)
    answered(take(questionnaire.batch, make_person()), n_correct=0)
    for _ in range(2):
        sync.sweep()
    assert outcomes() == [("link", "Rejected")]
    assert (max_assignments(questionnaire), Replacement.objects.count()) == (1, 0)
    work(site, questionnaire)
    for _ in range(2):
        sync.sweep()
    assert Batch.objects.get().status == "complete"


def skipped_on_market(site: Site, questionnaire: Questionnaire) -> None:
    """As if a worker had skipped the only item of the HIT."""
    hit = again(questionnaire).hit
    accepted = site.accept(hit)
    opened_now = open_for(questionnaire, worker=accepted.worker.worker_id, assignment=accepted.assignment_id)
    answer(opened_now)
    Response.objects.filter(assignment=opened_now).update(skip_reason="text_missing")
    site.submit(accepted, taskAnswers=task_answers(opened_now), nonce=str(opened_now.nonce))


SKIPPABLE: dict[str, Any] = {"items_per_hit": 1, "n_items": 1, "review_policy": NEVER}


@pytest.mark.parametrize("takes_links", [True, False])
def test_a_skipped_hit_is_extended_as_often_as_it_wants_assignments(site: Site, takes_links: bool) -> None:
    questionnaire = opened(site, assignments_per_hit=1, takes_links=takes_links, **SKIPPABLE)
    for n in range(2):
        skipped_on_market(site, questionnaire)
        for _ in range(2):
            sync.sweep()
        assert (max_assignments(questionnaire), Replacement.objects.count()) == (2, 1)
        assert Batch.objects.get().status == ["open", "complete"][n]
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == 1


def test_one_skip_and_one_answer_is_complete(site: Site) -> None:
    questionnaire = opened(site, assignments_per_hit=1, takes_links=False, **SKIPPABLE)
    skipped_on_market(site, questionnaire)
    sync.sweep()
    work(site, again(questionnaire))
    for _ in range(2):
        sync.sweep()
    assert (Batch.objects.get().status, Replacement.objects.count()) == ("complete", 1)


def test_a_skip_by_link_opens_nothing_on_the_marketplace(site: Site) -> None:
    questionnaire = opened(site, **SKIPPABLE)
    skipped(take(questionnaire.batch, make_person()))
    for _ in range(2):
        sync.sweep()
    assert (max_assignments(questionnaire), AnnotationSlot.objects.count()) == (2, 3)
    assert Replacement.objects.count() == 0
