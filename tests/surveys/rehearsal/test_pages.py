from dataclasses import replace

import pytest
from django.template import engines

from surveys.answering.presentation import ShownItem, ShownOutput, ShownPicture
from surveys.pages.answering.hit_form import HitForm
from surveys.pages.answering.quiz import QuizForm
from surveys.protocols.criteria import Choice
from surveys.protocols.documents import read
from surveys.rehearsal.hit_page import Form, parse, read_hit_page, read_last_form, read_quiz
from surveys.simulating.views import Group, Option, UnexpectedPage
from tests.invented import TALE
from tests.protocols import VQAX, XAI
from tests.surveys.protocols.conditional import DOCUMENT

SHOWN = ShownItem(
    position=2,
    place=2,
    question="Is <b>it</b> 5 < 6 & so?",
    pictures=(ShownPicture("/pictures/abc", 640, 480, "Picture"),),
    choices=(Choice("no", "no"), Choice("yes", "yes")),
    outputs=(
        ShownOutput("aa01", "Explanation 1", "two  words"),
        ShownOutput("bb02", "Explanation 2", "<bin_7>"),
    ),
    draft={},
)
PAGE = """<form id="hit" action="/hits/1/?a=b&amp;c=d#errors" data-draft="/hits/1/draft">
<input type="hidden" name="token" value="t&quot;1">{% load crispy_forms_tags %}{% crispy form %}</form>"""
TALE_SKIP = " If you need it, choose “Skip: it can’t be judged” below."
QUIZ = """<form action="/hits/1/"><input type="hidden" name="quiz" value="1">
<input type="hidden" name="number" value="1">{% load crispy_forms_tags %}{% crispy form %}</form>"""


@pytest.fixture
def page():
    html = engines["django"].from_string(PAGE).render({"form": HitForm(definition=VQAX, items=[SHOWN])})
    return read_hit_page(parse(html))


def test_the_form_and_its_hidden_fields(page):
    assert page.form == Form("/hits/1/?a=b&c=d#errors", {"token": 't"1', "i2-seconds": "0.0"})
    assert page.draft_url == "/hits/1/draft"


def test_texts_are_what_a_reader_sees(page):
    (item,) = page.items
    assert (item.position, item.version, item.question) == (2, 0, "Is <b>it</b> 5 < 6 & so?")
    assert [output.text for output in item.outputs] == ["two words", "<bin_7>"]
    assert item.pictures == ("/pictures/abc",)


def test_questions_are_found_with_their_options(page):
    (item,) = page.items
    assert [group.name for group in item.groups] == ["i2-answer", "i2-preference"]
    assert item.answer.options == (Option("no", "no"), Option("yes", "yes"))
    justifies, shortcomings = item.outputs[1].groups
    assert (justifies.name, justifies.is_checklist) == ("i2-bb02-justifies", False)
    assert [option.value for option in justifies.options] == ["yes", "weak_yes", "weak_no", "no"]
    assert (shortcomings.name, shortcomings.is_checklist) == ("i2-bb02-shortcomings", True)
    assert [option.is_exclusive for option in shortcomings.options] == [False] * 3
    assert (justifies.is_optional, shortcomings.is_optional) == (False, True)


def test_only_what_is_asked_is_answered():
    form = HitForm(definition=read(DOCUMENT, name="edits.yaml"), items=[SHOWN])
    html = engines["django"].from_string(PAGE).render({"form": form})
    (item,) = read_hit_page(parse(html)).items
    _, severity, _, which = item.outputs[0].groups
    assert (severity.only_if, severity.wanted) == ("i2-aa01-fluent", ("no", "weak_no"))
    assert (which.only_if, which.wanted) == ("i2-aa01-faults", ("other",))
    answers = {group.name: group.options[-1].value if group.options else "x" for group in item.all_groups()}
    answers |= {
        "i2-answer": "b",
        "i2-aa01-faults": ["grammar", "other"],
        "i2-bb02-faults": ["other"],
        "i2-bb02-fluent": "yes",
    }
    about_first = ["i2-aa01-fluent", "i2-aa01-severity", "i2-aa01-faults", "i2-aa01-which"]
    about_item = ["i2-answer", "i2-hard"]  # it was not hard, so nobody asks why
    assert sorted(item.only_asked(answers)) == sorted([*about_first, *about_item, "i2-bb02-fluent"])


def test_an_item_is_known_by_what_it_shows(page):
    assert page.items[0].key == "Is <b>it</b> 5 < 6 & so\nno\nyes\n\n<bin_7>\ntwo words"


def test_another_page_is_quoted():
    with pytest.raises(UnexpectedPage, match=r"No HIT to work on: Not now Come back later\."):
        read_hit_page(parse("<h1>Not now</h1><p>Come back later.</p>"))


def test_the_last_form_is_the_one_to_the_marketplace():
    html = """<form action="/search"><input type="hidden" name="q" value="x"></form>
    <form action="http://localhost/mturk/externalSubmit"><input type="hidden" name="assignmentId" value="3A"></form>"""
    assert read_last_form(parse(html)) == Form(
        "http://localhost/mturk/externalSubmit", {"assignmentId": "3A"}
    )


def test_refused_answers_are_noticed():
    with pytest.raises(UnexpectedPage, match="The answers were not taken: an empty page"):
        read_last_form(parse("<form action='/hits/1/'></form>"))


def test_a_sequence_is_read_as_its_states_texts_and_the_way_to_skip():
    output = ShownOutput("c1", "What happens", "A seed is sown.\nA tree grows.")
    states = tuple(ShownPicture(f"/pictures/{n}", 4, 3, f"State {n}") for n in (1, 2, 3))
    shown = ShownItem(1, 1, "", states, (), (output,), {})
    html = engines["django"].from_string(PAGE).render({"form": HitForm(definition=TALE, items=[shown])})
    (item,) = read_hit_page(parse(html)).items
    assert (item.question, item.pictures) == ("", ("/pictures/1", "/pictures/2", "/pictures/3"))
    assert item.key == "\n\nA seed is sown. A tree grows."
    (told,) = item.outputs
    assert [(group.name, len(group.options)) for group in told.groups] == [
        ("i1-c1-flow", 3),
        ("i1-c1-remark", 0),
    ]
    assert item.groups == ()
    assert item.skip == Group(
        "i1-skip", False, (Option("dark", "Too dark"), Option("other", "Something else")), is_optional=True
    )
    assert [option.value for option in told.groups[0].best_first()] == ["3", "2", "1"]


def test_pictures_that_have_not_arrived_are_named_and_counted():
    states = tuple(ShownPicture(url, 0, 0, f"State {n}") for n, url in enumerate(("/pictures/1", "", ""), 1))
    tale = ShownItem(1, 1, "", states, (), (ShownOutput("c1", "What happens", "A.\nB."),), {})
    asked = replace(SHOWN, pictures=(ShownPicture("", 0, 0, "Picture (Question 2)"),))
    for definition, shown, pictures, sentences in (
        (TALE, tale, ("/pictures/1",), [f"State {n} is missing.{TALE_SKIP}" for n in (2, 3)]),
        (VQAX, asked, (), ["Picture (Question 2) is missing."]),
    ):
        html = (
            engines["django"]
            .from_string(PAGE)
            .render({"form": HitForm(definition=definition, items=[shown])})
        )
        root = parse(html)
        (item,) = read_hit_page(root).items
        assert (item.pictures, len(set(item.missing))) == (pictures, len(sentences))
        assert [element.text() for element in root.all("p", css_class="missing")] == sentences


def test_a_quiz_is_told_from_the_work():
    html = engines["django"].from_string(QUIZ).render({"form": QuizForm(questions=XAI.quiz)})
    page = read_quiz(parse(html))
    assert page.form == Form("/hits/1/", {"quiz": "1", "number": "1"})
    assert [group.name for group in page.items[0].groups] == ["q1", "q2", "q3"]
    assert read_quiz(parse("<form id='hit'></form>")) is None
