"""Rows and drawings of a results page by themselves: what criteria are called, and how numbers are written."""

import pytest

from surveys.pages.results.charts import scatter_plot
from surveys.pages.results.metric_tables import heat_maps
from surveys.pages.results.raters import agreement_row, position_row, within_row
from surveys.results.statistics.agreement import Agreement, Within
from surveys.results.statistics.correlation import Coefficient, Correlation
from surveys.results.statistics.inference import Interval, Support
from surveys.results.statistics.positions import PositionEffect

LABELS = {"clear": "Is it clear?"}


def interval(low: float, high: float) -> Interval:
    return Interval(low, high, Support(items=9, workers=2))


def correlation(**values) -> Correlation:
    coefficient = Coefficient(-0.5, -0.75, 0.25)
    points = (("a", 0.1, 1.0), ("a", 0.3, 2.0))
    return Correlation(
        **{
            "metric": "text_f1",
            "criterion": "clear",
            "level": "item",
            "n": 42,
            **dict.fromkeys(("pearson", "spearman", "kendall"), coefficient),
            "why_not": "",
            "points": points,
            **values,
        }
    )


def test_agreement_has_the_label_of_its_criterion_and_numbers_with_a_true_minus() -> None:
    entry = Agreement(
        "a", "clear", -0.2904, 0.5, 9, 18, ac2=0.1, alpha_interval=interval(-0.7, 0.123), ac2_interval=None
    )
    row = agreement_row(entry, labels=LABELS)
    texts = ["Is it clear?", "−0.290", "−0.70 to 0.12", "0.100", "–", "50.0 %", "9", "18"]
    assert (row.label, [cell.text for cell in row.cells]) == ("a", texts)
    assert row.behind == {"criterion": "clear", "of": "a"}


def test_behind_no_ratings_there_is_no_list() -> None:
    row = agreement_row(Agreement("a", "clear", None, None, 0, 0), labels=LABELS)
    assert [cell.text for cell in row.cells[1:]] == ["–", "–", "–", "–", "–", "0", "0"]
    assert [cell.behind for cell in row.cells[-2:]] == [None, None]


def test_agreement_of_raters_with_themselves_has_the_label_too() -> None:
    entry = Agreement("a", "clear", 0.5, 0.5, 9, 18)
    row = within_row(entry, Within(0.75, None, -0.5, repeats=4, workers=2), labels=LABELS)
    assert [cell.text for cell in row.cells] == ["Is it clear?", "75.0 %", "−0.500", "4"]


@pytest.mark.parametrize(("key", "label"), [("clear", "Is it clear?"), ("preference", "Preference")])
@pytest.mark.parametrize(("difference", "reason"), [(0.5, ""), (None, "too few")])
def test_positions_have_the_label_of_a_criterion_or_are_of_the_preference(
    key: str, label: str, difference: float | None, reason: str
) -> None:
    found = PositionEffect("a", key, "side", 5, 4, difference, None, 9, reason)
    assert [cell.text for cell in position_row(found, labels=LABELS).cells[:2]] == [label, "shown first"]


@pytest.mark.parametrize(
    ("difference", "ends", "shown"),
    [
        (0.0042, (-0.1, 0.1083), "0.004 (−0.10 to 0.11)"),
        (-0.42, (-9.0, 8.0), "−0.4 (−9 to 8)"),
        (0.1234, None, "0.1234"),
    ],
)
def test_a_small_effect_of_position_is_not_printed_as_none(
    difference: float, ends: tuple[float, float] | None, shown: str
) -> None:
    found = PositionEffect("a", "clear", "side", 5, 4, difference, interval(*ends) if ends else None, 9, "")
    assert position_row(found, labels=LABELS).cells[2].text == shown


@pytest.mark.parametrize(("level", "counted"), [("item", "n = 42"), ("within", "n = 42 in all")])
def test_below_a_coefficient_its_interval_and_its_outputs_have_a_line_each(level: str, counted: str) -> None:
    maps = list(heat_maps([correlation(level=level)], metrics=["text_f1"], criteria=LABELS))
    assert [rows[0].cells[0].note for _, rows in maps] == [f"−0.75 to 0.25,\n{counted}"] * 3
    without = correlation(level=level, spearman=Coefficient(-0.5, None, None))
    (_, rows), *_ = heat_maps([without], metrics=["text_f1"], criteria=LABELS)
    assert (rows[0].cells[0].text, rows[0].cells[0].note) == ("−0.50", counted)


@pytest.mark.parametrize(
    ("level", "n", "value", "ends", "shade"),
    [
        ("item", 42, -0.5, (-0.75, 0.25), "0"),
        ("item", 42, -0.5, (-0.75, 0.0), "0"),
        ("item", 42, -0.5, (-0.75, -0.25), "-2"),
        ("item", 42, 0.5, (0.25, 0.75), "2"),
        ("item", 3, 1.0, (None, None), "0"),
        ("within", 42, 0.9, (0.8, 1.0), "4"),
        ("system", 12, 1.0, (1.0, 1.0), "0"),
    ],
)
def test_what_chance_may_have_made_has_no_colour(
    level: str, n: int, value: float, ends: tuple[float | None, float | None], shade: str
) -> None:
    one = correlation(level=level, n=n, spearman=Coefficient(value, *ends))
    (_, rows), *_ = heat_maps([one], metrics=["text_f1"], criteria=LABELS)
    assert rows[0].cells[0].shade == shade


@pytest.mark.parametrize(
    ("label", "shown"),
    [("Is it clear?", "Is it clear?"), ("Does this explain the answer?", "Does this explain the a…")],
)
def test_a_plot_names_both_its_axes(label: str, shown: str) -> None:
    plot = scatter_plot(correlation(), criterion=label, systems=["a"])
    assert (plot.x_label, plot.y_label) == ("text_f1", shown)
    assert plot.title == f"{label} by text_f1"
