"""The page an annotator works on, from preview to receipt."""

import logging
import re
from html import unescape

import pytest
from django.core import signing
from django.db import connection
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotators.models import Assignment, Worker
from annotators.people.names import purged_name
from surveys.models import Questionnaire, Response
from surveys.pages.answering import tokens
from surveys.pages.answering.styles import style_sources
from tests.builders import frame_query, make_questionnaire
from tests.policy_data import FLAG_ONLY, NEVER, THREE_OF_FIVE
from tests.surveys.pages.hit_pages import draft, full_answers, open_page, post, token_of, url

SECRETS = ("#3r1e", "16054198", ".jpg", "ground_truth", "ofa-x", "gold")
PREVIEW = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}


# -- Preview ----------------------------------------------------------------------------------------------------------


def test_preview_shows_everything_and_leaves_nothing_to_submit(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    response = visitor.get(url(questionnaire), PREVIEW | {"hitId": questionnaire.hit.hit_id})
    html = response.content.decode()
    assert response.status_code == 200
    assert "This is a preview." in html
    assert html.count('<section class="item"') == 5
    assert '<fieldset class="preview" disabled>' in html
    assert "<form" not in html
    assert 'type="submit"' not in html
    assert (Assignment.objects.count(), Response.objects.count(), Worker.objects.count()) == (0, 0, 0)


def test_preview_of_a_hit_that_is_being_published(visitor: Client, questionnaire: Questionnaire) -> None:
    Questionnaire.objects.update(hit=None)
    assert visitor.get(url(questionnaire), PREVIEW).status_code == 200


# -- Working page -----------------------------------------------------------------------------------------------------


def test_page_has_every_control_with_nothing_chosen(visitor: Client, questionnaire: Questionnaire) -> None:
    html = open_page(visitor, questionnaire).content.decode()
    answers = sum(len(item.choices) for item in questionnaire.items.all())
    assert html.count('type="radio"') == answers + 5 * (2 * 4 + 3)
    assert html.count('type="checkbox"') == 5 * 2 * 3 + 1  # and one that switches the keys off
    assert html.count('<span class="optional">Optional</span>') == 10 + 1  # and the comment
    assert html.count(" checked>") == 1  # the keys
    assert html.count("</fieldset>") == 30
    assert len(html.encode()) < 100_000


@pytest.mark.parametrize("mangled", ["", "amp;"])
def test_who_was_excluded_after_they_began_may_go_on(
    visitor: Client, questionnaire: Questionnaire, mangled: str
) -> None:
    query = {f"{mangled}{name}": value for name, value in frame_query(questionnaire).items()}
    assert visitor.get(url(questionnaire), query).status_code == 200
    Worker.objects.update(standing=Worker.Standing.EXCLUDED)
    assert visitor.get(url(questionnaire), query).status_code == 200
    assert visitor.get(url(questionnaire), query | {f"{mangled}assignmentId": "3ANOTHER"}).status_code == 403


def test_who_was_excluded_and_purged_is_known_by_the_page(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    query = frame_query(questionnaire)
    Worker.objects.create(worker_id=purged_name(query["workerId"]), source="embedded", standing="excluded")
    assert visitor.get(url(questionnaire), query).status_code == 403
    assert (Worker.objects.count(), Assignment.objects.count()) == (1, 0)


def test_opening_twice_gives_the_same_assignment(visitor: Client, questionnaire: Questionnaire) -> None:
    first, second = (open_page(visitor, questionnaire) for _ in range(2))
    groups = r'name="i1-answer" value="([^"]+)"'
    assert re.findall(groups, first.content.decode()) == re.findall(groups, second.content.decode())
    assert Assignment.objects.count() == 1
    assert Response.objects.count() == 5


def test_pictures_have_sizes_and_say_which_question_they_belong_to(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    html = open_page(visitor, questionnaire).content.decode()
    assert re.findall(r'<img src="/pictures/[0-9a-f]{16}" width="800" height="600" alt="([^"]+)"', html) == [
        f"Picture (Question {n})" for n in range(1, 6)
    ]


def test_texts_are_shown_as_texts(visitor: Client, questionnaire: Questionnaire) -> None:
    assert "There is a bus &lt;bin_817&gt; &amp; more." in open_page(visitor, questionnaire).content.decode()


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (
            THREE_OF_FIVE,
            "An assignment with fewer than 3 of 5 right answers is not paid.",
        ),
        (NEVER, "Every complete assignment is paid."),
        (
            FLAG_ONLY,
            "A person looks at an assignment with fewer than 3 of 5 right answers before it is paid.",
        ),
    ],
)
def test_pay_rule_is_that_of_the_batch(visitor: Client, db, policy: dict[str, object], sentence: str) -> None:
    questionnaire = make_questionnaire(review_policy=policy)
    html = open_page(visitor, questionnaire).content.decode()
    assert sentence in html
    assert "<strong>$1.20</strong>" in html
    assert "1 hour from the moment you accept" in html


def test_instructions_are_open_until_the_worker_has_begun(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    page = open_page(visitor, questionnaire)
    assert '<details id="instructions" open>' in page.content.decode()
    draft(visitor, questionnaire, token=token_of(page), answers={"answer": "rainy"})
    assert '<details id="instructions">' in open_page(visitor, questionnaire).content.decode()


# -- Frames, cookies, headers -----------------------------------------------------------------------------------------


def frame_headers(response) -> list[str | None]:
    names = ("X-Frame-Options", "Content-Security-Policy", "Referrer-Policy", "Cache-Control")
    return [response.headers.get(name) for name in names]


ORIGINS = (
    "http://localhost:8000 https://workersandbox.mturk.com https://www.mturk.com https://worker.mturk.com"
)
EXPECTED_HEADERS = [
    None,
    f"default-src 'self'; {style_sources()}; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    f"form-action 'self' {ORIGINS}; frame-ancestors {ORIGINS}",
    "no-referrer",
    "no-store",
]


def test_every_answer_can_be_framed_by_marketplaces_and_sets_no_cookie(
    visitor: Client, questionnaire: Questionnaire, settings
) -> None:
    settings.FRAME_ANCESTORS = ORIGINS.split()
    page = open_page(visitor, questionnaire)
    answers = full_answers(page)
    responses = {
        "preview": visitor.get(url(questionnaire), PREVIEW),
        "page": page,
        "draft": draft(visitor, questionnaire, token=token_of(page)),
        "errors": post(visitor, questionnaire, {"token": token_of(page)}),
        "forged": post(visitor, questionnaire, {"token": "x"}),
        "done": post(visitor, questionnaire, answers),
        "receipt": open_page(visitor, questionnaire),
        "refused": open_page(visitor, questionnaire, hitId="3OTHER"),
        "unknown": visitor.get("/hits/00000000-0000-4000-8000-000000000000/", PREVIEW),
    }
    assert {name: response.status_code for name, response in responses.items()} == {
        "preview": 200,
        "page": 200,
        "draft": 200,
        "errors": 422,
        "forged": 403,
        "done": 200,
        "receipt": 200,
        "refused": 403,
        "unknown": 404,
    }
    assert {name: frame_headers(response) for name, response in responses.items()} == dict.fromkeys(
        responses, EXPECTED_HEADERS
    )
    assert [name for name, response in responses.items() if response.cookies] == []


def test_no_other_page_can_be_framed(visitor: Client, questionnaire: Questionnaire) -> None:
    assert visitor.get("/admin/login/").headers["X-Frame-Options"] == "DENY"


def test_no_inline_script_style_or_handler(visitor: Client, questionnaire: Questionnaire) -> None:
    page = open_page(visitor, questionnaire)
    done = post(visitor, questionnaire, full_answers(page))
    for html in (page.content.decode(), done.content.decode()):
        assert (
            re.findall(r"<script(?![^>]* src=)|<style(?! data-file=)|\sstyle=|\son\w+=|javascript:", html)
            == []
        )


# -- Nothing about gold -----------------------------------------------------------------------------------------------


def test_nothing_the_browser_gets_tells_gold_or_systems(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    page = open_page(visitor, questionnaire)
    got = {
        "preview": visitor.get(url(questionnaire), PREVIEW),
        "page": page,
        "errors": post(visitor, questionnaire, {"token": token_of(page)}),
        "draft": draft(visitor, questionnaire, token=token_of(page), version=9, answers={"answer": "rainy"}),
        "done": post(visitor, questionnaire, full_answers(page)),
        "receipt": open_page(visitor, questionnaire),
    }
    leaks = [
        (name, word)
        for name, r in got.items()
        for word in SECRETS
        if word in f"{r.content.decode()}{r.headers}"
    ]
    assert leaks == []


def test_token_holds_nothing_but_whose_it_is(visitor: Client, questionnaire: Questionnaire) -> None:
    token = token_of(open_page(visitor, questionnaire))
    assignment = Assignment.objects.get()
    assert signing.loads(token, salt=tokens.SALT) == {
        "a": assignment.pk,
        "i": "3ASSIGNMENT1",
        "n": assignment.nonce.hex,
        "s": "http://localhost:8000",
    }


# -- Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"hitId": "3OTHER"}, "This address does not belong to this HIT."),
        ({"workerId": ""}, "This address does not belong to this HIT."),
        ({"turkSubmitTo": "https://evil.example"}, "This page was opened from an address we don't know."),
    ],
)
def test_claims_that_do_not_hold_are_refused(
    visitor: Client, questionnaire: Questionnaire, query: dict[str, str], sentence: str
) -> None:
    response = open_page(visitor, questionnaire, **query)
    assert response.status_code == 403
    assert sentence in unescape(response.content.decode())
    assert "<form" not in response.content.decode()
    assert Assignment.objects.count() == 0


def test_escaped_separators_in_the_address_are_understood(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    query = frame_query(questionnaire)
    escaped = {key if key == "assignmentId" else f"amp;{key}": value for key, value in query.items()}
    assert visitor.get(url(questionnaire), escaped).status_code == 200
    assert Assignment.objects.get().worker.worker_id == "A1WORKER"


def test_unpublished_hit_asks_to_come_back_and_is_no_error(
    visitor: Client, questionnaire: Questionnaire, caplog: pytest.LogCaptureFixture
) -> None:
    query = frame_query(questionnaire)
    Questionnaire.objects.update(hit=None)
    response = visitor.get(url(questionnaire), query)
    assert response.status_code == 503
    page = response.content.decode()
    assert "Please open it again in a moment." in page
    assert f'href="{url(questionnaire)}?' in page
    assert [record.levelname for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (f"comment={'x' * 2_621_440}", "application/x-www-form-urlencoded"),
        ("&".join(f"x{n}=1" for n in range(5001)), "application/x-www-form-urlencoded"),
        ("--x", "multipart/form-data"),
    ],
)
def test_a_request_that_cant_be_read_is_refused_in_the_frame(
    questionnaire: Questionnaire, body: str, content_type: str
) -> None:
    client = Client(raise_request_exception=False)
    response = client.generic("POST", url(questionnaire), body, content_type=content_type)
    assert response.status_code == 400
    assert "What was sent is too large or damaged." in response.content.decode()
    assert "X-Frame-Options" not in response.headers


def test_our_own_failure_is_a_page_in_the_frame_too(
    questionnaire: Questionnaire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surveys.pages.answering.work_page.shown_item", lambda response: 1 / 0)
    response = open_page(Client(raise_request_exception=False), questionnaire)
    assert response.status_code == 500
    assert "Something went wrong here" in response.content.decode()
    assert "X-Frame-Options" not in response.headers


# -- Cost -------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("n_items", [2, 9])
def test_queries_do_not_grow_with_the_items(
    visitor: Client, django_assert_num_queries: DjangoAssertNumQueries, n_items: int
) -> None:
    questionnaire = make_questionnaire(n_items=n_items)
    has_locks = connection.features.has_select_for_update
    with django_assert_num_queries(8 if has_locks else 7):
        open_page(visitor, questionnaire)
    with django_assert_num_queries(4):
        page = open_page(visitor, questionnaire)
    with django_assert_num_queries(2):
        visitor.get(url(questionnaire), PREVIEW)
    with django_assert_num_queries(2):
        draft(visitor, questionnaire, token=token_of(page))
