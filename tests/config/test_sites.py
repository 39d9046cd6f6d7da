"""One server, two sites: each host has its own pages, and its own words where there is none."""

import pytest
from django.test import Client
from pytest_django import Settings


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("host", "is_marketplace"), [("localhost", True), ("testserver", False)], ids=["marketplace", "app"]
)
def test_an_address_nobody_has_is_answered_by_the_site_that_was_asked(
    settings: Settings, host: str, *, is_marketplace: bool
) -> None:
    settings.MARKETPLACE_HOST = "localhost"
    response = Client(headers={"host": host}).get("/nowhere/at/all")
    page = response.content.decode()
    assert response.status_code == 404
    assert "There is nothing here" in page
    assert ("To the HITs" in page, "marketplace/site" in page) == (is_marketplace, is_marketplace)
    assert ("To the first page" in page) != is_marketplace
