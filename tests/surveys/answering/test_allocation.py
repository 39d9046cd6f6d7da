"""Who is given what: least filled first, never twice, a lease that runs out, and drafts that stay."""

import pytest
from django.contrib.auth.models import User

from annotators.models import Assignment
from surveys.answering import allocation, collection
from surveys.answering.allocation import NothingLeft, NotYours
from surveys.models import AnnotationSlot, Batch, Response
from surveys.publishing import giving, quota
from surveys.review import analysis_use
from tests import factories
from tests.link_people import (
    answered,
    make_batch,
    make_panel,
    make_person,
    number_of,
    run_out,
    skipped,
    take,
    take_number,
)

pytestmark = pytest.mark.django_db


def chain(batch: Batch) -> list[tuple[int, int, int | None]]:
    slots = AnnotationSlot.objects.filter(batch=batch).order_by("number")
    return list(slots.values_list("number", "replicate", "reopens__number"))


def test_slots_are_numbered_all_first_copies_first() -> None:
    batch = make_batch(n_items=2, copies=2)
    slots = AnnotationSlot.objects.filter(batch=batch).values_list(
        "number", "questionnaire__position", "replicate"
    )
    assert list(slots) == [(1, 1, 1), (2, 2, 1), (3, 1, 2), (4, 2, 2)]


def test_a_person_gets_their_open_one_again_and_then_the_next() -> None:
    batch, ann = make_batch(n_items=2), make_person()
    first = take(batch, ann)
    assert take(batch, ann) == first
    answered(first)
    assert [number_of(first), number_of(take(batch, ann))] == [1, 2]


def test_what_is_given_is_ours_and_accepted_now() -> None:
    given = take(make_batch(), make_person(), channel="panel")
    assert (given.status, given.channel, given.assignment_id[0]) == ("Accepted", "panel", "L")
    assert given.accepted_at is not None
    assert given.responses.count() == 1


def test_least_filled_first_across_people() -> None:
    batch = make_batch(n_items=2, copies=2)
    numbers = [number_of(take(batch, make_person())) for _ in range(4)]
    assert numbers == [1, 2, 3, 4]
    with pytest.raises(NothingLeft):
        take(batch, make_person())


@pytest.mark.parametrize("copies", [1, 2])
def test_places_nobody_ever_had_come_before_those_to_be_given_again(copies: int) -> None:
    batch = make_batch(n_items=2, copies=copies)
    n_wanted = 2 * copies
    run_out(take(batch, make_person()))
    assert allocation.suggest(batch, worker=make_person()) == 2
    numbers = [number_of(take(batch, make_person())) for _ in range(n_wanted)]
    assert numbers == [*range(2, n_wanted + 1), 1]


def test_nobody_gets_the_same_item_twice() -> None:
    batch, ann = make_batch(n_items=1, copies=2), make_person()
    answered(take(batch, ann))
    with pytest.raises(NothingLeft):
        take(batch, ann)
    with pytest.raises(NotYours, match="seen already"):
        take_number(batch, 2, ann)


def test_nobody_gets_an_item_they_saw_on_the_marketplace() -> None:
    batch = make_batch(n_items=1, copies=2, endpoint="embedded", reward="0.10", takes_links=True)
    questionnaire = batch.questionnaires.get()
    on_market = factories.open_for(questionnaire, worker="A1")
    assert giving.n_free(batch, worker=on_market.worker) == 1  # anybody can claim to be A1
    Response.objects.update(is_claim=False)  # the marketplace has named them
    with pytest.raises(NothingLeft):
        take(batch, on_market.worker)


def test_a_limit_ends_it_and_what_is_open_can_still_be_finished() -> None:
    batch, ann = make_batch(n_items=3), make_person()
    answered(take(batch, ann, limit=2))
    second = take(batch, ann, limit=2)
    assert take(batch, ann, limit=2) == second
    answered(second)
    with pytest.raises(NothingLeft, match="all that was meant for you"):
        take(batch, ann, limit=2)


def test_a_closed_batch_gives_out_nothing_but_what_is_open() -> None:
    batch, ann = make_batch(), make_person()
    mine = take(batch, ann)
    Batch.objects.update(status="stopped")
    assert take(batch, ann) == mine
    with pytest.raises(NothingLeft, match="no more annotations"):
        take(batch, make_person())


def test_an_excluded_person_is_given_nothing() -> None:
    ann = make_person()
    ann.standing = "excluded"
    with pytest.raises(NothingLeft, match="not open to you"):
        take(make_batch(), ann)


def test_by_number() -> None:
    batch, ann, bob = make_batch(n_items=3), make_person(), make_person()
    mine = take_number(batch, 2, ann)
    assert number_of(mine) == 2
    assert take_number(batch, 2, answered(mine).worker) == mine
    with pytest.raises(NotYours, match="somebody else"):
        take_number(batch, 2, bob)
    with pytest.raises(NotYours, match="no annotation 9"):
        take_number(batch, 9, bob)


def test_a_number_is_that_of_the_batch() -> None:
    first, second = make_batch(n_items=2), make_batch(n_items=3)
    ann = make_person()
    assert take_number(second, 2, ann).hit.questionnaire.batch == second
    assert take_number(first, 2, make_person()).hit.questionnaire.batch == first
    with pytest.raises(NotYours, match="no annotation 3"):
        take_number(first, 3, ann)


@pytest.mark.parametrize("number", [2**31, 2**63, 10**20])
def test_a_number_that_no_annotation_can_have_is_asked_of_no_database(
    number: int, django_assert_num_queries
) -> None:
    batch, ann = make_batch(), make_person()
    with django_assert_num_queries(0):
        with pytest.raises(NotYours, match=f"There is no annotation {number} in this study"):
            take_number(batch, number, ann)
        assert allocation.has_done(batch, number=number, worker=ann) is False


def test_an_expired_lease_passes_the_number_on_and_keeps_the_draft() -> None:
    batch, ann, bob = make_batch(n_items=1), make_person(), make_person()
    late = take(batch, ann)
    collection.save_draft(late, position=1, data={"answer": "yes"}, version=1, active_seconds=1)
    with pytest.raises(NothingLeft):
        take(batch, bob)
    run_out(late)
    given = take_number(batch, 1, bob)
    assert (number_of(given), number_of(late)) == (1, 2)
    assert chain(batch) == [(1, 1, 2), (2, 1, None)]
    assert take(batch, ann) == late
    assert late.responses.get().draft == {"answer": "yes"}


def test_who_comes_back_late_finds_their_own_under_the_old_number() -> None:
    batch, ann, bob = make_batch(n_items=1), make_person(), make_person()
    late = take(batch, ann)
    run_out(late)
    given = take(batch, bob)
    run_out(given)
    last = take(batch, make_person())
    assert [take_number(batch, 1, person) for person in (ann, bob, last.worker)] == [late, given, last]


def test_late_answers_are_kept_and_count() -> None:
    batch, ann, bob = make_batch(n_items=1), make_person(), make_person()
    late = take(batch, ann)
    run_out(late)
    given = take(batch, bob)
    answered(late)
    run_out(given)
    with pytest.raises(NothingLeft):
        take(batch, make_person())
    assert Assignment.objects.get(pk=late.pk).status == "Submitted"


def test_both_the_late_and_the_new_answers_are_kept() -> None:
    batch, ann, bob = make_batch(n_items=1), make_person(), make_person()
    late = take(batch, ann)
    run_out(late)
    for assignment in (take(batch, bob), late):
        answered(assignment)
    assert list(Assignment.objects.values_list("status", flat=True)) == ["Submitted", "Submitted"]


def test_looking_at_it_renews_the_lease() -> None:
    batch, ann = make_batch(n_items=1), make_person()
    mine = take(batch, ann)
    run_out(mine)
    quota.keep(mine, batch=batch)
    with pytest.raises(NothingLeft):
        take(batch, make_person())


def test_answered_work_is_never_given_away() -> None:
    batch, ann = make_batch(n_items=1), make_person()
    run_out(answered(take(batch, ann)))
    with pytest.raises(NothingLeft):
        take(batch, make_person())


def test_settling_twice_changes_nothing() -> None:
    batch, ann = make_batch(), make_person()
    mine = answered(take(batch, ann))
    first = Assignment.objects.values("status", "submitted_at").get(pk=mine.pk)
    allocation.settle(mine)
    assert Assignment.objects.values("status", "submitted_at").get(pk=mine.pk) == first
    assert first["status"] == "Submitted"


def test_without_answers_nothing_is_settled() -> None:
    mine = take(make_batch(), make_person())
    allocation.settle(mine)
    assert Assignment.objects.get(pk=mine.pk).status == "Accepted"


def test_a_skipped_one_is_wanted_again_once() -> None:
    batch, ann = make_batch(n_items=1, copies=2), make_person()
    mine = skipped(take(batch, ann))
    allocation.settle(mine)
    assert chain(batch) == [
        (1, 1, None),
        (2, 2, None),
        (3, 1, 1),
    ]
    assert [a.state for a in allocation.own(batch, worker=ann)] == ["skipped"]


def test_an_item_everybody_skips_comes_to_an_end() -> None:
    batch = make_batch(n_items=1, copies=2)
    for _ in range(4):
        skipped(take(batch, make_person()))
    with pytest.raises(NothingLeft):
        take(batch, make_person())
    assert Response.objects.exclude(skip_reason="").count() == 4


def test_an_item_everybody_skips_comes_to_an_end_whatever_is_left_out_elsewhere(
    django_user_model: type[User],
) -> None:
    person = django_user_model.objects.create_user("lead", "", "x")
    done = factories.submitted(factories.make_published())
    analysis_use.exclude(done, by=person, reason="Letters.", replace=True)
    batch = make_batch(n_items=1, copies=1)
    for _ in range(2):
        skipped(take(batch, make_person()))
    with pytest.raises(NothingLeft):
        take(batch, make_person())


def test_own_by_annotation_id() -> None:
    batch, ann = make_batch(n_items=3), make_person()
    done, going_on = answered(take_number(batch, 3, ann)), take(batch, ann)
    found = [(a.number, a.state, a.assignment) for a in allocation.own(batch, worker=ann)]
    assert found == [(1, "open", going_on), (3, "answered", done)]


def test_suggested_is_what_would_be_given() -> None:
    batch, ann = make_batch(n_items=2), make_person()
    assert allocation.suggest(batch, worker=ann) == 1
    assert AnnotationSlot.objects.filter(assignment__isnull=False).count() == 0
    mine = take_number(batch, 2, ann)
    assert allocation.suggest(batch, worker=ann) == 2
    answered(mine)
    assert allocation.suggest(batch, worker=ann, limit=1) is None
    assert [giving.n_free(batch, worker=ann), giving.n_free(batch, worker=make_person())] == [1, 1]


def test_a_panel_person_with_all_done_has_a_completed_visit() -> None:
    batch, ann = make_batch(n_items=2), make_person("prolific:5f2a", "panel")
    visit = make_panel(batch, assignments_per_worker=2).visits.create(worker=ann)
    answered(take(batch, ann, channel="panel"))
    visit.refresh_from_db()
    assert visit.completed_at is None
    answered(take(batch, ann, channel="panel"))
    visit.refresh_from_db()
    assert visit.completed_at is not None


def test_what_other_people_answered_completes_nobodys_visit() -> None:
    batch, ann, ben = make_batch(n_items=1, copies=3), make_person("a", "panel"), make_person("b", "panel")
    panel = make_panel(batch, assignments_per_worker=2)
    visits = [panel.visits.create(worker=person) for person in (ann, ben)]
    for person in (ann, ben):
        answered(take(batch, person, channel="panel"))
    assert [panel.visits.get(pk=visit.pk).completed_at for visit in visits] == [None, None]


def test_how_far_somebody_is_counts_their_own_list() -> None:
    batch, ann = make_batch(n_items=4), make_person()
    assert allocation.progress(batch, worker=ann) == (0, 0)
    one, other = answered(take(batch, ann)), skipped(take(batch, ann))
    begun = take(batch, ann)
    answered(take(make_batch(n_items=1), ann))
    answered(take(batch, make_person()))
    mine = allocation.own(batch, worker=ann)
    assert (
        allocation.progress(batch, worker=ann) == (3, 2) == (len(mine), sum(a.state != "open" for a in mine))
    )
    numbers = [number_of(assignment) for assignment in (one, other, begun)]
    assert [allocation.has_done(batch, number=n, worker=ann) for n in (*numbers, 4, 99)] == [
        True,
        True,
        False,
        False,
        False,
    ]
