"""Copies that are not complete and valid are refused, and nothing is written."""

import json
from dataclasses import replace
from typing import Any

import pytest

from annotators.models import Assignment
from surveys.answering.answer_copy import IncompleteAnswers, ItemAnswer
from surveys.answering.collection import SECONDS_MAX, recover, save_answers, task_answers
from surveys.models import Output, Questionnaire, Rating, Response
from tests.answered import contents, draft, first, forget_answers
from tests.factories import (
    answer,
    answer_xml,
    make_batch,
    make_hit,
    make_item,
    make_questionnaire,
    make_survey,
    open_for,
)
from tests.protocols import VQAX

pytestmark = pytest.mark.django_db


def refused(assignment: Assignment, questionnaire: Questionnaire, document: str) -> str:
    """The sentence a copy is refused with, after looking that nothing was written."""
    Assignment.objects.update(answer_xml=document)
    with pytest.raises(IncompleteAnswers) as caught:
        recover(Assignment.objects.get(), questionnaire=questionnaire)
    assert Assignment.objects.get().saved_at is None
    assert (Response.objects.count(), Rating.objects.count()) == (0, 0)
    return str(caught.value)


@pytest.fixture
def complete(assignment: Assignment) -> list[dict[str, Any]]:
    """The copy of complete answers; the rows they came from are lost."""
    copy = task_answers(answer(assignment))
    forget_answers(assignment, copy)
    data: list[dict[str, Any]] = json.loads(copy)
    return data


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("", "The answer document is not XML"),
        ("<a>\x01</a>", "The answer document is not XML"),
        ("<!DOCTYPE a><a/>", "The answer document declares a DOCTYPE"),
        (answer_xml(""), "The marketplace's copy has no readable taskAnswers."),
        (answer_xml("{"), "The marketplace's copy has no readable taskAnswers."),
        (answer_xml("[" * 100_000), "The marketplace's copy has no readable taskAnswers."),
        (answer_xml("[" + "9" * 5000 + "]"), "The marketplace's copy has no readable taskAnswers."),
        (answer_xml("{}"), "taskAnswers is not a list of answers."),
        (answer_xml("null"), "taskAnswers is not a list of answers."),
        (answer_xml("[1, 2]"), "taskAnswers is not a list of answers."),
        (answer_xml('[["position", 1]]'), "taskAnswers is not a list of answers."),
        (answer_xml("[]"), "The marketplace's copy does not answer every question."),
        (answer_xml("[{}]"), "The marketplace's copy lacks a field."),
        (
            "<a><Answer><FreeText>yes</FreeText></Answer></a>",
            "The marketplace's copy has no readable taskAnswers.",
        ),
    ],
)
def test_an_unreadable_copy_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, document: str, sentence: str
) -> None:
    Response.objects.all().delete()
    assert refused(assignment, questionnaire, document).startswith(sentence)


ODD: list[Any] = [
    None,
    True,
    0,
    1.5,
    "",
    "x",
    "\x00",
    "\ud800",
    "😀" * 9000,
    [],
    {},
    [[]],
    [{}],
    {"a": {}},
    float("inf"),
]


@pytest.mark.parametrize("key", ["position", "answer", "outputs", "item", "preference", "seconds"])
def test_a_missing_field_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], key: str
) -> None:
    del complete[2][key]
    assert refused(assignment, questionnaire, answer_xml(complete)) == "The marketplace's copy lacks a field."


@pytest.mark.parametrize("key", ["position", "answer", "outputs"])
@pytest.mark.parametrize("odd", ODD, ids=lambda value: repr(value)[:12])
def test_an_odd_value_never_raises_anything_else(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], key: str, odd: Any
) -> None:
    complete[2][key] = odd
    refused(assignment, questionnaire, answer_xml(complete))


@pytest.mark.parametrize(
    ("key", "odd"),
    [
        (key, odd)
        for key in ("justifies", "shortcomings")
        for odd in ODD
        if (key, odd) != ("shortcomings", [])  # nothing ticked is an answer
    ],
    ids=lambda value: repr(value)[:12],
)
def test_an_odd_rating_never_raises_anything_else(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], key: str, odd: Any
) -> None:
    code = next(iter(complete[2]["outputs"]))
    complete[2]["outputs"][code][key] = odd
    label = VQAX.criterion(key).label
    expected = f"Question 3: {label!r} is not answered."
    assert refused(assignment, questionnaire, answer_xml(complete)) == expected


@pytest.mark.parametrize(
    "ticked", [["none", "confusing_sentence"], ["confusing_sentence", {}], [{"a": 1}], ["x"], "none"]
)
def test_a_contradictory_checklist_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], ticked: Any
) -> None:
    code = next(iter(complete[0]["outputs"]))
    complete[0]["outputs"][code]["shortcomings"] = ticked
    assert refused(assignment, questionnaire, answer_xml(complete)).startswith("Question 1: ")


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -5, "7", 1e300, True])
def test_odd_seconds_are_brought_within_bounds(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], seconds: Any
) -> None:
    complete[0]["seconds"] = seconds
    Assignment.objects.update(answer_xml=answer_xml(complete))
    assert recover(Assignment.objects.get(), questionnaire=questionnaire) is True
    assert 0 <= first(assignment).active_seconds <= SECONDS_MAX


def test_a_question_answered_twice_or_not_at_all_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]]
) -> None:
    sentence = "The marketplace's copy does not answer every question."
    for entries in (complete[:4], [*complete, complete[0]], [*complete[:4], complete[0]]):
        assert refused(assignment, questionnaire, answer_xml(entries)) == sentence


def test_another_items_outputs_are_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]]
) -> None:
    complete[0]["outputs"] = complete[1]["outputs"]
    expected = "Question 1: its outputs are not this item's."
    assert refused(assignment, questionnaire, answer_xml(complete)) == expected


def test_an_answer_or_preference_not_offered_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]]
) -> None:
    answered = json.loads(json.dumps(complete))
    answered[0]["answer"] = "perhaps"
    assert (
        refused(assignment, questionnaire, answer_xml(answered))
        == "Question 1: 'perhaps' is not one of the answers."
    )
    complete[0]["preference"] = "perhaps"
    expected = "Question 1: the preferred output is not this item's."
    assert refused(assignment, questionnaire, answer_xml(complete)) == expected


def test_an_incomplete_copy_keeps_rows_and_drafts(
    questionnaire: Questionnaire, assignment: Assignment
) -> None:
    draft(assignment, {"answer": "no"}, version=1)
    Assignment.objects.update(answer_xml=answer_xml("[]"))
    with pytest.raises(IncompleteAnswers):
        recover(Assignment.objects.get(), questionnaire=questionnaire)
    assert (first(assignment).draft, assignment.responses.count()) == ({"answer": "no"}, 5)


def test_a_worker_who_answered_the_items_elsewhere_is_not_recovered(
    questionnaire: Questionnaire, assignment: Assignment
) -> None:
    """Somebody who has seen the items takes a sibling HIT and posts straight to the marketplace."""
    answer(assignment)
    Response.objects.update(is_claim=False)  # the marketplace has named them
    copy = task_answers(assignment)
    items = list(questionnaire.items.all())
    sibling = make_questionnaire(questionnaire.batch, items=items, hit=make_hit(), sibling_of=questionnaire)
    assert sibling.hit is not None
    posted = Assignment.objects.create(
        hit=sibling.hit, worker=assignment.worker, assignment_id="3B", answer_xml=answer_xml(copy)
    )
    with pytest.raises(IncompleteAnswers, match="worked on these questions in another HIT"):
        recover(posted, questionnaire=sibling)
    posted.refresh_from_db()
    assert (posted.saved_at, posted.responses.count()) == (None, 0)


def test_one_output_no_answer_no_preference_survive_the_copy() -> None:
    definition = replace(VQAX, answer=None, minimum_correct=0, preference=None, outputs_per_item=1)
    survey = make_survey()
    make_item(survey, choices=(), gold="", systems=("model",))
    batch = make_batch(survey, snapshot=definition.to_snapshot())
    questionnaire = make_questionnaire(batch, items=list(survey.items.all()), hit=make_hit())
    assignment = open_for(questionnaire, worker="AWORKER")
    code = Output.objects.get().code
    ratings: Any = {code: {"justifies": "no", "shortcomings": []}}
    save_answers(assignment, answers=[ItemAnswer(position=1, ratings=ratings)])
    before, copy = contents(assignment), task_answers(assignment)
    lost = forget_answers(assignment, copy)
    tampered = [{**json.loads(copy)[0], "answer": "anything"}]
    assert "is not one of the answers" in refused(lost, questionnaire, answer_xml(tampered))
    lost = forget_answers(lost, copy)
    assert recover(lost, questionnaire=questionnaire) is True
    assert contents(lost) == before
