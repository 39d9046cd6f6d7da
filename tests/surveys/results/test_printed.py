"""How numbers of results are written."""

import pytest

from surveys.results.printed import level_text, p_value


@pytest.mark.parametrize(
    ("p", "text"),
    [(0.0004, "< 0.001"), (0.0123, "0.012"), (0.0498, "0.0498"), (0.05004, "0.0500"), (0.3, "0.300")],
)
def test_a_p_value_is_not_rounded_across_the_limit(p: float, text: str) -> None:
    assert p_value(p) == text


def test_a_level_is_told_from_the_whole() -> None:
    found = [level_text(1 - 0.05 / n) for n in (1, 2, 6, 100, 1000)]
    assert found == ["95 %", "97.5 %", "99.2 %", "99.95 %", "99.995 %"]
