import pytest
from django.template import engines

from surveys.definitions import VQAX, Choice
from surveys.forms import HitForm
from surveys.presenting import ShownItem, ShownOutput, ShownPicture
from surveys.rehearsal.hit_page import Option, UnexpectedPage, read_hit_page, read_last_form
from surveys.rehearsal.markup import Form, parse

SHOWN = ShownItem(
    position=2,
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
    assert [option.is_exclusive for option in shortcomings.options] == [False, False, False, True]


def test_an_item_is_known_by_what_it_shows(page):
    assert page.items[0].key == "Is <b>it</b> 5 < 6 & so?\nno\nyes\n\n<bin_7>\ntwo words"


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
