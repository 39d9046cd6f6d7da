"""Results of surveys with one output per item in a real browser: they can be read on a desk and on a phone."""

import pytest
from django.urls import reverse

from surveys.protocols.registry import get_definition
from tests.accessible import faults
from tests.surveys.pages.results.shown import results
from tests.surveys.results.rated import Rated, rated_batch


def study(key: str):
    """Two systems on four subjects, one skip where there are any, one model that was wrong."""
    definition = get_definition(key)
    keys = [criterion.key for criterion in definition.criteria]
    rows = [
        Rated(
            f"s{n}",
            system,
            worker,
            {name: str((n * step + place) % 5 + 1) for place, name in enumerate(keys)},
        )
        for n in range(4)
        for step, system in enumerate(("a-system-with-a-rather-long-name", "b"), start=1)
        for worker in ("ann", "bob")
    ]
    if definition.skip_reasons:
        rows.append(Rated("s4", "b", "ann", skip_reason=definition.skip_reasons[0].value))
    batch = rated_batch(rows, definition=definition, model_correct={"s0/b": True, "s1/b": False})
    results(batch)
    return batch


@pytest.mark.parametrize("key", ["xai", "vtt"])
def test_results_are_accessible_and_fit_the_window(visit, key):
    page = visit(reverse("batch_results", args=[study(key).pk]))

    assert page.get_by_role("heading", name="Systems beside each other").is_visible()
    assert faults(page) == []


def test_a_drawing_is_as_wide_as_its_card_on_a_phone(visit):
    page = visit(reverse("batch_results", args=[study("vtt").pk]), width=360)

    bar = page.locator("figure svg.chart").first
    card = page.locator("figure.card").first
    inner = card.evaluate("e => e.clientWidth - 2 * parseFloat(getComputedStyle(e).paddingLeft)")
    assert bar.evaluate("e => e.getBoundingClientRect().width") == inner
    letters = bar.locator("text").first.evaluate("e => getComputedStyle(e).fontSize")
    assert letters == "13px"


def test_what_stands_behind_results_and_what_is_shared_of_them_is_accessible(visit):
    batch = study("vtt")
    places = {
        "answers": reverse("batch_responses", args=[batch.pk]) + "?rows=all",
        "disagreement": reverse("disputed", args=[batch.pk]),
        "share": reverse("share_results", args=[batch.pk]),
    }
    found = {name: faults(visit(path)) for name, path in places.items()}
    page = visit(places["share"])
    page.get_by_label("Whom is it for?").fill("Reviewers")
    page.get_by_label("Show the outputs").check()
    page.get_by_role("button", name="Make a link").click()
    address = page.get_by_role("textbox", name="Link to the results").input_value()
    found["link"] = faults(page)
    page.goto(address)
    for part in page.locator("details").all():
        part.locator("summary").first.click()
    assert page.get_by_role("heading", name="Outputs people disagree about most").is_visible()
    found["shared"] = faults(page)
    assert found == {name: [] for name in (*places, "link", "shared")}
