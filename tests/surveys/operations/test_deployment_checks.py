"""What `check --deploy` says of the key that the app calls its own marketplace with."""

from typing import Any

import pytest
from django.core.checks import run_checks


def told(settings: Any, *, key: str, address: str, deploy: bool = True) -> bool:
    embedded = {**settings.MTURK_ENDPOINTS["embedded"], "aws_access_key_id": key, "endpoint_url": address}
    settings.MTURK_ENDPOINTS = {**settings.MTURK_ENDPOINTS, "embedded": embedded}
    found = run_checks(include_deployment_checks=deploy)
    return "surveys.W008" in [message.id for message in found]


@pytest.mark.parametrize(
    ("key", "address", "is_told"),
    [
        ("AKIDASSENTDEMO", "https://work.example.org", True),
        ("AKIDOFTHELAB", "https://work.example.org", False),
        ("AKIDASSENTDEMO", "http://localhost:8000", False),
    ],
)
def test_the_public_key_is_told_where_a_proxy_is(
    settings: Any, key: str, address: str, is_told: bool
) -> None:
    assert told(settings, key=key, address=address) == is_told


def test_without_deploy_nothing_is_said(settings: Any) -> None:
    assert not told(settings, key="AKIDASSENTDEMO", address="https://work.example.org", deploy=False)
