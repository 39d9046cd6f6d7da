"""The disk is full: people are told that nothing was kept, and whoever runs the site hears of it before."""

import re
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.cache import caches
from django.db import OperationalError
from django.test import Client

from surveys import sync
from surveys.models import Batch, Questionnaire
from surveys.operations import gauges
from tests.link_people import invite_one
from tests.link_study import SCORES, Visitor, path_of
from tests.surveys.pages.hit_pages import full_answers, open_page, post, token_of

pytestmark = pytest.mark.django_db
Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: Usage(1000, 951, 49))


def full(*args: Any, **kwargs: Any) -> None:
    raise OperationalError("database or disk is full")


def said(response: Any) -> str:
    assert response.status_code == 500
    return response.content.decode()


def test_nobody_is_told_that_what_was_lost_is_kept(
    questionnaire: Questionnaire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surveys.pages.answering.tokens.read", full)
    client = Client(raise_request_exception=False)
    page = said(client.post(f"/hits/{questionnaire.pk}/", {"token": "x", "hitId": "H"}))
    assert "This was not kept" in page
    assert "What you have just sent was not kept. What was saved before is kept" in page
    assert "What you answered is kept" not in page


def checked(page: str) -> set[tuple[str, str]]:
    """The (name, value) of every ticked answer."""
    inputs = re.findall(r'<input type="(?:radio|checkbox)" name="(i[^"]+)" value="([^"]*)"([^>]*)>', page)
    return {(name, value) for name, value, rest in inputs if " checked" in rest}


def test_what_could_not_be_kept_is_still_on_the_page(
    questionnaire: Questionnaire, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(raise_request_exception=False)
    answers = full_answers(open_page(client, questionnaire)) | {"comment": "Typed for long"}
    monkeypatch.setattr("surveys.pages.answering.hit.write_answers", full)
    refused = post(client, questionnaire, answers)
    page = refused.content.decode()
    assert (refused.status_code, "This was not kept" in page) == (503, True)
    assert ">Typed for long</textarea>" in page
    sent = {(name, str(value)) for name, value in answers.items() if name not in ("token", "comment")}
    assert checked(page) == sent
    monkeypatch.undo()
    again = post(client, questionnaire, answers | {"token": token_of(refused)})
    assert b"Your answers are saved" in again.content


def test_nor_is_an_incomplete_page_lost(
    questionnaire: Questionnaire, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(raise_request_exception=False)
    answers = full_answers(open_page(client, questionnaire)) | {"comment": "Typed for long"}
    answers.pop("i1-answer")
    monkeypatch.setattr("surveys.pages.answering.hit.keep_what_was_given", full)
    refused = post(client, questionnaire, answers)
    assert refused.status_code == 503
    assert ">Typed for long</textarea>" in refused.content.decode()


def test_nor_by_link(link_batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    person = Visitor(path_of(invite_one(link_batch)))
    person.start()
    answers = person.scores(person.open(1), **SCORES) | {"comment": "Typed for long"}
    person.client.raise_request_exception = False
    monkeypatch.setattr("surveys.pages.answering.link_annotation.save_answers", full)
    refused = person.client.post(person.at(1), answers)
    page = refused.content.decode()
    assert (refused.status_code, "This was not kept" in page) == (503, True)
    assert ">Typed for long</textarea>" in page
    ticked = {(name, str(value)) for name, value in answers.items() if name.endswith(tuple(SCORES))}
    assert (checked(page), bool(ticked)) == (ticked, True)


def test_health_checks_and_the_gauge_tell_of_little_room(client: Client, low: None) -> None:
    health = client.get("/healthz", headers={"host": "127.0.0.1"})
    assert (health.status_code, health.content.decode()) == (200, "ok, but 4.9% of the disk is free")
    ready = client.get("/readyz", headers={"host": "127.0.0.1"})
    assert (ready.status_code, ready.json()["checks"]["disk"]) == (503, {"state": "low", "free_share": 0.049})
    assert b"assent_disk_free_ratio 0.049" in gauges.measure()


def test_with_room_nothing_is_said(client: Client, settings: Any) -> None:
    settings.DISK_FREE_PERCENT = 0
    assert client.get("/healthz", headers={"host": "127.0.0.1"}).content == b"ok"
    assert "disk" not in client.get("/readyz", headers={"host": "127.0.0.1"}).json()["checks"]


def test_it_is_mailed_once_a_day(low: None, settings: Any, own_folders: Path) -> None:
    settings.ALARM_RECIPIENTS = ["lab@example.org"]
    caches["heartbeats"].delete("disk is low")
    sync.send_alarms()
    sync.send_alarms()
    assert [message.subject for message in mail.outbox] == ["[Assent] The disk is almost full"]
