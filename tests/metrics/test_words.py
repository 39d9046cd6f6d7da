"""What a word is, beside the library that says so for texts that are not plain."""

import random

import pytest
import razdel

from metrics import words

PLAIN = ["кот", "и", "т", "Ёж", "vs", "a", "3", "10", "руб", "ABC"]
ODD = ["т.е.", "-5", "2,5", "10.", "кот-пёс", "«да»", "🙂", "1/2", "и/или", "don't"]


def test_plain_texts_are_split_as_razdel_splits_them() -> None:
    draw = random.Random(6)
    for _ in range(3000):
        kinds = PLAIN if draw.random() < 0.7 else PLAIN + ODD
        marked = [
            draw.choice(kinds) + draw.choice(["", "", ".", ",", "!", ":"]) for _ in range(draw.randint(0, 7))
        ]
        text = draw.choice([" ", "  ", "\n", "\u00a0"]).join(marked)
        assert words.razdel_tokens(text) == [token.text for token in razdel.tokenize(text)], text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("за\u0301мок", "замок"),
        ("сте\u0300ны и\u0300х", "стены их"),
        ("е\u0308лка", "ёлка"),
        ("и\u0306од", "йод"),
        ("ЁЖ", "ёж"),
        ("cafe\u0301", "café"),
    ],
)
def test_one_spelling_for_one_word(text: str, expected: str) -> None:
    assert words.canonical(text) == expected


def test_a_whole_text_taken_for_one_word_changes_at_its_end() -> None:
    text = "очень большие и очень красивые старые деревянные дома на берегу реки и машины"
    assert words.lemma_of_whole(text) == text[:-1] + "а"
    assert words.lemma(text) == text


def test_stems_of_each_profile() -> None:
    assert (words.stem("cats"), words.russian_stem("cats"), words.porter_stem("cats")) == (
        "cat",
        "cats",
        "cat",
    )
    assert (words.stem("кошки"), words.russian_stem("кошки"), words.porter_stem("кошки")) == (
        "кошк",
        "кошк",
        "кошки",
    )
