"""Who hangs up in the middle of sending is no fault of ours: an answer of 400 and no traceback."""

import io
import logging
from typing import Any

import pytest
from django.test import Client

from surveys.models import Batch, Questionnaire
from tests.link_people import invite_one
from tests.link_study import path_of


class BrokenOff(io.RawIOBase):
    """What a server reads from a connection that is gone."""

    def readable(self) -> bool:
        return True

    def readinto(self, _: Any) -> int:
        raise ConnectionResetError("Connection reset by peer")


def send_half(path: str, *, host: str = "testserver") -> int:
    sent = {"CONTENT_TYPE": "application/x-www-form-urlencoded", "CONTENT_LENGTH": "5000"}
    broken = {**sent, "wsgi.input": io.BufferedReader(BrokenOff()), "headers": {"host": host}}
    return Client().post(path, **broken).status_code


@pytest.fixture(autouse=True)
def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    caplog.set_level(logging.ERROR)
    return caplog.messages


@pytest.mark.django_db
@pytest.mark.parametrize("what", ["", "draft"])
def test_a_hit(questionnaire: Questionnaire, errors: list[str], what: str) -> None:
    assert (send_half(f"/hits/{questionnaire.pk}/{what}"), errors) == (400, [])


@pytest.mark.django_db
@pytest.mark.parametrize("what", ["", "draft"])
def test_work_by_link(link_batch: Batch, errors: list[str], what: str) -> None:
    assert (send_half(path_of(invite_one(link_batch)) + f"1/{what}"), errors) == (400, [])


@pytest.mark.django_db
def test_an_appeal(errors: list[str]) -> None:
    assert (send_half("/appeals/"), errors) == (400, [])


@pytest.mark.django_db
def test_the_marketplaces_submission(errors: list[str], settings: Any) -> None:
    settings.MARKETPLACE_HOST = "localhost"
    assert (send_half("/mturk/externalSubmit", host="localhost"), errors) == (400, [])
