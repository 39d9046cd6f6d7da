"""The pages for whoever works by script, before axe-core."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from surveys.models import Delivery, Webhook
from surveys.operations.webhooks import BEFORE
from tests.accessible import faults
from tests.factories import make_published
from tests.services_site import Site

State = tuple[str, Page]


@pytest.fixture
def page(site: Site, new_context: CreateContextCallback) -> Page:
    """A window of somebody who has only a password."""
    cache.clear()
    client = Client()
    client.force_login(User.objects.create_superuser("ada", password="right-horse"))
    context = new_context(base_url=site.app_url)
    context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": site.app_url}]
    )
    page = context.new_page()
    page.set_default_timeout(10_000)
    return page


def states(page: Page) -> Iterator[State]:
    page.goto("/admin/")
    page.get_by_role("link", name="API tokens").click()
    page.get_by_label("What is it for?").fill("nightly evaluation")
    page.get_by_role("button", name="Make a token").click()
    yield "no password", page
    page.get_by_label("Your password").fill("right-horse")
    page.get_by_role("button", name="Make a token").click()
    expect(page.get_by_label("Token", exact=True)).to_have_value(re.compile("^assent_"))
    yield "made", page
    webhook = Webhook.objects.create(survey=make_published().batch.survey, url="https://lab.example/told")
    now = timezone.now()
    said = [
        {"due_at": now, "attempts": 2, "error": "lab.example does not answer."},
        {"attempts": 8, "error": "lab.example does not answer."},
        {"arrived_at": now, "attempts": 1},
        {"due_at": now},
        {"error": BEFORE},
    ]
    for n, values in enumerate(said):
        Delivery.objects.create(webhook=webhook, event="batch.done", about=str(n), body="{}", **values)
    page.goto(f"/studies/{webhook.survey.slug}/webhooks/")
    yield "webhooks", page
    page.goto(f"/studies/{webhook.survey.slug}/settings/")
    page.get_by_role("link", name="This study from a script").click()
    yield "script", page


@pytest.mark.django_db(transaction=True)
def test_the_pages_for_scripts_are_accessible(page: Page) -> None:
    assert [(name, faults(at)) for name, at in states(page)] == [
        ("no password", []),
        ("made", []),
        ("webhooks", []),
        ("script", []),
    ]
