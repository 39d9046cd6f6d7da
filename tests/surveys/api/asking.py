"""People with tokens, and their requests."""

from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from surveys.api import tokens
from surveys.models import Batch, Questionnaire
from surveys.publishing import questionnaires
from tests.factories import make_hit, submitted
from tests.people import role_of


def person_of(role: str, name: str = "ada") -> User:
    user = User.objects.create_user(name, is_staff=True)
    if role:
        user.groups.add(role_of(role))
    return user


def token_of(user: User, **values: Any) -> str:
    values = {"name": "a script", "expires_at": None, "is_read_only": False, **values}
    return tokens.make(user, **values)[1]


class Asking:
    """A script with a token; paths begin behind /api/v1."""

    def __init__(self, token: str) -> None:
        self.client = Client(headers={"authorization": f"Bearer {token}"})

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(f"/api/v1{path}", query)

    def post(self, path: str, body: Any = None, *, key: str | None = None) -> Any:
        headers = {} if key is None else {"idempotency-key": key}
        return self.client.post(f"/api/v1{path}", body, content_type="application/json", headers=headers)

    def patch(self, path: str, body: Any) -> Any:
        return self.client.patch(f"/api/v1{path}", body, content_type="application/json")

    def upload(self, path: str, key: str | None = None, **fields: Any) -> Any:
        headers = {} if key is None else {"idempotency-key": key}
        return self.client.post(f"/api/v1{path}", fields, headers=headers)


def problem(answer: Any) -> tuple[int, str]:
    """The status, and the last word of a problem's type."""
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code
    return answer.status_code, answer.json()["type"].rpartition(":")[2]


def hand_in(batch: Batch) -> None:
    """Have the worker write a batch, and all people that are wanted hand in, as a marketplace would tell it."""
    questionnaires.write(batch)
    Batch.objects.filter(pk=batch.pk).update(status="open")
    for questionnaire in Questionnaire.objects.filter(batch=batch):
        questionnaire.hit = questionnaire.hit or make_hit(max_assignments=questionnaire.target_assignments)
        questionnaire.save()
        for _ in range(questionnaire.target_assignments):
            submitted(questionnaire, n_correct=9)
