"""Submitting a HIT: the answers, the receipt, what is missing, what was not offered."""

import json
import re
from datetime import timedelta
from html import unescape
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Batch, Questionnaire, Rating
from surveys.pages.answering import tokens
from tests.builders import frame_query, make_questionnaire
from tests.protocols import WITH_NONE
from tests.surveys.pages.hit_pages import draft, full_answers, open_page, post, token_of, url


def test_submit_saves_everything_and_hands_over_to_the_marketplace(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    page = open_page(visitor, questionnaire)
    answers = full_answers(page) | {"comment": "Nice\x00 work", "i2-seconds": "31.5", "i3-seconds": "-4"}
    response = post(visitor, questionnaire, answers)
    html = unescape(response.content.decode())
    assignment = Assignment.objects.get()
    assert response.status_code == 200
    assert assignment.saved_at is not None
    assert assignment.comment == "Nice work"
    assert [r.answer for r in assignment.responses.all()] == [answers[f"i{n}-answer"] for n in range(1, 6)]
    assert [r.active_seconds for r in assignment.responses.all()] == [0, 31.5, 0, 0, 0]
    assert Rating.objects.filter(criterion="justifies", value="no").count() == 10
    assert Rating.objects.filter(criterion="shortcomings.confusing_sentence", score=1).count() == 10
    assert Rating.objects.filter(criterion="preference", value="preferred").count() == 5
    assert 'action="http://localhost:8000/mturk/externalSubmit" data-send>' in html
    sent = dict(re.findall(r'name="(\w+)" value=("[^\n]*"|[^\n]*?)>', html))
    assert sent.keys() == {"assignmentId", "taskAnswers", "nonce", "comment"}
    assert sent["assignmentId"] == '"3ASSIGNMENT1"'
    assert sent["nonce"] == f'"{assignment.nonce}"'
    assert [entry["answer"] for entry in json.loads(sent["taskAnswers"][1:-1])] == [
        answers[f"i{n}-answer"] for n in range(1, 6)
    ]


def test_second_submit_shows_the_receipt_and_changes_nothing(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    answers = full_answers(open_page(visitor, questionnaire))
    post(visitor, questionnaire, answers)
    before = list(Rating.objects.values().order_by("pk")), Assignment.objects.values().get()
    code = questionnaire.items.get(position=1).outputs.first().code
    again = post(visitor, questionnaire, answers | {f"i1-{code}-justifies": "yes", "comment": "other"})
    assert "They were saved before, and nothing has changed." in again.content.decode()
    assert "data-send" not in again.content.decode()
    assert "Send again" in again.content.decode()
    assert (list(Rating.objects.values().order_by("pk")), Assignment.objects.values().get()) == before


def test_of_two_submits_at_the_same_moment_both_receipts_hold_what_was_saved(
    visitor: Client, questionnaire: Questionnaire, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = full_answers(open_page(visitor, questionnaire))

    def meanwhile(point: str) -> None:
        if point == "submit.received":
            monkeypatch.undo()
            post(visitor, questionnaire, answers | {"comment": "The first"})

    monkeypatch.setattr("surveys.pages.answering.hit.reach", meanwhile)
    slower = post(visitor, questionnaire, answers | {"comment": "The second"}).content.decode()
    assert Assignment.objects.get().comment == "The first"
    assert 'name="comment" value="The first"' in slower
    assert f'name="nonce" value="{Assignment.objects.get().nonce}"' in slower


def test_reload_after_submission_shows_the_receipt(visitor: Client, questionnaire: Questionnaire) -> None:
    post(visitor, questionnaire, full_answers(open_page(visitor, questionnaire)))
    html = open_page(visitor, questionnaire).content.decode()
    assert "Your answers are saved" in html
    assert 'action="http://localhost:8000/mturk/externalSubmit">' in html


def test_receipt_of_confirmed_work_has_nothing_to_send(visitor: Client, questionnaire: Questionnaire) -> None:
    post(visitor, questionnaire, full_answers(open_page(visitor, questionnaire)))
    Assignment.objects.update(submitted_at=timezone.now(), status=Assignment.Status.SUBMITTED)
    html = open_page(visitor, questionnaire).content.decode()
    assert "The marketplace has confirmed your work" in html
    assert "<form" not in html


def test_incomplete_submit_names_every_gap_and_keeps_what_was_given(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    page = open_page(visitor, questionnaire)
    answers = full_answers(page) | {"comment": "So far"}
    code = questionnaire.items.get(position=2).outputs.first().code
    del answers["i1-answer"], answers[f"i2-{code}-justifies"], answers[f"i2-{code}-shortcomings"]
    response = post(visitor, questionnaire, answers)
    html = response.content.decode()
    assert response.status_code == 422
    assert re.findall(r'<a href="#([^"]+)">', html) == ["i1-answer-1", f"i2-{code}-justifies-1"]
    assert html.count('class="error"') == 2
    assert 'aria-invalid="true" aria-describedby="i1-answer-e"' in html
    assert f'id="i2-{code}-justifies-e">Choose one.' in html
    assert html.count(" checked") == 30 - 3 + 1  # and the keys
    assert ">So far</textarea>" in html
    assert html.index('id="errors"') < html.index('id="i1"')
    assert Rating.objects.count() == 0
    reloaded = open_page(visitor, questionnaire).content.decode()
    assert reloaded.count(" checked") == 30 - 3 + 1
    assert ">So far</textarea>" in reloaded


def test_none_and_a_shortcoming_contradict_each_other(visitor: Client, questionnaire: Questionnaire) -> None:
    Batch.objects.update(snapshot=WITH_NONE.to_snapshot())
    page = open_page(visitor, questionnaire)
    code = questionnaire.items.get(position=1).outputs.first().code
    answers = full_answers(page) | {f"i1-{code}-shortcomings": ["none", "confusing_sentence"]}
    response = post(visitor, questionnaire, answers)
    assert response.status_code == 422
    assert response.content.decode().count("“None” can’t be ticked together with others.") == 2
    assert Assignment.objects.get().saved_at is None


@pytest.mark.parametrize(
    "forged",
    [{"i1-answer": "made up"}, {"i1-preference": "0" * 16}, {"i5-preference": "yes"}, {"i2-answer": ""}],
)
def test_values_that_were_not_offered_are_refused(
    visitor: Client, questionnaire: Questionnaire, forged: dict[str, str]
) -> None:
    answers = full_answers(open_page(visitor, questionnaire)) | forged
    assert post(visitor, questionnaire, answers).status_code == 422
    assert Assignment.objects.get().saved_at is None


def test_expired_token_is_explained_and_what_was_posted_is_there_on_reopening(
    visitor: Client, questionnaire: Questionnaire, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page(visitor, questionnaire)
    monkeypatch.setattr(tokens, "SLACK", timedelta(hours=-2))
    response = visitor.post(url(questionnaire), full_answers(page), query_params=frame_query(questionnaire))
    html = unescape(response.content.decode())
    assert response.status_code == 403
    assert "This page has expired" in html
    assert f'href="{url(questionnaire)}?assignmentId=3ASSIGNMENT1&hitId=3HITSTUDY&workerId=A1WORKER' in html
    assert draft(visitor, questionnaire, token=token_of(page)).json() == {"saved": False, "why": "expired"}
    monkeypatch.undo()
    reopened = open_page(visitor, questionnaire)
    assert reopened.status_code == 200
    assert reopened.content.decode().count(" checked") == 30 + 1  # and the keys


def test_token_of_one_hit_does_not_open_another(visitor: Client, questionnaire: Questionnaire) -> None:
    token = token_of(open_page(visitor, questionnaire))
    other = make_questionnaire(name="other")
    assert post(visitor, other, {"token": token}).status_code == 403
    assert draft(visitor, other, token=token).status_code == 403


def test_work_goes_on_at_a_reload_and_begins_anew_after_a_return(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    token = token_of(open_page(visitor, questionnaire))
    draft(visitor, questionnaire, token=token, answers={"answer": "rainy"})
    reloaded = open_page(visitor, questionnaire).content.decode()
    assert 'value="rainy"' in re.findall(r"<input[^>]+ checked>", reloaded)[0]
    page = open_page(visitor, questionnaire, assignmentId="3ASSIGNMENT2")
    assert 'value="rainy"' not in "".join(re.findall(r"<input[^>]+ checked>", page.content.decode()))
    response = post(visitor, questionnaire, full_answers(page))
    assert 'name="assignmentId" value="3ASSIGNMENT2"' in response.content.decode()


# -- What is missing --------------------------------------------------------------------------------------------------


def navigate(visitor: Client, questionnaire: Questionnaire, data: dict[str, object]):
    """Post as a browser without scripts does, which goes where the answer is."""
    path = f"{url(questionnaire)}?{urlencode(frame_query(questionnaire))}"
    return visitor.post(path, data, headers={"Sec-Fetch-Mode": "navigate"})


def test_what_is_missing_has_an_address_of_its_own(visitor: Client, questionnaire: Questionnaire) -> None:
    answers = full_answers(open_page(visitor, questionnaire))
    del answers["i2-preference"]
    sent = navigate(visitor, questionnaire, answers | {"comment": "=1+1 🙂"})
    assert sent.status_code == 303
    page = visitor.get(sent["Location"])
    html = page.content.decode()
    assert (page.status_code, re.findall(r'<li><a href="#([^"]+)"', html)) == (200, ["i2-preference-1"])
    assert full_answers(page)["token"]
    assert html.count(" checked>") == len(answers)  # with the keys, without the token
    assert "=1+1 🙂" in html
    again = navigate(visitor, questionnaire, answers | {"i2-preference": "no_preference"})
    assert (again.status_code, Assignment.objects.filter(saved_at=None).count()) == (200, 0)
    assert 'id="errors"' not in visitor.get(sent["Location"]).content.decode()


def test_a_script_is_answered_with_the_page(visitor: Client, questionnaire: Questionnaire) -> None:
    answers = full_answers(open_page(visitor, questionnaire))
    del answers["i2-preference"]
    for headers in ({}, {"Sec-Fetch-Mode": "cors"}):
        assert visitor.post(url(questionnaire), answers, headers=headers).status_code == 422
