"""The committed OpenAPI document is the one that is served, and says what every operation has."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from tests.surveys.api.asking import Asking, person_of, problem, token_of

COMMITTED = Path(settings.BASE_DIR) / "docs" / "openapi.json"
UPDATE = "python -m surveys.api > docs/openapi.json"


def served() -> dict[str, Any]:
    document: dict[str, Any] = Client().get("/api/v1/openapi.json").json()
    return document


def test_the_committed_document_is_the_one_that_is_served() -> None:
    assert json.loads(COMMITTED.read_text()) == served(), f"After a change of the API: {UPDATE}"


def test_it_says_of_each_operation_who_may_and_how_it_is_refused() -> None:
    document = served()
    assert document["openapi"].startswith("3.1.")
    for path in document["paths"].values():
        for method, operation in path.items():
            assert operation["security"] == [{"Bearer": []}]
            assert operation["responses"]["4XX"] == {"$ref": "#/components/responses/Problem"}
            names = [one["name"] for one in operation.get("parameters", ())]
            assert ("Idempotency-Key" in names) == (method == "post")
    assert "application/problem+json" in document["components"]["responses"]["Problem"]["content"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"x" * 3_000_000, "application/json"),
        (b"--x\r\n", "multipart/form-data"),
        (b"\xff", "application/json"),
        (b"[]", "application/json"),
    ],
)
@pytest.mark.parametrize("key", [None, "k1"])
def test_what_can_not_be_read_is_a_problem(body: bytes, content_type: str, key: str | None) -> None:
    client = Asking(token_of(person_of("Researcher"))).client
    headers = {"idempotency-key": key} if key else {}
    answer = client.post("/api/v1/studies", body, content_type=content_type, headers=headers)
    assert problem(answer)[0] in (400, 422)
