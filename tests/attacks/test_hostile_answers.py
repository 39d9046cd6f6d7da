"""Answers nobody was offered, fields no page has, bodies no page sends, and characters no text has."""

import json

import pytest
from django.test import Client

from annotators.models import Assignment
from surveys.answering.answer_copy import IncompleteAnswers
from surveys.answering.collection import recover
from surveys.models import Questionnaire, Rating, Response
from surveys.protocols.registry import DEFINITIONS
from tests import factories
from tests.link_study import SCORES, Visitor
from tests.surveys.pages.hit_pages import draft, full_answers, open_page, post, token_of, url
from tests.surveys.protocols.caption_definition import CAPTION

TEN_MB = 10 * 2**20
HOSTILE = ["a\0b", "\ud800", "\udfff tail", "\x1b[31m", "\x00", "‮abc", "x" * 100_000]


@pytest.mark.parametrize(
    "value", ["", "5", "-1", "1e9", "yes ", "YES", "no\0", "ground_truth", "<b>", "x" * 10_000]
)
def test_values_outside_the_scale_are_no_answers(
    visitor: Client, questionnaire: Questionnaire, value: str
) -> None:
    answers = full_answers(open_page(visitor, questionnaire))
    name = next(name for name in answers if name.endswith("-justifies"))
    assert post(visitor, questionnaire, answers | {name: value}).status_code == 422
    assert Rating.objects.count() == 0


def test_several_values_where_one_is_asked_for_are_one(visitor: Client, questionnaire: Questionnaire) -> None:
    answers = full_answers(open_page(visitor, questionnaire))
    name = next(name for name in answers if name.endswith("-justifies"))
    post(visitor, questionnaire, answers | {name: ["yes", "no"]})
    assert Rating.objects.filter(criterion="justifies").count() == 10


def test_unknown_fields_write_nothing(visitor: Client, questionnaire: Questionnaire) -> None:
    extra = {
        "is_correct": "1", "status": "Approved", "worker": "1", "i1-is_correct": "1", "i6-answer": "yes",
        "i1-active_seconds": "9", "assignment_id": "3X", "nonce": "0", "saved_at": "2020-01-01", "i1-gold": "no",
    }  # fmt: skip
    plain = open_page(visitor, questionnaire)
    other = open_page(visitor, questionnaire, workerId="A2", assignmentId="3B")
    post(visitor, questionnaire, full_answers(plain))
    post(visitor, questionnaire, full_answers(other) | extra)
    first, second = Assignment.objects.order_by("pk")
    assert (second.status, second.assignment_id) == (first.status, "3B")
    assert [(r.position, r.active_seconds) for r in second.responses.all()] == [(n, 0.0) for n in range(1, 6)]
    assert second.responses.count() == 5


@pytest.mark.parametrize("scale", ["0", "6", "3.5", "five", "-1", "１", "5\0"])
def test_scores_outside_the_scale_are_refused_by_link_too(ada: Visitor, scale: str) -> None:
    page = ada.open(1)
    answer = ada.client.post(
        ada.at(1), ada.scores(page, **SCORES) | fluency_of(ada.scores(page, **SCORES), scale)
    )
    assert (answer.status_code, Rating.objects.count()) == (422, 0)


def fluency_of(data: dict[str, str], score: str) -> dict[str, str]:
    return {name: score for name in data if name.endswith("-fluency")}


@pytest.mark.parametrize("text", HOSTILE)
def test_a_comment_holds_nothing_a_database_or_xml_can_not(
    visitor: Client, questionnaire: Questionnaire, text: str
) -> None:
    answers = full_answers(open_page(visitor, questionnaire))
    body = (
        "&".join(f"{k}={v}" for k, v in answers.items())
        + "&comment="
        + "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))
    )
    answer = visitor.post(url(questionnaire), body, content_type="application/x-www-form-urlencoded")
    comment = Assignment.objects.get().comment
    assert (answer.status_code, len(comment) <= 2000) == (200, True)
    assert not any(ord(character) < 32 or 0xD800 <= ord(character) < 0xE000 for character in comment)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_draft_holds_neither(visitor: Client, questionnaire: Questionnaire, text: str) -> None:
    page = open_page(visitor, questionnaire)
    answers = {"answer": text, "comment": text, text: text, "preference": {text: text}}
    assert draft(visitor, questionnaire, token=token_of(page), answers=answers).status_code == 200
    kept = Response.objects.get(position=1).draft
    assert set(kept) <= {"comment"}
    assert json.dumps(kept, ensure_ascii=False).encode() is not None


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "application/json"])
@pytest.mark.parametrize("path", ["", "draft"])
def test_ten_megabytes_are_refused(
    visitor: Client, questionnaire: Questionnaire, path: str, kind: str
) -> None:
    page = open_page(visitor, questionnaire)
    body = f"token={token_of(page)}&comment={'x' * TEN_MB}"
    answer = visitor.post(url(questionnaire) + path, body, content_type=kind)
    assert answer.status_code in (400, 403)
    assert Assignment.objects.get().saved_at is None


def test_ten_megabytes_in_parts_are_refused(visitor: Client, questionnaire: Questionnaire) -> None:
    answers = full_answers(open_page(visitor, questionnaire)) | {"comment": "x" * TEN_MB}
    assert post(visitor, questionnaire, answers).status_code == 400
    assert Rating.objects.count() == 0


def test_more_fields_than_any_page_has_are_refused(visitor: Client, questionnaire: Questionnaire) -> None:
    answers = full_answers(open_page(visitor, questionnaire)) | {f"x{n}": "1" for n in range(6000)}
    assert post(visitor, questionnaire, answers).status_code == 400


@pytest.mark.parametrize("size", [TEN_MB])
def test_ten_megabytes_by_link_are_refused(ada: Visitor, size: int) -> None:
    ada.open(1)
    for path in (ada.path, ada.at(1), f"{ada.at(1)}draft"):
        answer = ada.client.post(path, "x" * size, content_type="application/x-www-form-urlencoded")
        assert answer.status_code in (200, 302, 400, 403), path
    assert Rating.objects.count() == 0


@pytest.mark.parametrize("agent", ["a\0b", "\x7f\x80\xff", "x" * 10_000, "<script>"])
def test_a_browser_that_calls_itself_anything(
    visitor: Client, questionnaire: Questionnaire, agent: str
) -> None:
    answer = visitor.get(
        url(questionnaire),
        {"assignmentId": "3A", "hitId": questionnaire.hit.hit_id, "workerId": "A1"},
        headers={"user-agent": agent},
    )
    kept = Assignment.objects.get().user_agent
    assert (answer.status_code, "\0" in kept, len(kept) <= 255) == (200, False, True)


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\x01"])
def test_the_marketplaces_copy_brings_no_text_that_can_not_be_kept(text: str) -> None:
    """taskAnswers is JSON, whose escapes can say what XML can't."""
    survey = factories.make_survey(definition_key="evil-vqax")
    batch = factories.make_batch(survey, items_per_hit=1, snapshot=CAPTION.to_snapshot())
    item = factories.make_item(survey, systems=("model",))
    questionnaire = factories.make_questionnaire(batch, items=[item], hit=factories.make_hit())
    assignment = factories.open_for(questionnaire)
    answer = {
        "position": 1, "answer": "", "preference": "", "seconds": 1, "item": {},
        "outputs": {item.outputs.get().code: values_of(text)},
    }  # fmt: skip
    Assignment.objects.update(answer_xml=factories.answer_xml([answer]))
    assignment.refresh_from_db()
    with pytest.raises(IncompleteAnswers):
        recover(assignment, questionnaire=questionnaire)
    assert (Rating.objects.count(), Assignment.objects.get().saved_at) == (0, None)


def values_of(text: str) -> dict[str, object]:
    return {
        criterion.key: text
        if criterion.is_text
        else [criterion.choices[-1].value]
        if criterion.is_checklist
        else criterion.choices[0].value
        for criterion in CAPTION.output_criteria
    }


pytestmark = pytest.mark.django_db
assert DEFINITIONS
