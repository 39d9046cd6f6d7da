from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from django.utils import timezone

from annotators import market
from annotators.gateway import Gateway
from annotators.mirror import fetch
from annotators.models import HIT, Assignment, Call
from marketplace import models as marketplace
from surveys import publishing, review
from surveys.collecting import task_answers
from surveys.models import Batch, Decision, Questionnaire, Replacement
from surveys.presenting import CannotServe
from surveys.review import CannotDecide
from tests.factories import (
    answer,
    make_assignment,
    make_batch,
    make_draft,
    make_hit,
    make_published,
    make_questionnaire,
    make_survey,
    open_for,
    submitted,
)
from tests.market_site import Site

pytestmark = pytest.mark.django_db
FLAG_ONLY = {"kind": "flag_only", "minimum": 3, "out_of": 5}
REASON = "You answered 2 of 5 questions correctly; at least 3 are needed."


def decided(questionnaire: Questionnaire, assignment: Assignment) -> tuple[Any, ...]:
    decision = review.record_decision(assignment, batch=questionnaire.batch)
    return decision.verdict, decision.reason, decision.n_correct, decision.n_graded


# -- Deciding -----------------------------------------------------------------------------------------------


def test_two_of_five_is_rejected_and_three_approved() -> None:
    questionnaire = make_published()
    assert decided(questionnaire, submitted(questionnaire, n_correct=2)) == ("reject", REASON, 2, 5)
    assert decided(questionnaire, submitted(questionnaire, n_correct=3)) == ("approve", "", 3, 5)
    rejected = Decision.objects.get(verdict="reject")
    assert rejected.policy == {"kind": "minimum_correct", "minimum": 3, "out_of": 5}
    assert (rejected.decided_by, rejected.overturned_at) == (None, None)


def test_never_and_flag_only() -> None:
    kind = make_published(review_policy={"kind": "never"})
    assert decided(kind, submitted(kind, n_correct=0)) == ("approve", "", 0, 5)
    wary = make_published(review_policy=FLAG_ONLY)
    assert decided(wary, submitted(wary, n_correct=2)) == ("flag", REASON, 2, 5)
    assert decided(wary, submitted(wary, n_correct=3)) == ("approve", "", 3, 5)


def test_work_without_our_answers_waits_for_a_person() -> None:
    questionnaire = make_published()
    assert questionnaire.hit is not None
    never_seen = make_assignment(questionnaire.hit, status="Submitted")
    expected = ("flag", "We have no complete answers for this assignment.", None, None)
    assert decided(questionnaire, never_seen) == expected
    only_opened = open_for(questionnaire)
    Assignment.objects.filter(pk=only_opened.pk).update(status="Submitted", submitted_at=timezone.now())
    only_opened.refresh_from_db()
    assert decided(questionnaire, only_opened) == expected


def test_a_decision_is_recorded_once() -> None:
    questionnaire = make_published()
    assignment = submitted(questionnaire, n_correct=2)
    first = review.record_decision(assignment, batch=questionnaire.batch)
    questionnaire.batch.review_policy = {"kind": "never"}
    again = review.record_decision(assignment, batch=questionnaire.batch)
    assert (again.pk, again.verdict, again.decided_at) == (first.pk, "reject", first.decided_at)


@pytest.mark.parametrize("n_correct", [0, 5])
def test_what_the_marketplace_approved_by_itself_is_recorded(n_correct: int) -> None:
    questionnaire = make_published()
    assignment = submitted(questionnaire, n_correct=n_correct)
    Assignment.objects.update(status="Approved", approved_at=timezone.now())
    assignment.refresh_from_db()
    expected = ("approve", "The marketplace approved it before we decided.", n_correct, 5)
    assert decided(questionnaire, assignment) == expected


@pytest.mark.parametrize(
    ("feedback", "reason"), [("By hand.", "By hand."), ("", "It was rejected on the marketplace, not here.")]
)
def test_what_was_rejected_elsewhere_is_recorded(feedback: str, reason: str) -> None:
    questionnaire = make_published()
    assignment = submitted(questionnaire, n_correct=5)
    Assignment.objects.update(status="Rejected", rejected_at=timezone.now(), feedback=feedback)
    assignment.refresh_from_db()
    assert decided(questionnaire, assignment) == ("reject", reason, 5, 5)


def test_a_rejection_without_a_reason_cant_be_stored() -> None:
    assignment = make_assignment(make_hit(), status="Submitted")
    with pytest.raises(IntegrityError, match="rejection_has_reason"):
        Decision.objects.create(assignment=assignment, verdict="reject", decided_at=timezone.now())


# -- A person decides ---------------------------------------------------------------------------------------


@pytest.fixture
def person() -> User:
    return User.objects.create_user("ada")


def test_a_person_approves_what_was_flagged(person: User) -> None:
    questionnaire = make_published(review_policy=FLAG_ONLY)
    assignment = submitted(questionnaire, n_correct=1)
    review.record_decision(assignment, batch=questionnaire.batch)
    decision = review.approve(assignment, by=person, reason="Looked fine.")
    assert (decision.verdict, decision.reason, decision.decided_by) == ("approve", "Looked fine.", person)
    assert (decision.n_correct, Decision.objects.count()) == (1, 1)


def test_a_person_rejects_before_the_rule_has_decided(person: User) -> None:
    assignment = submitted(make_published())
    decision = review.reject(assignment, by=person, reason="  Only one letter.  ")
    assert (decision.verdict, decision.reason) == ("reject", "Only one letter.")


@pytest.mark.parametrize("reason", ["", " \n", "x" * 1025])
def test_a_rejection_needs_a_reason_of_a_length_mturk_takes(person: User, reason: str) -> None:
    assignment = submitted(make_published())
    with pytest.raises(CannotDecide):
        review.reject(assignment, by=person, reason=reason)
    assert Decision.objects.count() == 0


@pytest.mark.parametrize("status", ["Accepted", "Approved", "Rejected"])
def test_only_submitted_work_is_decided(person: User, status: str) -> None:
    assignment = make_assignment(make_hit(), status=status)
    with pytest.raises(CannotDecide, match=f"^This assignment is {status} already.$"):
        review.approve(assignment, by=person)


@pytest.mark.parametrize("state", ["planned", "sent", "done"])
def test_a_decision_on_its_way_isnt_changed(person: User, state: str) -> None:
    assignment = submitted(make_published())
    now = timezone.now()
    Call.objects.create(
        token="t", operation="ApproveAssignment", assignment=assignment, state=state, finished_at=now
    )
    with pytest.raises(CannotDecide, match="being told an earlier decision"):
        review.reject(assignment, by=person, reason="No.")


def test_only_a_rejection_is_overturned_and_within_30_days(person: User) -> None:
    approved = make_assignment(make_hit(), status="Approved")
    with pytest.raises(CannotDecide, match="Only a rejected assignment"):
        review.overturn(approved, by=person, reason="Sorry.")
    long_ago = timezone.now() - timedelta(days=30, seconds=1)
    old = make_assignment(make_hit(), status="Rejected", accepted_at=long_ago, submitted_at=long_ago)
    with pytest.raises(CannotDecide, match="30 days"):
        review.overturn(old, by=person, reason="Sorry.")


# -- The whole way, over the wire ---------------------------------------------------------------------------


def open_study(site: Site, **values: Any) -> Questionnaire:
    """A published batch of one HIT."""
    batch = make_draft(make_survey(n_items=5), **values)
    publishing.start_publishing(batch)
    publishing.register_hit_type(batch, gateway=site.gateway)
    publish(Questionnaire.objects.get(batch=batch), site)
    publishing.finish_publishing(batch)
    return again(Questionnaire.objects.get(batch=batch))


def publish(questionnaire: Questionnaire, site: Site) -> Call:
    return publishing.publish_questionnaire(again(questionnaire), gateway=site.gateway)


def again(questionnaire: Questionnaire) -> Questionnaire:
    related = ("batch__hit_type", "hit__hit_type", "sibling_of")
    return Questionnaire.objects.select_related(*related).get(pk=questionnaire.pk)


def work(site: Site, questionnaire: Questionnaire, *, n_correct: int = 5, worker: Any = None) -> Assignment:
    """A worker accepts, answers in our frame, and submits to the marketplace."""
    assert questionnaire.hit is not None
    accepted = site.accept(questionnaire.hit, worker=worker)
    opened = open_for(questionnaire, worker=accepted.worker.worker_id, assignment=accepted.assignment_id)
    answer(opened, n_correct=n_correct)
    site.submit(accepted, taskAnswers=task_answers(opened), nonce=str(opened.nonce))
    return opened


def sync(site: Site, questionnaire: Questionnaire) -> None:
    """What the task does, without publishing siblings."""
    questionnaire = again(questionnaire)
    hit = questionnaire.hit
    assert hit is not None
    for assignment in fetch(hit, gateway=site.gateway):
        review.record_decision(assignment, batch=questionnaire.batch)
    for assignment in review.to_carry_out(hit):
        review.carry_out(assignment, gateway=site.gateway)
    for assignment in review.to_replace(hit):
        review.replace(assignment, questionnaire=questionnaire, gateway=site.gateway)


def statuses(questionnaire: Questionnaire) -> list[str]:
    return sorted(Assignment.objects.filter(hit=questionnaire.hit).values_list("status", flat=True))


def max_assignments(questionnaire: Questionnaire) -> int:
    hit = again(questionnaire).hit
    assert hit is not None
    return hit.max_assignments


def test_the_rule_is_carried_out_and_each_rejection_buys_one_assignment(site: Site) -> None:
    questionnaire = open_study(site)
    for n_correct in (5, 4, 3, 2, 0):
        work(site, questionnaire, n_correct=n_correct)
    for _ in range(3):
        sync(site, questionnaire)
    assert statuses(questionnaire) == ["Approved"] * 3 + ["Rejected"] * 2
    rejected = marketplace.Assignment.objects.filter(status="Rejected").order_by("pk")
    assert [a.feedback for a in rejected] == [REASON, REASON.replace("2 of 5", "0 of 5", 1)]
    assert (max_assignments(questionnaire), Replacement.objects.count()) == (7, 2)
    assert Replacement.objects.filter(opened_at=None).count() == 0
    assert (site.wire.calls["RejectAssignment"], site.wire.calls["ApproveAssignment"]) == (2, 3)
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == 2
    assert (site.spent(), site.held()) == (3 * 46, 2 * 46)


def test_a_batch_is_complete_when_every_questionnaire_is_filled(site: Site) -> None:
    questionnaire = open_study(site)
    batch = questionnaire.batch
    for n_correct in (5, 5, 5, 5, 1):
        work(site, questionnaire, n_correct=n_correct)
    assert review.finish(batch) is False  # submitted, not decided
    sync(site, questionnaire)
    assert review.finish(batch) is False  # four kept
    work(site, questionnaire)
    sync(site, questionnaire)
    assert review.finish(batch) is True
    assert review.finish(batch) is False
    assert Batch.objects.get().status == "complete"
    assert (site.spent(), site.held()) == (5 * 46, 0)


def test_a_hit_grows_to_nine_then_a_sibling_takes_over(site: Site) -> None:
    questionnaire = open_study(site)
    for _ in range(9):
        work(site, questionnaire, n_correct=0)
        sync(site, questionnaire)
    assert (max_assignments(questionnaire), statuses(questionnaire)) == (9, ["Rejected"] * 9)
    assert Replacement.objects.filter(opened_by="extend", opened_at__isnull=False).count() == 4
    assert Replacement.objects.filter(opened_by="create", opened_at=None).count() == 5
    siblings = list(Questionnaire.objects.filter(sibling_of=questionnaire).order_by("position"))
    assert [(s.position, s.target_assignments) for s in siblings] == [(n, 1) for n in range(2, 7)]
    shown = [slot.item_id for slot in questionnaire.slots.all()]
    assert [[slot.item_id for slot in s.slots.all()] for s in siblings] == [shown] * 5
    assert review.finish(questionnaire.batch) is False  # the siblings have no HITs yet
    for sibling in siblings:
        publish(sibling, site)
    sync(site, questionnaire)
    assert Replacement.objects.filter(opened_at=None).count() == 0
    for sibling in siblings:
        work(site, again(sibling))
        sync(site, sibling)
    assert statuses(again(siblings[0])) == ["Approved"]
    assert review.finish(questionnaire.batch) is True
    assert (site.spent(), site.held()) == (5 * 46, 0)


def test_a_siblings_rejections_grow_the_sibling(site: Site) -> None:
    questionnaire = open_study(site, assignments_per_hit=9)
    for _ in range(9):
        work(site, questionnaire, n_correct=5 if Assignment.objects.exists() else 0)
    sync(site, questionnaire)
    sibling = Questionnaire.objects.get(sibling_of=questionnaire)
    publish(sibling, site)
    sync(site, questionnaire)
    work(site, again(sibling), n_correct=1)
    sync(site, sibling)
    assert (max_assignments(sibling), Questionnaire.objects.count()) == (2, 2)
    replacement = Replacement.objects.get(rejected__hit__questionnaire=sibling)
    assert (replacement.questionnaire, replacement.opened_by) == (sibling, "extend")
    assert replacement.opened_at is not None


def test_who_saw_the_items_is_kept_from_the_sibling(site: Site) -> None:
    questionnaire = open_study(site, assignments_per_hit=9)
    worker = site.worker()
    work(site, questionnaire, n_correct=0, worker=worker)
    for _ in range(8):
        work(site, questionnaire)
    sync(site, questionnaire)
    sibling = Questionnaire.objects.get(sibling_of=questionnaire)
    publish(sibling, site)
    with pytest.raises(CannotServe) as caught:
        work(site, again(sibling), worker=worker)
    assert caught.value.kind == "seen_before"


def test_hits_created_with_ten_or_more_grow_freely(site: Site) -> None:
    questionnaire = open_study(site, assignments_per_hit=10)
    for _ in range(2):
        work(site, questionnaire, n_correct=0)
    sync(site, questionnaire)
    assert (max_assignments(questionnaire), Questionnaire.objects.count()) == (12, 1)


def test_an_extension_that_is_refused_becomes_a_sibling(site: Site) -> None:
    """The HIT is gone from the marketplace, so it can't grow although it has room."""
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire, n_correct=0)
    fetched = fetch(questionnaire.hit, gateway=site.gateway)  # type: ignore[arg-type]
    review.record_decision(fetched[0], batch=questionnaire.batch)
    review.carry_out(fetched[0], gateway=site.gateway)
    marketplace.HIT.objects.update(disposed_at=timezone.now())
    for _ in range(2):
        replacement = review.replace(fetched[0], questionnaire=questionnaire, gateway=site.gateway)
        assert (replacement.opened_by, replacement.opened_at) == ("create", None)
    sibling = Questionnaire.objects.get(sibling_of=questionnaire)
    assert replacement.questionnaire == sibling
    publish(sibling, site)
    opened = review.replace(fetched[0], questionnaire=questionnaire, gateway=site.gateway)
    assert opened.opened_at is not None
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == 1


def rejected_on(site: Site, questionnaire: Questionnaire, *, n: int = 1) -> list[Assignment]:
    """Rejected assignments whose replacement is still to be planned."""
    for _ in range(n):
        work(site, questionnaire, n_correct=0)
    assert questionnaire.hit is not None
    fetched = fetch(questionnaire.hit, gateway=site.gateway)
    for assignment in fetched:
        review.record_decision(assignment, batch=questionnaire.batch)
        review.carry_out(assignment, gateway=site.gateway)
    assert [a.status for a in fetched] == ["Rejected"] * n
    return fetched


def test_a_replacement_made_by_many_at_once_is_one(site: Site, in_parallel: Callable[..., list[Any]]) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)

    def replace() -> Replacement:
        return review.replace(rejected, questionnaire=again(questionnaire), gateway=Gateway("embedded"))

    results = in_parallel(*[replace] * 4)
    assert {type(result) for result in results} == {Replacement}
    assert {result.pk for result in results} == {Replacement.objects.get().pk}
    assert site.hit(questionnaire.hit).max_assignments == 6  # type: ignore[arg-type]
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == 1


def test_siblings_made_at_once_get_places_of_their_own(
    site: Site, in_parallel: Callable[..., list[Any]]
) -> None:
    questionnaire = open_study(site, assignments_per_hit=9)
    batch = questionnaire.batch
    other = make_questionnaire(
        batch, items=[], hit=make_hit(max_assignments=9, hit_type=batch.hit_type), target_assignments=9
    )
    rejected = [
        (q, make_assignment(q.hit, status="Rejected"))
        for q in (questionnaire, other)
        for _ in range(2)
        if q.hit
    ]

    def replace(q: Questionnaire, assignment: Assignment) -> Replacement:
        return review.replace(assignment, questionnaire=again(q), gateway=Gateway("embedded"))

    results = in_parallel(*[lambda q=q, a=a: replace(q, a) for q, a in rejected])
    assert {type(result) for result in results} == {Replacement}
    positions = batch.questionnaires.exclude(sibling_of=None).values_list("position", flat=True)
    assert sorted(positions) == [3, 4, 5, 6]


def test_a_lost_extension_is_settled_not_doubled(site: Site) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)
    site.wire.lose.add("CreateAdditionalAssignmentsForHIT")
    for _ in range(2):
        replacement = review.replace(rejected, questionnaire=questionnaire, gateway=site.gateway)
    Call.objects.filter(operation="CreateAdditionalAssignmentsForHIT").update(
        state="sent", finished_at=None, sent_at=timezone.now() - timedelta(hours=1)
    )
    Replacement.objects.update(opened_at=None)
    site.wire.heal()
    replacement = review.replace(rejected, questionnaire=questionnaire, gateway=site.gateway)
    assert replacement.opened_at is not None
    assert max_assignments(questionnaire) == 6


def test_extending_an_expired_hit_opens_it_again(site: Site) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)
    market.move_expiration(questionnaire.hit, when=timezone.now(), gateway=site.gateway)  # type: ignore[arg-type]
    site.wire.block.add("UpdateExpirationForHIT")
    replacement = review.replace(rejected, questionnaire=questionnaire, gateway=site.gateway)
    assert replacement.opened_at is None  # it has room, but nobody can come
    site.wire.heal()
    Call.objects.filter(operation="UpdateExpirationForHIT", state="sent").update(token="a second ago")
    replacement = review.replace(rejected, questionnaire=questionnaire, gateway=site.gateway)
    assert replacement.opened_at is not None
    assert site.hit(questionnaire.hit).expires_at > timezone.now() + timedelta(hours=23)  # type: ignore[arg-type]
    work(site, again(questionnaire))
    assert site.hit(questionnaire.hit).max_assignments == 6  # type: ignore[arg-type]


def test_a_stopped_batch_replaces_none(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    publishing.stop(questionnaire.batch)
    sync(site, questionnaire)
    assert (statuses(questionnaire), Replacement.objects.count()) == (["Rejected"], 0)
    assert max_assignments(questionnaire) == 5


def test_overturned_by_a_person_is_paid_and_its_replacement_stays(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    sync(site, questionnaire)
    rejected = Assignment.objects.get()
    decision = review.overturn(rejected, by=person, reason="We were wrong.")
    assert (decision.verdict, decision.reason, decision.decided_by) == ("approve", "We were wrong.", person)
    sync(site, questionnaire)
    paid = marketplace.Assignment.objects.get()
    assert (paid.status, paid.feedback) == ("Approved", "We were wrong.")
    assert (statuses(questionnaire), max_assignments(questionnaire)) == (["Approved"], 6)
    sync(site, questionnaire)
    assert (Replacement.objects.count(), site.spent()) == (1, 46)


def test_overturned_before_it_was_replaced_buys_no_replacement(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)
    review.overturn(rejected, by=person, reason="We were wrong.")
    sync(site, questionnaire)
    assert (statuses(questionnaire), Replacement.objects.count()) == (["Approved"], 0)


def test_flagged_work_waits_until_a_person_decides(site: Site, person: User) -> None:
    questionnaire = open_study(site, review_policy=FLAG_ONLY)
    for n_correct in (1, 1):
        work(site, questionnaire, n_correct=n_correct)
    sync(site, questionnaire)
    assert statuses(questionnaire) == ["Submitted", "Submitted"]
    first, second = Assignment.objects.order_by("pk")
    review.approve(first, by=person)
    review.reject(second, by=person, reason="Only one right.")
    sync(site, questionnaire)
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status, second.feedback) == ("Approved", "Rejected", "Only one right.")
    assert max_assignments(questionnaire) == 6


def test_a_refused_rejection_can_be_worded_anew(site: Site, person: User) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    body = b'{"__type":"ParameterValidationError","Message":"The value is not valid"}'
    site.wire.replies["RejectAssignment"] = (400, {"Content-Type": "application/x-amz-json-1.1"}, body)
    sync(site, questionnaire)
    site.wire.heal()
    sync(site, questionnaire)
    assert (statuses(questionnaire), Call.objects.get(assignment__isnull=False).state) == (
        ["Submitted"],
        "refused",
    )
    review.reject(Assignment.objects.get(), by=person, reason="In other words.")
    sync(site, questionnaire)
    assert statuses(questionnaire) == ["Rejected"]
    assert marketplace.Assignment.objects.get().feedback == "In other words."


def test_too_late_to_reject_is_recorded_as_paid(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    site.pass_time(seconds=3 * 86_400)
    sync(site, questionnaire)
    decision = Decision.objects.get()
    assert (decision.verdict, decision.reason) == (
        "approve",
        "The marketplace approved it before we decided.",
    )
    assert (statuses(questionnaire), Replacement.objects.count(), site.spent()) == (["Approved"], 0, 46)


# -- What is due --------------------------------------------------------------------------------------------

EVERY = timedelta(seconds=30)


def due() -> list[HIT]:
    return list(review.due_hits(every=EVERY).order_by("pk"))


def hit_with(*assignment_statuses: str, batch_status: str = "open", **hit_values: Any) -> HIT:
    """A HIT for two, synced a minute ago, with these assignments."""
    values = {"max_assignments": 2, "synced_at": timezone.now() - timedelta(minutes=1), **hit_values}
    hit = make_hit(**values)
    batch = make_batch(make_survey(), status=batch_status)
    make_questionnaire(batch, items=[], hit=hit, target_assignments=2)
    for status in assignment_statuses:
        make_assignment(hit, status=status)
    return hit


@pytest.mark.parametrize("batch_status", ["publishing", "open", "stopped", "complete"])
@pytest.mark.parametrize(
    "assignments",
    [[], ["Accepted"], ["Approved"], ["Submitted"], ["Accepted", "Accepted"], ["Submitted", "Approved"]],
)
def test_a_hit_that_can_change_is_due(batch_status: str, assignments: list[str]) -> None:
    hit = hit_with(*assignments, batch_status=batch_status)
    assert due() == [hit]


@pytest.mark.parametrize("batch_status", ["publishing", "open", "stopped", "complete"])
def test_a_settled_hit_is_not_due(batch_status: str) -> None:
    hit_with("Approved", "Approved", batch_status=batch_status)
    assert due() == []


def test_a_rejection_is_due_until_it_is_replaced() -> None:
    hit = hit_with("Approved", "Rejected")
    assert due() == [hit]
    rejected = hit.assignments.get(status="Rejected")
    replacement = Replacement.objects.create(
        rejected=rejected, questionnaire=hit.questionnaire, opened_by="extend"
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


def test_an_overturned_rejection_is_due_until_the_marketplace_knows() -> None:
    now = timezone.now()
    hit = hit_with("Approved", "Rejected", batch_status="complete")
    assert due() == []
    rejected = hit.assignments.get(status="Rejected")
    Decision.objects.create(assignment=rejected, verdict="approve", decided_at=now, overturned_at=now)
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
    assert review.finish(batch) is expected


def test_a_siblings_work_counts_for_its_root() -> None:
    batch = make_batch(make_survey())
    root = make_questionnaire(batch, items=[], hit=make_hit(), target_assignments=2)
    sibling = make_questionnaire(batch, items=[], hit=make_hit(), sibling_of=root, target_assignments=1)
    assert root.hit is not None
    assert sibling.hit is not None
    make_assignment(root.hit, status="Approved")
    make_assignment(root.hit, status="Rejected")
    assert review.finish(batch) is False
    make_assignment(sibling.hit, status="Approved")
    assert review.finish(batch) is True


@pytest.mark.parametrize("status", ["draft", "publishing", "stopped", "complete"])
def test_only_an_open_batch_is_finished(status: str) -> None:
    batch = make_batch(make_survey(), status=status)
    assert review.finish(batch) is False
    assert Batch.objects.get().status == status
