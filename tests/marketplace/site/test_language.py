"""The worker site in Russian: every page a worker can open, in more than one state, and the frame of a task."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape
from django.utils.translation import override

from marketplace.accounts import keys
from marketplace.engine import assignments
from marketplace.models import Assignment
from marketplace.templatetags.marketplace import in_its_language, lang_attribute
from tests.marketplace.question_documents import external_question
from tests.spoken import english_in

TASK = "https://lab.example/task"
DESCRIPTION = "Five short questions about pictures, and which of two explanations convinces you."
REQUESTERS = f"Look at a picture\n{DESCRIPTION}\nVision Lab"


@pytest.fixture
def worker(db: None) -> Client:
    """Somebody who is signed in and has chosen Russian."""
    made, code = keys.create_worker()
    client = Client(headers={"host": "localhost"})
    client.get("/?language=ru")
    client.post("/sign-in", {"worker_id": made.worker_id, "access_code": code})
    return client


def page_of(client: Client, path: str) -> str:
    return client.get(path).content.decode()


def test_pages_are_russian_but_for_the_requester(worker: Client, publish: Callable[..., Any]) -> None:
    kind = publish(external_question(TASK), count=2, max_assignments=2)
    pages = {
        path: page_of(worker, path) for path in ("/", f"/projects/{kind.type_id}/tasks", "/work", "/my-data")
    }
    accepted = worker.post(f"/projects/{kind.type_id}/tasks/accept_random", follow=True)
    held = Assignment.objects.get()
    address = f"/assignments/{held.assignment_id}"
    pages |= {
        "work": accepted.content.decode(),
        "queue": page_of(worker, "/work"),
        "held": page_of(worker, "/my-data"),
        "asked": worker.post(f"{address}/return", {"ask": "1"}).content.decode(),
        "returned": worker.post(f"{address}/return", follow=True).content.decode(),
        "after": page_of(worker, address),
        "given up": page_of(worker, "/work"),
        "nothing": page_of(worker, "/nothing/at/all"),
        "no match": page_of(worker, "/?q=zebra").replace("zebra", ""),
        "bad invitation": page_of(worker, "/invitations/nobodys"),
    }
    assert {
        name: left for name, page in pages.items() if (left := english_in(page, of_study=REQUESTERS))
    } == {}
    assert re.findall(r"до \d+ [а-я]+, \d\d:\d\d UTC · ([\d,\xa0]+ \$)", pages["queue"]) == ["0,38 $"]


@pytest.mark.django_db
def test_a_stranger_reads_russian_too(settings: Any) -> None:
    settings.MARKETPLACE_OPEN_SIGNUP = True
    client = Client(headers={"host": "localhost", "accept-language": "ru"})
    pages = [client.get("/sign-in"), client.post("/sign-in", {"worker_id": "A"}), client.post("/join")]
    assert [english_in(page.content.decode(), of_study="") for page in pages] == [[], [], []]


def test_a_form_without_its_token_is_refused_in_russian(worker: Client) -> None:
    strict = Client(headers={"host": "localhost", "accept-language": "ru"}, enforce_csrf_checks=True)
    response = strict.post("/sign-in")
    assert (response.status_code, english_in(response.content.decode(), of_study="")) == (403, [])


@pytest.mark.parametrize(
    ("url", "sent"), [(TASK, "language=ru"), (f"{TASK}?language=de", "language=de")], ids=["ours", "its own"]
)
def test_the_frame_is_told_what_was_chosen_and_keeps_what_it_says(
    worker: Client, publish: Callable[..., Any], url: str, sent: str
) -> None:
    kind = publish(external_question(url))
    preview = page_of(worker, f"/projects/{kind.type_id}/tasks")
    assert re.findall(r"language=\w+", re.findall(r'<iframe[^>]* src="([^"]+)"', preview)[0]) == [sent]
    work = worker.post(f"/projects/{kind.type_id}/tasks/accept_random", follow=True).content.decode()
    assert re.findall(r"language=\w+", re.findall(r'<iframe[^>]* src="([^"]+)"', work)[0]) == [sent]


def test_nothing_is_told_where_nothing_was_chosen(publish: Callable[..., Any]) -> None:
    kind = publish(external_question(TASK))
    client = Client(headers={"host": "localhost", "accept-language": "ru"})
    preview = page_of(client, f"/projects/{kind.type_id}/tasks")
    assert "language=" not in re.findall(r'<iframe[^>]* src="([^"]+)"', preview)[0]


def test_an_answer_that_is_called_language_is_an_answer(worker: Client, publish: Callable[..., Any]) -> None:
    kind = publish(external_question(TASK))
    worker.post(f"/projects/{kind.type_id}/tasks/accept_random")
    held = Assignment.objects.get()
    sent = {"assignmentId": held.assignment_id, "language": "en"}
    response = worker.get("/mturk/externalSubmit", sent)
    held.refresh_from_db()
    assert (response.status_code, held.status) == (200, "Submitted")
    assert re.findall(r"language</QuestionIdentifier>\s*<FreeText>(\w+)", held.answer) == ["en"]


def marked(page: str) -> list[tuple[str, str]]:
    """Return (language, text) of what stands in another language than its page."""
    return re.findall(
        r'<(?!html)\w+[^>]* lang="(\w+)"[^>]*>([^<]*)<', page.partition("<main")[2].partition("</main>")[0]
    )


def test_what_requesters_write_is_marked_where_its_letters_are_not_the_pages(
    worker: Client, publish: Callable[..., Any]
) -> None:
    kind = publish(external_question(TASK), max_assignments=2)
    title, description = ("en", kind.title), ("en", kind.description)
    assert marked(page_of(worker, "/")) == [title, description]
    worker.post(f"/projects/{kind.type_id}/tasks/accept_random")
    held = Assignment.objects.get()
    assert marked(page_of(worker, "/work")) == [title]
    assignments.submit(held, answer="-", now=timezone.now())
    assignments.reject(held, now=timezone.now(), feedback="No. See https://lab.example/a")
    assert marked(page_of(worker, "/work")) == [title, ("en", "No. See ")]
    worker.get("/?language=en")
    assert marked(page_of(worker, "/work")) == []
    Assignment.objects.update(feedback="Нет. https://lab.example/appeals/abcdef")
    assert marked(page_of(worker, "/work")) == [("ru", "Нет. ")]


@pytest.mark.parametrize(
    ("text", "on_russian", "on_english"),
    [
        ("Rate <b>two</b> answers", ' lang="en"', ""),
        ("Оцените ответы VQA", "", ' lang="ru"'),
        ("回答を評価する", "", ""),
        ("42", "", ""),
        ("", "", ""),
    ],
)
def test_the_language_of_a_text_is_that_of_most_of_its_letters(
    text: str, on_russian: str, on_english: str
) -> None:
    with override("ru"):
        assert lang_attribute(text) == on_russian
        expected = f"<span{on_russian}>{escape(text)}</span>" if on_russian else text
        assert in_its_language(text) == expected
    with override("en-gb"):
        assert lang_attribute(text) == on_english
