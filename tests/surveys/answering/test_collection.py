from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from annotators.models import Assignment
from surveys.answering.answer_copy import ItemAnswer
from surveys.answering.collection import SECONDS_MAX, save_answers, save_draft, task_answers, write_answers
from surveys.models import Rating
from tests.answered import contents, draft, first, ratings_of
from tests.factories import (
    answer,
    answers_for,
    make_batch,
    make_hit,
    make_item,
    make_published,
    make_questionnaire,
    make_survey,
    open_for,
)

pytestmark = pytest.mark.django_db


def test_a_draft_is_kept_and_a_late_save_loses(assignment: Assignment) -> None:
    assert draft(assignment, {"answer": "no"}, version=2, seconds=4.5) is True
    assert draft(assignment, {"answer": "late"}, version=1) is False
    assert draft(assignment, {"answer": "same"}, version=2) is False
    saved = first(assignment)
    assert (saved.draft, saved.draft_version, saved.active_seconds) == ({"answer": "no"}, 2, 4.5)
    assert saved.saved_at is not None
    assert draft(assignment, {"answer": "yes"}, version=3) is True
    assert first(assignment).draft == {"answer": "yes"}
    assert (first(assignment).answer, Rating.objects.count()) == ("", 0)


def test_a_draft_for_a_question_that_isnt_there_is_not_saved(assignment: Assignment) -> None:
    assert save_draft(assignment, position=6, data={}, version=1, active_seconds=0) is False


def test_a_draft_after_completion_is_refused(assignment: Assignment) -> None:
    answer(assignment)
    assert draft(assignment, {"answer": "no"}, version=99) is False
    assert first(assignment).draft == {}


@pytest.mark.parametrize(
    ("measured", "kept"),
    [(-1.0, 0.0), (float("nan"), 0.0), (float("inf"), SECONDS_MAX), (1e12, SECONDS_MAX), (0.5, 0.5)],
)
def test_measured_seconds_stay_within_bounds(assignment: Assignment, measured: float, kept: float) -> None:
    assert draft(assignment, {}, version=1, seconds=measured) is True
    assert first(assignment).active_seconds == kept


def test_a_version_beyond_all_bounds_is_kept_and_is_the_last(assignment: Assignment) -> None:
    assert draft(assignment, {"a": "1"}, version=10**30) is True
    assert draft(assignment, {"a": "2"}, version=10**31) is False
    assert first(assignment).draft == {"a": "1"}


@pytest.mark.parametrize("n_items", [2, 9])
def test_queries_of_complete_answers_dont_grow(
    n_items: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assignment = open_for(make_published(n_items=n_items))
    answers = answers_for(assignment)
    with django_assert_num_queries(6):
        save_answers(assignment, answers=answers)


def test_complete_answers_are_written(assignment: Assignment) -> None:
    assert save_answers(assignment, answers=answers_for(assignment, n_correct=3), comment="Да 😀") is True
    assert assignment.saved_at is not None
    assert (assignment.comment, assignment.status) == ("Да 😀", "Accepted")
    responses = list(assignment.responses.all())
    assert [r.answer for r in responses] == ["yes"] * 3 + ["no"] * 2
    assert [r.is_correct for r in responses] == [True] * 3 + [False] * 2
    assert [r.active_seconds for r in responses] == [12.5] * 5
    assert Rating.objects.count() == 5 * 2 * (1 + 3 + 1)


def test_rating_rows_are_as_documented(assignment: Assignment) -> None:
    outputs = {output.system: output for output in first(assignment).item.outputs.all()}
    given = [a for a in answers_for(assignment) if a.position != 1]
    mine = ItemAnswer(
        position=1,
        answer="yes",
        ratings={
            outputs["ground_truth"].code: {"justifies": "weak_yes", "shortcomings": []},
            outputs["model"].code: {
                "justifies": "no",
                "shortcomings": ["incorrect_description", "confusing_sentence"],
            },
        },
        preference=outputs["ground_truth"].code,
    )
    save_answers(assignment, answers=[*given, mine])
    assert ratings_of(first(assignment)) == [
        ("ground_truth", "justifies", "weak_yes", 2 / 3),
        ("ground_truth", "preference", "preferred", 1.0),
        ("ground_truth", "shortcomings.confusing_sentence", "not_selected", 0.0),
        ("ground_truth", "shortcomings.incorrect_description", "not_selected", 0.0),
        ("ground_truth", "shortcomings.insufficient_justification", "not_selected", 0.0),
        ("model", "justifies", "no", 0.0),
        ("model", "preference", "other", 0.0),
        ("model", "shortcomings.confusing_sentence", "selected", 1.0),
        ("model", "shortcomings.incorrect_description", "selected", 1.0),
        ("model", "shortcomings.insufficient_justification", "not_selected", 0.0),
    ]


@pytest.mark.parametrize("preferred", ["model", "ground_truth", ""])
def test_preference_three_ways(assignment: Assignment, preferred: str) -> None:
    codes = {o.system: o.code for o in first(assignment).item.outputs.all()} | {"": ""}
    mine, *others = answers_for(assignment)
    save_answers(assignment, answers=[replace(mine, preference=codes[preferred]), *others])
    rows = first(assignment).ratings.filter(criterion="preference").select_related("output")
    values = {row.output.system: (row.value, row.score) for row in rows if row.output}
    none = ("no_preference", 0.0)
    assert values == {
        "model": none if not preferred else (("preferred", 1.0) if preferred == "model" else ("other", 0.0)),
        "ground_truth": none
        if not preferred
        else (("preferred", 1.0) if preferred != "model" else ("other", 0.0)),
    }


def test_without_gold_nothing_is_right_or_wrong() -> None:
    survey = make_survey()
    make_item(survey, gold="")
    assignment = open_for(
        make_questionnaire(make_batch(survey), items=list(survey.items.all()), hit=make_hit())
    )
    save_answers(assignment, answers=[replace(a, answer="no") for a in answers_for(assignment)])
    assert (first(assignment).answer, first(assignment).is_correct) == ("no", None)


def test_a_second_set_of_answers_changes_nothing(assignment: Assignment) -> None:
    answer(assignment, n_correct=5, comment="first")
    before, saved_at = contents(assignment), assignment.saved_at
    stale = Assignment.objects.get()
    assert save_answers(stale, answers=answers_for(stale, n_correct=0), comment="second") is False
    stale.refresh_from_db()
    assert (contents(stale), stale.saved_at, stale.comment) == (before, saved_at, "first")


@pytest.mark.django_db(transaction=True)
def test_answers_saved_by_many_at_once_are_one_set(in_parallel: Callable[..., list[Any]]) -> None:
    assignment = open_for(make_published(), worker="AWORKER")
    sets = [answers_for(assignment, n_correct=n) for n in range(4)]

    def save(n: int) -> bool:
        return save_answers(Assignment.objects.get(), answers=sets[n], comment=str(n))

    results = in_parallel(*[lambda n=n: save(n) for n in range(4)])
    assert sorted(results) == [False, False, False, True]
    winner = results.index(True)
    assignment.refresh_from_db()
    assert assignment.comment == str(winner)
    assert sum(r.is_correct for r in assignment.responses.all()) == winner
    assert Rating.objects.count() == 50


def test_answers_that_fail_halfway_leave_nothing(assignment: Assignment) -> None:
    broken = [*answers_for(assignment)[:4], ItemAnswer(position=5, answer="yes")]
    broken[4].ratings["unknown"] = {"justifies": "yes", "shortcomings": []}
    with pytest.raises(KeyError):
        save_answers(assignment, answers=broken)
    assert (Assignment.objects.get().saved_at, Rating.objects.count()) == (None, 0)


def test_whole_seconds_are_told_at_once_as_they_are_told_again(assignment: Assignment) -> None:
    """SQLite returns a whole number of a column for any number without its point."""
    assignment.responses.update(active_seconds=103)
    told = write_answers(assignment, answers=answers_for(assignment))
    assert told == task_answers(Assignment.objects.get(pk=assignment.pk))
