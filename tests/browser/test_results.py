"""Results of surveys with one output per item in a real browser: they can be read on a desk and on a phone."""

import pytest
from django.urls import reverse
from django.utils import timezone

from surveys.models import Output
from surveys.protocols.registry import get_definition
from tests.accessible import faults
from tests.surveys.pages.results.shown import metric_results, results
from tests.surveys.results.rated import Rated, rated_batch

METRICS = ("captioning_meteor", "one_minus_ned", "text_f1")
OPENED = "document.querySelectorAll('details').forEach(e => e.open = true)"
# Of each table that is wider than its card: its name, and whether a shadow says so.
TOO_WIDE = """() => [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth)
    .map(e => [e.ariaLabel, getComputedStyle(e).backgroundAttachment.includes('local')])"""


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


def scored_study():
    """Ten subjects of two systems whose names are one word each, rated by two people, and three metrics of each."""
    definition = get_definition("xai")
    keys = [criterion.key for criterion in definition.criteria]
    rows = [
        Rated(f"s{n}", system, worker, {key: str((n * step) % 5 + 1) for key in keys})
        for n in range(10)
        for step, system in enumerate(
            ("alpha-explainer-with-a-long-name", "beta_explainer_of_great_length"), 2
        )
        for worker in ("ann", "bob")
    ]
    batch = rated_batch(rows, definition=definition)
    for n, output in enumerate(Output.objects.order_by("pk")):
        for step, name in enumerate(METRICS, 1):
            value = (n * step) % 7 / 7
            output.metric_scores.create(metric=name, value=value, version="1", scored_at=timezone.now())
    results(batch)
    metric_results(batch)
    return batch


def test_tables_fit_a_desk_and_those_that_do_not_fit_a_phone_say_so(visit):
    page = visit(reverse("batch_results", args=[scored_study().pk]))
    page.evaluate(OPENED)
    maps = page.locator(".maps figure")
    assert maps.first.get_by_role("columnheader", name="text_f1").is_visible()
    assert (page.evaluate(TOO_WIDE), faults(page, ways=[("light", 1280, 900)])) == ([], [])
    assert (
        "n = 20 in all" in page.get_by_role("region", name="Spearman, over the outputs of one").inner_text()
    )
    plot = page.locator(".plots svg").first
    assert plot.get_by_text("Fluency", exact=True).is_visible()

    page.set_viewport_size({"width": 390, "height": 900})
    wide = ["Systems beside each other", "Table of agreement"]
    assert page.evaluate(TOO_WIDE) == [[name, True] for name in wide]


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
