"""Which HITs are synced, and when a batch is complete."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import HIT, Assignment, Call
from surveys.models import Batch, Decision, Inclusion, Replacement
from surveys.review import analysis_use, due_work
from surveys.review import due_work as due_module
from tests.factories import (
    make_assignment,
    make_batch,
    make_hit,
    make_questionnaire,
    make_survey,
)

pytestmark = pytest.mark.django_db


EVERY = timedelta(seconds=30)


def due() -> list[HIT]:
    return list(due_work.due_hits(every=EVERY).order_by("pk"))


def hit_with(*assignment_statuses: str, batch_status: str = "open", **hit_values: Any) -> HIT:
    """A HIT for two, synced a minute ago, with these assignments; what is decided there is decided here too."""
    values = {"max_assignments": 2, "synced_at": timezone.now() - timedelta(minutes=1), **hit_values}
    hit = make_hit(**values)
    batch = make_batch(make_survey(), status=batch_status)
    make_questionnaire(batch, items=[], hit=hit, target_assignments=2)
    for status in assignment_statuses:
        assignment = make_assignment(hit, status=status)
        if verdict := {"Approved": "approve", "Rejected": "reject"}.get(status):
            values = {"reason": "No." if verdict == "reject" else "", "decided_at": timezone.now()}
            Decision.objects.create(assignment=assignment, verdict=verdict, **values)
    return hit


@pytest.mark.parametrize("batch_status", ["publishing", "open", "stopped", "complete"])
@pytest.mark.parametrize(
    "assignments",
    [[], ["Accepted"], ["Approved"], ["Submitted"], ["Accepted", "Accepted"], ["Submitted", "Approved"]],
)
def test_a_hit_that_can_change_is_due(batch_status: str, assignments: list[str]) -> None:
    hit = hit_with(*assignments, batch_status=batch_status)
    assert due() == [hit]


def test_a_hit_seen_before_the_clock_was_set_back_is_due() -> None:
    now = timezone.now()
    hit_with(synced_at=now)
    hit_with(synced_at=now + timedelta(seconds=30))  # by another machine, whose clock differs a little
    assert due() == []
    jumped = hit_with(synced_at=now + timedelta(hours=2))
    assert due() == [jumped]


@pytest.mark.parametrize("batch_status", ["publishing", "open", "stopped", "complete"])
def test_a_settled_hit_is_not_due(batch_status: str) -> None:
    hit_with("Approved", "Approved", batch_status=batch_status)
    assert due() == []


@pytest.mark.parametrize("status", ["Approved", "Rejected"])
def test_what_the_marketplace_decided_by_itself_is_due_until_that_is_written_down(status: str) -> None:
    """The task may have stopped between hearing of it and deciding: nothing else would look again."""
    hit = hit_with("Approved", "Approved", batch_status="complete")
    assert due() == []
    Decision.objects.all().delete()
    hit.assignments.update(status=status, rejected_at=timezone.now())
    assert due() == [hit]


def test_a_rejection_is_due_until_it_is_replaced() -> None:
    hit = hit_with("Approved", "Rejected")
    assert due() == [hit]
    rejected = hit.assignments.get(status="Rejected")
    replacement = Replacement.objects.create(
        replaces=rejected, questionnaire=hit.questionnaire, opened_by="extend"
    )
    assert due() == [hit]
    Replacement.objects.filter(pk=replacement.pk).update(opened_at=timezone.now())
    assert due() == []


def test_a_rejection_in_a_stopped_batch_is_settled() -> None:
    hit_with("Approved", "Rejected", batch_status="stopped")
    assert due() == []


def test_a_hit_never_synced_is_due_and_one_just_synced_is_not() -> None:
    never = hit_with(synced_at=None)
    hit_with(synced_at=timezone.now())
    assert due() == [never]


def test_an_expired_hit_is_due_until_nobody_can_still_submit() -> None:
    now = timezone.now()  # one hour to work, one hour until the marketplace lists it
    recent = hit_with("Approved", expires_at=now - timedelta(hours=1, minutes=59))
    hit_with("Approved", expires_at=now - timedelta(hours=2, minutes=1))
    late = hit_with("Approved", "Submitted", expires_at=now - timedelta(days=9))
    assert due() == [recent, late]


@pytest.mark.parametrize("looked_at", [None, timedelta(days=9), timedelta(days=8, hours=22, minutes=1)])
def test_a_hit_is_due_until_it_was_seen_after_its_end_however_long_we_were_away(looked_at: Any) -> None:
    now = timezone.now()
    synced_at = None if looked_at is None else now - looked_at
    missed = hit_with("Approved", expires_at=now - timedelta(days=9), synced_at=synced_at)
    assert due() == [missed]
    HIT.objects.update(synced_at=now - timedelta(days=8, hours=21, minutes=59))
    assert due() == []


def test_an_overturned_rejection_is_due_until_the_marketplace_knows() -> None:
    now = timezone.now()
    hit = hit_with("Approved", "Rejected", batch_status="complete")
    assert due() == []
    rejected = hit.assignments.get(status="Rejected")
    Decision.objects.filter(assignment=rejected).update(overturned_at=now, overturn_reason="Sorry.")
    assert due() == [hit]
    call = Call.objects.create(
        token="t",
        operation=Call.Operation.OVERTURN,
        assignment=rejected,
        state="refused",
        finished_at=now,
    )
    assert due() == []  # refused for good
    Call.objects.filter(pk=call.pk).update(state="sent")
    assert due() == [hit]
    Assignment.objects.filter(pk=rejected.pk).update(status="Approved", approved_at=now)
    assert due() == []


def test_a_hit_of_nobody_is_not_due() -> None:
    make_hit()
    assert due() == []


def test_many_reasons_make_one_due_hit() -> None:
    hit = hit_with("Submitted", "Submitted", "Rejected", "Rejected", "Accepted", max_assignments=9)
    assert due() == [hit]


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ([["Approved"] * 2], True),
        ([["Approved"]], False),
        ([["Approved", "Submitted"]], False),
        ([["Approved", "Approved", "Submitted"]], False),
        ([["Approved", "Approved"], []], False),
        ([["Approved", "Approved", "Rejected"], ["Approved", "Approved", "Accepted"]], True),
    ],
)
def test_finish_only_when_filled(kept: list[list[str]], expected: bool) -> None:
    batch = make_batch(make_survey())
    for assignments in kept:
        hit = make_hit()
        make_questionnaire(batch, items=[], hit=hit, target_assignments=2)
        for status in assignments:
            make_assignment(hit, status=status)
    assert due_work.finish(batch) is expected


def test_a_siblings_work_counts_for_its_root() -> None:
    batch = make_batch(make_survey())
    root = make_questionnaire(batch, items=[], hit=make_hit(), target_assignments=2)
    sibling = make_questionnaire(batch, items=[], hit=make_hit(), sibling_of=root, target_assignments=1)
    assert root.hit is not None
    assert sibling.hit is not None
    make_assignment(root.hit, status="Approved")
    make_assignment(root.hit, status="Rejected")
    assert due_work.finish(batch) is False
    make_assignment(sibling.hit, status="Approved")
    assert due_work.finish(batch) is True


@pytest.mark.parametrize("status", ["draft", "publishing", "stopped", "complete"])
def test_only_an_open_batch_is_finished(status: str) -> None:
    batch = make_batch(make_survey(), status=status)
    assert due_work.finish(batch) is False
    assert Batch.objects.get().status == status


def test_work_on_a_hit_that_is_gone_fills_its_place() -> None:
    """It was handed in, and nobody can decide about it there any more."""
    hit = hit_with("Approved", "Submitted")
    assert due_work.finish(Batch.objects.get()) is False
    HIT.objects.filter(pk=hit.pk).update(gone_at=timezone.now())
    assert due_work.finish(Batch.objects.get()) is True


def test_a_hit_that_is_gone_is_not_filled_by_what_nobody_handed_in() -> None:
    hit = hit_with("Approved", "Accepted")
    HIT.objects.filter(pk=hit.pk).update(gone_at=timezone.now())
    assert due_work.finish(Batch.objects.get()) is False


def test_answers_left_out_while_a_batch_is_being_finished_keep_it_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hit = hit_with("Approved", "Approved")
    ada, is_filled = User.objects.create_user("ada"), due_module._is_filled

    def leave_out_meanwhile(batch: Batch) -> bool:
        was_filled = is_filled(batch)
        if not Inclusion.objects.exists():
            analysis_use.exclude(hit.assignments.first(), by=ada, reason="Only letters.", replace=True)
        return was_filled

    monkeypatch.setattr(due_module, "_is_filled", leave_out_meanwhile)
    assert due_work.finish(Batch.objects.get()) is False
    assert Batch.objects.get().status == "open"
