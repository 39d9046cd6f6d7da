"""The steps of signing in, in every state, before axe-core."""

from base64 import b32decode
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice
from playwright.sync_api import Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from tests.accessible import faults
from tests.services_site import Site

State = tuple[str, Page]


@pytest.fixture
def page(site: Site, new_context: CreateContextCallback, settings) -> Page:
    """A window of somebody who has only a password, where more is required."""
    cache.clear()
    settings.REQUIRE_SECOND_FACTOR = True
    User.objects.create_superuser("ada", password="right-horse")
    page = new_context(base_url=site.app_url).new_page()
    page.set_default_timeout(10_000)
    return page


def give_password(page: Page) -> None:
    page.goto("/admin/")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("right-horse")
    page.get_by_role("button", name="Log in").click()


def states(page: Page) -> Iterator[State]:
    give_password(page)
    expect(page.get_by_role("heading", name="Set up a second factor")).to_be_visible()
    page.get_by_text("It can't be scanned").click()
    yield "set up", page
    key = "".join(page.locator(".key code").inner_text().split())
    page.get_by_role("button", name="Set up").click()
    yield "no code", page
    page.get_by_role("textbox", name="Code").fill(shown(key))
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    yield "recovery codes", page
    recovery = page.locator(".codes code").first.inner_text()
    page.get_by_role("link", name="I have kept them").click()
    page.get_by_role("link", name="Second factor").click()
    yield "look after", page
    page.get_by_label("Code of the app").fill("000-000-000")
    page.get_by_role("button", name="Make new recovery codes").click()
    yield "not right", page
    page.get_by_role("button", name="Log out").click()
    give_password(page)
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    yield "code", page
    page.get_by_role("textbox", name="Code").fill("000-000-000")
    page.get_by_role("button", name="Sign in", exact=True).click()
    yield "wait", page
    TOTPDevice.objects.update(last_t=-1)
    page.get_by_role("textbox", name="Code").fill(shown(key))
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Studies")).to_be_visible()
    assert len(recovery) == 9


def shown(key: str) -> str:
    return f"{totp(b32decode(key)):06}"


def test_signing_in_by_a_university(page: Page, settings) -> None:
    settings.OIDC_IS_ON, settings.OIDC_LABEL = True, "Example University"
    page.goto("/admin/")
    expect(page.get_by_role("link", name="Sign in with Example University")).to_be_visible()
    assert faults(page) == []
    page.goto("/sign-in/university/back?error=access_denied")
    expect(page.get_by_text("Example University did not sign you in.")).to_be_visible()
    assert faults(page) == []


def test_every_step(page: Page) -> None:
    assert [(name, faults(page)) for name, page in states(page)] == [
        ("set up", []),
        ("no code", []),
        ("recovery codes", []),
        ("look after", []),
        ("not right", []),
        ("code", []),
        ("wait", []),
    ]
