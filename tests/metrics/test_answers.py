"""Token F1 and exact match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import METRICS, MetricError
from metrics.answers import math_em, text_f1

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\ue000"), max_size=40)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("улица Глинки", "Композитора Глинки", 0.5),
        ("ЁЛКА", "елка", 1.0),
        ("е\u0308лка", "ёлка", 1.0),
        ("за\u0301мок", "замок", 1.0),
        ("тёмно-синий", "темно-синий", 1.0),
        ("«кот»", "кот", 1.0),
        ("кот 🙂", "кот 🙂", 1.0),
        ("кот 🙂", "кот", 2 / 3),
        ("ж\U00017000", "ж\U00017000", 1.0),
        ("", "", 1.0),
        ("", "кот", 0.0),
        ("кот", "", 0.0),
        ("...", "", 1.0),
        ("кот кот кот", "кот кот", 0.8),
    ],
)
def test_f1_of_one_reference(prediction: str, reference: str, expected: float) -> None:
    assert text_f1(prediction, [reference]) == pytest.approx(expected, abs=1e-12)


def test_f1_takes_the_best_reference() -> None:
    assert text_f1("на велосипеде", ["a", "на велосипеде", "a на велосипеде"]) == 1.0


def test_the_option_letter_may_lower_the_reference_profile() -> None:
    assert text_f1("Black metal", ["Black Sabbath"], profile="reference") == 0.0
    assert text_f1("Black metal", ["Black Sabbath"]) == 0.5


def test_a_hundred_kilobytes_of_words() -> None:
    assert text_f1("кот " * 50_000, ["кот " * 25_000]) == pytest.approx(2 / 3)


def test_a_hundred_kilobytes_without_a_space() -> None:
    assert text_f1("й" * 100_000, ["й" * 100_000]) == 1.0


@given(TEXTS)
def test_a_text_equals_itself(text: str) -> None:
    assert text_f1(text, [text]) == 1.0
    assert math_em(text, [text]) == 1.0


@given(TEXTS, TEXTS)
def test_f1_is_symmetric_and_between_0_and_1(left: str, right: str) -> None:
    assert text_f1(left, [right]) == text_f1(right, [left])
    assert 0 <= text_f1(left, [right]) <= 1


@pytest.mark.parametrize(
    ("prediction", "references", "expected"),
    [
        ("D) −7", ["d", "-7", "d -7"], 1.0),
        ("–7", ["-7"], 1.0),
        ("7", ["-7"], 0.0),
        ("-7 d", ["d -7"], 0.0),
        ("семь", ["7"], 0.0),
        ("", ["7"], 0.0),
    ],
)
def test_exact_match(prediction: str, references: list[str], expected: float) -> None:
    assert math_em(prediction, references) == expected


def test_exact_match_of_the_competitions_code() -> None:
    assert math_em("-7 d", ["d", "-7"], profile="reference") == 1.0
    assert math_em("семь", ["7"], profile="reference") == 1.0
    assert math_em("−7", ["-7"], profile="reference") == 0.0
    assert math_em("f", ["d"], profile="reference") == 0.0


@pytest.mark.parametrize("name", ["text_f1", "math_em", "one_minus_ned", "vqa_accuracy"])
@pytest.mark.parametrize(
    ("prediction", "references", "message"),
    [
        ("5", "57", "the references are str, not a list of texts"),
        ("5", [], "there is no reference"),
        ("5", ["5", 7], "reference 1 is int, not text"),
        (5, ["5"], "the prediction is int, not text"),
        (None, ["5"], "the prediction is NoneType, not text"),
    ],
)
def test_malformed_input_is_named(name: str, prediction: object, references: object, message: str) -> None:
    with pytest.raises(MetricError) as caught:
        METRICS[name].score(prediction, references)
    assert str(caught.value) == message


def test_an_unknown_profile_is_named() -> None:
    with pytest.raises(MetricError, match="profile 'code' is unknown; known are document, reference"):
        text_f1("кот", ["кот"], profile="code")
