"""A researcher at a browser."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page

from tests.services_site import Site

Visit = Callable[..., Page]


@pytest.fixture
def visit(site: Site, browser: Browser) -> Visit:
    """Open pages as a signed-in researcher, in a window of the test's choice."""
    User.objects.create_superuser("ada", password="a long password")

    def open_page(path: str, *, scheme: str = "light", width: int = 1280, scripts: bool = True) -> Page:
        context = browser.new_context(
            base_url=site.app_url,
            color_scheme=scheme,
            java_script_enabled=scripts,
            viewport={"width": width, "height": 900},
        )
        page = context.new_page()
        page.goto(f"/admin/login/?next={path}")
        page.get_by_label("Username").fill("ada")
        page.get_by_label("Password").fill("a long password")
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(f"**{path}")
        return page

    return open_page
