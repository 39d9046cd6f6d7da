"""Reporting a problem with an item: by a script, by the whole form, and what becomes of what was only typed."""

import re
from typing import Any

import pytest
from django.test import Client

from annotators.models import Assignment
from surveys.answering import problems
from surveys.models import Batch, ProblemReport, Questionnaire, Response
from surveys.operations import own_data
from tests.builders import frame_query, make_questionnaire
from tests.link_pages import text
from tests.link_study import Visitor
from tests.protocols import XAI

THANKS = "Reported, with this question. Thank you! You can carry on."


@pytest.fixture
def work(own_pictures: None, db: None) -> Questionnaire:
    return make_questionnaire(n_items=2, definition=XAI)


def open_page(visitor: Client, work: Questionnaire) -> Any:
    return visitor.get(f"/hits/{work.pk}/", frame_query(work))


def send(visitor: Client, page: Any, **posted: str) -> Any:
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.content.decode()))
    return visitor.post(page.request["PATH_INFO"] + "?" + page.request["QUERY_STRING"], hidden | posted)


def said() -> list[tuple[int, str]]:
    return list(ProblemReport.objects.order_by("pk").values_list("item__position", "text"))


def test_a_report_comes_with_its_item_and_the_page_stays(visitor: Client, work: Questionnaire) -> None:
    page = open_page(visitor, work)
    answer = send(visitor, page, report="2", by_script="1", **{"i2-problem": " The picture is upside down. "})
    assert answer.json() == {"message": THANKS, "is_kept": True}
    position = Response.objects.get(position=2).item.position
    assert said() == [(position, "The picture is upside down.")]


def test_without_scripts_the_answers_so_far_are_kept(visitor: Client, work: Questionnaire) -> None:
    page = open_page(visitor, work)
    name, value = re.findall(r'type="radio" name="([^"]+)" value="([^"]+)"', page.content.decode())[0]
    after = send(visitor, page, report="1", **{"i1-problem": "Cut off.", name: value})
    assert (after.status_code, THANKS in text(after)) == (200, True)
    assert re.search(rf'name="{name}" value="{value}"[^>]* checked', after.content.decode())
    assert not Assignment.objects.get().saved_at


def test_the_same_twice_is_one_report(visitor: Client, work: Questionnaire) -> None:
    page = open_page(visitor, work)
    for _ in range(2):
        assert send(visitor, page, report="1", by_script="1", **{"i1-problem": "Cut off."}).json()["is_kept"]
    assert [told for _, told in said()] == ["Cut off."]


def test_nobody_reports_without_end(visitor: Client, work: Questionnaire) -> None:
    page = open_page(visitor, work)
    for n in range(problems.MOST):
        send(visitor, page, report="1", by_script="1", **{"i1-problem": f"Fault {n}"})
    answer = send(visitor, page, report="1", by_script="1", **{"i1-problem": "One more"}).json()
    assert (answer["is_kept"], len(said())) == (False, problems.MOST)
    again = send(visitor, page, report="1", **{"i1-problem": "One more"})
    assert "One more</textarea>" in again.content.decode()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"report": "1", "i1-problem": "  "}, "Write what is wrong, and send it again."),
        ({"report": "9", "i9-problem": "x"}, "There is no such question on this page."),
        ({"report": "²", "i0-problem": "x"}, "There is no such question on this page."),
    ],
)
def test_what_can_not_be_taken_is_told(
    visitor: Client, work: Questionnaire, fields: dict[str, str], message: str
) -> None:
    answer = send(visitor, open_page(visitor, work), by_script="1", **fields)
    assert (answer.json()["message"], said()) == (message, [])


def test_a_forged_token_reports_nothing(visitor: Client, work: Questionnaire) -> None:
    page = open_page(visitor, work)
    assert send(visitor, page, token="x", report="1", **{"i1-problem": "x"}).status_code == 403
    assert said() == []


def test_by_link_and_after_it_was_answered(link_batch: Batch, ada: Visitor) -> None:
    ada.answer(1)
    page = ada.open(1)
    data = ada.scores(page) | {"report": "1", "i1-problem": "A <b>typo</b>."}
    assert THANKS in text(ada.client.post(ada.at(1), data))
    assert [told for _, told in said()] == ["A <b>typo</b>."]
    worker = ProblemReport.objects.get().assignment.worker
    [own] = own_data.own_data(worker)["annotations"][0]["problems_reported"]
    assert own["text"] == "A <b>typo</b>."


def test_what_was_typed_and_not_sent_arrives_with_the_answers(link_batch: Batch, ada: Visitor) -> None:
    page = ada.open(1)
    data = ada.scores(page, fluency="5", relevance="4", logical_consistency="2") | {"i1-problem": "Blurred."}
    assert ada.client.post(ada.at(1), data).status_code == 303
    assert [told for _, told in said()] == ["Blurred."]


def test_a_preview_takes_no_reports(visitor: Client, work: Questionnaire) -> None:
    page = visitor.get(f"/hits/{work.pk}/")
    assert 'name="report"' not in page.content.decode()


def test_whoever_is_forgotten_leaves_no_report(link_batch: Batch, ada: Visitor) -> None:
    ada.client.post(ada.at(1), ada.scores(ada.open(1)) | {"report": "1", "i1-problem": "I am Ada."})
    assert own_data.forget(Assignment.objects.get().worker) == []
    assert said() == []
