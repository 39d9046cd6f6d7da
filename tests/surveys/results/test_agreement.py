import numpy as np
import pytest
from scipy import stats

from surveys.protocols.registry import get_definition
from surveys.results.files.report import make_report
from surveys.results.files.report_text import report_text
from surveys.results.frames.csv_table import read_table
from surveys.results.frames.mturk_csv import read_mturk_csv
from surveys.results.frames.responses import frame_from_responses
from surveys.results.statistics.agreement import (
    agreement,
    agreements,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)
from tests.protocols import VQAX

# K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve units, five values.
OBSERVERS = (
    (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
    (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
    (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
    (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
)
UNITS = np.array(
    [[unit.count(value) for value in range(1, 6)] for unit in zip(*OBSERVERS, strict=True)], dtype=float
)


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_the_published_example(level, alpha):
    assert round(krippendorff_alpha(UNITS, level=level), 3) == alpha


def test_alpha_is_one_where_all_agree():
    assert krippendorff_alpha(np.array([[3.0, 0.0], [0.0, 2.0]])) == 1.0


@pytest.mark.parametrize(
    "counts", [np.zeros((0, 4)), np.array([[1.0, 0.0]]), np.array([[3.0, 0.0], [2.0, 0.0]])]
)
def test_alpha_is_undefined_without_pairs_or_variation(counts):
    assert krippendorff_alpha(counts) is None


def test_units_with_one_rating_do_not_count():
    with_singles = np.vstack([UNITS, [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]])

    assert krippendorff_alpha(with_singles) == krippendorff_alpha(UNITS)
    assert percent_agreement(with_singles) == percent_agreement(UNITS)


def test_percent_agreement_is_the_share_of_pairs_averaged_over_units():
    # 3 of 3 pairs, then 1 of 3
    assert percent_agreement(np.array([[3.0, 0.0], [2.0, 1.0]])) == (1 + 1 / 3) / 2


def test_percent_agreement_needs_pairs():
    assert percent_agreement(np.array([[1.0, 0.0]])) is None


@pytest.mark.parametrize(
    ("name", "alpha", "ac2"),
    [("vqax_results_raw.csv", 0.0432, 0.8339), ("esnlive_unifiedresults_raw.csv", 0.1102, 0.7039)],
)
def test_published_studies_beside_other_programs(shared, name, alpha, ac2):
    """AC2 of the ground truth as irrCAC (raw.CAC, weights quadratic, pandas 2) gives it: 0.8339 and 0.70394."""
    frame = read_mturk_csv(shared / "data" / "ofax" / name)
    found = next(a for a in agreements(frame) if a.system == "ground_truth")

    assert (round(found.alpha, 4), round(found.ac2, 4)) == (alpha, ac2)
    assert found.alpha_interval.low < found.alpha < found.alpha_interval.high
    assert found.ac2_interval.low < found.ac2 < found.ac2_interval.high


def test_ac2_worked_by_hand():
    """Two values: of three units one pair differs. Chance is 2 * 5/6 * 1/6 = 5/18; (2/3 - 5/18) / (1 - 5/18) = 7/13."""
    assert gwet_ac2(np.array([[2.0, 0.0], [2.0, 0.0], [1.0, 1.0]])) == pytest.approx(7 / 13)
    assert gwet_ac2(np.array([[1.0, 0.0]])) is None
    assert gwet_ac2(np.array([[3.0, 0.0], [2.0, 0.0]])) == 1.0


# Eight of ten units rated by one or two of three observers; 0 is no rating.
SPARSE = ((1, 1, 3, 3, 3, 0, 2, 1, 2, 0), (1, 2, 3, 0, 0, 0, 3, 0, 2, 3), (0, 0, 3, 0, 0, 3, 0, 0, 2, 0))


@pytest.mark.parametrize(("observers", "n_values", "ac2"), [(OBSERVERS, 5, 0.914001), (SPARSE, 3, 0.753086)])
def test_units_with_one_rating_tell_how_common_a_value_is(observers, n_values, ac2):
    """irrCAC 0.4.4, CAC(ratings, weights="quadratic").gwet(), with pandas 2.3.3: it does not run with pandas 3."""
    units = np.array(
        [[unit.count(value) for value in range(1, n_values + 1)] for unit in zip(*observers, strict=True)],
        dtype=float,
    )
    assert round(gwet_ac2(units), 6) == ac2


def test_intervals_leave_out_each_item_and_each_worker(shared):
    """Once more by leaving rows out of the frame and computing everything anew."""
    rows = read_mturk_csv(shared / "data" / "ofax" / "esnlive_unifiedresults_raw.csv").kept
    asked = {"system": "model", "criterion": VQAX.criterion("justifies")}
    found = agreement(rows, **asked)
    for name in ("ac2", "alpha"):
        value, interval = getattr(found, name), getattr(found, f"{name}_interval")
        reach = stats.t.ppf(0.975, interval.support.effective - 1) * error_of(name, rows, **asked)
        assert (interval.low, interval.high) == pytest.approx((value - reach, value + reach), rel=1e-6)


def error_of(name, rows, **asked):
    """Return a coefficient's error, by computing it anew without each item and without each worker."""
    value, variance = getattr(agreement(rows, **asked), name), 0.0
    for unit in ("item_id", "worker"):
        left = [agreement(rows[rows[unit] != one], **asked) for one in rows[unit].unique()]
        variance += (len(left) - 1) / len(left) * sum((getattr(one, name) - value) ** 2 for one in left)
    return variance**0.5


def test_two_items_are_enough_for_an_interval():
    said = {"i": "445", "j": "122"}
    rows = repeated([(f"w{n}", item, score) for item in said for n, score in enumerate(said[item])]).kept
    asked = {"system": "a", "criterion": get_definition("xai").output_criteria[0]}
    found = agreement(rows, **asked)
    reach = stats.t.ppf(0.975, 1) * error_of("ac2", rows, **asked)
    assert found.ac2_interval.support.items == 2
    assert (found.ac2_interval.low, found.ac2_interval.high) == (pytest.approx(found.ac2 - reach), 1.0)


def test_where_all_agree_nothing_tells_how_sure_that_is():
    """As of a mean: no spread was seen, and that is no interval without width."""
    rows = repeated([(f"w{w}", f"i{n}", "4") for w in range(3) for n in range(20)]).kept
    found = agreement(rows, system="a", criterion=get_definition("xai").output_criteria[0])
    assert (found.ac2, found.ac2_interval, found.items, found.ratings) == (1.0, None, 20, 60)


def repeated(pairs, *, definition="xai"):
    """Read a file in which each (worker, item, first, second) is rated twice, and once by somebody else."""
    keys = [c.key for c in get_definition(definition).output_criteria]
    lines = [",".join(("assignment_id", "worker_id", "item_id", "system", *keys))]
    for n, (worker, item, *said) in enumerate(pairs):
        lines += [
            ",".join((f"{n}-{k}", worker, item, "a", *[score] * len(keys))) for k, score in enumerate(said)
        ]
    return frame_from_responses(read_table("\n".join(lines).encode()), study="s")


def test_people_agree_with_themselves_where_they_rated_something_twice():
    """Two of ann's three pairs are equal, both of bob's; AC2 of the five pairs as units, chance of ten ratings."""
    frame = repeated(
        [
            ("ann", "i1", "5", "5"), ("ann", "i2", "1", "1"), ("ann", "i3", "4", "2"),
            ("bob", "i1", "3", "3"), ("bob", "i2", "1", "1"), ("cy", "i3", "5"),
        ]
    )  # fmt: skip
    found = next(a for a in agreements(frame) if a.criterion == "clarity")

    within = found.within
    assert (within.percent, within.repeats, within.workers) == (0.8, 5, 2)
    units = np.array([[0, 0, 0, 0, 2], [2, 0, 0, 0, 0], [0, 1, 0, 1, 0], [0, 0, 2, 0, 0], [2, 0, 0, 0, 0]])
    assert within.ac2 == gwet_ac2(units.astype(float))
    assert within.percent_interval.support.workers == 2
    assert within.percent_interval.high == pytest.approx(0.999219, abs=1e-6)
    # Between raters each counts once: i1 5 and 3, i2 1 and 1, i3 4 and 5.
    assert (found.percent, found.items, found.ratings) == (1 / 3, 3, 6)
    report = make_report(frame)
    assert "with themselves on a, clarity: same 0.8000 (95 %: " in report_text(report)
    assert report.as_data()["agreement"]["a"]["clarity"]["within"]["repeats"] == 5


def test_where_nobody_rated_anything_twice_there_is_nothing_within():
    found = agreements(repeated([("ann", "i1", "5"), ("bob", "i1", "4"), ("ann", "i2", "5")]))
    assert [entry.within for entry in found] == [None] * 5


def test_ratings_of_nobody_known_are_all_of_different_people():
    found = agreements(repeated([("", "i1", "5", "4"), ("", "i2", "5", "5")]))
    assert (found[0].within, found[0].items, found[0].ratings) == (None, 2, 4)
