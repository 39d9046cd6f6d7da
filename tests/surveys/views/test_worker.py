"""The page an annotator works on, from preview to receipt."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from django.core import signing
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotators.models import Assignment, Worker
from surveys.models import Questionnaire, Rating, Response
from surveys.views import tokens
from tests.builders import frame_query, make_questionnaire

SECRETS = ("#3r1e", "16054198", ".jpg", "ground_truth", "ofa-x", "gold")
PREVIEW = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}


@pytest.fixture
def visitor() -> Client:
    return Client(enforce_csrf_checks=True)


def url(questionnaire: Questionnaire) -> str:
    return f"/hits/{questionnaire.pk}/"


def open_page(visitor: Client, questionnaire: Questionnaire, **query: str):
    return visitor.get(url(questionnaire), frame_query(questionnaire) | query)


def token_of(response) -> str:
    return re.search(r'name="token" value="([^"]+)"', response.content.decode()).group(1)


def full_answers(response) -> dict[str, object]:
    """Fill every group of the page with its last choice: the last answer, No, None, no preference."""
    inputs = re.findall(
        r'<input type="(radio|checkbox)" name="([^"]+)" value="([^"]+)"', response.content.decode()
    )
    return {name: unescape(value) for _, name, value in inputs} | {"token": token_of(response)}


def post(visitor: Client, questionnaire: Questionnaire, data: dict[str, object]):
    return visitor.post(url(questionnaire), data)


def draft(visitor: Client, questionnaire: Questionnaire, **body: object):
    body = {"position": 1, "version": 1, "seconds": 2.5, "answers": {}} | body
    return visitor.post(
        f"{url(questionnaire)}draft", json.dumps(body), content_type="text/plain;charset=UTF-8"
    )


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
    assert html.count('type="checkbox"') == 5 * 2 * 4 + 1  # and one that switches the keys off
    assert html.count("data-exclusive") == 10
    assert html.count(" checked>") == 1  # the keys
    assert html.count("</fieldset>") == 30
    assert len(html.encode()) < 100_000


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
        f"Picture for question {n}" for n in range(1, 6)
    ]


def test_texts_are_shown_as_texts(visitor: Client, questionnaire: Questionnaire) -> None:
    assert "There is a bus &lt;bin_817&gt; &amp; more." in open_page(visitor, questionnaire).content.decode()


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (
            {"kind": "minimum_correct", "minimum": 3, "out_of": 5},
            "An assignment with fewer than 3 of 5 right answers is not paid.",
        ),
        ({"kind": "never"}, "Every complete assignment is paid."),
        (
            {"kind": "flag_only", "minimum": 3, "out_of": 5},
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
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
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
        assert re.findall(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|javascript:", html) == []


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


# -- Drafts -----------------------------------------------------------------------------------------------------------


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
        f"{code}-shortcomings": ["none", "made_up", 3],
        "preference": {"a": 1},
        "is_correct": True,
        "comment": "x" * 3000,
    }
    assert draft(visitor, questionnaire, token=token_of(page), answers=sent).status_code == 200
    assert Response.objects.get(position=1).draft == {f"{code}-shortcomings": ["none"], "comment": "x" * 2000}


def test_late_draft_can_not_win(visitor: Client, questionnaire: Questionnaire) -> None:
    token = token_of(open_page(visitor, questionnaire))
    assert (
        draft(visitor, questionnaire, token=token, version=5, answers={"answer": "rainy"}).status_code == 200
    )
    late = draft(visitor, questionnaire, token=token, version=5, answers={"answer": "sunny"})
    assert (late.status_code, late.json()) == (409, {"saved": False, "why": "outdated"})
    assert Response.objects.get(position=1).draft == {"answer": "rainy"}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"token": "forged"}, 403),
        ({"token": None}, 400),
        ({"position": 6}, 400),
        ({"position": "one"}, 400),
        ({"version": None}, 400),
        ({"answers": 5}, 400),
        ({"answers": None}, 400),
        ({"seconds": "NaN"}, 400),
        ({"seconds": "1e400"}, 400),
        ({"version": 2**31}, 400),
        ({"version": -1}, 400),
    ],
)
def test_bad_drafts_are_refused(
    visitor: Client, questionnaire: Questionnaire, body: dict[str, object], status: int
) -> None:
    token = token_of(open_page(visitor, questionnaire))
    assert draft(visitor, questionnaire, **({"token": token} | body)).status_code == status
    assert Response.objects.exclude(draft={}).count() == 0


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
    assert draft(visitor, questionnaire, token=token_of(page), version=99).status_code == 409


# -- Submitting -------------------------------------------------------------------------------------------------------


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
    assert Rating.objects.filter(criterion="shortcomings.none", score=1).count() == 10
    assert Rating.objects.filter(criterion="preference", value="no_preference").count() == 10
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
    del answers["i1-answer"], answers[f"i2-{code}-shortcomings"]
    response = post(visitor, questionnaire, answers)
    html = response.content.decode()
    assert response.status_code == 422
    assert re.findall(r'<a href="#([^"]+)">', html) == ["i1-answer-1", f"i2-{code}-shortcomings-1"]
    assert html.count('class="error"') == 2
    assert 'aria-invalid="true" aria-describedby="i1-answer-e"' in html
    assert f'id="i2-{code}-shortcomings-e">Tick at least one.' in html
    assert html.count(" checked") == 30 - 2 + 1  # and the keys
    assert ">So far</textarea>" in html
    assert html.index('id="errors"') < html.index('id="i1"')
    assert Rating.objects.count() == 0
    reloaded = open_page(visitor, questionnaire).content.decode()
    assert reloaded.count(" checked") == 30 - 2 + 1
    assert ">So far</textarea>" in reloaded


def test_none_and_a_shortcoming_contradict_each_other(visitor: Client, questionnaire: Questionnaire) -> None:
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


def test_work_returned_and_accepted_again_goes_on(visitor: Client, questionnaire: Questionnaire) -> None:
    token = token_of(open_page(visitor, questionnaire))
    draft(visitor, questionnaire, token=token, answers={"answer": "rainy"})
    page = open_page(visitor, questionnaire, assignmentId="3ASSIGNMENT2")
    assert 'value="rainy"' in re.findall(r"<input[^>]+ checked>", page.content.decode())[0]
    response = post(visitor, questionnaire, full_answers(page))
    assert 'name="assignmentId" value="3ASSIGNMENT2"' in response.content.decode()


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


def test_unpublished_hit_asks_to_come_back(visitor: Client, questionnaire: Questionnaire) -> None:
    query = frame_query(questionnaire)
    Questionnaire.objects.update(hit=None)
    response = visitor.get(url(questionnaire), query)
    assert response.status_code == 503
    assert "Please reload the page in a minute." in response.content.decode()


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
    monkeypatch.setattr("surveys.views.working.shown_items", lambda assignment: 1 / 0)
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
    open_page(visitor, questionnaire)
    with django_assert_num_queries(8):
        page = open_page(visitor, questionnaire)
    with django_assert_num_queries(4):
        visitor.get(url(questionnaire), PREVIEW)
    with django_assert_num_queries(7):
        draft(visitor, questionnaire, token=token_of(page))


# -- Pictures ---------------------------------------------------------------------------------------------------------


def test_picture_comes_under_its_code(visitor: Client, questionnaire: Questionnaire) -> None:
    picture = questionnaire.items.get(position=1).pictures.get()
    response = visitor.get(f"/pictures/{picture.code}")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "image/png"
    assert response.headers["Content-Disposition"] == "inline"
    assert b"".join(response.streaming_content) == picture.file.read()


def test_missing_pictures_are_not_found(visitor: Client, questionnaire: Questionnaire) -> None:
    picture = questionnaire.items.get(position=1).pictures.get()
    picture.file.delete()
    assert visitor.get(f"/pictures/{picture.code}").status_code == 404
    assert visitor.get("/pictures/unknown").status_code == 404
