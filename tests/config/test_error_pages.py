"""Pages where something is missing or broke are ours, in the reader's language, and need nothing that may be broken."""

import pytest
from django.test import RequestFactory
from django.utils import translation
from django.views.defaults import server_error

GET = RequestFactory().get("/")


@pytest.mark.parametrize(
    ("language", "heading"),
    [("en", "Something went wrong here"), ("ru", "Что-то пошло не так")],
)
def test_a_fault_has_a_page_of_ours_without_a_query(language: str, heading: str) -> None:
    """No test database is asked for: a query would fail."""
    with translation.override(language):
        answer = server_error(GET)
    page = answer.content.decode()
    assert (answer.status_code, f"<h1>{heading}</h1>" in page, 'href="/"' in page) == (500, True, True)
