"""Reviewing with single keys: what the list of keys says is what they do, and they can be switched off."""

from django.urls import reverse

from tests.accessible import faults
from tests.builders import make_questionnaire
from tests.factories import submitted


def test_keys_do_what_their_list_says_until_they_are_switched_off(visit, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    questionnaire = make_questionnaire(rejects_automatically=False)
    two = [submitted(questionnaire, n_correct=n) for n in (1, 5)]
    first, second = (
        reverse("assignment", args=[questionnaire.batch_id, one.pk]) + "?sort=oldest" for one in two
    )

    page = visit(reverse("assignments", args=[questionnaire.batch_id]) + "?sort=oldest")
    for key in "jjkx":
        page.keyboard.press(key)
    assert page.evaluate("document.activeElement.getAttribute('href')") == first
    assert page.locator("input[name=selected]").nth(0).is_checked()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{first}")
    page.keyboard.press("?")
    assert page.locator(".keys dt").all_inner_texts() == ["u", "n", "r", "a", "?"]
    assert faults(page) == []
    page.keyboard.press("r")
    page.keyboard.type("n")
    assert page.get_by_label("Why it is rejected").input_value().startswith("n")
    page.locator("h1").click()
    page.keyboard.press("n")
    page.wait_for_url(f"**{second}")
    rest = page.locator("[data-rest]")
    assert not rest.evaluate("rest => rest.open")
    page.get_by_text("The other 3 answers").click()
    page.keyboard.press("?")
    page.get_by_label("Single keys do something").uncheck()
    page.keyboard.press("p")
    page.reload()
    page.keyboard.press("p")
    assert page.url.endswith(second)
    page.goto(first)
    assert rest.evaluate("rest => rest.open")
