"""Values worked out by hand from the definitions in docs/metrics.md."""

from typing import Any

import pytest

from metrics import METRICS

SYNONYMS = {"машина": ["автомобиль"], "car": ["automobile"]}


def of(precision: float, recall: float) -> float:
    """METEOR of two shares."""
    return 10 * precision * recall / (recall + 9 * precision)


@pytest.mark.parametrize(
    ("name", "prediction", "references", "options", "expected"),
    [
        ("text_f1", "Пушкин", ["Александр Пушкин"], {}, 2 / 3),
        ("text_f1", "ПУШКИНА", ["пушкин"], {}, 1.0),
        ("text_f1", "«Война и мир»", ["Война и мир."], {}, 1.0),
        ("text_f1", "", ["кот"], {}, 0.0),
        ("text_f1", "", [""], {}, 1.0),
        ("text_f1", "...", ["—"], {}, 1.0),
        ("text_f1", "кот кот пёс", ["кот"], {}, 0.5),
        ("text_f1", "ёлку", ["елка"], {}, 1.0),
        ("text_f1", "е\u0301ду домо\u0301й", ["еду домой"], {}, 1.0),
        ("text_f1", "red 🚌 bus", ["red bus"], {}, 0.8),
        ("text_f1", "New York City", ["new york", "nyc"], {}, 0.8),
        ("text_f1", "и\u0306од", ["йод"], {}, 1.0),
        ("text_f1", "🙂", ["🙂"], {}, 1.0),
        ("math_em", "D", ["d"], {}, 1.0),
        ("math_em", "d 42", ["d", "42", "d 42"], {}, 1.0),
        ("math_em", "42 d", ["d", "42", "d 42"], {}, 0.0),
        ("math_em", "−7", ["-7"], {}, 1.0),
        ("math_em", "7", ["-7"], {}, 0.0),
        ("math_em", "б) 12", ["б 12"], {}, 1.0),
        ("math_em", "ответ d", ["d"], {}, 0.0),
        ("math_em", "ответ d", ["d"], {"profile": "reference"}, 1.0),
        ("math_em", "", [""], {}, 1.0),
        ("math_em", "12", ["12", "b"], {}, 1.0),
        ("captioning_meteor", "рыжий кот спит", ["рыжий кот"], {}, of(2 / 3, 1)),
        ("captioning_meteor", "коты спят", ["кот спит"], {}, of(1 / 2, 1 / 2)),
        ("captioning_meteor", "машина едет", ["автомобиль едет"], {"thesaurus": SYNONYMS}, 1.0),
        ("captioning_meteor", "машина едет", ["автомобиль едет"], {}, 0.5),
        ("captioning_meteor", "the cars are parked", ["the car is parked"], {}, of(3 / 4, 3 / 4)),
        (
            "captioning_meteor",
            "an automobile stops",
            ["a car stops"],
            {"thesaurus": SYNONYMS},
            of(2 / 3, 2 / 3),
        ),
        ("captioning_meteor", "", ["кот"], {}, 0.0),
        ("captioning_meteor", "Ёлка зелёная!", ["елка зеленая"], {}, 1.0),
        ("captioning_meteor", "кот спит", ["кот спит"], {"profile": "reference"}, 0.9375),
        ("captioning_meteor", "a b c d e", ["e d c b a"], {}, 1.0),
        ("visual_qa_meteor", "три кота", ["3"], {}, 1.0),
        ("visual_qa_meteor", "двадцать пять", ["50"], {}, 0.5),
        ("visual_qa_meteor", "-5", ["5"], {}, 0.0),
        ("visual_qa_meteor", "2,5", ["5"], {}, 0.5),
        ("visual_qa_meteor", "1 000", ["тысяча"], {}, 1.0),
        ("visual_qa_meteor", "ноль", ["0"], {}, 1.0),
        ("visual_qa_meteor", "ноль", ["4"], {}, 0.0),
        ("visual_qa_meteor", "нет", ["3"], {}, 0.0),
        ("visual_qa_meteor", "с двумя собаками", ["с 2 собаками"], {}, 1.0),
        ("visual_qa_meteor", "красный автобус", ["красный"], {}, of(1 / 2, 1)),
        ("visual_qa_meteor", "three", ["3"], {}, 0.0),
        ("visual_qa_meteor", "сто двадцать три тысячи четыреста пять", ["123405"], {}, 1.0),
        ("one_minus_ned", "кот", ["кит"], {}, 2 / 3),
        ("one_minus_ned", "ёж", ["еж"], {}, 0.5),
        ("one_minus_ned", "Москва", ["москва"], {}, 5 / 6),
        ("one_minus_ned", "", ["ab"], {}, 0.0),
        ("one_minus_ned", "🙂🙃", ["🙂"], {}, 0.5),
        ("one_minus_ned", "abc", ["xyz", "abd"], {}, 2 / 3),
        ("one_minus_ned", "ab", ["ba"], {}, 0.0),
        ("vqa_accuracy", "two", ["2", "2.", "TWO", "3"], {}, 1.0),
        ("vqa_accuracy", "a red bus", ["red bus", *["bus"] * 9], {}, 1 / 3),
    ],
)
def test_by_hand(
    name: str, prediction: str, references: list[str], options: dict[str, Any], expected: float
) -> None:
    got = METRICS[name].score(prediction, references, **options)
    assert got == pytest.approx(expected, abs=1e-12)
