"""The frame's address claims who is looking. Nothing in it is believed that the HIT does not bear out."""

import pytest
from django.test import Client

from annotators.models import Assignment, Worker
from surveys.models import Questionnaire
from tests.builders import frame_query
from tests.surveys.pages.hit_pages import full_answers, open_page, post, url

NO_IDS = ["", " ", "3A\0B", "3A'--", "3A B", "../3A", "<b>", "3Ä", "３Ａ", "\ud7ff", "purged:0123456789ab"]


@pytest.mark.parametrize("key", ["workerId", "assignmentId", "hitId"])
@pytest.mark.parametrize("value", [text for text in NO_IDS if text.strip()])
def test_what_is_no_id_opens_nothing(
    visitor: Client, questionnaire: Questionnaire, key: str, value: str
) -> None:
    answer = open_page(visitor, questionnaire, **{key: value})
    assert (answer.status_code, b"<form" in answer.content) == (403, False)
    assert (Assignment.objects.count(), Worker.objects.count()) == (0, 0)


@pytest.mark.parametrize("raw", ["%00", "%ED%A0%80", "%FF%FE", "%C0%80", "%zz", "%"])
def test_bytes_that_are_no_text_open_nothing(visitor: Client, questionnaire: Questionnaire, raw: str) -> None:
    query = frame_query(questionnaire) | {"workerId": "AWORKER"}
    address = "&".join(f"{key}={value}" for key, value in query.items())
    answer = visitor.get(f"{url(questionnaire)}?{address.replace('AWORKER', f'AWORKER{raw}')}")
    assert (answer.status_code, Worker.objects.count()) == (403, 0)


def test_ids_of_any_length_fit_their_columns(visitor: Client, questionnaire: Questionnaire) -> None:
    answer = open_page(visitor, questionnaire, workerId="A" * 10_000, assignmentId="3" * 10_000)
    assert answer.status_code == 200
    assert [len(text) for text in Assignment.objects.values_list("assignment_id", "worker__worker_id")[0]] == [
        64, 64,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example",
        "//evil.example",
        "https://www.mturk.com.evil.example",
        "https://www.mturk.com@evil.example",
        "https://evil.example/https://www.mturk.com",
        "https://www.mturk.com/../../evil.example",
        "http://www.mturk.com",
        "https://www.mturk.com:8443",
        "javascript:alert(1)",
        "data:text/html,x",
        "http:\\\\localhost:8000",
        "http://localhost:8000\r\nLocation: https://evil.example",
        "http://localhost:8000\0.evil.example",
        "HTTP://LOCALHOST:8000",
    ],
)
def test_answers_are_sent_to_no_other_site(
    visitor: Client, questionnaire: Questionnaire, address: str
) -> None:
    answer = open_page(visitor, questionnaire, turkSubmitTo=address)
    assert (answer.status_code, b"evil" in answer.content, Assignment.objects.count()) == (403, False, 0)


def test_the_address_posted_to_counts_as_it_was_signed(visitor: Client, questionnaire: Questionnaire) -> None:
    answers = full_answers(open_page(visitor, questionnaire))
    done = visitor.post(f"{url(questionnaire)}?turkSubmitTo=https://evil.example", answers)
    assert done.status_code == 200
    assert b"evil" not in done.content
    assert b'action="http://localhost:8000/mturk/externalSubmit"' in done.content


def test_mangled_separators_claim_the_same(visitor: Client, questionnaire: Questionnaire) -> None:
    """`&amp;` for `&` arrives as keys that begin with `amp;`: real traffic (Dallinger#1963)."""
    query = "&amp;".join(f"{key}={value}" for key, value in frame_query(questionnaire).items())
    assert visitor.get(f"{url(questionnaire)}?{query}").status_code == 200
    assert Assignment.objects.get().assignment_id == "3ASSIGNMENT1"


def test_mangled_keys_smuggle_nothing_past_the_check(visitor: Client, questionnaire: Questionnaire) -> None:
    for key in ("amp;turkSubmitTo", "turkSubmitTo"):
        query = {**frame_query(questionnaire), key: "https://evil.example"}
        assert visitor.get(url(questionnaire), query).status_code == 403


def test_a_second_workers_claim_to_an_assignment_takes_nothing_from_the_first(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    post(visitor, questionnaire, full_answers(open_page(visitor, questionnaire)))
    before = Assignment.objects.values().get()
    thief = open_page(visitor, questionnaire, workerId="A2THIEF")
    post(visitor, questionnaire, full_answers(thief))
    assert Assignment.objects.values().get(pk=before["id"]) == before
    assert Assignment.objects.count() == 2
