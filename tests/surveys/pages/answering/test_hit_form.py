"""One form for every definition: what the questions are called, checked for, and turned into."""

import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.template import engines
from django.test import Client

from surveys.answering.answer_copy import ItemAnswer
from surveys.answering.presentation import ShownBlock, ShownItem, ShownOutput, ShownPicture
from surveys.pages.answering.hit_form import HitForm
from surveys.protocols.criteria import AnswerQuestion, Choice, Criterion
from surveys.protocols.definition import Definition, Instructions
from surveys.protocols.languages import TextIn
from tests.builders import frame_query, make_questionnaire
from tests.protocols import ESNLIVE, VQAX, WITH_NONE

FIVE = tuple(
    Choice(str(n), f"{n}: {word}", n / 5)
    for n, word in enumerate(("not", "little", "half", "well", "fully"), 1)
)
RUBRICS = ("fluency", "relevance", "logic")


def make_definition(**values) -> Definition:
    """A survey type that is none of the registered ones: criteria of one output, nothing else asked."""
    return Definition(
        **{
            "key": "made-up",
            "name": "Made up",
            "version": 1,
            "title": "Judge a text",
            "question_label": "Story",
            "output_label": "Text",
            "outputs_per_item": 1,
            "criteria": tuple(Criterion(key, f"How good is its {key}?", FIVE) for key in RUBRICS),
            "headline": "logic",
            "instructions": Instructions(summary="You will see texts.", steps=("Read.",)),
        }
        | values
    )


def make_item(
    position: int = 1, *, outputs: int = 1, draft: dict | None = None, choices: str = ""
) -> ShownItem:
    return ShownItem(
        position=position,
        place=position,
        question="What?",
        pictures=(),
        choices=tuple(Choice(value, value) for value in choices.split()),
        outputs=tuple(ShownOutput(f"c{n}", f"Explanation {n}", "Because.") for n in range(1, outputs + 1)),
        draft=draft or {},
    )


def make_form(definition: Definition, *items: ShownItem, posted: str | None = None) -> HitForm:
    return HitForm(QueryDict(posted) if posted is not None else None, definition=definition, items=items)


def render(form: HitForm) -> str:
    return (
        engines["django"].from_string("{% load crispy_forms_tags %}{% crispy form %}").render({"form": form})
    )


def problems(form: HitForm) -> list[tuple[int, str, str, str]]:
    return [(at, p.control, p.where, p.message) for at, entries in form.problems for p in entries]


def test_survey_type_without_answer_or_preference_needs_no_new_code() -> None:
    form = make_form(
        make_definition(),
        make_item(),
        posted="i1-c1-fluency=5&i1-c1-relevance=1&i1-c1-logic=3&i1-seconds=2.5",
    )
    assert form.is_valid()
    assert form.answers() == [
        ItemAnswer(
            position=1, ratings={"c1": {"fluency": "5", "relevance": "1", "logic": "3"}}, active_seconds=2.5
        )
    ]


def test_forms_share_questions_and_nothing_that_was_given() -> None:
    definition = make_definition(skip_reasons=(Choice("blank", "It is blank"),))
    answered = make_form(definition, make_item(), posted="i1-c1-fluency=5")
    skipped = make_form(definition, make_item(), posted="skip=1&i1-skip=blank")
    fresh = make_form(definition, make_item(), make_item(2))
    assert fresh.fields["i1-c1-logic"] is answered.fields["i1-c1-logic"]
    assert fresh.fields["i1-c1-logic"] is not fresh.fields["i2-c1-logic"]
    assert [form.fields["i1-c1-logic"].required for form in (answered, skipped, fresh)] == [True, False, True]
    assert (answered.is_valid(), skipped.is_valid()) == (False, True)
    assert "checked" not in render(fresh)


def test_criteria_about_the_item_come_after_the_outputs() -> None:
    overall = Criterion("overall", "Overall?", FIVE, per_output=False)
    definition = make_definition(criteria=(*make_definition().criteria, overall))
    form = make_form(
        definition, make_item(), posted="i1-c1-fluency=5&i1-c1-relevance=1&i1-c1-logic=3&i1-overall=4"
    )
    assert form.is_valid()
    assert form.answers()[0].item_ratings == {"overall": "4"}
    assert re.findall(r'id="([^"]+)-1"', render(form)) == [
        "i1-c1-fluency",
        "i1-c1-relevance",
        "i1-c1-logic",
        "i1-overall",
    ]


def test_every_definition_renders_all_its_controls_unchosen() -> None:
    html = render(make_form(VQAX, make_item(outputs=2, choices="red blue")))
    assert html.count('<input type="radio"') == 2 + 2 * 4 + 3
    assert html.count('<input type="checkbox"') == 2 * 3
    assert html.count("checked") == 0
    assert html.count("<fieldset") == 6


def test_ordered_answers_keep_their_order() -> None:
    form = make_form(ESNLIVE, ShownItem(1, 1, "A.", (), ESNLIVE.answer.choices, (), {}))
    assert re.findall(r'name="i1-answer" value="(\w+)"', render(form)) == [
        "entailment",
        "neutral",
        "contradiction",
    ]


def test_preference_names_an_output_or_nobody() -> None:
    given = (
        "i1-answer=red&i1-c1-justifies=yes&i1-c2-justifies=no"
        "&i1-c2-shortcomings=confusing_sentence&i1-c2-shortcomings=incorrect_description"
    )
    item = make_item(outputs=2, choices="red blue")
    forms = [
        make_form(VQAX, item, posted=f"{given}&i1-preference={value}") for value in ("c2", "no_preference")
    ]
    assert [form.is_valid() for form in forms] == [True, True]
    assert [form.answers()[0].preference for form in forms] == ["c2", ""]
    assert forms[0].answers()[0].ratings == {
        "c1": {"justifies": "yes", "shortcomings": []},
        "c2": {"justifies": "no", "shortcomings": ["incorrect_description", "confusing_sentence"]},
    }


def test_every_gap_is_named_in_the_order_of_the_page() -> None:
    form = make_form(VQAX, make_item(outputs=2, choices="red blue"), posted="")
    assert problems(form) == [
        (1, "i1-answer-1", "", "Choose one."),
        (1, "i1-c1-justifies-1", "Explanation 1", "Choose one."),
        (1, "i1-c2-justifies-1", "Explanation 2", "Choose one."),
        (1, "i1-preference-1", "", "Choose one."),
    ]


@pytest.mark.parametrize(
    ("posted", "message"),
    [
        ("i1-answer=green", "Choose one of the choices shown."),
        ("i1-answer=yes", "Choose one of the choices shown."),
        ("i1-c1-shortcomings=made_up", "Tick only choices shown."),
        ("i1-preference=c3", "Choose one of the choices shown."),
    ],
)
def test_values_that_were_not_offered_are_errors(posted: str, message: str) -> None:
    form = make_form(VQAX, make_item(outputs=2, choices="red blue"), posted=posted)
    control = posted.partition("=")[0]
    assert [p[3] for p in problems(form) if p[1] == f"{control}-1"] == [message]


def test_an_explicit_none_has_to_be_ticked_and_rules_out_the_others() -> None:
    item = make_item(outputs=2, choices="red blue")
    posted = "i1-c1-shortcomings=none&i1-c1-shortcomings=confusing_sentence"
    assert [p[3] for p in problems(make_form(WITH_NONE, item, posted=posted)) if "shortcomings" in p[1]] == [
        "“None” can’t be ticked together with others.",
        "Tick at least one.",
    ]


def test_a_preference_repeats_what_is_compared_and_shortens_what_is_long() -> None:
    outputs = (ShownOutput("c1", "Explanation 1", "الأرض <b>"), ShownOutput("c2", "Explanation 2", "x" * 241))
    html = render(make_form(VQAX, replace(make_item(choices="red blue"), outputs=outputs)))
    *_, choices = html.partition('name="i1-preference"')
    assert re.findall(r"<small>([^<]+)</small>", choices) == ["الأرض &lt;b&gt;", f"{'x' * 239}…"]


def test_no_preference_stands_where_the_protocol_has_it() -> None:
    item = make_item(outputs=2, choices="red blue")
    assert VQAX.preference is not None
    last = replace(VQAX, preference=replace(VQAX.preference, is_none_between=False))
    orders = [
        re.findall(r'name="i1-preference" value="(\w+)"', render(make_form(definition, item)))
        for definition in (VQAX, last)
    ]
    assert orders == [["c1", "no_preference", "c2"], ["c1", "c2", "no_preference"]]


def test_errors_stand_beside_their_question() -> None:
    html = render(make_form(make_definition(), make_item(), posted="i1-c1-fluency=5&i1-c1-relevance=1"))
    assert html.count('aria-invalid="true"') == 1
    assert 'aria-describedby="i1-c1-logic-e"' in html
    assert '<p class="error" id="i1-c1-logic-e">Choose one.</p>' in html
    assert '<a href="#i1-c1-logic-1">Explanation 1: How good is its logic?</a>' in html
    assert html.count(" checked") == 2


def test_draft_fills_the_form_and_nonsense_in_it_does_not() -> None:
    item = make_item(draft={"c1-fluency": "5", "c1-relevance": "9", "c1-logic": ["1"], "comment": "Hm."})
    form = make_form(make_definition(), item)
    assert re.findall(r'name="([^"]+)" value="5"[^>]* checked', render(form)) == ["i1-c1-fluency"]
    assert render(form).count("checked") == 1
    assert form["comment"].value() == "Hm."


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [("2.5", 2.5), ("", 0), ("-1", 0), ("nan", 0), ("inf", 0), ("1e12", 0), ("long", 0)],
)
def test_time_that_can_not_be_is_no_time_and_no_error(seconds: str, expected: float) -> None:
    given = "i1-c1-fluency=5&i1-c1-relevance=1&i1-c1-logic=3"
    form = make_form(make_definition(), make_item(), posted=f"{given}&i1-seconds={seconds}")
    assert form.is_valid()
    assert form.answers()[0].active_seconds == expected


@pytest.mark.parametrize(
    ("comment", "kept"),
    [
        ("  Nice.\r\nReally. ", "Nice.\nReally."),
        ("a\x00b\x0bc\ud800d\ufffe", "abcd"),
        ("😀 \u00a0é", "😀 \u00a0é"),
        ("x" * 3000, "x" * 2000),
    ],
)
def test_comment_never_holds_anybody_up(comment: str, kept: str) -> None:
    form = HitForm({"comment": comment}, definition=make_definition(), items=[])
    assert form.is_valid()
    assert form.cleaned_data["comment"] == kept


def test_texts_are_escaped() -> None:
    definition = make_definition(
        answer=AnswerQuestion("<b>Which?</b>"),
        criteria=(Criterion("logic", "<i>", (Choice("1", "<u>", 1.0),), help="<s>"),),
    )
    html = render(make_form(definition, make_item(choices="<img>"), posted=""))
    assert re.findall(r"<(?:b|i|u|s|img)>", html) == []
    assert html.count("&lt;img&gt;") == 2


@pytest.mark.parametrize(
    ("labels", "shape"),
    [("a b c d", "radio"), ("a b c d e", "radio row"), ("a b c d a-label-of-some-length", "radio list")],
)
def test_more_than_four_choices_are_a_row_or_a_list(labels: str, shape: str) -> None:
    choices = tuple(Choice(label, label, 0.0) for label in labels.split())
    html = render(make_form(make_definition(criteria=(Criterion("logic", "?", choices),)), make_item()))
    assert re.findall(r'class="group ([^"]+)"', html) == [shape]


def test_what_is_asked_often_is_told_apart_by_name_and_language() -> None:
    """An unanswered question is rendered once for all outputs it is asked of, and for each language anew."""
    items = [make_item(1, outputs=2), make_item(2, outputs=1, draft={"c1-logic": "2"})]
    html = render(make_form(make_definition(outputs_per_item=2), *items))
    assert re.findall(r'id="(i\d-c\d-logic)-1"', html) == ["i1-c1-logic", "i1-c2-logic", "i2-c1-logic"]
    assert re.findall(r'name="([^"]+)" value="2"[^>]* checked', html) == ["i2-c1-logic"]
    question = Criterion("logic", TextIn("Logik?", "de"), tuple(replace(c, label=c.value) for c in FIVE))
    alike = replace(question, label=TextIn("Logik?", "nl"))
    pages = [
        render(make_form(make_definition(criteria=(one,)), make_item(outputs=1))) for one in (question, alike)
    ]
    assert [re.findall(r'lang="(de|nl)"', page) for page in pages] == [["de"], ["nl"]]


def test_an_item_says_where_it_stands_on_each_page() -> None:
    """An item is rendered once for all the places that it has on people's pages."""

    def at(place: int, *, position: int) -> ShownItem:
        own = ShownPicture(f"/{position}", 4, 3, "Picture", among=f"Story {place}")
        files = (ShownBlock("pictures", "", "", (), files=(replace(own, name="<Map>"),)),)
        return replace(make_item(position), place=place, pictures=(own,), blocks=(files,), among=own.among)

    for places in [(1, 2, 3), (3, 1, 2), (2, 3, 1)]:
        items = [at(place, position=n) for n, place in enumerate(places, 1)]
        html = render(make_form(make_definition(), *items))
        assert re.findall(r'src="/(\d)"[^>]* alt="Picture \(([^)]+)\)"( loading)?', html) == [
            (str(n), f"Story {place}", "" if place == 1 else " loading") for n, place in enumerate(places, 1)
        ]
        assert re.findall(r'alt="&lt;Map&gt; \(Story (\d)\)"', html) == [str(place) for place in places]
        assert re.findall(r'class="count">(\d of 3) · ', html) == [f"{place} of 3" for place in places]
    nameless = replace(make_item(1), question="")
    for place in (1, 4):
        html = render(make_form(make_definition(question_label=""), replace(nameless, place=place)))
        assert re.findall(r'class="vh">(Text \d)<', html) == [f"Text {place}"]


@pytest.mark.django_db
@pytest.mark.parametrize(("n_items", "headings"), [(1, []), (2, ["Question 1", "Question 2"])])
def test_one_question_alone_is_not_numbered_among_what_is_missing(
    visitor: Client, n_items: int, headings: list[str]
) -> None:
    work = make_questionnaire(n_items=n_items)
    page = visitor.get(f"/hits/{work.pk}/", frame_query(work)).content.decode()
    token = re.findall(r'name="token" value="([^"]+)"', page)[0]
    answer = visitor.post(f"/hits/{work.pk}/?" + urlencode(frame_query(work)), {"token": token})
    summary = answer.content.decode().partition('id="errors"')[2].partition("</div>")[0]
    assert re.findall(r"<h3>([^<]+)</h3>", summary) == headings


@pytest.mark.django_db
def test_items_are_called_by_a_word_of_their_survey_type(visitor: Client) -> None:
    work = make_questionnaire(n_items=2, definition=ESNLIVE)
    page = visitor.get(f"/hits/{work.pk}/", frame_query(work)).content.decode()
    assert re.findall(r'data-word="([^"]+)"', page) == ["Statement"]
    token = re.findall(r'name="token" value="([^"]+)"', page)[0]
    answer = visitor.post(f"/hits/{work.pk}/?" + urlencode(frame_query(work)), {"token": token})
    summary = answer.content.decode().partition('id="errors"')[2].partition("</form>")[0]
    assert re.findall(r"<h3>([^<]+)</h3>", summary)[:2] == ["Statement 1", "Statement 2"]
