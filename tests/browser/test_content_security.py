"""A browser runs nothing that somebody has put into a page.

That our own pages put nothing in is asked by every test with a browser: the fixture `violations` fails it.
"""

import pytest
from playwright.sync_api import Page

from tests.services_site import Site

pytestmark = pytest.mark.django_db(transaction=True)
PUT_IN = """() => {
    document.body.insertAdjacentHTML("beforeend", "<img src=x alt='' onerror='window.ran = true'>");
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    return new Promise(resolve => setTimeout(() => resolve(window.ran === true), 200));
}"""


@pytest.mark.parametrize("path", ["/admin/login/", "/appeals/", "/nowhere"])
def test_what_is_put_into_a_page_of_the_app_does_not_run(
    page: Page, site: Site, violations: list[str], path: str
) -> None:
    page.goto(f"{site.app_url}{path}")
    assert page.evaluate(PUT_IN) is False
    assert len(violations) == 2, violations
    violations.clear()


@pytest.mark.parametrize("path", ["/", "/sign-in", "/nowhere"])
def test_nor_into_a_page_of_the_marketplace(page: Page, site: Site, violations: list[str], path: str) -> None:
    page.goto(f"{site.marketplace_url}{path}")
    assert page.evaluate(PUT_IN) is False
    assert len(violations) == 2, violations
    violations.clear()
