"""Which HITs are synced, and when a batch is complete."""

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import HIT, Assignment, Call
from surveys import sync
from surveys.models import Batch, Decision, Inclusion, Note, Publishing, Replacement
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


def moved() -> list[HIT]:
    return list(due_work.moved_hits())


def saved_claim(hit: HIT, *, ago: timedelta) -> Assignment:
    """Somebody has saved their answers with us, and the marketplace has not named them."""
    return make_assignment(hit, saved_at=timezone.now() - ago)


@pytest.mark.parametrize("batch_status", ["publishing", "open", "stopped", "complete"])
@pytest.mark.parametrize("assignments", [[], ["Accepted"], ["Approved"], ["Accepted", "Accepted"]])
def test_a_hit_nobody_has_touched_is_not_due(batch_status: str, assignments: list[str]) -> None:
    hit_with(*assignments, batch_status=batch_status)
    hit_with(*assignments, batch_status=batch_status, synced_at=None)
    assert (due(), moved()) == ([], [])


@pytest.mark.parametrize("batch_status", ["publishing", "open", "stopped", "complete"])
@pytest.mark.parametrize("assignments", [["Submitted"], ["Submitted", "Approved"]])
def test_what_was_handed_in_is_due_until_it_is_judged(batch_status: str, assignments: list[str]) -> None:
    hit = hit_with(*assignments, batch_status=batch_status)
    assert due() == [hit]
    submitted = hit.assignments.get(status="Submitted")
    Decision.objects.create(assignment=submitted, verdict="propose", reason="No.", decided_at=timezone.now())
    assert due() == []  # a person decides


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_what_is_decided_is_due_until_the_marketplace_knows(verdict: str) -> None:
    hit = hit_with("Submitted")
    submitted = hit.assignments.get()
    Decision.objects.create(assignment=submitted, verdict=verdict, reason="No.", decided_at=timezone.now())
    assert due() == [hit]


def test_what_the_marketplace_approves_by_itself_is_due_once_its_time_has_come() -> None:
    hit = hit_with("Submitted")
    submitted, now = hit.assignments.get(), timezone.now()
    Decision.objects.create(assignment=submitted, verdict="propose", reason="No.", decided_at=now)
    for left, expected in ((timedelta(minutes=1), []), (timedelta(0), [hit])):
        Assignment.objects.update(auto_approval_at=now + left)
        assert due() == expected


@pytest.mark.parametrize("verdict", ["", "flag"])
@pytest.mark.parametrize(
    ("days", "is_stopped", "is_due"),
    [(7, False, True), (9, False, False), (9, True, True), (None, True, True)],
)
def test_what_it_decided_without_us_is_looked_for_where_we_have_looked_lately_and_once_a_day_everywhere(
    verdict: str, days: int | None, is_stopped: bool, is_due: bool
) -> None:
    now = timezone.now()
    hit = hit_with(
        synced_at=now - timedelta(days=days) if days else None,
        enqueued_at=now - timedelta(days=1) if is_stopped else None,
    )
    approved = make_assignment(hit, status="Approved", approved_at=now)
    if verdict:
        Decision.objects.create(assignment=approved, verdict=verdict, reason="Why?", decided_at=now)
    assert (due(), moved()) == ([hit] * is_due, [])
    sync.look_again()
    assert moved() == [hit] * (not is_due)


def test_what_the_marketplace_lists_anew_has_moved_until_it_is_looked_at() -> None:
    now = timezone.now()
    hit = hit_with(moved_at=now)
    assert moved() == [hit]
    HIT.objects.update(moved_at=None)
    assert moved() == []


def test_of_what_people_save_and_what_is_listed_the_first_comes_first() -> None:
    listed, saved = hit_with(moved_at=timezone.now() - EVERY), hit_with()
    saved_claim(saved, ago=timedelta(seconds=1))
    assert moved() == [saved, listed]


@pytest.mark.parametrize(
    ("saved", "synced", "expected"),
    [(10, 11, True), (10, 5, True), (10, 4, False), (100, 50, True), (100, 49, False), (10, None, True)],
)
def test_a_claim_is_looked_at_again_after_as_long_as_the_last_look_was_late(
    saved: int, synced: int | None, expected: bool
) -> None:
    """Seconds ago. One that never comes true costs the less the older it is."""
    now = timezone.now()
    hit = hit_with(synced_at=None if synced is None else now - timedelta(seconds=synced))
    saved_claim(hit, ago=timedelta(seconds=saved))
    assert moved() == ([hit] if expected else [])


def test_one_that_is_missing_is_asked_about_by_the_sweep_alone() -> None:
    hit = hit_with(moved_at=timezone.now(), missing_since=timezone.now())
    assert (due(), moved()) == ([hit], [])
    HIT.objects.update(gone_at=timezone.now())
    assert (due(), moved()) == ([], [])


def test_a_hit_seen_before_the_clock_was_set_back_is_due() -> None:
    now = timezone.now()
    hit_with("Submitted", synced_at=now)
    hit_with("Submitted", synced_at=now + timedelta(seconds=30))  # by another machine, whose clock differs
    assert due() == []
    jumped = hit_with("Submitted", synced_at=now + timedelta(hours=2))
    assert due() == [jumped]
    jumped.assignments.all().delete()
    HIT.objects.filter(pk=jumped.pk).update(moved_at=now)
    assert moved() == [jumped]


def test_a_task_is_claimed_once_for_a_hit_until_it_has_waited_too_long(settings: Any) -> None:
    settings.SYNC_EVERY_SECONDS = 60
    hits = [hit_with(moved_at=timezone.now()) for _ in range(2)]
    pks = [hit.pk for hit in hits]
    assert (sorted(due_work.claim_moved()), due_work.claim_moved()) == (pks, [])
    HIT.objects.filter(pk=pks[0]).update(enqueued_at=timezone.now() - timedelta(seconds=61))
    assert due_work.claim_moved() == pks[:1]
    HIT.objects.filter(pk=pks[1]).update(enqueued_at=timezone.now() + timedelta(hours=1))
    assert due_work.claim_moved() == pks[1:]  # the clock was set back


def clock_at(monkeypatch: pytest.MonkeyPatch, now: datetime) -> None:
    monkeypatch.setattr(due_module, "timezone", SimpleNamespace(now=lambda: now))


def test_what_is_due_is_claimed_by_the_clock_of_each_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker runs for weeks: its statements are compiled at the first sweep, and ask about the last one's time."""
    now, second, found = timezone.now(), timedelta(seconds=1), []
    hit = hit_with("Submitted", synced_at=now)
    for later in (timedelta(), EVERY - second, EVERY):
        clock_at(monkeypatch, now + later)
        found.append(due_work.claim_due(every=EVERY))
    assert found == [[], [], [hit.pk]]


def test_what_rests_is_claimed_by_the_clock_of_each_look(monkeypatch: pytest.MonkeyPatch) -> None:
    now, late, found = timezone.now(), timedelta(seconds=30), []
    hit = hit_with(moved_at=now - late, synced_at=now)
    for later in (timedelta(), late - timedelta(seconds=1), late):
        clock_at(monkeypatch, now + later)
        found.append(due_work.claim_moved())
    assert found == [[], [], [hit.pk]]


def test_two_who_claim_in_the_same_instant_get_each_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    clock_at(monkeypatch, now)
    one, other = hit_with(moved_at=now), hit_with(moved_at=now)
    found = [due_work.claim(HIT.objects.filter(pk=hit.pk)) for hit in (one, other)]
    assert found == [[one.pk], [other.pk]]


def test_however_much_is_due_few_tasks_wait(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SYNC_EVERY_SECONDS = 60
    monkeypatch.setattr(due_module, "MOST_WAITING", 3)
    for _ in range(5):
        hit_with(moved_at=timezone.now())
    first = due_work.claim_moved()
    assert (len(first), due_work.claim_moved()) == (3, [])
    HIT.objects.filter(pk=first[0]).update(enqueued_at=None, moved_at=None)
    assert len(due_work.claim_moved()) == 1


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
    never = hit_with("Submitted", synced_at=None)
    hit_with("Submitted", synced_at=timezone.now())
    assert due() == [never]


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


@pytest.mark.parametrize(
    ("values", "n_told"), [({}, 1), ({"is_simulated": True, "endpoint": "link", "reward": 0}, 0)]
)
def test_who_published_a_batch_is_told_once_that_it_is_complete(values: dict[str, Any], n_told: int) -> None:
    person, batch = User.objects.create(username="ada"), make_batch(make_survey(), name="Pilot", **values)
    Publishing.objects.create(batch=batch, asked_by=person, n_hits=1, total=1, written_at=timezone.now())
    hit = make_hit()
    make_questionnaire(batch, items=[], hit=hit, target_assignments=1)
    make_assignment(hit, status="Approved")
    for _ in range(2):  # opened again, and full again
        assert due_work.finish(batch) is True
        Batch.objects.update(status=Batch.Status.OPEN)
    text = f"{batch} is complete: all its annotations are in, and decided."
    told = [(person.pk, text, batch.get_absolute_url())] * n_told
    assert list(Note.objects.values_list("person", "text", "url")) == told


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


def test_a_planned_place_that_somebody_took_before_it_was_noted_keeps_a_batch_open() -> None:
    """The process that opened it stopped before it could write so: the money for it is still to come until then."""
    hit = hit_with("Rejected", "Approved", "Approved", max_assignments=3)
    planned = Replacement.objects.create(
        replaces=hit.assignments.get(status="Rejected"), questionnaire=hit.questionnaire, opened_by="extend"
    )
    assert (due_work.finish(Batch.objects.get()), due()) == (False, [hit])
    Replacement.objects.filter(pk=planned.pk).update(opened_at=timezone.now())
    assert (due_work.finish(Batch.objects.get()), due()) == (True, [])


def test_a_planned_place_on_a_hit_that_is_gone_is_not_waited_for() -> None:
    hit = hit_with("Rejected", "Approved", "Approved", max_assignments=3)
    rejected = hit.assignments.get(status="Rejected")
    Replacement.objects.create(replaces=rejected, questionnaire=hit.questionnaire, opened_by="extend")
    HIT.objects.filter(pk=hit.pk).update(gone_at=timezone.now())
    assert due_work.finish(Batch.objects.get()) is True


def test_a_place_that_is_planned_in_one_batch_keeps_no_other_open() -> None:
    done = hit_with("Approved", "Approved").questionnaire.batch
    hit = hit_with("Rejected", "Approved", "Approved", max_assignments=3)
    rejected = hit.assignments.get(status="Rejected")
    Replacement.objects.create(replaces=rejected, questionnaire=hit.questionnaire, opened_by="extend")
    assert [due_work.finish(batch) for batch in (done, hit.questionnaire.batch)] == [True, False]


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
