"""The quiz before the work: two tries, feedback, and no right answer in the browser before it is answered."""

import re
from dataclasses import replace
from html import unescape

import pytest
from django.test import Client

from surveys.models import Questionnaire, QuizAttempt
from surveys.protocols.criteria import Choice
from surveys.protocols.definition import QuizQuestion
from tests.builders import frame_query, make_questionnaire
from tests.protocols import XAI

QUIZ = (
    QuizQuestion("A cat.", "What is it?", (Choice("cat", "Cat"), Choice("dog", "Dog")), "cat", "It purrs."),
    QuizQuestion("A dog.", "And this?", (Choice("cat", "Cat"), Choice("dog", "Dog")), "dog", "It barks."),
)
RIGHT, HALF = {"q1": "cat", "q2": "dog"}, {"q1": "cat", "q2": "cat"}


@pytest.fixture
def work(own_pictures: None, db: None) -> Questionnaire:
    return make_questionnaire(n_items=1, definition=replace(XAI, quiz=QUIZ), uses_quiz=True)


def open_page(visitor: Client, work: Questionnaire, **query: str) -> str:
    return visitor.get(f"/hits/{work.pk}/", frame_query(work) | query).content.decode()


def answer(visitor: Client, work: Questionnaire, page: str, **given: str) -> str:
    token, number = (re.search(rf'name="{n}" value="([^"]+)"', page) for n in ("token", "number"))
    data = {"quiz": "1", "token": token and token[1], "number": number[1] if number else "1", **given}
    action = re.search(r'<form [^>]*method="post" action="([^"#]+)', page)
    response = visitor.post(unescape(action[1]) if action else f"/hits/{work.pk}/", data, follow=True)
    assert not response.redirect_chain or response.redirect_chain[0][1] == 303
    return response.content.decode()


def tries() -> list[tuple[int, list[str], int, bool]]:
    return list(QuizAttempt.objects.values_list("number", "answers", "n_right", "is_passed"))


def heading(page: str) -> str:
    return re.findall(r"<h1[^>]*>([^<]+)</h1>", page)[-1]


def test_the_quiz_comes_before_the_work_and_once(visitor: Client, work: Questionnaire) -> None:
    page = open_page(visitor, work)
    assert heading(page) == "A few questions first"
    assert " checked" not in page
    assert heading(answer(visitor, work, page, **RIGHT)) == "All right"
    assert tries() == [(1, ["cat", "dog"], 2, True)]
    assert 'id="hit"' in open_page(visitor, work)


def test_one_question_is_called_one(visitor: Client, own_pictures: None, db: None) -> None:
    page = open_page(
        visitor, make_questionnaire(n_items=1, definition=replace(XAI, quiz=QUIZ[:1]), uses_quiz=True)
    )
    assert heading(page) == "A question first"
    assert ">Check my answer</button>" in page


def test_no_answer_is_in_the_page_before_it_is_answered(visitor: Client, work: Questionnaire) -> None:
    page = open_page(visitor, work)
    assert [word for word in ("purrs", "barks", "Right.", "Not quite.") if word in page] == []
    inputs = re.findall(r'<input type="radio"([^>]*)>', page)
    assert {re.sub(r' (name|id|value)="[^"]*"', "", attributes) for attributes in inputs} == {""}


def test_feedback_after_the_first_try_and_a_second(visitor: Client, work: Questionnaire) -> None:
    page = answer(visitor, work, open_page(visitor, work), **HALF)
    assert heading(page) == "One more try"
    assert re.findall(r"<strong>(Right|Not quite)\.</strong> ([^<]+)<", page) == [
        ("Right", "It purrs."),
        ("Not quite", "It barks."),
    ]
    assert re.findall(r'name="(q\d)" value="(\w+)"[^>]* checked', page) == [("q1", "cat")]
    assert heading(answer(visitor, work, page, **RIGHT)) == "All right"
    assert tries() == [(1, ["cat", "cat"], 1, False), (2, ["cat", "dog"], 2, True)]


def test_what_there_was_to_say_is_come_back_to(visitor: Client, work: Questionnaire) -> None:
    page = open_page(visitor, work)
    assert 'id="hit"' not in open_page(visitor, work, quiz="done")  # nobody says so before it is
    answer(visitor, work, page, **RIGHT)
    said = open_page(visitor, work, quiz="done")
    assert heading(said) == "All right"
    begin = re.search(r'<a class="main" href="([^"]+)">Begin', said)
    assert begin
    assert 'id="hit"' in visitor.get(unescape(begin[1])).content.decode()


def test_after_two_tries_the_work_begins_whatever_was_right(visitor: Client, work: Questionnaire) -> None:
    page = answer(visitor, work, open_page(visitor, work), **HALF)
    page = answer(visitor, work, page, **HALF)
    assert heading(page) == "1 of 2 were right"
    assert [n for n, _, _, is_passed in tries() if not is_passed] == [1, 2]
    assert 'id="hit"' in open_page(visitor, work)


def test_sent_twice_is_one_try(visitor: Client, work: Questionnaire) -> None:
    page = open_page(visitor, work)
    answer(visitor, work, page, **HALF)
    assert heading(answer(visitor, work, page, **RIGHT)) == "One more try"
    assert tries() == [(1, ["cat", "cat"], 1, False)]


@pytest.mark.parametrize("number", ["2", "1"])
def test_no_try_is_jumped_over(visitor: Client, work: Questionnaire, number: str) -> None:
    answer(visitor, work, open_page(visitor, work), **HALF, number=number)
    assert tries() == [(1, ["cat", "cat"], 1, False)]


@pytest.mark.parametrize(
    ("given", "message"),
    [({"q1": "cat"}, "Choose one."), ({"q1": "cat", "q2": "cow"}, "Choose one of the choices shown.")],
)
def test_a_gap_is_shown_and_is_no_try(
    visitor: Client, work: Questionnaire, given: dict[str, str], message: str
) -> None:
    page = answer(visitor, work, open_page(visitor, work), **given)
    assert f'<p class="error" id="q2-e">{message}</p>' in page
    assert re.findall(r'name="(q\d)" value="(\w+)"[^>]* checked', page) == [("q1", "cat")]
    assert tries() == []


@pytest.mark.parametrize("number", ["0", "3", "x", ""])
def test_an_invented_number_is_no_try(visitor: Client, work: Questionnaire, number: str) -> None:
    page = answer(visitor, work, open_page(visitor, work), **RIGHT, number=number)
    assert (heading(page), tries()) == ("A few questions first", [])


def test_another_worker_has_the_quiz_before_them(visitor: Client, work: Questionnaire) -> None:
    answer(visitor, work, open_page(visitor, work), **RIGHT)
    page = open_page(visitor, work, workerId="A2OTHER", assignmentId="3ASSIGNMENT2")
    assert heading(page) == "A few questions first"


def test_without_a_quiz_nothing_is_marked(visitor: Client, own_pictures: None, db: None) -> None:
    work = make_questionnaire(n_items=1, definition=replace(XAI, quiz=QUIZ))
    page = open_page(visitor, work)
    assert 'id="hit"' in page
    answer(visitor, work, page, **RIGHT)
    assert tries() == []
