"""METEOR with numbers in proportion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import METRICS
from metrics.numerals import number, numeric_tokens
from metrics.visual_qa import ratio, visual_qa_meteor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("двадцать три кота", ["23", "кота"]),
        ("две тысячи пятнадцать", ["2015"]),
        ("сто двадцать три тысячи четыреста пять", ["123405"]),
        ("двадцатью пятью", ["25"]),
        ("трое котов", ["3", "котов"]),
        ("два три", ["2", "3"]),
        ("сто ноль", ["100", "0"]),
        ("тысяча два миллиона", ["1000", "2000000"]),
        ("3 тысячи", ["3000"]),
        ("минус пять", ["-5"]),
        ("−7 и 3.", ["-7", "и", "3"]),
        ("5-7", ["5", "7"]),
        ("1 000 000", ["1000000"]),
        ("12 345,5", ["12345,5"]),
        ("12.10.2020", ["12.10.2020"]),
        ("семью", ["семью"]),
        ("двадцатью семью котами", ["27", "котами"]),
        ("семью тысячами", ["7000"]),
        ("любит семью", ["любит", "семью"]),
        ("", []),
    ],
)
def test_number_words_become_digits(text: str, expected: list[str]) -> None:
    assert numeric_tokens(text) == expected


def test_a_number_is_a_number_with_either_decimal_mark() -> None:
    assert (number("2,5"), number("-2.5"), number("12.10.2020"), number("пять")) == (2.5, -2.5, None, None)


@pytest.mark.parametrize(
    ("prediction", "references", "expected"),
    [
        ("три", ["3"], 1.0),
        ("двадцать", ["25"], 0.8),
        ("10 или 12", ["12"], 10 / 12),
        ("2", ["2,5"], 0.8),
        ("-5", ["5"], 0.0),
        ("-5", ["-10"], 0.5),
        ("0", ["5"], 0.0),
        ("ноль", ["0"], 1.0),
        ("нет", ["5"], 0.0),
        ("4", ["5", "3", "4 кота"], 0.8),
        ("вагон", ["в вагоне"], 10 / 19),
        ("", ["3"], 0.0),
        ("", [""], 0.0),
    ],
)
def test_answers(prediction: str, references: list[str], expected: float) -> None:
    assert visual_qa_meteor(prediction, references) == pytest.approx(expected, abs=1e-12)


def test_the_rule_and_the_reference_are_told() -> None:
    score = METRICS["visual_qa_meteor"].evaluate("4", ["вагон", "5"])
    assert score.parts == {"value": 0.8, "rule": "ratio", "reference": 1}


def test_the_code_loses_sign_and_decimal_point() -> None:
    assert visual_qa_meteor("-5", ["5"], profile="reference") == 1.0
    assert visual_qa_meteor("2", ["2.5"], profile="reference") == 0.08
    assert visual_qa_meteor("три кота", ["3"], profile="reference") == 0.0


def test_an_endless_number_has_a_score() -> None:
    assert visual_qa_meteor("9" * 100_000, ["9"]) == 0.0


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS, NUMBERS)
def test_ratio_is_symmetric_and_between_0_and_1(left: float, right: float) -> None:
    assert ratio(left, right) == ratio(right, left)
    assert 0 <= ratio(left, right) <= 1
    assert ratio(left, left) == 1.0
