"""Texts, skips, and answers that their author changes."""

import json

import pytest

from annotators.models import Assignment
from surveys.answering.answer_copy import IncompleteAnswers, ItemAnswer
from surveys.answering.collection import given_answers, recover, revise_answers, save_answers, task_answers
from surveys.models import AnswerRevision, Questionnaire
from tests.answered import contents, first, forget_answers, ratings_of
from tests.factories import open_for
from tests.invented import make_tale, tale_answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def questionnaire() -> Questionnaire:
    return make_tale()


@pytest.fixture
def tale(questionnaire: Questionnaire) -> Assignment:
    return open_for(questionnaire, worker="AWORKER")


def test_a_text_is_a_rating_without_a_score(tale: Assignment) -> None:
    assert save_answers(tale, answers=[tale_answer(tale, remark="Ёлка 🎄 = <b>")]) is True
    assert ratings_of(first(tale)) == [
        ("teller", "flow", "3", 3.0),
        ("teller", "remark", "Ёлка 🎄 = <b>", None),
    ]


def test_a_skip_is_a_reason_and_no_number(tale: Assignment) -> None:
    assert save_answers(tale, answers=[ItemAnswer(1, skip_reason="dark", active_seconds=4.0)]) is True
    response = first(tale)
    assert (response.skip_reason, response.is_correct, response.active_seconds) == ("dark", None, 4.0)
    assert ratings_of(response) == []


@pytest.mark.parametrize("reason", ["", "dark"])
def test_either_is_rebuilt_from_the_marketplace_copy(questionnaire: Questionnaire, reason: str) -> None:
    tale = open_for(questionnaire, worker="AWORKER")
    save_answers(tale, answers=[ItemAnswer(1, skip_reason=reason) if reason else tale_answer(tale)])
    before, copy = contents(tale), task_answers(tale)
    lost = forget_answers(tale, copy)
    assert recover(lost, questionnaire=questionnaire) is True
    assert contents(lost) == before
    assert first(lost).skip_reason == reason


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"skip": "bored"}, "Question 1: 'bored' is no reason to skip."),
        ({"outputs": {}}, "Question 1: its outputs are not this item's."),
    ],
)
def test_a_copy_with_an_invented_skip_is_refused(
    questionnaire: Questionnaire, change: dict[str, object], message: str
) -> None:
    tale = open_for(questionnaire, worker="AWORKER")
    save_answers(tale, answers=[tale_answer(tale)])
    entry = json.loads(task_answers(tale))[0]
    lost = forget_answers(tale, json.dumps([entry | change]))
    with pytest.raises(IncompleteAnswers) as caught:
        recover(lost, questionnaire=questionnaire)
    assert str(caught.value) == message


def test_a_copy_without_the_required_text_is_refused(questionnaire: Questionnaire) -> None:
    tale = open_for(questionnaire, worker="AWORKER")
    save_answers(tale, answers=[tale_answer(tale)])
    entry = json.loads(task_answers(tale))[0]
    (values,) = entry["outputs"].values()
    values["remark"] = ""
    with pytest.raises(IncompleteAnswers) as caught:
        recover(forget_answers(tale, json.dumps([entry])), questionnaire=questionnaire)
    assert str(caught.value) == "Question 1: 'What struck you?' is not answered."


def test_what_was_given_comes_back_as_it_was_given(tale: Assignment) -> None:
    given = [tale_answer(tale, flow="1")]
    save_answers(tale, answers=given)
    assert given_answers(tale) == given


def test_changed_answers_take_the_place_of_the_old_which_are_kept(tale: Assignment) -> None:
    save_answers(tale, answers=[tale_answer(tale, flow="1")], comment="First.")
    before = json.loads(task_answers(tale))
    assert revise_answers(tale, answers=[ItemAnswer(1, skip_reason="dark")], comment="Second.") is True
    assert (first(tale).skip_reason, ratings_of(first(tale)), tale.comment) == ("dark", [], "Second.")
    assert [r.data for r in AnswerRevision.objects.all()] == [{"answers": before, "comment": "First."}]
    assert revise_answers(tale, answers=[tale_answer(tale, flow="2")], comment="Second.") is True
    assert first(tale).skip_reason == ""
    assert [row[2] for row in ratings_of(first(tale))] == ["2", "Nice."]
    assert AnswerRevision.objects.count() == 2


def test_the_same_answers_again_change_nothing(tale: Assignment) -> None:
    save_answers(tale, answers=[tale_answer(tale)])
    saved_at = Assignment.objects.get().saved_at
    assert revise_answers(tale, answers=[tale_answer(tale)]) is False
    assert (AnswerRevision.objects.count(), Assignment.objects.get().saved_at) == (0, saved_at)


def test_nothing_is_revised_before_it_is_complete(tale: Assignment) -> None:
    assert revise_answers(tale, answers=[tale_answer(tale)]) is False
    assert ratings_of(first(tale)) == []
