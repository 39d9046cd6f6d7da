"""What a production server is made from: .env, the compose file, the health check."""

import ast
import re

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client

READ_BY_BOTO3 = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}


def read_by_settings() -> set[str]:
    tree = ast.parse((settings.BASE_DIR / "config" / "settings.py").read_text())
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    ]
    names = [call.args[0] for call in calls if re.match(r"env(_|$)", call.func.id)]
    return {name.value for name in names if isinstance(name, ast.Constant)}


def read_by_compose() -> set[str]:
    return set(re.findall(r"(?<!\$)\$\{(\w+)", (settings.BASE_DIR / "docker-compose.yml").read_text()))


def documented() -> list[str]:
    return re.findall(
        r"^(?:# )?([A-Z][A-Z0-9_]*)=", (settings.BASE_DIR / ".env.example").read_text(), re.MULTILINE
    )


def test_every_variable_that_is_read_is_documented_once_and_no_other() -> None:
    assert sorted(documented()) == sorted(read_by_settings() | read_by_compose() | READ_BY_BOTO3)


def test_the_example_sets_only_what_production_needs() -> None:
    text = (settings.BASE_DIR / ".env.example").read_text()
    assert re.findall(r"^([A-Z_]+)=", text, re.MULTILINE) == [
        "ASSENT_APP_URL",
        "ASSENT_MARKETPLACE_URL",
        "SECRET_KEY",
        "POSTGRES_PASSWORD",
    ]


@pytest.mark.django_db
def test_a_healthy_server_says_so(client: Client) -> None:
    answer = client.get("/healthz", headers={"host": "127.0.0.1"})
    assert (answer.status_code, answer.content, answer["Cache-Control"]) == (200, b"ok", "no-store")


@pytest.mark.django_db
def test_a_server_without_its_database_is_not_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise ConnectionError("no database")

    monkeypatch.setattr(connection, "cursor", refuse)
    answer = Client(raise_request_exception=False).get("/healthz", headers={"host": "127.0.0.1"})
    assert answer.status_code == 500


def test_a_host_name_that_is_not_ours_is_refused(client: Client) -> None:
    assert client.get("/healthz", headers={"host": "elsewhere.example"}).status_code == 400


@pytest.mark.parametrize("host", ["{}", "{}:8000", "{}.", "{}.:8000"])
def test_the_marketplaces_host_never_answers_with_the_app(client: Client, settings, host: str) -> None:
    spelling = host.format(settings.MARKETPLACE_HOST)
    for name in (spelling, spelling.upper()):
        assert client.get("/admin/login/", headers={"host": name}).status_code == 404
