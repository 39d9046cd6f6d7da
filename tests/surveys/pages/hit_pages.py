"""A HIT's page as a test opens, fills in and posts it."""

import json
import re
from html import unescape

from django.test import Client

from surveys.models import Questionnaire
from tests.builders import frame_query


def url(questionnaire: Questionnaire) -> str:
    return f"/hits/{questionnaire.pk}/"


def open_page(visitor: Client, questionnaire: Questionnaire, **query: str):
    return visitor.get(url(questionnaire), frame_query(questionnaire) | query)


def token_of(response) -> str:
    return re.search(r'name="token" value="([^"]+)"', response.content.decode()).group(1)


def full_answers(response) -> dict[str, object]:
    """Fill every group of the page with its last choice: the last answer, No, a shortcoming, the last explanation."""
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
