"""Rubrics, texts, sequences and skips in the form of a HIT."""

import re

import pytest

from surveys.answering.answer_copy import ItemAnswer
from surveys.answering.presentation import ShownItem, ShownOutput, ShownPicture
from surveys.pages.answering.hit_form import HitForm, draft_from
from tests.invented import TALE
from tests.surveys.pages.answering.test_hit_form import make_form, problems, render

STATES = tuple(ShownPicture(f"/p/{n}", 40, 30, f"State {n} of 3") for n in (1, 2, 3))


def tale(*, posted: str | None = None, draft: dict[str, object] | None = None) -> HitForm:
    output = ShownOutput("c1", "What happens", "A seed is sown.\nA <tree> grows.")
    return make_form(TALE, ShownItem(1, 1, "", STATES, (), (output,), draft or {}), posted=posted)


def answers(posted: str) -> list[ItemAnswer]:
    form = tale(posted=posted)
    assert form.is_valid()
    return form.answers()


def test_states_stand_in_order_with_a_text_between_each_two() -> None:
    told = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", render(tale()).partition("</ol>")[0])).strip()
    assert told == (
        "State 1 From state 1 to the next: A seed is sown. "
        "State 2 From state 2 to the next: A &lt;tree&gt; grows. State 3"
    )
    assert re.findall(r'alt="([^"]+)"', render(tale())) == ["State 1 of 3", "State 2 of 3", "State 3 of 3"]
    assert "<blockquote" not in render(tale())


def test_rubrics_and_the_reminder_are_always_in_view() -> None:
    html = render(tale())
    assert re.findall(r"<small>([^<]+)</small>", html) == [f"Level {n} in words." for n in (1, 2, 3)]
    assert re.findall(r'class="reminder" dir="auto">([^<]+)<', html) == ["A sad end is no fault."]


def test_a_complete_answer_needs_its_text() -> None:
    form = tale(posted="i1-c1-flow=2&i1-c1-remark=++")
    assert problems(form) == [(1, "i1-c1-remark-1", "What happens", "Write a few words.")]
    assert answers("i1-c1-flow=2&i1-c1-remark=+So.%00+") == [
        ItemAnswer(1, ratings={"c1": {"flow": "2", "remark": "So."}})
    ]


def test_a_text_has_a_length_it_may_have() -> None:
    form = tale(posted=f"i1-c1-flow=2&i1-c1-remark={'x' * 2001}")
    assert problems(form) == [(1, "i1-c1-remark-1", "What happens", "Write at most 2000 characters.")]


def test_skipping_asks_for_the_reason_and_for_nothing_else() -> None:
    assert problems(tale(posted="skip=1")) == [(1, "i1-skip-1", "", "Choose why you skip it.")]
    skipped = answers("skip=1&i1-skip=dark&i1-c1-flow=2&i1-seconds=3")
    assert skipped == [ItemAnswer(1, skip_reason="dark", active_seconds=3.0)]


def test_a_reason_without_skipping_is_not_a_skip() -> None:
    given = answers("i1-skip=dark&i1-c1-flow=2&i1-c1-remark=So.")
    assert given == [ItemAnswer(1, ratings={"c1": {"flow": "2", "remark": "So."}})]


@pytest.mark.parametrize("skip", ["2", "x", ""])
def test_only_an_item_that_is_there_can_be_skipped(skip: str) -> None:
    assert not tale(posted=f"skip={skip}&i1-skip=dark").is_valid()


def test_the_way_to_skip_is_closed_until_it_is_wanted() -> None:
    assert '<details class="skip">' in render(tale())
    assert '<details class="skip" open>' in render(tale(draft={"skip": "dark"}))
    assert '<details class="skip" open>' in render(tale(posted="skip=1"))


@pytest.mark.parametrize(
    "given",
    [
        ItemAnswer(1, ratings={"c1": {"flow": "1", "remark": "So."}}),
        ItemAnswer(1, skip_reason="other"),
    ],
)
def test_complete_answers_are_shown_again(given: ItemAnswer) -> None:
    form = tale(draft=draft_from(given, TALE))
    shown = {name: form[name].value() for name in ("i1-c1-flow", "i1-c1-remark", "i1-skip")}
    values = given.ratings.get("c1", {})
    assert shown == {
        "i1-c1-flow": values.get("flow"),
        "i1-c1-remark": values.get("remark"),
        "i1-skip": given.skip_reason or None,
    }
