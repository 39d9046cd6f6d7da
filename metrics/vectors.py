"""Metrics on feature matrices: CLIP score and the Fréchet distance. Needs numpy only; `features` makes matrices."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metrics.inputs import MetricError, checked_profile

Matrix = NDArray[np.float64]

EPSILON: Final = 1e-8
"""The document's small positive number, below which a product of norms counts as this."""


def clip_score(texts: ArrayLike, images: ArrayLike, *, profile: str = "document") -> float:
    """Return the mean cosine similarity of text and image embeddings, row by row.

    x1.x2 / max(|x1| |x2|, 1e-8), mean over rows. Both: n rows of d numbers, or one vector each. Range -1 to 1 (the
    document says 0 for entirely different; opposite vectors give -1), no unit, more is better; neither clipped at 0
    nor scaled. A zero vector gives 0. Both profiles are this formula. No rows, unequal shapes, or a number that is
    not finite: MetricError. Source: FusionBrain Challenge 2.0 metrics, sub-tasks 3 and 4.
    """
    checked_profile(profile)
    return float(cosines(texts, images).mean())


def cosines(texts: ArrayLike, images: ArrayLike) -> Matrix:
    """Return the cosine similarity of each row of `texts` with the same row of `images`: n numbers."""
    left, right = _rows(texts, name="texts"), _rows(images, name="images")
    if left.shape != right.shape:
        raise MetricError(f"texts are {left.shape}, images are {right.shape}: rows are pairs")
    (left, left_size), (right, right_size) = _scaled(left), _scaled(right)
    norms = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    # Rows were divided by their greatest number, so that no product overflows; epsilon is divided alike.
    with np.errstate(over="ignore", divide="ignore"):
        least = EPSILON / left_size / right_size
    similar: Matrix = np.einsum("ij,ij->i", left, right) / np.maximum(norms, least)
    return similar


def fid(generated: ArrayLike, real: ArrayLike, *, profile: str = "document") -> float:
    """Return the Fréchet distance between two sets of features, one row for each image.

    |m1 - m2|^2 + tr(S1 + S2 - 2 (S1 S2)^(1/2)), means and covariances (divided by n - 1) in float64. Range 0 to
    infinity, in squared feature units, less is better. The last trace is the sum of the singular values of
    A B' / sqrt((n1 - 1)(n2 - 1)), A and B the centred features: no root of a matrix is taken, so fewer images than
    features are safe. The
    value depends on the number of images and on the network that made the features; compare like with like only. Both
    profiles are this formula. Fewer than 2 rows, unequal widths, or a number that is not finite: MetricError.
    Source: Heusel et al., GANs Trained by a Two Time-Scale Update Rule, 2017; FusionBrain Challenge 2.0, sub-task 3.
    """
    checked_profile(profile)
    one, other = _sample(generated, name="generated"), _sample(real, name="real")
    if one.shape[1] != other.shape[1]:
        raise MetricError(f"generated have {one.shape[1]} features, real have {other.shape[1]}")
    shift = one.mean(axis=0) - other.mean(axis=0)
    left, right = _centred(one), _centred(other)
    spread = np.square(left).sum() + np.square(right).sum()
    return max(float(shift @ shift + spread - 2 * _root_trace(left, right)), 0.0)


def _root_trace(left: Matrix, right: Matrix) -> float:
    """Return tr (S1 S2)^(1/2) for S1 = left' left, S2 = right' right: the nuclear norm of left right'."""
    # QR keeps the norm and leaves at most as many rows as there are features.
    small = _few_rows(left) @ _few_rows(right).T
    return float(np.linalg.svd(small, compute_uv=False).sum())


def _few_rows(rows: Matrix) -> Matrix:
    return np.linalg.qr(rows).R if rows.shape[0] > rows.shape[1] else rows


def _centred(rows: Matrix) -> Matrix:
    centred: Matrix = (rows - rows.mean(axis=0)) / np.sqrt(len(rows) - 1)
    return centred


def _scaled(rows: Matrix) -> tuple[Matrix, Matrix]:
    size = np.abs(rows).max(axis=1)
    size[size == 0] = 1.0
    return rows / size[:, None], size


def _sample(given: ArrayLike, *, name: str) -> Matrix:
    rows = _rows(given, name=name)
    if len(rows) < 2:
        raise MetricError(f"{name} have {len(rows)} row; a covariance needs 2")
    return rows


def _rows(given: ArrayLike, *, name: str) -> Matrix:
    try:
        rows: Matrix = np.atleast_2d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise MetricError(f"{name} are no matrix of numbers: {error}") from error
    if rows.ndim != 2 or not rows.size:
        raise MetricError(f"{name} are {rows.shape}, not rows of features")
    if not np.isfinite(rows).all():
        raise MetricError(
            f"{name} have a number that is not finite in row {int((~np.isfinite(rows)).any(axis=1).argmax())}"
        )
    return rows
