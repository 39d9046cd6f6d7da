"""METEOR for captions."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.meteor_score import single_meteor_score

from metrics import METRICS, MetricError
from metrics.meteor import best_meteor, captioning_meteor, meteor

SENTENCES = st.lists(st.sampled_from(["кот", "кота", "спит", "на", "диване", "cats", "cat"]), max_size=8)


@pytest.mark.parametrize(
    ("prediction", "reference", "expected"),
    [
        ("кот", "кот", 1.0),
        ("Кошка сидит на столе!", "кошки сидят на столах", 1.0),
        ("по реке плывут две утки", "две утки плывут по реке", 1.0),
        ("ЗЕЛЕНАЯ ёлка", "зелёная елка", 1.0),
        ("two cats sleep", "two cat sleeps", 1.0),
        ("машина стоит", "автомобиль стоит", 0.5),
        ("кот спит", "большой рыжий кот спит на мягком диване", 4 / 13),
        ("кот 🙂", "кот 🙂", 1.0),
        ("", "кот", 0.0),
        ("кот", "", 0.0),
        ("", "", 0.0),
        ("!", "!", 0.0),
    ],
)
def test_one_reference(prediction: str, reference: str, expected: float) -> None:
    assert captioning_meteor(prediction, [reference]) == pytest.approx(expected, abs=1e-12)


def test_synonyms_count_and_the_result_names_their_source() -> None:
    score = METRICS["captioning_meteor"].evaluate(
        "машины стоят", ["автомобиль стоит"], thesaurus={"автомобиль": ["машина"]}
    )
    assert (score.value, score.thesaurus) == (1.0, "dict of 1")
    assert {stage: score.parts[stage] for stage in ("exact", "stem", "synonym")} == {
        "exact": 0,
        "stem": 1,
        "synonym": 1,
    }


def test_without_a_thesaurus_the_result_says_none() -> None:
    assert METRICS["captioning_meteor"].evaluate("кот", ["кот"]).thesaurus == "none"


def test_the_code_penalises_fragments() -> None:
    assert captioning_meteor("кот", ["кот"], profile="reference") == 0.5
    assert captioning_meteor("кот спит", ["кот спит"], profile="reference") == 0.9375
    assert best_meteor("а б в", ["в б а"], profile="reference").penalty == 0.5


def test_something_that_is_no_thesaurus_is_named() -> None:
    with pytest.raises(
        MetricError, match=r"the thesaurus is str: open_thesaurus\(path\), a dict or None is meant"
    ):
        captioning_meteor("кот", ["кот"], thesaurus="ruwordnet.db")


@given(SENTENCES, SENTENCES)
def test_range_and_precision_and_recall_change_places(left: list[str], right: list[str]) -> None:
    forth, back = meteor(left, right), meteor(right, left)
    assert 0 <= forth.value <= 1
    assert (forth.precision, forth.recall) == (back.recall, back.precision)


@given(SENTENCES.filter(bool))
def test_a_sentence_equals_itself(words: list[str]) -> None:
    assert meteor(words, words).value == pytest.approx(1.0)


def test_nltk_without_its_penalty_and_synonyms_agrees() -> None:
    chance = random.Random(5)
    vocabulary = [f"w{number}" for number in range(12)]
    for _ in range(500):
        left, right = (chance.choices(vocabulary, k=chance.randint(1, 9)) for _side in "lr")
        theirs = single_meteor_score(right, left, gamma=0, wordnet=NoWords(), stemmer=NoStems())
        assert meteor(left, right, stem=str).value == pytest.approx(theirs, abs=1e-12)


class NoWords:
    def synsets(self, word: str) -> list[str]:
        return []


class NoStems:
    def stem(self, word: str) -> str:
        return word


def test_a_hundred_kilobytes() -> None:
    text = " ".join(f"слово{number % 5_000}" for number in range(10_000))
    assert captioning_meteor(text, [text + " кот"]) == pytest.approx(1.0, abs=1e-3)
