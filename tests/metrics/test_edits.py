"""One minus the normalised edit distance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics.edits import one_minus_ned


@pytest.mark.parametrize(
    ("prediction", "references", "expected"),
    [
        ("сод", ["сад"], 2 / 3),
        ("САД", ["сад"], 0.0),
        ("сад", ["где", "сады"], 0.75),
        ("кафе ☕🙂", ["кафе ☕"], 6 / 7),
        ("елка", ["е\u0308лка"], 0.8),
        ("сад", [""], 0.0),
        ("", ["сад"], 0.0),
        ("", [""], 1.0),
    ],
)
def test_one_minus_ned(prediction: str, references: list[str], expected: float) -> None:
    assert one_minus_ned(prediction, references) == pytest.approx(expected, abs=1e-12)


def test_the_competitions_code_gives_nothing_for_nothing() -> None:
    assert one_minus_ned("", [""], profile="reference") == 0.0


def test_a_hundred_kilobytes() -> None:
    assert one_minus_ned("й" * 100_000, ["й" * 99_999 + "и"]) == 0.99999


@given(st.text(max_size=30), st.text(max_size=30))
def test_range_symmetry_and_identity(left: str, right: str) -> None:
    assert 0 <= one_minus_ned(left, [right]) <= 1
    assert one_minus_ned(left, [right]) == one_minus_ned(right, [left])
    assert (one_minus_ned(left, [right]) == 1) == (left == right)
