"""CLIP score and the Fréchet distance on feature matrices."""

import re
from typing import Any

import numpy as np
import pytest

from metrics import METRICS, MetricError
from metrics.vectors import clip_score, cosines, fid


def features(case: dict[str, Any]) -> tuple[Any, Any]:
    """Return a case's two matrices, which are listed or described by numpy's generator."""
    if "recipe" not in case:
        return case["features_generated"], case["features_real"]
    seeds = [int(seed) for seed in re.findall(r"default_rng\((\d+)\)", case["recipe"])]
    scale, shift = re.search(r"\*([\d.]+)\+([\d.]+)$", case["recipe"]).groups()
    one, other = (
        np.random.default_rng(s).standard_normal(n) for s, n in zip(seeds, case["n_d"], strict=True)
    )
    return one, other * float(scale) + float(shift)


def test_fid_of_every_vector(vectors: dict[str, Any]) -> None:
    for case in vectors["frechet_distance"]["cases"]:
        got = METRICS["fid"].score(*features(case))
        for library, expected in case["expected"].items():
            assert got == pytest.approx(expected, rel=1e-6), (case["id"], library)


def test_fid_of_the_same_images_is_0_even_for_two() -> None:
    rows = np.random.default_rng(1).standard_normal((2, 2048))
    assert fid(rows, rows) == pytest.approx(0, abs=1e-9)


def test_fid_of_few_images_is_safe() -> None:
    one, other = (np.random.default_rng(seed).standard_normal((5, 64)) for seed in (1, 2))
    assert fid(one, other) == pytest.approx(fid(other, one), rel=1e-12)
    assert fid(one, one + 1) == pytest.approx(64, rel=1e-12)


def test_fid_of_one_feature() -> None:
    assert fid([[0], [2]], [[1], [5]]) == pytest.approx(4 + 2 + 8 - 2 * 4)


def test_clip_of_every_vector(vectors: dict[str, Any]) -> None:
    for case in vectors["clip_score"]["cases"]:
        texts = case["text"] if "text" in case else np.mean(case["text_templates"], axis=0)
        assert cosines(texts, case["image"]) == pytest.approx(case["per_pair"], abs=1e-12)
        assert clip_score(texts, case["image"]) == pytest.approx(case["expected_mean"], abs=1e-12)


def test_epsilon_bounds_the_product_of_norms() -> None:
    assert clip_score([1e-5, 0], [1e-5, 0]) == pytest.approx(0.01)
    assert clip_score([0, 0], [1, 0]) == 0.0
    assert clip_score([1e200, 0], [1e200, 0]) == 1.0
    assert clip_score([1e-200, 0], [1e-200, 0]) == 0.0


@pytest.mark.parametrize(
    ("name", "left", "right", "message"),
    [
        ("clip_score", [[1, 2]], [[1, 2, 3]], "texts are (1, 2), images are (1, 3): rows are pairs"),
        ("clip_score", [], [], "texts are (1, 0), not rows of features"),
        ("clip_score", [[1, float("nan")]], [[1, 2]], "texts have a number that is not finite in row 0"),
        ("fid", [[1, 2]], [[1, 2], [3, 4]], "generated have 1 row; a covariance needs 2"),
        ("fid", [[1], [2]], [[1, 2], [3, 4]], "generated have 1 features, real have 2"),
        ("fid", [[1], [2]], [[1], [float("inf")]], "real have a number that is not finite in row 1"),
    ],
)
def test_malformed_matrices_are_named(name: str, left: Any, right: Any, message: str) -> None:
    with pytest.raises(MetricError) as caught:
        METRICS[name].score(left, right)
    assert str(caught.value) == message


@pytest.mark.parametrize(("rows", "features"), [(50, 8), (9, 8), (5, 8), (2, 3)])
def test_fid_by_the_eigenvalues_of_the_product(rows: int, features: int) -> None:
    one, other = (np.random.default_rng(seed).standard_normal((rows, features)) for seed in (7, 8))
    covariances = [np.cov(sample, rowvar=False) for sample in (one, other)]
    roots = np.sqrt(np.clip(np.linalg.eigvals(covariances[0] @ covariances[1]).real, 0, None)).sum()
    shift = one.mean(axis=0) - other.mean(axis=0)
    expected = shift @ shift + sum(map(np.trace, covariances)) - 2 * roots
    assert fid(one, other) == pytest.approx(expected, rel=1e-6)


def test_fid_where_covariances_commute() -> None:
    rows = np.random.default_rng(9).standard_normal((30, 6))
    spread = np.trace(np.cov(rows, rowvar=False))
    centred = rows - rows.mean(axis=0)
    assert fid(centred * 3 + 2, centred) == pytest.approx(4 * spread + 4 * 6, rel=1e-12)
