"""An answer against people's votes."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import METRICS, MetricError
from metrics.votes import normal_answer, nzad, nzad_terms, vqa_accuracy

TRUTH = [5, 3, 2, 0, 0, 0, 0, 0, 0, 0]
VOTES = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=12)


def answers(agreeing: int) -> list[str]:
    return ["red"] * agreeing + ["blue"] * (10 - agreeing)


@pytest.mark.parametrize(
    ("agreeing", "simple", "official"),
    [(0, 0, 0), (1, 1 / 3, 0.3), (2, 2 / 3, 0.6), (3, 1, 0.9), (4, 1, 1), (10, 1, 1)],
)
def test_vqa_accuracy(agreeing: int, simple: float, official: float) -> None:
    assert vqa_accuracy("red", answers(agreeing)) == pytest.approx(simple)
    assert vqa_accuracy("red", answers(agreeing), profile="reference") == pytest.approx(official)


def test_vqa_accuracy_of_one_person() -> None:
    assert vqa_accuracy("red", ["red"], profile="reference") == pytest.approx(1 / 3)


def test_answers_are_compared_in_one_form() -> None:
    assert normal_answer("The TWO cats.") == "2 cats"
    assert normal_answer("1,000") == "1000"
    assert vqa_accuracy("Two", ["2", "two", "a two"]) == 1.0


@pytest.mark.parametrize(
    ("predicted", "overlap", "value"),
    [
        ([1] + [0] * 9, 0.46526252278999786, 0.7326312613949989),
        ([0, 1] + [0] * 8, 0.27915751367399877, 0.6395787568369994),
        ([0, 2] + [0] * 8, 0.4899310591728208, 0.7449655295864104),
    ],
)
def test_nzad_is_what_its_formula_gives_not_what_its_document_prints(
    predicted: list[int], overlap: float, value: float
) -> None:
    terms = nzad_terms(predicted, TRUTH)
    assert (terms.overlap, terms.agreement) == (pytest.approx(overlap), 1.0)
    assert nzad(predicted, TRUTH) == pytest.approx(value, abs=1e-12)


def test_nzad_of_every_vector(vectors: dict[str, Any]) -> None:
    table = vectors["nzad"]
    for case in table["cases"] + table["extra"]:
        assert METRICS["nzad"].score(case["p"], case["t"]) == pytest.approx(
            case["nzad_formula_as_printed"], abs=1e-12
        )


def test_nzad_has_no_upper_bound() -> None:
    assert nzad([10] + [0] * 9, TRUTH) == pytest.approx(1.5310715045782322)


def test_nzad_of_no_prediction_is_0() -> None:
    assert nzad([0] * 10, TRUTH) == 0.0


@given(VOTES)
def test_the_first_term_grows_with_the_predicted_vector(votes: list[tuple[int, int]]) -> None:
    predicted, people = [p for p, _ in votes], [t for _, t in votes]
    if any(people):
        once, twice = nzad_terms(predicted, people), nzad_terms([2 * p for p in predicted], people)
        assert twice.overlap >= once.overlap
        assert twice.agreement == once.agreement


@given(st.integers(1, 9), st.integers(0, 9))
def test_the_second_term_grows_with_the_people_who_agree(other: int, agreeing: int) -> None:
    fewer, more = nzad_terms([1, 0], [agreeing, other]), nzad_terms([1, 0], [agreeing + 1, other])
    assert 0 <= fewer.agreement <= more.agreement <= 1


@pytest.mark.parametrize(
    ("predicted", "people", "message"),
    [
        ([1], [1, 0], "p has 1 numbers, t has 2"),
        ([1, 0], [0, 0], "t is all zero: nobody gave an answer"),
        ([0, -1], [1, 0], "p[1] is -1, not a number from 0"),
        ([0, 1], [math.nan, 0], "t[0] is nan, not a number from 0"),
        ([], [], "t is all zero: nobody gave an answer"),
    ],
)
def test_malformed_votes_are_named(predicted: list[float], people: list[float], message: str) -> None:
    with pytest.raises(MetricError) as caught:
        nzad(predicted, people)
    assert str(caught.value) == message
