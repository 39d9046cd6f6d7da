"""Notes: shown on every page until they are put away, or the page they lead to is opened."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from surveys import notes
from surveys.models import Note
from tests.people import client_of

pytestmark = pytest.mark.django_db
HOME = "/admin/"


@pytest.fixture
def researcher() -> Client:
    return client_of("Researcher")


def told(client: Client, **values: str) -> Note:
    person = User.objects.get(pk=client.session["_auth_user_id"])
    told = {"about": "published:1", "text": "Pictures 1 is published: 3 HITs.", "url": "/elsewhere/"}
    notes.tell(person.pk, **(told | values))
    return Note.objects.get(person=person, about=(told | values)["about"])


def test_of_the_same_work_somebody_is_told_once(researcher: Client) -> None:
    assert told(researcher) == told(researcher, text="Again.")
    assert Note.objects.get().text == "Pictures 1 is published: 3 HITs."


def test_nobody_is_told_of_work_that_nobody_asked_for() -> None:
    notes.tell(None, about="a", text="b", url="/")
    assert Note.objects.count() == 0


def test_a_note_is_shown_to_its_reader_alone_until_it_is_put_away(researcher: Client) -> None:
    note = told(researcher)
    other = client_of()
    assert [note.text in client.get(HOME).text for client in (researcher, other)] == [True, False]
    away = reverse("put_note_away", args=[note.pk])
    other.post(away)
    assert note.text in researcher.get(HOME).text
    for _ in range(2):
        answer = researcher.post(away, {"next": HOME})
        assert (answer.status_code, answer.url) == (302, HOME)
    assert note.text not in researcher.get(HOME).text


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", ""])
def test_putting_away_leads_nowhere_else(researcher: Client, target: str) -> None:
    answer = researcher.post(reverse("put_note_away", args=[told(researcher).pk]), {"next": target})
    assert answer.url == HOME


def test_the_page_it_leads_to_says_it_itself(researcher: Client) -> None:
    note = told(researcher, url=f"{HOME}#part")
    assert note.text not in researcher.get(HOME).text
    note.refresh_from_db()
    assert note.seen_at is not None


def test_a_stranger_puts_nothing_away(researcher: Client) -> None:
    note = told(researcher)
    assert Client().post(reverse("put_note_away", args=[note.pk])).status_code == 302
    note.refresh_from_db()
    assert note.seen_at is None
