"""A rejected worker's way: the code, what was rejected and why, one appeal, the answer."""

from datetime import timedelta
from unittest.mock import patch

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotators.models import Assignment
from surveys.answering.throttling import NotCounting
from surveys.models import Appeal, Decision, Questionnaire
from surveys.pages.answering.appeal import FROM_ALL
from surveys.review import appeal_codes
from tests import factories
from tests.appeals import REASON, rejected
from tests.surveys.pages.pages import refuse_overturn, text_of

pytestmark = pytest.mark.django_db
UNKNOWN = "abcde-fghjk-mnpqr-stuvw"


@pytest.fixture(autouse=True)
def no_guesses():
    cache.clear()


@pytest.fixture
def appeal(questionnaire: Questionnaire) -> Appeal:
    return rejected(questionnaire)


def page_of(visitor: Client, appeal: Appeal, query: str = "", **kwargs) -> str:
    response = visitor.get(f"/appeals/{appeal.code}/{query}", **kwargs)
    assert response.status_code == 200
    return text_of(response)


def send(visitor: Client, appeal: Appeal, text: str):
    return visitor.post(f"/appeals/{appeal.code}/", {"text": text})


def test_the_code_leads_to_the_page_however_it_is_typed(visitor, appeal):
    response = visitor.post("/appeals/", {"code": f" {appeal.code.upper().replace('-', ' ')} "})
    assert (response.status_code, response.headers["Location"]) == (303, f"/appeals/{appeal.code}/")


def test_the_page_tells_what_was_rejected_when_and_why(visitor, appeal):
    page = page_of(visitor, appeal)
    assert appeal.assignment.hit.questionnaire.batch.title in page
    assert REASON in page
    assert f"{appeal.assignment.rejected_at:%Y, %H:%M} UTC" in page


def test_what_a_rule_said_is_told_in_the_language_of_the_page(visitor, appeal):
    words, values = "You gave the same rating %(n)s times out of %(n)s.", {"n": 8}
    flag = {"kind": "straight_lining", "sentence": words % values, "text": words, "values": values}
    Decision.objects.update(reason=f"{words % values} I looked, too.", flags=[flag])
    russian = page_of(visitor, appeal, headers={"accept-language": "ru"})
    assert "Все ваши оценки одинаковы: 8 из 8. I looked, too." in russian
    assert "You gave the same rating 8 times out of 8. I looked, too." in page_of(visitor, appeal)


def test_the_page_tells_nobody_who_the_worker_is_nor_what_is_right(visitor, questionnaire):
    assignment = factories.submitted(questionnaire, n_correct=1)
    appeal_codes.with_code(assignment, REASON)
    Assignment.objects.filter(pk=assignment.pk).update(status="Rejected", rejected_at=timezone.now())
    response = visitor.get(f"/appeals/{assignment.appeal.code}/")
    html = response.content.decode()
    secrets = [assignment.worker.worker_id, assignment.assignment_id, questionnaire.hit.hit_id]
    items = questionnaire.items.values_list("external_id", "gold")
    secrets += [text for item in items for text in item if text not in {"no"}]
    assert [text for text in secrets if text in html] == []


def test_an_appeal_is_kept_and_receipted(visitor, appeal):
    response = send(visitor, appeal, "I looked.\r\nTwice. <b>")
    assert (response.status_code, response.headers["Location"]) == (303, f"/appeals/{appeal.code}/?sent")
    assert Appeal.objects.get().text == "I looked.\nTwice. <b>"
    receipt = page_of(visitor, appeal, "?sent")
    assert "Thank you, it was sent." in receipt
    assert "Twice. &lt;b&gt;" in receipt
    assert "Send" not in receipt


def test_sent_is_not_said_where_nothing_was(visitor, appeal):
    assert "it was sent" not in page_of(visitor, appeal, "?sent")


def test_sending_twice_is_sending_once(visitor, appeal):
    send(visitor, appeal, "I looked.")
    first = Appeal.objects.get().made_at
    assert send(visitor, appeal, "I looked.").status_code == 303
    assert Appeal.objects.get().made_at == first


def test_a_second_text_is_not_added_and_not_lost(visitor, appeal):
    send(visitor, appeal, "I looked.")
    response = send(visitor, appeal, "And one thing more.")
    assert response.status_code == 409
    assert "And one thing more." in text_of(response)
    assert "You had sent an appeal before; it stays as it was" in text_of(response)
    assert Appeal.objects.get().text == "I looked."


@pytest.mark.parametrize(
    ("typed", "error"),
    [
        ("", "Write a few words."),
        (" \n ", "Write a few words."),
        ("x" * 4001, "This is 4001 characters long; at most 4000 can be sent."),
    ],
)
def test_what_cannot_be_sent_is_said_and_stays_on_the_page(visitor, appeal, typed, error):
    response = send(visitor, appeal, typed)
    assert response.status_code == 422
    assert error in text_of(response)
    assert f">{typed}</textarea>" in response.content.decode()
    assert Appeal.objects.get().made_at is None


def test_four_thousand_characters_can_be_sent(visitor, appeal):
    assert send(visitor, appeal, "é" * 4000).status_code == 303
    assert Appeal.objects.get().text == "é" * 4000


@pytest.mark.parametrize("bad", ["\x00", "\x07", "\ufffe"])
def test_characters_nobody_can_read_are_refused_kindly(visitor, appeal, bad):
    response = send(visitor, appeal, f"I lo{bad}oked.")
    assert response.status_code == 422
    assert ">I looked.</textarea>" in response.content.decode()
    assert "Some characters could not be kept" in text_of(response)


def test_half_a_character_is_no_fault_of_ours(visitor, appeal):
    body = b"text=I+looked+%ED%A0%80."
    response = visitor.post(
        f"/appeals/{appeal.code}/", body, content_type="application/x-www-form-urlencoded"
    )
    assert response.status_code == 303
    assert Appeal.objects.get().text == "I looked \ufffd\ufffd\ufffd."


def test_a_flood_is_refused_with_a_sentence(visitor, appeal):
    response = send(visitor, appeal, "x" * 3_000_000)
    assert response.status_code == 400
    assert "too large or damaged" in text_of(response)


def test_a_failure_of_ours_is_said_kindly(visitor, appeal):
    visitor.raise_request_exception = False
    with patch("surveys.review.appeal_codes.make", side_effect=RuntimeError):
        response = send(visitor, appeal, "I looked.")
    assert response.status_code == 500
    assert "The fault is ours" in text_of(response)


def test_after_thirty_days_the_page_says_so_and_still_takes_the_appeal(visitor, questionnaire):
    appeal = rejected(questionnaire, days_ago=31)
    assert "may pay you a bonus instead" in page_of(visitor, appeal)
    assert send(visitor, appeal, "I was away.").status_code == 303
    assert Appeal.objects.get().text == "I was away."


def test_within_thirty_days_the_page_says_until_when(visitor, appeal):
    until = appeal.assignment.submitted_at + timedelta(days=30)
    assert f"A rejection can be taken back until {until.day} {until:%B %Y, %H:%M} UTC." in page_of(
        visitor, appeal
    )


def test_the_answer_stands_on_the_page(visitor, appeal):
    send(visitor, appeal, "I looked.")
    now = timezone.now()
    Appeal.objects.update(outcome="upheld", answer="Two of five were right.", answered_at=now)
    page = page_of(visitor, appeal)
    assert "The rejection stays." in page
    assert "Two of five were right." in page
    assert send(visitor, appeal, "But!").status_code == 409


@pytest.mark.parametrize(
    ("status", "said"),
    [("Rejected", "The marketplace is told next"), ("Approved", "Your work is approved.")],
)
def test_a_rejection_taken_back_is_said_with_its_reason(visitor, appeal, status, said):
    now = timezone.now()
    Decision.objects.update(overturned_at=now, overturn_reason="Our gold answer was wrong.")
    Assignment.objects.update(status=status, approved_at=now)
    page = page_of(visitor, appeal)
    assert "The rejection was taken back" in page
    assert "Our gold answer was wrong." in page
    assert said in page
    assert send(visitor, appeal, "Please!").status_code == 409


def test_a_rejection_the_marketplace_keeps_is_not_said_to_be_paid(visitor, appeal):
    Decision.objects.update(overturned_at=timezone.now(), overturn_reason="Our mistake.")
    refuse_overturn(appeal.assignment)
    page = page_of(visitor, appeal)
    assert "your work does not count as approved yet" in page
    assert "The marketplace is told next" not in page


@pytest.mark.parametrize("status", ["Submitted", "Approved"])
def test_nobody_appeals_against_what_is_not_rejected(visitor, questionnaire, status):
    assignment = factories.make_assignment(questionnaire.hit, status=status)
    appeal_codes.with_code(assignment, REASON)
    assert "This work is not rejected" in page_of(visitor, assignment.appeal)
    response = send(visitor, assignment.appeal, "Why?")
    assert response.status_code == 409
    assert "Why?" in text_of(response)
    assert Appeal.objects.get().made_at is None


@pytest.mark.parametrize("typed", ["", "nonsense", "A1WORKER", "x" * 300, "\x00", UNKNOWN + "2"])
def test_what_is_no_code_is_said_and_stays_on_the_page(visitor, db, typed):
    response = visitor.post("/appeals/", {"code": typed})
    assert response.status_code == 422
    assert 'role="alert"' in response.content.decode()


def test_an_unknown_code_is_said(visitor, db):
    response = visitor.get(f"/appeals/{UNKNOWN}/")
    assert response.status_code == 404
    assert "There is no appeal with this code." in text_of(response)
    assert f'value="{UNKNOWN}"' in response.content.decode()


def test_guessing_is_stopped_for_an_address_and_nobody_else(visitor, appeal):
    for _ in range(10):
        assert visitor.get(f"/appeals/{UNKNOWN}/").status_code == 404
    response = visitor.get(f"/appeals/{appeal.code}/")
    assert response.status_code == 429
    assert "Please wait a quarter of an hour" in text_of(response)
    assert page_of(visitor, appeal, REMOTE_ADDR="192.0.2.7")


def test_what_was_written_is_given_back_where_the_door_is_closed(visitor, appeal):
    for _ in range(10):
        visitor.get(f"/appeals/{UNKNOWN}/")
    response = send(visitor, appeal, "I looked.\r\nTwice. <b>")
    assert response.status_code == 429
    assert "This was not sent. What you have written just now: I looked. Twice. &lt;b&gt;" in text_of(
        response
    )
    assert Appeal.objects.get().made_at is None
    assert "This was not sent." not in text_of(visitor.get(f"/appeals/{appeal.code}/"))


def test_what_was_written_is_given_back_where_nobody_can_count(visitor, appeal):
    with patch.object(FROM_ALL.__class__, "is_closed", side_effect=NotCounting):
        response = send(visitor, appeal, "I looked.")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "60")
    assert "This was not sent. What you have written just now: I looked." in text_of(response)


def test_what_was_written_under_a_code_that_is_gone_is_given_back(visitor, db):
    response = visitor.post(f"/appeals/{UNKNOWN}/", {"text": "I lo\x00oked."})
    assert response.status_code == 404
    assert "This was not sent. What you have written just now: I looked." in text_of(response)


@pytest.mark.parametrize("given", [{}, {"text": ""}])
def test_nothing_is_given_back_where_nothing_was_written(visitor, db, given):
    response = visitor.post(f"/appeals/{UNKNOWN}/", given)
    assert response.status_code == 404
    assert "This was not sent." not in text_of(response)


def test_guessing_from_everywhere_is_stopped_too(visitor, appeal):
    """A thousand guesses, all but the last two of which were counted elsewhere: a page is not asked for each."""
    for _ in range(998):
        FROM_ALL.count()
    for n in range(2):
        assert visitor.get(f"/appeals/{UNKNOWN}/", REMOTE_ADDR=f"192.0.2.{n}").status_code == 404
    assert visitor.get(f"/appeals/{appeal.code}/", REMOTE_ADDR="198.51.100.1").status_code == 429


def test_behind_a_trusted_proxy_the_visitor_counts_not_the_proxy(visitor, appeal, settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    for _ in range(10):
        visitor.get(f"/appeals/{UNKNOWN}/", headers={"X-Forwarded-For": "203.0.113.9, 192.0.2.1"})
    assert page_of(visitor, appeal, headers={"X-Forwarded-For": "192.0.2.2"})


def test_a_proxy_that_does_not_tell_who_comes_locks_nobody_out(visitor, appeal, settings):
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    for _ in range(11):
        visitor.get(f"/appeals/{UNKNOWN}/")
    assert page_of(visitor, appeal)


@pytest.mark.parametrize("path", ["/appeals/", f"/appeals/{UNKNOWN}/"])
def test_no_page_is_cached_framed_indexed_or_sets_a_cookie(visitor, db, path):
    response = visitor.get(path)
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
    assert '<meta name="robots" content="noindex, nofollow">' in response.content.decode()
    assert not response.cookies


@pytest.mark.parametrize("method", ["put", "delete", "patch"])
def test_nothing_else_can_be_done(visitor, appeal, method):
    assert getattr(visitor, method)(f"/appeals/{appeal.code}/").status_code == 405
