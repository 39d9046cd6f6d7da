"""English number words, as the package that the competition's code calls writes them (its answers, version 1.0.2)."""

import pytest

from metrics.english import with_digits


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one cat", "1 cat"),
        ("twenty one cats", "21 cats"),
        ("one two three", "6"),
        ("two hundred and five dogs", "205 dogs"),
        ("a hundred", "a 0"),
        ("three thousand forty", "3040"),
        ("cat and two dogs", "cat 2 dogs"),
        ("cat and dog", "cat and dog"),
        ("one point five", "1.5"),
        ("one point ninety", "1. ninety"),
        ("point of view", "point of view"),
        ("", ""),
    ],
)
def test_runs_of_number_words(text: str, expected: str) -> None:
    assert " ".join(with_digits(text.split())) == expected
