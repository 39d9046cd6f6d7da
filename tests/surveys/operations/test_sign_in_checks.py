"""What `manage.py check` says of settings for signing in."""

from typing import Any

import pytest
from django.core.checks import run_checks

ALL = {"OIDC_ISSUER": "https://sso.example", "OIDC_RP_CLIENT_ID": "a", "OIDC_RP_CLIENT_SECRET": "b"}


def told(settings: Any, **values: Any) -> list[tuple[str, str]]:
    for name, value in {**dict.fromkeys(ALL, ""), **values}.items():
        setattr(settings, name, value)
    found = [(str(message.id), str(message.msg)) for message in run_checks()]
    return [message for message in found if message[0] in {"surveys.W004", "surveys.E003"}]


def test_nothing_is_said_of_none_and_of_all(settings: Any) -> None:
    assert told(settings) == told(settings, **ALL) == []


@pytest.mark.parametrize("given", ALL)
def test_half_set_it_is_off_and_that_is_said(settings: Any, given: str) -> None:
    names = {
        "OIDC_ISSUER": "ASSENT_OIDC_ISSUER",
        "OIDC_RP_CLIENT_ID": "ASSENT_OIDC_CLIENT_ID",
        "OIDC_RP_CLIENT_SECRET": "ASSENT_OIDC_CLIENT_SECRET",
    }
    missing = ", ".join(name for key, name in names.items() if key != given)
    text = f"Signing in by a university is off: {missing} not set."
    assert told(settings, **{given: ALL[given]}) == [("surveys.W004", text)]


@pytest.mark.parametrize(
    "extra", [{"OIDC_CREATE_ACCOUNTS": True}, {"OIDC_SECOND_FACTORS": frozenset({"mfa"})}]
)
def test_what_means_nothing_without_it_is_said_too(settings: Any, extra: dict[str, Any]) -> None:
    assert [key for key, _ in told(settings, **extra)] == ["surveys.W004"]


@pytest.mark.parametrize("issuer", ["http://sso.example", "sso.example", "ftp://sso.example"])
def test_an_issuer_that_others_can_read_along_is_an_error(settings: Any, issuer: str) -> None:
    text = f"ASSENT_OIDC_ISSUER: {issuer} is no https:// address."
    assert told(settings, **{**ALL, "OIDC_ISSUER": issuer}) == [("surveys.E003", text)]


def test_one_on_this_machine_may_be_plain(settings: Any) -> None:
    assert told(settings, **{**ALL, "OIDC_ISSUER": "http://127.0.0.1:8080/realms/lab"}) == []
