"""Late work in a filled place is counted, paid and marked; what makes room for it takes the mark away."""

import csv
import io
from datetime import timedelta

import pytest
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Decision, Inclusion, Questionnaire, Response
from surveys.results.files.layouts import LAYOUTS
from surveys.review.surplus import surplus_among, surplus_of
from tests.factories import make_assignment, make_hit, make_published, make_questionnaire, submitted

pytestmark = pytest.mark.django_db


def handed_in(questionnaire: Questionnaire, n: int, *, after: int = 0, status: str = "Approved") -> list:
    """`n` assignments, handed in a minute apart."""
    start = timezone.now() - timedelta(hours=1) + timedelta(minutes=after)
    return [
        make_assignment(
            questionnaire.hit,
            status=status,
            accepted_at=start,
            submitted_at=start + timedelta(minutes=minute),
        )
        for minute in range(n)
    ]


def wanting(n: int) -> Questionnaire:
    questionnaire = make_published()
    Questionnaire.objects.filter(pk=questionnaire.pk).update(target_assignments=n)
    return Questionnaire.objects.get(pk=questionnaire.pk)


def surplus(questionnaire: Questionnaire) -> list[Assignment]:
    return list(surplus_of(questionnaire.batch))


def test_nothing_is_surplus_up_to_what_was_wanted():
    questionnaire = wanting(2)
    handed_in(questionnaire, 2)
    assert surplus(questionnaire) == []


def test_what_comes_after_the_last_wanted_one_is():
    questionnaire = wanting(2)
    found = handed_in(questionnaire, 4)
    assert surplus(questionnaire) == found[2:]


def test_it_goes_by_the_time_of_submission_not_by_the_row():
    questionnaire = wanting(1)
    late = handed_in(questionnaire, 1, after=30)
    handed_in(questionnaire, 1)
    assert surplus(questionnaire) == late


def test_two_at_the_same_time_are_told_apart():
    questionnaire = wanting(1)
    moment = timezone.now()
    _, second = (make_assignment(questionnaire.hit, status="Approved", submitted_at=moment) for _ in range(2))
    assert surplus(questionnaire) == [second]


def test_siblings_share_the_places():
    questionnaire = wanting(1)
    sibling = make_questionnaire(
        questionnaire.batch, items=[], hit=make_hit(), sibling_of=questionnaire, target_assignments=1
    )
    handed_in(questionnaire, 1)
    late = handed_in(sibling, 1, after=10)
    assert surplus(questionnaire) == late


def test_questionnaires_do_not_share_them():
    questionnaire = wanting(1)
    other = make_questionnaire(questionnaire.batch, items=[], hit=make_hit(), target_assignments=1)
    handed_in(questionnaire, 1)
    handed_in(other, 1, after=10)
    assert surplus(questionnaire) == []


def test_rejected_work_fills_no_place():
    questionnaire = wanting(1)
    handed_in(questionnaire, 1, status="Rejected")
    handed_in(questionnaire, 1, after=10)
    assert surplus(questionnaire) == []


def test_work_left_out_and_collected_again_fills_no_place():
    questionnaire = wanting(1)
    [first] = handed_in(questionnaire, 1)
    Inclusion.objects.create(
        assignment=first, is_included=False, is_replaced=True, reason="Slept.", decided_at=timezone.now()
    )
    handed_in(questionnaire, 1, after=10)
    assert surplus(questionnaire) == []


def test_skipped_work_fills_no_place():
    questionnaire = wanting(1)
    [first] = handed_in(questionnaire, 1)
    Response.objects.create(
        assignment=first,
        batch=questionnaire.batch,
        worker=first.worker,
        item=questionnaire.batch.survey.items.first(),
        position=1,
        skip_reason="No picture.",
    )
    handed_in(questionnaire, 1, after=10)
    assert surplus(questionnaire) == []


def test_an_overturned_rejection_makes_its_replacement_surplus():
    questionnaire = wanting(1)
    [first] = handed_in(questionnaire, 1, status="Rejected")
    Decision.objects.create(assignment=first, verdict="reject", reason="No.", decided_at=timezone.now())
    late = handed_in(questionnaire, 1, after=10)
    assert surplus(questionnaire) == []
    Assignment.objects.filter(pk=first.pk).update(status="Approved", approved_at=timezone.now())
    assert surplus(questionnaire) == late


def test_open_work_is_not_surplus_yet():
    questionnaire = wanting(1)
    handed_in(questionnaire, 1)
    make_assignment(questionnaire.hit)
    assert surplus(questionnaire) == []


def test_it_is_asked_of_those_that_a_page_shows():
    questionnaire = wanting(1)
    first, late = handed_in(questionnaire, 2)
    elsewhere = handed_in(wanting(1), 2)
    assert surplus_among([first]) == surplus_among([late]) == {late.pk}
    assert surplus_among([first, *elsewhere]) == {late.pk, elsewhere[1].pk}
    assert surplus_among([]) == set()


def test_files_say_what_is_surplus():
    questionnaire = wanting(1)
    for minute in (1, 2):
        done = submitted(questionnaire)
        Assignment.objects.filter(pk=done.pk).update(submitted_at=timezone.now() + timedelta(minutes=minute))
    for layout in ("tidy", "responses"):
        stream = io.StringIO(newline="")
        LAYOUTS[layout].write(questionnaire.batch, stream)
        lines = csv.DictReader(io.StringIO(stream.getvalue(), newline=""))
        given = {(line["assignment_id"], line["surplus"]) for line in lines}
        assert sorted(surplus for _, surplus in given) == ["False", "True"]


def test_one_query(django_assert_num_queries):
    questionnaire = wanting(2)
    handed_in(questionnaire, 4)
    batch = questionnaire.batch
    with django_assert_num_queries(1):
        list(surplus_of(batch))
