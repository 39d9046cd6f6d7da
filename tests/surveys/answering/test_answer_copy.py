"""Answers rebuilt from the marketplace's copy."""

import json
from dataclasses import replace
from typing import Any

import pytest

from annotators.crowds.mturk.questions import parse_answers
from annotators.models import Assignment, Worker
from surveys.answering.collection import recover, save_answers, task_answers
from surveys.models import Questionnaire, Rating, Response
from surveys.protocols.criteria import Choice, Criterion
from tests.answered import contents, first, forget_answers, ratings_of
from tests.factories import (
    answer,
    answer_xml,
    answers_for,
    make_batch,
    make_hit,
    make_published,
    make_questionnaire,
    make_survey,
    open_for,
)
from tests.protocols import VQAX

pytestmark = pytest.mark.django_db


def test_the_copy_rebuilds_everything(questionnaire: Questionnaire, assignment: Assignment) -> None:
    before, copy = contents(answer(assignment, n_correct=3)), task_answers(assignment)
    lost = forget_answers(assignment, copy, comment="Красный & 😀")
    assert recover(lost, questionnaire=questionnaire) is True
    assert contents(lost) == before
    assert task_answers(lost) == copy
    assert (lost.comment, lost.saved_at is None) == ("Красный & 😀", False)


def test_the_copy_rebuilds_from_rows_that_were_only_opened(
    questionnaire: Questionnaire, assignment: Assignment
) -> None:
    before, copy = contents(answer(assignment)), task_answers(assignment)
    Rating.objects.all().delete()
    Response.objects.update(answer="", is_correct=None, active_seconds=0)
    Assignment.objects.update(saved_at=None, answer_xml=answer_xml(copy))
    opened = Assignment.objects.get()
    orders = [r.shown for r in opened.responses.all()]
    assert recover(opened, questionnaire=questionnaire) is True
    assert contents(opened) == before
    assert [r.shown for r in opened.responses.all()] == orders


def test_a_worker_we_never_saw_is_recovered(questionnaire: Questionnaire, assignment: Assignment) -> None:
    before, copy = contents(answer(assignment)), task_answers(assignment)
    Rating.objects.all().delete()
    Response.objects.all().delete()
    hit = assignment.hit
    Assignment.objects.all().delete()
    worker = Worker.objects.get()
    mirrored = Assignment.objects.create(
        hit=hit, worker=worker, assignment_id="3A", answer_xml=answer_xml(copy)
    )
    assert recover(mirrored, questionnaire=questionnaire) is True
    assert contents(mirrored) == before


def test_our_own_answers_win_over_the_copy(questionnaire: Questionnaire, assignment: Assignment) -> None:
    before = contents(answer(assignment))
    Assignment.objects.update(answer_xml="not even xml")
    assert recover(Assignment.objects.get(), questionnaire=questionnaire) is False
    assert contents(assignment) == before


def test_recovering_twice_changes_nothing(questionnaire: Questionnaire, assignment: Assignment) -> None:
    answer(assignment)
    lost = forget_answers(assignment, task_answers(assignment))
    recover(lost, questionnaire=questionnaire)
    before = contents(lost)
    assert recover(lost, questionnaire=questionnaire) is False
    assert recover(Assignment.objects.get(), questionnaire=questionnaire) is False
    assert contents(lost) == before


def test_the_copy_is_ascii_and_tells_no_system_and_no_gold(assignment: Assignment) -> None:
    copy = task_answers(answer(assignment))
    assert copy.isascii()
    assert [word for word in ("model", "ground_truth", "gold", 'correct"', "item-") if word in copy] == []
    assert set(json.loads(copy)[0]) == {"position", "answer", "outputs", "item", "seconds", "preference"}


@pytest.mark.parametrize("n_items", [1, 12])
def test_queries_of_the_copy_dont_grow(n_items: int, django_assert_num_queries: Any) -> None:
    assignment = answer(open_for(make_published(n_items=n_items)))
    with django_assert_num_queries(3):  # responses, ratings, and the codes of outputs
        task_answers(assignment)


ABOUT_ITEM = (
    Criterion(
        "clear", "Clear?", (Choice("other", "Other", 0.25), Choice("preferred", "Ok", 1.0)), per_output=False
    ),
    Criterion("seen", "Seen?", (Choice("a", "A"), Choice("b", "B")), per_output=False, is_checklist=True),
)


def test_criteria_about_the_item_survive_the_copy() -> None:
    """Values named like a preference's are a scale's own all the same."""
    definition = replace(VQAX, criteria=(*VQAX.criteria, *ABOUT_ITEM))
    survey = make_survey(n_items=2)
    batch = make_batch(survey, snapshot=definition.to_snapshot())
    questionnaire = make_questionnaire(batch, items=list(survey.items.all()), hit=make_hit())
    assignment = open_for(questionnaire, worker="AWORKER")
    values = [("other", ["b"]), ("preferred", ["a", "b"])]
    given = [
        replace(a, item_ratings={"clear": clear, "seen": seen})
        for a, (clear, seen) in zip(answers_for(assignment), values, strict=True)
    ]
    save_answers(assignment, answers=given)
    about_item = [row for row in ratings_of(first(assignment)) if row[0] is None]
    assert about_item == [
        (None, "clear", "other", 0.25),
        (None, "seen.a", "not_selected", 0.0),
        (None, "seen.b", "selected", 1.0),
    ]
    before, copy = contents(assignment), task_answers(assignment)
    lost = forget_answers(assignment, copy)
    assert recover(lost, questionnaire=questionnaire) is True
    assert contents(lost) == before


def test_the_copy_goes_through_the_marketplaces_document(assignment: Assignment) -> None:
    copy = task_answers(answer(assignment))
    assert parse_answers(answer_xml(copy, nonce=str(assignment.nonce))) == {
        "taskAnswers": copy,
        "nonce": str(assignment.nonce),
    }
