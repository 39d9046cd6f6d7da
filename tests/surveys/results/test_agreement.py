import numpy as np
import pytest

from surveys.results.statistics.agreement import krippendorff_alpha, percent_agreement

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
