"""A researcher at a browser."""

from collections.abc import Callable

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Page
from pytest_playwright.pytest_playwright import CreateContextCallback

from tests.services_site import Site

Visit = Callable[..., Page]


@pytest.fixture
def visit(site: Site, new_context: CreateContextCallback) -> Visit:
    """Open pages as a signed-in researcher, in a window of the test's choice."""
    client = Client()
    client.force_login(User.objects.create_superuser("ada"))
    session = client.cookies[settings.SESSION_COOKIE_NAME]
    signed_in = {"name": session.key, "value": session.value, "url": site.app_url}

    def open_page(path: str, *, width: int = 1280, scripts: bool = True) -> Page:
        context = new_context(
            base_url=site.app_url,
            java_script_enabled=scripts,
            viewport={"width": width, "height": 900},
        )
        context.add_cookies([signed_in])
        page = context.new_page()
        page.goto(path)
        return page

    return open_page
