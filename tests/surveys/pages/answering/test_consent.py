"""Agreeing before the first answer: in a HIT's frame without cookies, by link, by panel, and when the text changes."""

import re
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from annotators.models import Assignment
from surveys.answering import claiming
from surveys.models import Batch, Consent, ConsentText, Questionnaire, Response, Survey
from surveys.operations import own_data
from surveys.results.files.layouts import LAYOUTS, layouts_for
from surveys.studies import consent
from tests.builders import frame_query, make_questionnaire
from tests.factories import make_worker
from tests.link_pages import checked, target, text
from tests.link_people import from_prolific, invite_one, make_panel
from tests.link_study import Visitor, make_link_batch, path_of
from tests.protocols import XAI

RUSSIAN = "Мы храним ваши ответы."


def write(survey: Survey, words: str = "We keep your *answers*.", **translations: str) -> ConsentText | None:
    return consent.write(survey, words, translations=translations, by=None)


def heading(page: Any) -> str:
    return re.findall(r"<h1[^>]*>([^<]+)</h1>", page.content.decode())[-1]


def given() -> list[tuple[int, str, bool]]:
    rows = Consent.objects.order_by("pk").values_list("text__version", "language", "claimed_from")
    return [(version, language, bool(origin)) for version, language, origin in rows]


# -- In a HIT's frame -------------------------------------------------------------------------------------------------


@pytest.fixture
def work(own_pictures: None, db: None) -> Questionnaire:
    return make_questionnaire(n_items=1, definition=XAI)


def open_page(visitor: Client, work: Questionnaire, **query: str) -> Any:
    return visitor.get(f"/hits/{work.pk}/", frame_query(work) | query)


def say(visitor: Client, work: Questionnaire, page: Any, **posted: str) -> Any:
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.content.decode()))
    return visitor.post(page.request["PATH_INFO"] + "?" + page.request["QUERY_STRING"], hidden | posted)


def test_without_a_text_nobody_is_asked(visitor: Client, work: Questionnaire) -> None:
    assert 'id="hit"' in open_page(visitor, work).content.decode()


def test_a_hit_begins_once_its_worker_has_agreed(visitor: Client, work: Questionnaire) -> None:
    write(work.batch.survey)
    page = open_page(visitor, work)
    assert (heading(page), page.status_code) == ("Before you begin", 200)
    assert "We keep your <em>answers</em>." in page.content.decode()
    assert 'id="hit"' not in page.content.decode()
    agreed = say(visitor, work, page, consent="agree")
    assert (agreed.status_code, agreed.cookies) == (303, {})
    assert 'id="hit"' in visitor.get(agreed.headers["Location"]).content.decode()
    assert given() == [(1, "", True)]


def test_agreeing_twice_is_agreeing_once(visitor: Client, work: Questionnaire) -> None:
    write(work.batch.survey)
    page = open_page(visitor, work)
    assert [say(visitor, work, page, consent="agree").status_code for _ in range(2)] == [303, 303]
    assert given() == [(1, "", True)]


def test_who_declines_comes_to_a_calm_end_and_may_read_it_again(visitor: Client, work: Questionnaire) -> None:
    write(work.batch.survey)
    page = open_page(visitor, work)
    end = say(visitor, work, page, consent="decline")
    assert (heading(end), given()) == ("Thank you for reading", [])
    assert "Returning a HIT costs you nothing" in text(end)
    assert heading(open_page(visitor, work)) == "Before you begin"


def test_answers_sent_without_agreeing_wait_as_a_draft(visitor: Client, work: Questionnaire) -> None:
    form = open_page(visitor, work)
    write(work.batch.survey)  # while the page was open
    html = form.content.decode()
    name, value = re.findall(r'type="radio" name="([^"]+)" value="([^"]+)"', html)[0]
    page = say(visitor, work, form, **{name: value})
    assert heading(page) == "Before you begin"
    assert "What you answered is kept" in text(page)
    assert not Assignment.objects.get().saved_at
    assert value in Response.objects.get().draft.values()
    say(visitor, work, page, consent="agree")
    assert f'name="{name}" value="{value}"' in open_page(visitor, work).content.decode()


def test_a_changed_text_asks_again_and_the_old_one_can_not_be_agreed_to(
    visitor: Client, work: Questionnaire
) -> None:
    write(work.batch.survey)
    page = open_page(visitor, work)
    write(work.batch.survey, "Another text.")
    again = say(visitor, work, page, consent="agree")
    assert (heading(again), given()) == ("Before you begin", [])
    assert "Another text." in text(again)
    say(visitor, work, again, consent="agree")
    assert given() == [(2, "", True)]
    write(work.batch.survey, "A third text.")
    assert heading(open_page(visitor, work)) == "Before you begin"


def test_a_text_taken_back_asks_nobody(visitor: Client, work: Questionnaire) -> None:
    write(work.batch.survey)
    write(work.batch.survey, "")
    assert 'id="hit"' in open_page(visitor, work).content.decode()


def test_nobody_agrees_in_another_ones_name(visitor: Client, work: Questionnaire) -> None:
    """Who only claimed to be the worker, from elsewhere, has agreed to nothing for them."""
    write(work.batch.survey)
    worker = make_worker("AWORKER1", source=work.batch.endpoint)
    Consent.objects.create(text=ConsentText.objects.get(), worker=worker, claimed_from="elsewhere")
    assert heading(open_page(visitor, work, workerId="AWORKER1")) == "Before you begin"


def test_a_claim_that_is_confirmed_has_agreed(visitor: Client, work: Questionnaire) -> None:
    write(work.batch.survey)
    say(visitor, work, open_page(visitor, work), consent="agree")
    Assignment.objects.update(status="Submitted", submitted_at=timezone.now())
    assert claiming.confirm(Assignment.objects.get().hit) == 1
    assert given() == [(1, "", False)]


def test_a_claim_that_goes_takes_its_consent_along(
    visitor: Client, work: Questionnaire, django_capture_on_commit_callbacks: Any
) -> None:
    write(work.batch.survey)
    say(visitor, work, open_page(visitor, work), consent="agree")
    with django_capture_on_commit_callbacks(execute=True):
        claiming.drop(Assignment.objects.get())
    assert given() == []


def test_the_text_is_read_in_the_readers_language(visitor: Client, work: Questionnaire) -> None:
    write(work.batch.survey, ru=RUSSIAN)
    page = open_page(visitor, work, language="ru")
    assert RUSSIAN in text(page)
    say(visitor, work, page, consent="agree")
    assert given() == [(1, "ru", True)]


# -- By link ----------------------------------------------------------------------------------------------------------


def agree(ada: Visitor, page: Any, how: str = "agree") -> Any:
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.content.decode()))
    action = re.findall(r'<form method="post" action="([^"]+)"', page.content.decode())[0]
    return ada.client.post(action.replace("&amp;", "&"), hidden | {"consent": how})


def test_by_link_nothing_is_taken_before_somebody_agrees(link_batch: Batch, ada: Visitor) -> None:
    write(link_batch.survey)
    assert target(ada.start()) == (303, "/consent")
    assert target(ada.open(2)) == (303, "/consent?number=2")
    assert Assignment.objects.count() == 0
    page = ada.client.get(ada.path + "consent?number=2")
    assert heading(page) == "Before you begin"
    assert target(agree(ada, page)) == (303, "/2/")
    assert (ada.open(2).status_code, given()) == (200, [(1, "", False)])
    assert target(ada.answer(2)) == (303, "/1/?saved=2")


def test_by_link_start_goes_on_to_the_next_one(link_batch: Batch, ada: Visitor) -> None:
    write(link_batch.survey)
    page = ada.client.get(ada.start().headers["Location"])
    assert target(agree(ada, page)) == (303, "/1/")


def test_by_link_what_was_sent_after_a_change_waits(link_batch: Batch, ada: Visitor) -> None:
    page = ada.open(1)
    write(link_batch.survey)
    sent = ada.answer(1, page)
    assert target(sent) == (303, "/consent?number=1&kept=1")
    asked = ada.client.get(sent.headers["Location"])
    assert "What you answered is kept" in text(asked)
    agree(ada, asked)
    assert len(checked(ada.open(1))) == 3
    assert not Assignment.objects.get().saved_at


def test_by_link_what_is_answered_is_looked_at_without_agreeing_again(
    link_batch: Batch, ada: Visitor
) -> None:
    ada.answer(1)
    write(link_batch.survey)
    assert ada.open(1).status_code == 200
    assert target(ada.open(2)) == (303, "/consent?number=2")


def test_by_link_who_declines_is_led_out(link_batch: Batch, ada: Visitor) -> None:
    write(link_batch.survey)
    end = agree(ada, ada.client.get(ada.path + "consent"), how="decline")
    assert (heading(end), given()) == ("Thank you for reading", [])
    assert (end.status_code, Assignment.objects.count()) == (200, 0)


def test_who_declines_gets_no_panels_code_for_work_that_is_done(link_batch: Batch) -> None:
    write(link_batch.survey)
    panel, client = make_panel(link_batch), Client()
    path = client.get(f"/panel/{panel.code}/", from_prolific()).headers["Location"]
    visitor = Visitor(path)
    end = agree(visitor, visitor.client.get(path + "consent"), how="decline")
    assert "Please return the study on your panel’s page." in text(end)
    assert panel.completion_code not in end.content.decode()


@pytest.mark.parametrize("number", ["x", "-1", "9" * 30, "²", "1/../../"])
def test_an_invented_number_leads_to_the_next_one(link_batch: Batch, ada: Visitor, number: str) -> None:
    assert target(ada.client.get(ada.path + "consent", {"number": number})) == (303, "/1/")


# -- On record --------------------------------------------------------------------------------------------------------


def test_a_version_is_never_changed(work: Questionnaire) -> None:
    write(work.batch.survey)
    with pytest.raises(DatabaseError), transaction.atomic():
        ConsentText.objects.update(text="Something else.")
    assert ConsentText.objects.get().text == "We keep your *answers*."


def test_the_same_text_is_no_new_version(work: Questionnaire) -> None:
    assert write(work.batch.survey, "") is None
    assert [bool(write(work.batch.survey, words)) for words in ("A\r\n", "A", "B", "")] == [
        True, False, True, True,
    ]  # fmt: skip
    assert list(ConsentText.objects.values_list("version", "text")) == [(3, ""), (2, "B"), (1, "A")]


def test_somebodys_data_say_what_they_agreed_to(link_batch: Batch, ada: Visitor) -> None:
    write(link_batch.survey)
    agree(ada, ada.client.get(ada.path + "consent"))
    [agreed] = own_data.own_data(Consent.objects.get().worker)["agreed_to"]
    assert (agreed["text__version"], agreed["text__text"]) == (1, "We keep your *answers*.")


def test_the_file_has_pseudonyms_and_days(link_batch: Batch, ada: Visitor, tmp_path: Any) -> None:
    assert "consents" not in layouts_for(link_batch)
    write(link_batch.survey)
    agree(ada, ada.client.get(ada.path + "consent?number=1"))
    ada.answer(1)
    given = Consent.objects.get()
    assert LAYOUTS["consents"].lines
    lines = "".join(LAYOUTS["consents"].lines(link_batch)).splitlines()
    assert lines[0] == "worker,version,language,agreed_on"
    assert lines[1].split(",")[1:] == ["1", "", given.given_at.date().isoformat()]
    assert given.worker.worker_id not in lines[1]
    assert "consents" in layouts_for(link_batch)


def test_simulated_people_are_not_asked(link_batch: Batch) -> None:
    write(link_batch.survey)
    link_batch.is_simulated = True
    assert link_batch.consent_text is None


def test_a_link_of_a_person_without_a_text_is_as_before(own_pictures: None, db: None) -> None:
    batch = make_link_batch()
    assert target(Visitor(path_of(invite_one(batch, "Ada"))).start()) == (303, "/1/")
