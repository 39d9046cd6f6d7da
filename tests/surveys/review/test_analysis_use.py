"""Use in the analysis, decided apart from payment: left out, collected once more, used again."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import AnnotationSlot, AuditEntry, Batch, Inclusion, Replacement
from surveys.publishing import quota
from surveys.review import analysis_use, decisions, delivery, due_work, replacements
from surveys.review.errors import CannotDecide
from tests.factories import make_assignment, make_batch, make_hit, make_published, submitted
from tests.link_people import answered, make_person, take
from tests.link_people import make_batch as make_link_batch
from tests.market_site import Site
from tests.market_study import again, max_assignments, open_study, statuses, sync_study, work

pytestmark = pytest.mark.django_db


def trail() -> list[tuple[Any, ...]]:
    entries = AuditEntry.objects.filter(kind="inclusion").order_by("pk")
    return [(e.outcome, e.reason, e.actor, e.details["is_replaced"]) for e in entries]


def exclude(assignment: Assignment, person: User, *, replace: bool = False) -> Inclusion:
    return analysis_use.exclude(assignment, by=person, reason=" Only letters. ", replace=replace)


def test_answers_are_left_out_and_used_again(person: User) -> None:
    assignment = submitted(make_published())
    out = exclude(assignment, person)
    assert (out.is_included, out.is_replaced, out.reason, out.decided_by) == (
        False,
        False,
        "Only letters.",
        person,
    )
    back = analysis_use.include(assignment, by=person, reason="They meant it.")
    assert (back.pk, back.is_included, back.is_replaced, back.reason) == (
        out.pk,
        True,
        False,
        "They meant it.",
    )
    assert trail() == [
        ("exclude", "Only letters.", person, False),
        ("include", "They meant it.", person, False),
    ]


@pytest.mark.django_db(transaction=True)
def test_each_locks_what_it_changes_wherever_it_is_called(person: User) -> None:
    """PostgreSQL locks no row outside of a transaction, and a task begins none."""
    assignment = submitted(make_published())
    assert exclude(assignment, person).is_included is False
    assert analysis_use.include(assignment, by=person, reason="They meant it.").is_included is True


def test_leaving_out_twice_is_leaving_out_once(person: User) -> None:
    assignment = submitted(make_published())
    exclude(assignment, person)
    second = User.objects.create_user("bob")
    assert analysis_use.exclude(assignment, by=second, reason="Me too.", replace=False).decided_by == person
    analysis_use.exclude(assignment, by=second, reason="Collect it again.", replace=True)
    kept = exclude(assignment, person, replace=False)
    assert (kept.is_replaced, kept.reason) == (True, "Collect it again.")
    assert trail() == [
        ("exclude", "Only letters.", person, False),
        ("exclude", "Collect it again.", second, True),
    ]


def test_using_again_twice_is_using_again_once(person: User) -> None:
    assignment = submitted(make_published())
    exclude(assignment, person)
    for reason in ("They meant it.", "Indeed."):
        assert analysis_use.include(assignment, by=person, reason=reason).reason == "They meant it."
    assert [outcome for outcome, *_ in trail()] == ["exclude", "include"]


@pytest.mark.parametrize("reason", ["", " \n", "x" * 1025])
def test_both_need_a_reason(person: User, reason: str) -> None:
    assignment = submitted(make_published())
    with pytest.raises(CannotDecide):
        analysis_use.exclude(assignment, by=person, reason=reason, replace=False)
    exclude(assignment, person)
    with pytest.raises(CannotDecide):
        analysis_use.include(assignment, by=person, reason=reason)
    assert (Inclusion.objects.get().is_included, len(trail())) == (False, 1)


@pytest.mark.parametrize("status", ["Accepted", "Rejected"])
def test_what_is_not_used_anyway_is_not_left_out(person: User, status: str) -> None:
    assignment = make_assignment(make_published().hit, status=status)
    with pytest.raises(
        CannotDecide, match=f"^This assignment is {status}: its answers are not used anyway.$"
    ):
        exclude(assignment, person)
    assert (Inclusion.objects.count(), trail()) == (0, [])


def test_rejected_work_is_not_used_before_the_rejection_is_overturned(person: User) -> None:
    assignment = submitted(make_published())
    exclude(assignment, person)
    decisions.reject(assignment, by=person, reason="Only letters.")
    Assignment.objects.update(status="Rejected", rejected_at=timezone.now())
    with pytest.raises(CannotDecide, match="Overturn the rejection first"):
        analysis_use.include(assignment, by=person, reason="Why not.")
    assignment.refresh_from_db()
    decisions.overturn(assignment, by=person, reason="We were wrong.")
    assert analysis_use.include(assignment, by=person, reason="Why not.").is_included is True


def test_what_is_used_needs_nobody_to_say_so(person: User) -> None:
    with pytest.raises(CannotDecide, match="are used already"):
        analysis_use.include(submitted(make_published()), by=person, reason="Why not.")


def test_a_stopped_batch_collects_nothing_again(person: User) -> None:
    assignment = submitted(make_published(status="stopped"))
    with pytest.raises(CannotDecide, match="batch is stopped"):
        exclude(assignment, person, replace=True)
    assert exclude(assignment, person).is_replaced is False


def test_a_batch_that_is_still_being_published_is_not_taken_for_published(person: User) -> None:
    questionnaire = make_published(status="publishing")
    exclude(submitted(questionnaire), person, replace=True)
    assert Batch.objects.get().status == "publishing"


def test_the_database_wants_a_reason_and_no_replacement_of_what_is_used() -> None:
    assignment = make_assignment(make_hit(), status="Approved")
    now = timezone.now()
    with pytest.raises(IntegrityError, match="inclusion_has_reason"), transaction.atomic():
        Inclusion.objects.create(assignment=assignment, is_included=False, decided_at=now)
    with pytest.raises(IntegrityError, match="included_is_not_replaced"), transaction.atomic():
        Inclusion.objects.create(
            assignment=assignment, is_included=True, is_replaced=True, reason="So.", decided_at=now
        )


def test_what_is_left_out_is_paid_and_replaced_once(site: Site, person: User) -> None:
    questionnaire = open_study(site, assignments_per_hit=2)
    work(site, questionnaire)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    first, second = Assignment.objects.order_by("pk")
    exclude(first, person, replace=True)
    exclude(second, person, replace=False)
    for _ in range(3):
        sync_study(site, questionnaire)
    assert (statuses(questionnaire), max_assignments(questionnaire)) == (["Approved"] * 2, 3)
    assert Replacement.objects.get().replaces == first
    assert (due_work.finish(questionnaire.batch), site.spent()) == (False, 2 * 46)
    work(site, again(questionnaire))
    sync_study(site, questionnaire)
    assert (due_work.finish(questionnaire.batch), site.spent()) == (True, 3 * 46)


def test_used_again_after_it_was_replaced_it_is_one_more(site: Site, person: User) -> None:
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    assignment = Assignment.objects.get()
    exclude(assignment, person, replace=True)
    sync_study(site, questionnaire)
    analysis_use.include(assignment, by=person, reason="They meant it.")
    exclude(assignment, person, replace=True)
    for _ in range(2):
        sync_study(site, questionnaire)
    assert (max_assignments(questionnaire), Replacement.objects.count()) == (2, 1)
    analysis_use.include(assignment, by=person, reason="They did mean it.")
    assert due_work.finish(questionnaire.batch) is True


def test_used_again_before_it_was_replaced_it_is_not(site: Site, person: User) -> None:
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    (assignment,) = Assignment.objects.all()
    exclude(assignment, person, replace=True)
    (waiting,) = replacements.to_replace(again(questionnaire).hit)  # a sync has looked already
    analysis_use.include(assignment, by=person, reason="They meant it.")
    assert replacements.replace(waiting, questionnaire=questionnaire, gateway=site.gateway) is None
    assert (max_assignments(questionnaire), Replacement.objects.count()) == (1, 0)


def test_a_replacement_that_is_planned_is_carried_through(site: Site, person: User) -> None:
    """The call may have reached the marketplace, so it is never left in the middle."""
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    (assignment,) = Assignment.objects.all()
    exclude(assignment, person, replace=True)
    site.wire.block.add("CreateAdditionalAssignmentsForHIT")
    sync_study(site, questionnaire)
    assert Replacement.objects.get().opened_at is None
    analysis_use.include(assignment, by=person, reason="They meant it.")
    assert replacements.to_replace(again(questionnaire).hit) == [assignment]


def test_a_complete_batch_is_open_again_until_it_is_collected(site: Site, person: User) -> None:
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    batch = questionnaire.batch
    assert due_work.finish(batch) is True
    other = make_batch(survey=batch.survey, name="Done long ago", status="complete")
    exclude(Assignment.objects.get(), person, replace=True)
    assert dict(Batch.objects.values_list("pk", "status")) == {batch.pk: "open", other.pk: "complete"}
    sync_study(site, questionnaire)
    work(site, again(questionnaire))
    sync_study(site, questionnaire)
    batch.refresh_from_db()
    assert (due_work.finish(batch), max_assignments(questionnaire)) == (True, 2)


def test_by_link_its_slot_is_given_once_more(person: User) -> None:
    batch = make_link_batch(n_items=1)
    done = answered(take(batch, make_person()))
    decisions.record_decision(done, batch=batch)
    delivery.carry_out(done, gateway=None)
    assert quota.unfilled(batch) == []
    exclude(done, person, replace=True)
    assert [q.pk for q in quota.unfilled(batch)] == [done.hit.questionnaire.pk]
    assert [due_work.reopen(done.hit) for _ in range(3)] == [1, 0, 0]
    assert AnnotationSlot.objects.filter(reopens__assignment=done).count() == 1
    answered(take(batch, make_person()))
    Assignment.objects.filter(status="Submitted").update(status="Approved", approved_at=timezone.now())
    assert quota.unfilled(batch) == []


def test_by_link_answers_used_again_fill_their_place_while_nobody_has_it(person: User) -> None:
    batch = make_link_batch(n_items=1)
    done = answered(take(batch, make_person()))
    exclude(done, person, replace=True)
    due_work.reopen(done.hit)
    assert quota.room(done.hit.questionnaire).is_there is True
    analysis_use.include(done, by=person, reason="They meant it.")
    assert quota.room(done.hit.questionnaire).is_there is False


def test_many_people_at_once_leave_out_once(site: Site, in_parallel: Callable[..., list[Any]]) -> None:
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    assignment = Assignment.objects.get()
    people = [User.objects.create_user(f"p{n}") for n in range(4)]

    def leave_out(person: User) -> Inclusion:
        found = Assignment.objects.get(pk=assignment.pk)
        return analysis_use.exclude(found, by=person, reason="Only letters.", replace=True)

    results = in_parallel(*[lambda p=p: leave_out(p) for p in people])
    assert {type(result) for result in results} == {Inclusion}
    assert {result.pk for result in results} == {Inclusion.objects.get().pk}
    assert len(trail()) == 1
    in_parallel(*[lambda: sync_study(site, questionnaire)] * 3)
    sync_study(site, questionnaire)
    assert (Replacement.objects.count(), max_assignments(questionnaire)) == (1, 2)
