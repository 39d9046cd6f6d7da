"""Whose rows a decision is about, and the first and the last case in which it is taken."""

from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotators.models import HIT, Assignment, Call, Worker
from surveys.answering import allocation
from surveys.answering.orders import History, draw_responses, slots_to_draw
from surveys.models import (
    AnnotationSlot,
    AuditEntry,
    Batch,
    Decision,
    Inclusion,
    PanelVisit,
    Replacement,
    Response,
)
from surveys.protocols.policy import parse
from surveys.protocols.rules import RatedAlike
from surveys.publishing import budget, giving, quota
from surveys.review import (
    analysis_use,
    appeal_notes,
    appeals,
    by_hand,
    decisions,
    delivery,
    due_work,
    panels,
    policy_change,
    progress,
    replacements,
    second_look,
    standing,
)
from surveys.review.decisions import AUTO_APPROVED, late_reason
from surveys.review.errors import CannotDecide
from surveys.review.evidence import evidence_of_batch, evidence_of_worker
from tests.appeals import appealed, replaced
from tests.factories import (
    make_assignment,
    make_batch,
    make_hit,
    make_published,
    make_questionnaire,
    make_survey,
    make_worker,
    open_for,
    submitted,
)
from tests.link_people import answered, make_panel, make_person, run_out, take
from tests.link_people import make_batch as make_link_batch

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("wanted", "reason", "told"),
    [
        ("approve", "", AUTO_APPROVED),
        ("approve", "Good.", AUTO_APPROVED),
        ("reject", "", AUTO_APPROVED),
        ("reject", "Two of five.", f"{AUTO_APPROVED} It was to be rejected: Two of five."),
        ("propose", "Two of five.", f"{AUTO_APPROVED} It was to be rejected: Two of five."),
        ("flag", "Too fast.", f"{AUTO_APPROVED} It waited for a person: Too fast."),
    ],
)
def test_what_would_have_been_decided_is_told_of_what_was_approved_late(wanted, reason, told) -> None:
    assert late_reason(wanted, reason) == told


def told(assignment: Assignment, operation: Call.Operation, state: str) -> Call:
    """A call about an assignment that the marketplace has answered."""
    return Call.objects.create(
        token=f"{operation}:{assignment.pk}",
        operation=operation,
        endpoint="embedded",
        assignment=assignment,
        hit=assignment.hit,
        state=state,
        finished_at=timezone.now(),
        arguments={},
    )


def refused_overturn(assignment: Assignment) -> Call:
    return told(assignment, Call.Operation.OVERTURN, Call.State.REFUSED)


def test_a_refusal_is_told_of_the_work_it_was_about() -> None:
    hit = make_published().hit
    one, other, paid = (make_assignment(hit, status=s) for s in ("Rejected", "Rejected", "Approved"))
    refused = refused_overturn(one)
    refused_overturn(paid)
    assert decisions.overturn_refused(one) == refused
    assert [decisions.overturn_refused(found) for found in (other, paid)] == [None, None]


def test_a_rejection_can_be_overturned_until_thirty_days_after_it_was_handed_in() -> None:
    hit, now = make_published().hit, timezone.now()
    times = [now - timedelta(days=30) + change for change in (timedelta(minutes=1), -timedelta(minutes=1))]
    work = [make_assignment(hit, status="Rejected", accepted_at=at, submitted_at=at) for at in times]
    assert [decisions.can_overturn(one) for one in work] == [True, False]
    assert decisions.can_overturn(make_assignment(hit, status="Submitted")) is False


def test_an_appeal_that_is_granted_uses_answers_only_where_asked(person: User) -> None:
    appeal = appealed(make_published())
    replaced(appeal.assignment)
    appeals.answer_appeal(appeal, outcome="overturned", answer="Our mistake.", by=person)
    assert Inclusion.objects.get().is_included is False


def test_answers_that_were_used_again_can_be_left_out_again(person: User) -> None:
    assignment = submitted(make_published())
    for _ in range(2):
        out = analysis_use.exclude(assignment, by=person, reason="Letters.", replace=False)
        assert out.is_included is False
        assert analysis_use.include(assignment, by=person, reason="They meant it.").is_included is True


def test_only_what_was_skipped_counts_against_as_many_skips_as_are_wanted() -> None:
    questionnaire = make_published()
    questionnaire.target_assignments = 1
    questionnaire.save()
    hit = questionnaire.hit
    thrown_out = [make_assignment(hit, status="Rejected") for _ in range(3)]
    skips = [submitted(questionnaire) for _ in range(2)]
    for one in skips:
        one.responses.filter(position=1).update(skip_reason="text_missing")
    assert set(replacements.to_replace(hit)) == {*thrown_out, skips[0]}


def test_somebody_rejected_alone_is_compared_with_nobody() -> None:
    assignment = submitted(make_published())
    Assignment.objects.filter(pk=assignment.pk).update(status="Rejected", rejected_at=timezone.now())
    found = evidence_of_batch(assignment.hit.questionnaire.batch, kinds={"agreement"})
    assert found[assignment.pk].worker.ratings == ()


def test_a_mean_of_others_is_exact_to_nine_digits() -> None:
    questionnaire = make_published(n_items=1)
    work = [submitted(questionnaire) for _ in range(4)]
    output = Response.objects.filter(assignment=work[0]).get().item.outputs.first()
    for one, score in zip(work, (0.0, 1.0, 0.0, 0.0), strict=True):
        one.responses.get().ratings.filter(output=output, criterion="justifies").update(score=score)
    found = evidence_of_batch(questionnaire.batch, kinds={"agreement"})
    assert RatedAlike(0.0, 0.333333333) in found[work[0].pk].worker.ratings
    assert RatedAlike(1.0, 0.0) in found[work[1].pk].worker.ratings


def test_nothing_is_wanted_of_a_batch_without_questionnaires() -> None:
    batch = make_batch(make_survey())
    assert quota.n_wanted(batch) == 0
    make_questionnaire(batch, items=[], target_assignments=3)
    root = make_questionnaire(batch, items=[], target_assignments=2)
    make_questionnaire(batch, items=[], target_assignments=1, sibling_of=root)
    assert quota.n_wanted(batch) == 5


def test_a_claim_counts_where_it_came_from_and_what_was_handed_in_everywhere() -> None:
    hit, link_hit = make_hit(), make_hit()
    here = make_assignment(hit, claimed_from="10.0.0.1")
    make_assignment(hit, claimed_from="10.0.0.2")
    handed_in = make_assignment(hit, status="Submitted", claimed_from="10.0.0.2")
    by_link = make_assignment(link_hit, channel="link", claimed_from="10.0.0.2")
    counted = Assignment.objects.filter(quota.is_borne_out("10.0.0.1"))
    assert set(counted) == {here, handed_in, by_link}


def test_whoever_may_still_come_back_was_shown_what_they_were_shown() -> None:
    """An hour for the work, and as much again at most: after that nobody can hand it in."""
    questionnaire = make_published(n_items=1)
    batch, now = questionnaire.batch, timezone.now()
    item = questionnaire.slots.get().item
    for minutes in (119, 121):
        one = open_for(questionnaire)
        Assignment.objects.filter(pk=one.pk).update(loaded_at=now - timedelta(minutes=minutes))
    seen = History.of(batch, slots=slots_to_draw(questionnaire), worker=None)
    assert sum(seen.outputs_first[item.pk].values()) == 1


def test_what_was_drawn_once_is_not_drawn_again() -> None:
    questionnaire = make_published()
    assignment = make_assignment(questionnaire.hit)
    assert [len(draw_responses(questionnaire, assignment=assignment)) for _ in range(2)] == [5, 0]


def test_what_is_drawn_depends_on_what_this_worker_was_shown(monkeypatch: Any) -> None:
    asked, of = [], History.of

    def watched(*args: Any, worker: Any, **values: Any) -> History:
        asked.append(worker)
        return of(*args, worker=worker, **values)

    monkeypatch.setattr(History, "of", watched)
    questionnaire, ann = make_published(), make_worker()
    draw_responses(questionnaire, assignment=make_assignment(questionnaire.hit, worker=ann))
    bob = make_assignment(questionnaire.hit)
    draw_responses(questionnaire, assignment=bob, is_newcomer=True)
    assert asked == [ann, None]


def test_a_place_without_anybody_is_given_back_by_nobody() -> None:
    batch = make_link_batch()
    assert quota.release(make_assignment(make_hit())) is None
    assert batch.annotation_slots.count() == 2


@pytest.mark.parametrize(
    ("delay", "warned"),
    [
        (timedelta(days=3), timedelta(hours=6)),
        (timedelta(days=1), timedelta(hours=6)),
        (timedelta(hours=8), timedelta(hours=2)),
    ],
)
def test_a_quarter_of_the_delay_is_urgent_and_six_hours_at_most(delay: timedelta, warned: timedelta) -> None:
    batch, now = Batch(auto_approval_delay=delay), timezone.now()
    assert progress.warning_time(batch) == warned
    times = (now + warned, now + warned + timedelta(microseconds=1), None)
    soon = [progress.is_soon(Assignment(auto_approval_at=at), batch=batch, now=now) for at in times]
    assert soon == [True, False, False]


@pytest.mark.parametrize(
    ("size", "target", "n_extended", "to_come", "has_room"),
    [
        (8, 5, 3, 0, True),
        (8, 5, 3, 1, False),
        (9, 5, 4, 0, False),
        (9, 5, 3, 0, True),
        (9, 9, 0, 0, False),
        (12, 10, 2, 3, True),
    ],
)
def test_a_hit_of_fewer_than_ten_grows_to_nine(size, target, n_extended, to_come, has_room) -> None:
    terms = {"target_assignments": target, "n_extended": n_extended, "to_come": to_come}
    member = SimpleNamespace(hit=SimpleNamespace(max_assignments=size), **terms)
    assert replacements._has_room(member) is has_room


@pytest.mark.parametrize(
    ("n_approved", "n_skipped", "fills"),
    [(3, 0, True), (2, 0, False), (3, 1, False), (4, 1, True), (6, 3, True), (6, 4, True), (5, 3, False)],
)
def test_as_many_skips_as_are_wanted_fill_no_place(n_approved: int, n_skipped: int, fills: bool) -> None:
    assert due_work._fills(n_approved, n_skipped, target=3) is fills


def test_locks_let_others_write_rows_that_name_the_row() -> None:
    """FOR UPDATE would stop whoever inserts an assignment of a locked worker, or a response of a locked batch."""
    if not connection.features.has_select_for_no_key_update:
        return
    batch, worker = make_link_batch(), make_person()
    slot = AnnotationSlot.objects.filter(batch=batch).order_by("number")[0]
    assignment = submitted(make_published())
    decisions.record_decision(assignment, batch=assignment.hit.questionnaire.batch)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        budget.lock(batch.pk)
        decisions.lock_undecided(assignment)
        delivery._to_tell(assignment)
        allocation._lock(worker)
        allocation.LOCKED.get(pk=slot.questionnaire_id)
        policy_change._judged_again(
            Decision(pk=0, assignment=assignment), None, assignment.hit.questionnaire.batch
        )
        giving.lock_free(AnnotationSlot.objects.filter(pk=slot.pk))
    endings = [
        query["sql"].split("LIMIT")[-1].split(" FOR ")[-1] for query in asked if " FOR " in query["sql"]
    ]
    assert [ending.split(" OF ")[0] for ending in endings] == ["NO KEY UPDATE"] * 8
    assert endings[-1].endswith("SKIP LOCKED")


def test_a_lease_is_renewed_as_long_as_the_place_is_ones_own() -> None:
    batch, ann = make_link_batch(n_items=1), make_person()
    mine = take(batch, ann)
    assert quota.keep(mine, batch=batch) is True
    run_out(mine)
    take(batch, make_person())
    assert quota.keep(mine, batch=batch) is False
    published = make_published()
    assert quota.keep(make_assignment(published.hit), batch=published.batch) is False


def test_only_a_claim_without_a_word_holds_its_place_against_nobody() -> None:
    batch = make_link_batch(n_items=5, endpoint="embedded", reward=Decimal("0.10"))
    kinds = [
        {},
        {"saved_at": timezone.now()},
        {"status": "Submitted"},
        {"channel": "link"},
        {"worker": make_worker("ADRAFT")},
    ]
    slots = list(AnnotationSlot.objects.filter(batch=batch).order_by("number"))
    for slot, values in zip(slots, kinds, strict=True):
        slot.assignment = make_assignment(slot.questionnaire.hit, **values)
        slot.leased_until = timezone.now()
        slot.save()
    drawn = draw_responses(slots[4].questionnaire, assignment=slots[4].assignment)
    Response.objects.filter(pk=drawn[0].pk).update(draft_version=1)
    assert list(AnnotationSlot.objects.filter(quota.UNTOUCHED)) == slots[:1]


def test_the_page_was_opened_by_whom_a_browser_or_a_claim_tells() -> None:
    questionnaire = make_published()
    silent = make_assignment(questionnaire.hit)
    told = make_assignment(questionnaire.hit, user_agent="Firefox")
    claimed, confirmed = (open_for(questionnaire) for _ in range(2))
    Assignment.objects.filter(pk__in=[claimed.pk, confirmed.pk]).update(user_agent="")
    confirmed.responses.update(is_claim=False)
    found = [Assignment.objects.get(pk=one.pk) for one in (silent, told, claimed, confirmed)]
    assert [second_look._was_opened(one) for one in found] == [False, True, True, False]


def test_a_share_is_of_what_the_worker_handed_in_before_in_this_batch(monkeypatch: Any) -> None:
    questionnaire, now = make_published(), timezone.now()
    batch, ann = questionnaire.batch, make_worker()
    monkeypatch.setattr(quota, "cap_of", lambda _: 1)

    def hit_of(in_batch: Batch) -> Any:
        return make_questionnaire(in_batch, items=[], hit=make_hit()).hit

    def over(**earlier: Any) -> bool:
        terms = {"status": "Submitted", "worker": ann, "submitted_at": now - timedelta(minutes=1), **earlier}
        one = make_assignment(terms.pop("hit", None) or hit_of(batch), **terms)
        try:
            return second_look._is_over_share(looked_at, batch)
        finally:
            one.delete()

    looked_at = make_assignment(questionnaire.hit, status="Submitted", worker=ann, submitted_at=now)
    assert second_look._is_over_share(looked_at, batch) is False
    assert over() is True
    twice = make_assignment(
        hit_of(batch), status="Submitted", worker=ann, submitted_at=now - timedelta(minutes=2)
    )
    assert [over(), second_look._is_over_share(looked_at, batch)] == [True, True]
    twice.delete()
    assert over(submitted_at=now + timedelta(minutes=1)) is False
    assert over(submitted_at=now) is False
    assert over(worker=make_worker()) is False
    assert over(hit=hit_of(make_batch(make_survey()))) is False
    monkeypatch.setattr(quota, "cap_of", lambda _: None)
    assert over() is False


def test_what_the_budget_does_not_cover_is_left_out_without_being_replaced(monkeypatch: Any) -> None:
    assignment, leave_out = submitted(make_published()), second_look.leave_out

    def covered(*args: Any, replace: bool, **values: Any) -> Inclusion:
        if replace:
            raise budget.OverBudget("It could cost $1.44.")
        return leave_out(*args, replace=replace, **values)

    monkeypatch.setattr(second_look, "leave_out", covered)
    found = second_look._left_out(assignment, reason="Seen.", replace=True)
    assert (found.is_included, found.is_replaced, found.reason) == (False, False, "Seen.")


def test_what_was_saved_without_an_answer_is_incomplete_to_both() -> None:
    questionnaire = make_published()
    empty = make_assignment(questionnaire.hit, status="Submitted", saved_at=timezone.now())
    unsaved = make_assignment(questionnaire.hit, status="Submitted")
    batch = questionnaire.batch
    found = decisions.decide_all(batch, policy=parse(batch.review_policy))
    assert found == {one.pk: decisions.INCOMPLETE for one in (empty, unsaved)}
    assert [decisions.decide(one, batch=batch) for one in (empty, unsaved)] == [decisions.INCOMPLETE] * 2


def test_the_second_answer_to_an_item_counts_for_nobody() -> None:
    questionnaire = make_published(n_items=1)
    one, other = (submitted(questionnaire) for _ in range(2))
    again = other.responses.get()
    again.pk, again.is_repeat, again.position, again.is_correct = None, True, 2, False
    again.save()
    found = evidence_of_batch(questionnaire.batch, kinds={"difficulty_adjusted"})
    record = found[one.pk].worker
    assert (record.n_others_graded, record.n_others_right) == (1, 1)
    assert [(answer.n_others, answer.n_others_right) for answer in record.answers] == [(1, 1)]


def test_a_decision_that_changed_meanwhile_is_not_overwritten(monkeypatch: Any, person: User) -> None:
    assignment = submitted(make_published(rejects_automatically=False), n_correct=1)
    decisions.record_decision(assignment, batch=assignment.hit.questionnaire.batch)

    def read(*, assignment: Assignment) -> Decision:
        before = Decision.objects.filter(assignment=assignment).get()
        Decision.objects.filter(pk=before.pk).update(verdict="reject", reason="Letters.")
        return before

    monkeypatch.setattr(Decision.objects, "get", read)
    delivery._accept(assignment)
    monkeypatch.undo()
    found = Decision.objects.get()
    assert (found.verdict, found.reason, found.is_auto_approved) == ("reject", "Letters.", False)


def test_all_that_a_watched_worker_did_waits_for_a_person() -> None:
    questionnaire = make_published()
    seen, other = (submitted(questionnaire) for _ in range(2))
    Worker.objects.filter(pk=seen.worker_id).update(standing=Worker.Standing.WATCH)
    batch = questionnaire.batch
    found = decisions.decide_all(batch, policy=parse(batch.review_policy))
    assert {pk: said.verdict for pk, said in found.items()} == {seen.pk: "flag", other.pk: "approve"}
    assert found[seen.pk] == decisions.decide(Assignment.objects.get(pk=seen.pk), batch=batch)


@pytest.mark.parametrize("status", ["Accepted", "Approved", "Rejected"])
def test_the_marketplace_is_told_of_what_waits_there(status: str) -> None:
    assignment = make_assignment(make_published().hit, status=status)
    Decision.objects.create(assignment=assignment, verdict="approve", decided_at=timezone.now())
    assert delivery._to_tell(assignment) is None


def test_as_many_tasks_wait_as_there_may_be_at_most(monkeypatch: Any) -> None:
    monkeypatch.setattr(due_work, "MOST_WAITING", 2)
    hits, now = [make_hit() for _ in range(4)], timezone.now()
    wanted = HIT.objects.order_by("pk")
    assert due_work.claim(wanted) == [hit.pk for hit in hits[:2]]
    assert due_work.claim(wanted) == []
    HIT.objects.update(enqueued_at=now)
    HIT.objects.filter(pk=hits[3].pk).update(enqueued_at=None)
    assert due_work.claim(wanted) == []


def test_a_visit_ends_with_what_was_handed_in_and_not_with_what_was_begun() -> None:
    batch, ann = make_link_batch(n_items=3), make_person(source="panel")
    panel = make_panel(batch, assignments_per_worker=2)
    PanelVisit.objects.create(panel=panel, worker=ann)
    first = answered(take(batch, ann, channel="panel"))
    second = take(batch, ann, channel="panel")
    allocation.settle(first)
    assert PanelVisit.objects.get().completed_at is None
    answered(second)
    assert PanelVisit.objects.get().completed_at is not None


def test_an_assignment_on_a_sibling_takes_no_room_on_the_first_hit() -> None:
    questionnaire = make_published(hit=make_hit(max_assignments=8))
    questionnaire.target_assignments = 8
    questionnaire.save()
    planned = Replacement.objects.create(
        replaces=make_assignment(questionnaire.hit, status="Rejected"),
        questionnaire=questionnaire,
        opened_by=Replacement.OpenedBy.CREATE,
    )
    assert replacements._roomy(questionnaire) == questionnaire
    planned.opened_by = Replacement.OpenedBy.EXTEND
    planned.save()
    assert replacements._roomy(questionnaire) is None
    planned.opened_at = timezone.now()
    planned.save()
    HIT.objects.update(max_assignments=9)
    assert replacements._roomy(questionnaire) is None


def test_evidence_is_of_what_was_handed_in() -> None:
    questionnaire = make_published()
    handed_in = [submitted(questionnaire) for _ in range(3)]
    for one, status in zip(handed_in, ("Submitted", "Approved", "Rejected"), strict=True):
        times = {"Approved": "approved_at", "Rejected": "rejected_at"}
        values = {times[status]: timezone.now()} if status in times else {}
        Assignment.objects.filter(pk=one.pk).update(status=status, **values)
    open_for(questionnaire)
    make_assignment(questionnaire.hit, saved_at=timezone.now())
    assert list(evidence_of_batch(questionnaire.batch)) == [one.pk for one in handed_in]


def test_the_door_is_closed_to_the_excluded_who_did_not_open_it_before() -> None:
    questionnaire = make_published()
    silent = make_assignment(questionnaire.hit, status="Submitted")
    told = make_assignment(questionnaire.hit, status="Submitted", user_agent="Firefox")
    assert [second_look._why_not(one) for one in (silent, told)] == ["", ""]
    for one in (silent, told):
        one.worker.standing = Worker.Standing.EXCLUDED
    assert [second_look._why_not(one) for one in (silent, told)] == [second_look.EXCLUDED, ""]


@pytest.mark.parametrize(("every", "seconds"), [(1, 5), (12, 60), (13, 60)])
def test_a_task_waits_for_five_rounds_and_a_minute_at_most(settings: Any, every: int, seconds: int) -> None:
    settings.SYNC_EVERY_SECONDS = every
    assert due_work.waits_at_most() == timedelta(seconds=seconds)


def test_what_came_by_link_and_was_saved_is_still_to_be_handed_in() -> None:
    hit, saved = make_hit(), {"channel": "link", "saved_at": timezone.now()}
    unsettled = make_assignment(hit, **saved)
    make_assignment(hit, channel="link")
    make_assignment(hit, status="Submitted", **saved)
    make_assignment(hit, saved_at=timezone.now())
    assert list(due_work.unsettled()) == [unsettled]


def test_a_place_that_is_only_claimed_is_given_last() -> None:
    batch = make_link_batch(endpoint="embedded", reward=Decimal("0.10"))
    first, second = AnnotationSlot.objects.filter(batch=batch).order_by("number")
    first.assignment = make_assignment(first.questionnaire.hit)
    first.leased_until = timezone.now() + timedelta(hours=1)
    first.save()
    assert list(giving.free_slots(batch, worker=make_person())) == [second, first]


@pytest.mark.parametrize(
    ("decide", "states"),
    [(decisions.approve, ["planned", "refused"]), (decisions.reject, ["refused", "planned"])],
)
def test_who_decides_again_has_nothing_else_sent_again(decide: Any, states: list[str], person: User) -> None:
    """An approval that was refused stays refused when the work is rejected."""
    assignment = submitted(make_published())
    calls = [
        Call.objects.create(
            token=f"{operation}:1",
            operation=operation,
            endpoint="embedded",
            assignment=assignment,
            hit=assignment.hit,
            state=Call.State.REFUSED,
            finished_at=timezone.now(),
            arguments={},
        )
        for operation in (Call.Operation.APPROVE, Call.Operation.REJECT)
    ]
    decide(assignment, by=person, reason="Letters.")
    assert [Call.objects.get(pk=call.pk).state for call in calls] == states


def test_what_is_not_as_decided_is_to_be_carried_out() -> None:
    hit, now = make_published().hit, timezone.now()
    cases = {}
    for status in ("Accepted", "Submitted", "Approved", "Rejected"):
        for verdict in ("approve", "reject", "propose", "flag"):
            for is_overturned in (False, True):
                one = make_assignment(hit, status=status)
                told = {"overturned_at": now, "overturn_reason": "Ours."} if is_overturned else {}
                Decision.objects.create(
                    assignment=one, verdict=verdict, reason="Letters.", decided_at=now, **told
                )
                cases[one] = (status, verdict, is_overturned)
        make_assignment(hit, status=status)
    assert {cases[one] for one in due_work.to_carry_out(hit)} == {
        *(("Submitted", verdict, either) for verdict in ("approve", "reject") for either in (False, True)),
        *(("Approved", verdict, False) for verdict in ("reject", "propose", "flag")),
        *(("Rejected", verdict, True) for verdict in ("approve", "reject", "propose", "flag")),
    }


def test_only_what_is_graded_counts_for_and_against_others() -> None:
    questionnaire = make_published(n_items=2)
    one, skipped, wrong = (submitted(questionnaire) for _ in range(3))
    item = questionnaire.slots.all()[0].item
    skipped.responses.filter(item=item).update(is_correct=None)
    wrong.responses.filter(item=item).update(is_correct=False)
    found = evidence_of_batch(questionnaire.batch, kinds={"difficulty_adjusted"})
    records = [found[work.pk].worker for work in (one, skipped, wrong)]
    assert [(record.n_others_graded, record.n_others_right) for record in records] == [(3, 2), (4, 3), (3, 3)]
    assert [{(a.is_correct, a.n_others_right, a.n_others) for a in record.answers} for record in records] == [
        {(True, 0, 1), (True, 2, 2)},
        {(True, 2, 2)},
        {(False, 1, 1), (True, 2, 2)},
    ]
    alone = evidence_of_worker(questionnaire.batch, worker=one.worker_id, kinds={"difficulty_adjusted"})
    assert alone == {one.pk: found[one.pk]}


def test_who_comes_by_link_has_answered_once_it_is_saved() -> None:
    batch = make_link_batch(n_items=5, endpoint="embedded", reward=Decimal("0.10"))
    kinds = [
        {"channel": "link"},
        {},
        {"saved_at": timezone.now()},
        {"channel": "link", "saved_at": timezone.now()},
        {"channel": "link", "status": "Submitted"},
    ]
    slots = list(AnnotationSlot.objects.filter(batch=batch).order_by("number"))
    for slot, values in zip(slots, kinds, strict=True):
        slot.assignment = make_assignment(slot.questionnaire.hit, **values)
        slot.leased_until = timezone.now()
        slot.save()
    assert list(AnnotationSlot.objects.filter(quota.UNANSWERED).order_by("number")) == slots[:3]


def test_half_took_longer_than_the_median_of_those_who_were_measured() -> None:
    questionnaire = make_published(n_items=2)
    works = [submitted(questionnaire) for _ in range(6)]

    def median_of(*seconds: tuple[float, float]) -> list[float | None]:
        for work, (first, second) in zip(works, seconds, strict=False):
            work.responses.filter(position=1).update(active_seconds=first)
            work.responses.filter(position=2).update(active_seconds=second)
        found = evidence_of_batch(questionnaire.batch, kinds={"too_fast"})
        return list({evidence.median_seconds for evidence in found.values()})

    Assignment.objects.filter(pk=works[5].pk).update(status="Rejected", rejected_at=timezone.now())
    assert median_of((0.5, 0.25), (0, 1), (2, 2), (3, 3), (4, 4), (9, 9)) == [4.0]
    works[5].responses.all().delete()  # whose answers never reached us: all of the work, as far as we know
    assert median_of() == [4.0]
    assert median_of((0, 0)) == [None]
    assert evidence_of_batch(questionnaire.batch, kinds={"agreement"})[works[0].pk].median_seconds is None


def test_places_are_numbered_round_by_round() -> None:
    batch = make_batch(make_survey())
    few, many = (make_questionnaire(batch, items=[], target_assignments=n) for n in (1, 3))
    make_questionnaire(batch, items=[], target_assignments=2, sibling_of=few)
    assert quota.write_slots(batch) == 4
    found = AnnotationSlot.objects.order_by("number").values_list("number", "questionnaire", "replicate")
    assert list(found) == [(1, few.pk, 1), (2, many.pk, 1), (3, many.pk, 2), (4, many.pk, 3)]
    assert quota.write_slots(make_batch(make_survey())) == 0


def test_only_what_somebody_skipped_themselves_is_told_as_skipped() -> None:
    batch, ann, bob = make_link_batch(n_items=2, copies=2), make_person(), make_person()
    for person in (ann, bob):
        answered(take(batch, person))
        answered(take(batch, person))
    Response.objects.filter(worker=ann, assignment__annotation_slot__number=1).update(skip_reason="blank")
    told = [[(one.number, one.state) for one in allocation.own(batch, worker=by)] for by in (ann, bob)]
    assert told == [[(1, "skipped"), (2, "answered")], [(3, "answered"), (4, "answered")]]


def test_a_batch_is_running_while_it_is_open_itself() -> None:
    stopped, batch = (make_batch(make_survey()) for _ in range(2))
    Batch.objects.filter(pk=stopped.pk).update(status=Batch.Status.STOPPED)
    assert [replacements._is_running(one.pk) for one in (stopped, batch)] == [False, True]


def test_what_is_begun_by_link_is_open_until_it_is_saved() -> None:
    batch, ann = make_link_batch(n_items=5, endpoint="embedded", reward=Decimal("0.10")), make_person()
    slots = list(AnnotationSlot.objects.filter(batch=batch).order_by("number"))
    kinds = [
        {"saved_at": timezone.now()},
        {"status": "Submitted"},
        {"worker": make_person()},
        {"channel": "marketplace"},
        {},
    ]
    for slot, values in zip(slots, kinds, strict=True):
        terms = {"channel": "link", "worker": ann, **values}
        slot.assignment = make_assignment(slot.questionnaire.hit, **terms)
        slot.leased_until = timezone.now()
        slot.save()
    assert allocation._open_one(batch, ann) == slots[4].assignment
    assert allocation._open_one(make_link_batch(), ann) is None


def test_one_replacement_that_opened_opens_no_other(monkeypatch: Any) -> None:
    questionnaire = make_published()
    planned = [
        Replacement.objects.create(
            replaces=make_assignment(questionnaire.hit, status="Rejected"),
            questionnaire=questionnaire,
            opened_by=Replacement.OpenedBy.EXTEND,
        )
        for _ in range(2)
    ]
    monkeypatch.setattr(replacements, "_is_open", lambda replacement, *, gateway: True)
    opened = replacements.replace(planned[0].replaces, questionnaire=questionnaire, gateway=None)
    assert opened == planned[0]
    assert opened.opened_at is not None
    assert Replacement.objects.get(pk=planned[1].pk).opened_at is None
    again = replacements.replace(planned[0].replaces, questionnaire=questionnaire, gateway=None)
    assert again.opened_at == opened.opened_at


def test_values_without_a_score_are_no_scores() -> None:
    questionnaire = make_published(n_items=1)
    one, other = (submitted(questionnaire) for _ in range(2))
    seen = evidence_of_batch(questionnaire.batch, kinds={"straight_lining"})[one.pk].scores
    rating = one.responses.get().ratings.filter(criterion="justifies").order_by("pk")[0]
    type(rating).objects.filter(pk=rating.pk).update(score=None)
    found = evidence_of_batch(questionnaire.batch, kinds={"straight_lining"})
    assert (len(found[one.pk].scores), None in found[one.pk].scores) == (len(seen) - 1, False)
    assert len(found[other.pk].scores) == len(seen)


def test_rules_about_others_are_judged_beside_the_answers_right() -> None:
    rules = [
        {"kind": "minimum_correct", "minimum": 1, "out_of": 5, "rejects_alone": True},
        {"kind": "too_fast"},
    ]
    questionnaire = make_published(review_policy={"rules": rules, "reject_at": 2})
    assignment = submitted(questionnaire)
    assignment.responses.update(active_seconds=0.01)
    judged = decisions.decide(assignment, batch=questionnaire.batch)
    assert (judged.verdict, [flag.kind for flag in judged.flags]) == ("flag", ["too_fast"])
    found = decisions.decide_all(questionnaire.batch, policy=parse(questionnaire.batch.review_policy))
    assert found == {assignment.pk: judged}


def test_a_place_that_is_open_again_is_given_again_once_somebody_has_it() -> None:
    batch = make_link_batch()
    one, other = (answered(take(batch, make_person())) for _ in range(2))
    Assignment.objects.update(status="Rejected", rejected_at=timezone.now())
    for assignment in (one, other):
        assert quota.reopen(assignment) is not None
    assert list(Assignment.objects.filter(quota.GIVEN_AGAIN)) == []
    taken = take(batch, make_person())
    assert taken.annotation_slot.reopens is not None
    assert list(Assignment.objects.filter(quota.GIVEN_AGAIN)) == [taken.annotation_slot.reopens.assignment]


def test_what_is_asked_again_was_not_shown_once_more() -> None:
    questionnaire = make_published(n_items=1)
    one = submitted(questionnaire)
    item = questionnaire.slots.get().item
    again = one.responses.get()
    again.pk, again.is_repeat, again.position = None, True, 2
    again.save()
    seen = History.of(questionnaire.batch, slots=slots_to_draw(questionnaire), worker=one.worker)
    assert sum(seen.outputs_first[item.pk].values()) == sum(seen.systems_first.values()) == 1


def test_items_were_seen_where_it_is_known_and_elsewhere_in_the_batch() -> None:
    first, second = make_published(n_items=1), make_published(n_items=1)
    seen, batch = submitted(first), first.batch
    seen.responses.update(is_claim=False)
    again = make_questionnaire(batch, items=[slot.item for slot in first.slots.all()], hit=make_hit())
    other = make_assignment(again.hit, worker=seen.worker, status="Submitted")
    stranger = make_assignment(again.hit, status="Submitted")
    elsewhere = make_assignment(second.hit, worker=seen.worker, status="Submitted")
    has_seen = [second_look._has_seen(one, batch) for one in (other, stranger, elsewhere, seen)]
    assert has_seen == [True, False, False, False]
    assert second_look._has_seen(other, second.batch) is False
    seen.responses.update(is_claim=True)
    assert second_look._has_seen(other, batch) is False


def test_ratings_of_another_batch_are_none_of_this_ones_others() -> None:
    questionnaire = make_published(n_items=1)
    one, other = (submitted(questionnaire) for _ in range(2))
    items = [slot.item for slot in questionnaire.slots.all()]
    before = evidence_of_batch(questionnaire.batch, kinds={"agreement", "difficulty_adjusted"})
    pilot = make_batch(questionnaire.batch.survey)
    submitted(make_questionnaire(pilot, items=items, hit=make_hit()))
    after = evidence_of_batch(questionnaire.batch, kinds={"agreement", "difficulty_adjusted"})
    assert before == after
    assert [len(after[work.pk].worker.ratings) for work in (one, other)] == [2, 2]


def test_what_was_rejected_for_us_first_was_not_approved_too_early() -> None:
    hit, now = make_published().hit, timezone.now()
    told, untold, by_link = (make_assignment(hit, status="Approved") for _ in range(3))
    for one in (told, untold, by_link):
        Decision.objects.create(assignment=one, verdict="reject", reason="Letters.", decided_at=now)
    Assignment.objects.filter(pk=by_link.pk).update(channel="link")
    rejection = refused_overturn(told)
    values = {"operation": Call.Operation.REJECT, "state": Call.State.DONE}
    Call.objects.filter(pk=rejection.pk).update(**values)
    assert list(delivery.approved_late()) == [untold]
    Call.objects.filter(pk=rejection.pk).update(state=Call.State.REFUSED)
    assert set(delivery.approved_late()) == {told, untold}


def test_only_a_place_that_somebody_has_can_be_answered_late() -> None:
    batch = make_link_batch(n_items=1)
    slot = take(batch, make_person()).annotation_slot
    AnnotationSlot.objects.create(
        batch=batch, questionnaire=slot.questionnaire, number=2, replicate=1, reopens=slot
    )
    AnnotationSlot.objects.filter(pk=slot.pk).update(assignment=None, leased_until=None)
    assert quota.room(slot.questionnaire) == quota.Room(n_free=1, n_late=0)


@pytest.mark.parametrize("status", ["Submitted", "Approved", "Rejected"])
@pytest.mark.parametrize(
    ("verdict", "is_overturned", "is_against"),
    [
        (None, False, False),
        ("approve", False, False),
        ("flag", False, False),
        ("propose", False, True),
        ("reject", False, True),
        ("reject", True, False),
    ],
)
def test_work_that_was_rejected_or_is_to_be_speaks_against_its_worker(
    status, verdict, is_overturned, is_against
) -> None:
    questionnaire = make_published()
    work = submitted(questionnaire)
    times = {"approved_at": "Approved", "rejected_at": "Rejected"}
    now = {name: timezone.now() for name, of in times.items() if of == status}
    Assignment.objects.filter(pk=work.pk).update(status=status, **now)
    if verdict:
        told = {"overturned_at": timezone.now(), "overturn_reason": "Ours."} if is_overturned else {}
        Decision.objects.create(
            assignment=work, verdict=verdict, reason="Letters.", decided_at=timezone.now(), **told
        )
    found = panels._is_against(Assignment.objects.get(pk=work.pk), SimpleNamespace(batch=questionnaire.batch))
    assert found is (is_against or status == "Rejected")


def test_a_batch_is_filled_once_each_questionnaire_has_what_it_wants() -> None:
    batch = make_batch(make_survey())
    one, other = (make_questionnaire(batch, items=[], hit=make_hit(), target_assignments=1) for _ in range(2))
    assert due_work._is_filled(batch) is False
    make_assignment(one.hit, status="Approved")
    make_assignment(other.hit, status="Rejected")
    assert due_work._is_filled(batch) is False
    make_assignment(
        make_questionnaire(batch, items=[], hit=make_hit(), sibling_of=other).hit, status="Approved"
    )
    assert due_work._is_filled(batch) is True
    undecided = make_assignment(one.hit, status="Submitted")
    assert due_work._is_filled(batch) is False
    HIT.objects.filter(pk=undecided.hit_id).update(gone_at=timezone.now())
    assert due_work._is_filled(batch) is True


def test_an_item_that_only_the_rejected_answered_says_nothing_of_them() -> None:
    assignment = submitted(make_published())
    Assignment.objects.filter(pk=assignment.pk).update(status="Rejected", rejected_at=timezone.now())
    batch = assignment.hit.questionnaire.batch
    record = evidence_of_batch(batch, kinds={"difficulty_adjusted"})[assignment.pk].worker
    assert (record.answers, record.n_others_graded, record.n_others_right) == ((), 0, 0)


def decided(assignment: Assignment, verdict: str, **values: Any) -> Decision:
    terms = {"verdict": verdict, "reason": "Letters.", "decided_at": timezone.now(), **values}
    return Decision.objects.create(assignment=assignment, **terms)


def test_only_an_overturning_that_was_refused_is_told_as_refused() -> None:
    work = make_assignment(make_published().hit, status="Rejected")
    told(work, Call.Operation.REJECT, Call.State.REFUSED)
    assert decisions.overturn_refused(work) is None


def test_only_a_decision_that_was_overturned_counts_as_taken_back(person: User) -> None:
    work = make_assignment(make_published().hit, status="Approved")
    decided(work, "approve")
    with pytest.raises(CannotDecide, match="Only a rejected assignment"):
        decisions.overturn(work, by=person, reason="Our mistake.", use_answers=True)


def test_only_ones_own_batch_and_calls_make_a_decision_outdated() -> None:
    one, other = make_published(), make_published()
    mine, waits = (make_assignment(one.hit, status="Submitted") for _ in range(2))
    elsewhere = make_assignment(other.hit, status="Submitted")
    found = [decided(work, "approve", rule_version="0") for work in (mine, waits, elsewhere)]
    told(waits, Call.Operation.APPROVE, Call.State.DONE)
    told(elsewhere, Call.Operation.BONUS, Call.State.DONE)
    assert list(decisions.outdated(one.batch)) == found[:1]
    assert list(decisions.outdated(other.batch)) == found[2:]


def test_a_rejection_that_was_carried_out_was_not_approved_before_we_decided() -> None:
    hit = make_published().hit
    untold, carried_out, of_another_call = (make_assignment(hit, status="Approved") for _ in range(3))
    for work in (untold, carried_out, of_another_call):
        decided(work, "reject")
    Assignment.objects.filter(pk=carried_out.pk).update(rejected_at=timezone.now())
    told(of_another_call, Call.Operation.APPROVE, Call.State.DONE)
    assert set(delivery.approved_late()) == {untold, of_another_call}


def test_what_the_marketplace_made_of_one_decision_is_accepted_of_no_other() -> None:
    hit = make_published().hit
    mine, other = (make_assignment(hit, status="Approved") for _ in range(2))
    for work in (mine, other):
        decided(work, "propose")
    delivery._accept(mine)
    assert dict(Decision.objects.values_list("assignment", "verdict")) == {
        mine.pk: "approve",
        other.pk: "propose",
    }
    written = AuditEntry.objects.order_by("pk").values_list("outcome", "assignment")
    assert list(written) == [("approve", mine.pk), ("exclude", mine.pk)]


def test_an_overturned_decision_is_not_made_an_approval() -> None:
    work = make_assignment(make_published().hit, status="Approved")
    decided(work, "reject", overturned_at=timezone.now(), overturn_reason="Our mistake.")
    delivery._accept(work)
    assert Decision.objects.get().verdict == "reject"


def test_whom_nobody_holds_is_not_let_go_with_another(person: User) -> None:
    questionnaire = make_published()
    held, free = (submitted(questionnaire, n_correct=0) for _ in range(2))
    decisions.hold(held, by=person, reason="Odd.")
    decisions.record_decision(free, batch=questionnaire.batch)
    with pytest.raises(CannotDecide, match="Nobody holds this assignment"):
        by_hand.release(free, by=person)
    assert by_hand.release(held, by=person).decided_by is None


def test_what_a_rule_decided_is_not_undone(person: User) -> None:
    questionnaire = make_published()
    work = submitted(questionnaire)
    before = decisions.record_decision(work, batch=questionnaire.batch)
    by_hand.undo(work, by=person)
    assert Decision.objects.get().decided_at == before.decided_at
    assert list(AuditEntry.objects.values_list("outcome", flat=True)) == ["approve"]


def test_of_two_who_tell_of_an_appeal_one_does_and_of_no_other_appeal() -> None:
    questionnaire = make_published()
    one, other = appealed(questionnaire), appealed(questionnaire)
    news = one.Told.RECEIVED
    assert [appeal_notes._noted(one, before=[""], now=news) for _ in range(2)] == [True, False]
    other.refresh_from_db()
    assert other.told == ""


def test_answers_that_are_used_again_can_be_left_out_as_used(person: User) -> None:
    work = submitted(make_published())
    analysis_use.exclude(work, by=person, reason="Letters.", replace=False)
    with pytest.raises(CannotDecide, match="left out already"):
        analysis_use.exclude_used(work, by=person, reason="Letters.", replace=False)
    analysis_use.include(work, by=person, reason="They meant it.")
    out = analysis_use.exclude_used(work, by=person, reason="No, letters.", replace=False)
    assert (out.is_included, out.reason) == (False, "No, letters.")


@pytest.mark.parametrize(
    ("was", "to"), [("ok", "watch"), ("watch", "ok"), ("watch", "excluded"), ("excluded", "ok")]
)
def test_each_change_of_standing_is_written_down(was: str, to: str, person: User) -> None:
    worker = make_worker(standing=was)
    assert standing.change_standing(worker, to=to, was=was, reason="So.", by=person) is True
    assert list(AuditEntry.objects.values_list("outcome", "details")) == [(to, {"was": was})]
