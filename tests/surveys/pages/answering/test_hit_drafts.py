"""What an annotator has entered is kept as a draft, and nothing else is."""

import re

import pytest
from django.test import Client

from surveys.models import Questionnaire, Response
from tests.surveys.pages.hit_pages import draft, full_answers, open_page, post, token_of, url


def test_draft_is_kept_and_restored(visitor: Client, questionnaire: Questionnaire) -> None:
    page = open_page(visitor, questionnaire)
    response = draft(
        visitor,
        questionnaire,
        token=token_of(page),
        version=4,
        answers={"answer": "rainy", "preference": "no_preference"},
    )
    assert (response.status_code, response.json()) == (200, {"saved": True, "why": ""})
    kept = Response.objects.get(position=1)
    assert kept.draft == {"answer": "rainy", "preference": "no_preference"}
    assert (kept.draft_version, kept.active_seconds) == (4, 2.5)
    html = open_page(visitor, questionnaire).content.decode()
    assert re.findall(r'value="([^"]+)"(?: id="[^"]+")? checked', html) == ["rainy", "no_preference"]
    assert 'data-position="1" data-version="4"' in html
    assert 'name="i1-seconds" value="2.5"' in html


def test_draft_keeps_only_what_the_page_could_have_sent(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    page = open_page(visitor, questionnaire)
    code = questionnaire.items.get(position=1).outputs.first().code
    sent = {
        "answer": "<script>",
        f"{code}-justifies": ["yes"],
        f"{code}-shortcomings": ["confusing_sentence", "made_up", 3],
        "preference": {"a": 1},
        "is_correct": True,
        "comment": "x" * 3000,
    }
    assert draft(visitor, questionnaire, token=token_of(page), answers=sent).status_code == 200
    assert Response.objects.get(position=1).draft == {
        f"{code}-shortcomings": ["confusing_sentence"],
        "comment": "x" * 2000,
    }


def test_late_draft_can_not_win(visitor: Client, questionnaire: Questionnaire) -> None:
    token = token_of(open_page(visitor, questionnaire))
    assert (
        draft(visitor, questionnaire, token=token, version=5, answers={"answer": "rainy"}).status_code == 200
    )
    late = draft(visitor, questionnaire, token=token, version=5, answers={"answer": "sunny"})
    there = {"version": 5, "answers": {"answer": "rainy"}}
    assert (late.status_code, late.json()) == (409, {"saved": False, "why": "outdated"} | there)
    assert Response.objects.get(position=1).draft == {"answer": "rainy"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"token": "forged"}, 403),
        ({"token": None}, 400),
        ({"position": 6}, 400),
        ({"position": "one"}, 400),
        ({"position": 2**63}, 400),
        ({"version": None}, 400),
        ({"answers": 5}, 400),
        ({"answers": None}, 400),
        ({"seconds": "NaN"}, 400),
        ({"seconds": "1e400"}, 400),
        ({"version": 2**31}, 400),
        ({"version": -1}, 400),
        ({"after": [0] * 102}, 400),  # a statement is worded for as many as there are
    ],
)
def test_bad_drafts_are_refused(
    visitor: Client, questionnaire: Questionnaire, body: dict[str, object], status: int
) -> None:
    token = token_of(open_page(visitor, questionnaire))
    assert draft(visitor, questionnaire, **({"token": token} | body)).status_code == status
    assert Response.objects.exclude(draft={}).count() == 0


def test_a_draft_may_replace_as_many_as_a_page_tells(visitor: Client, questionnaire: Questionnaire) -> None:
    token = token_of(open_page(visitor, questionnaire))
    assert draft(visitor, questionnaire, token=token, after=[0] * 101).status_code == 200


@pytest.mark.parametrize("body", [b"", b"[]", b"\xff\xfe", b'"x"', b"[" * 100_000, b" " * (2_621_440 + 1)])
def test_unreadable_drafts_are_refused(visitor: Client, questionnaire: Questionnaire, body: bytes) -> None:
    response = visitor.post(f"{url(questionnaire)}draft", body, content_type="text/plain")
    assert (response.status_code, response.json()) == (400, {"saved": False, "why": "unreadable"})


def test_draft_of_a_sandboxed_frame_can_read_its_answer(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    response = draft(visitor, questionnaire, token=token_of(open_page(visitor, questionnaire)))
    assert response.headers["Access-Control-Allow-Origin"] == "*"


def test_draft_after_submission_changes_nothing(visitor: Client, questionnaire: Questionnaire) -> None:
    page = open_page(visitor, questionnaire)
    post(visitor, questionnaire, full_answers(page))
    late = draft(visitor, questionnaire, token=token_of(page), version=99)
    assert (late.status_code, late.json()) == (409, {"saved": False, "why": "outdated"})
