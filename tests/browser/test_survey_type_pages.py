"""The pages of survey types in a real browser: they can be read on a desk and on a phone."""

import pytest

from surveys.studies.protocols import PASTED, built_in
from tests.accessible import faults


@pytest.mark.parametrize("width", [1280, 390])
def test_types_are_accessible_and_fit_the_window(visit, width):
    page = visit("/survey-types/", width=width)
    assert page.get_by_role("heading", name="XAI: five criteria").is_visible()
    assert faults(page) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_a_copy_is_written_and_what_is_wrong_is_said(visit, width):
    page = visit("/survey-types/write?from=vtt", width=width)
    assert faults(page) == []
    text = page.get_by_label("The file’s text")
    assert text.input_value() == built_in("vtt")
    text.fill(built_in("vtt").replace("headline: relevance", "headline: fun"))
    page.get_by_role("button", name="Check and keep").click()
    alert = page.get_by_role("alert")
    assert f"{PASTED}, line" in alert.inner_text()
    assert faults(page) == []
