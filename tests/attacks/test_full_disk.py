"""The disk is full: people are told that nothing was kept, and whoever runs the site hears of it before."""

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
from tests.link_pages import text
from tests.link_people import invite_one
from tests.link_study import SCORES, Visitor, path_of

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
    assert "was not kept. The page you sent it from still has it" in page
    assert "What you answered is kept" not in page


def test_nor_by_link(link_batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    person = Visitor(path_of(invite_one(link_batch)))
    person.start()
    page = person.open(1)
    person.client.raise_request_exception = False
    monkeypatch.setattr("surveys.pages.answering.link_work.save_answers", full)
    answer = person.client.post(person.at(1), person.scores(page, **SCORES))
    assert answer.status_code == 500
    assert "was not kept. The page you sent it from still has it" in text(answer)


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
