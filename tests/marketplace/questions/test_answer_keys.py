"""What a sum of scores is worth, by each of AnswerKey's mappings."""

import pytest

from marketplace.questions import answer_keys, question_forms
from tests.marketplace.questions.form_documents import (
    answer_key,
    key_question,
    question,
    question_form,
    selection,
)

TEST = question_forms.read(question_form(question("q", selection("a", "b", most=2))))
RANGES = (
    "<RangeMapping>"
    "<SummedScoreRange><InclusiveLowerBound>5</InclusiveLowerBound><InclusiveUpperBound>7</InclusiveUpperBound>"
    "<QualificationValue>50</QualificationValue></SummedScoreRange>"
    "<SummedScoreRange><InclusiveLowerBound>8</InclusiveLowerBound><InclusiveUpperBound>10</InclusiveUpperBound>"
    "<QualificationValue>100</QualificationValue></SummedScoreRange>"
    "<OutOfRangeQualificationValue>-3</OutOfRangeQualificationValue></RangeMapping>"
)


def percentage(maximum):
    return f"<PercentageMapping><MaximumSummedScore>{maximum}</MaximumSummedScore></PercentageMapping>"


def scale(factor):
    return f"<ScaleMapping><SummedScoreMultiplier>{factor}</SummedScoreMultiplier></ScaleMapping>"


WORTH = [
    ("", 7, 7),
    ("", -7, -7),
    (percentage(15), 10, 67),
    (percentage(15), 15, 100),
    (percentage(8), 1, 13),
    (percentage(200), 1, 1),
    (scale("3"), 4, 12),
    (scale("0.5"), 3, 2),
    (scale("-1.25"), 2, -3),
    (scale("99999999999"), 2_000_000_000, 2**31 - 1),
    (RANGES, 4, -3),
    (RANGES, 5, 50),
    (RANGES, 7, 50),
    (RANGES, 8, 100),
    (RANGES, 11, -3),
]


@pytest.mark.parametrize(("mapping", "total", "value"), WORTH, ids=range(len(WORTH)))
def test_a_sum_becomes_a_value(mapping, total, value):
    key = answer_keys.read(answer_key(key_question("q", (total, "a")), mapping=mapping), test=TEST)
    assert key.value({"q": frozenset("a")}) == value


def test_many_high_scores_are_worth_the_highest_value():
    names = [f"q{number}" for number in range(10)]
    test = question_forms.read(question_form(*(question(name, selection("a")) for name in names)))
    rows = "".join(key_question(name, (2**31 - 1, "a")) for name in names)
    key = answer_keys.read(answer_key(rows, mapping=scale("9" * 18)), test=test)
    assert key.value(dict.fromkeys(names, frozenset("a"))) == 2**31 - 1


CHOSEN = [({"a"}, 1), ({"b"}, 2), ({"a", "b"}, 3), (set(), 9)]


@pytest.mark.parametrize(("chosen", "value"), CHOSEN, ids=range(len(CHOSEN)))
def test_an_option_is_the_exact_set_of_choices(chosen, value):
    rows = key_question("q", (1, "a"), (2, "b"), (3, "b", "a"), (4, "a"), default=9)
    key = answer_keys.read(answer_key(rows), test=TEST)
    assert key.value({"q": frozenset(chosen)}) == value


def test_a_question_nobody_answered_scores_the_default():
    key = answer_keys.read(answer_key(key_question("q", (1, "a"), default=2)), test=TEST)
    assert key.value({}) == 2


def test_a_percentage_of_nothing_is_refused():
    document = answer_key(key_question("q", (1, "a")), mapping=percentage(0))
    with pytest.raises(answer_keys.BadForm, match="Line 1: Element 'MaximumSummedScore'"):
        answer_keys.read(document, test=TEST)
