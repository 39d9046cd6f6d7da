"""What holds for every input: ranges, identity, symmetry, and that long or odd texts are no trouble."""

from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from metrics import METRICS, PROFILES
from metrics.votes import nzad_terms

TEXT_METRICS = [name for name, metric in METRICS.items() if metric.inputs == ("prediction", "references")]
SYNONYMS = {"машина": ["автомобиль"], "кот": ["котик"]}
WORDS = [
    "кот",
    "Коты",
    "ёлка",
    "елка",
    "машина",
    "автомобиль",
    "три",
    "3",
    "-5",
    "2,5",
    "the",
    "cats",
    "a",
    "🙂",
    "да!",
]
ODD = "ёЁеЕйи\u0306\u0301\u0308\u200d🙂👨‍👩‍👧«»—−-.,!?'\"`/\\ \t\n\u00a0aZ019½Ⅷ\u0000\ue000"

phrases = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)
texts = phrases | st.text(alphabet=ODD, max_size=20) | st.text(max_size=12)
profiles = st.sampled_from(PROFILES)
votes = st.lists(st.integers(0, 10), min_size=1, max_size=6)


def scored(name: str, prediction: str, references: list[str], profile: str = "document") -> float:
    return METRICS[name].score(prediction, references, profile=profile, thesaurus=SYNONYMS)


@pytest.mark.parametrize("name", TEXT_METRICS)
@settings(max_examples=80, deadline=None)
@given(prediction=texts, references=st.lists(texts, min_size=1, max_size=3), profile=profiles)
@example(prediction="", references=[""], profile="reference")
def test_scores_are_within_their_range(
    name: str, prediction: str, references: list[str], profile: str
) -> None:
    least, greatest = METRICS[name].range
    assert least <= scored(name, prediction, references, profile) <= greatest


@pytest.mark.parametrize("name", TEXT_METRICS)
@settings(max_examples=60, deadline=None)
@given(text=phrases.filter(str.strip), others=st.lists(texts, max_size=2))
def test_a_right_answer_is_1_whatever_else_is_accepted(name: str, text: str, others: list[str]) -> None:
    references = [*others, text, text, text] if name == "vqa_accuracy" else [*others, text]
    assume(name != "captioning_meteor" or any(word.strip("!") for word in text.split()))
    assert scored(name, text, references) == 1.0


@pytest.mark.parametrize("name", TEXT_METRICS)
@settings(max_examples=60, deadline=None)
@given(prediction=texts, references=st.lists(texts, min_size=2, max_size=4))
def test_the_best_reference_counts_in_any_order(name: str, prediction: str, references: list[str]) -> None:
    together = scored(name, prediction, references)
    assert together == scored(name, prediction, references[::-1])
    if name != "vqa_accuracy":
        assert together == max(scored(name, prediction, [reference]) for reference in references)


@pytest.mark.parametrize("name", ["text_f1", "math_em", "one_minus_ned"])
@settings(max_examples=60, deadline=None)
@given(one=texts, other=texts)
def test_sides_may_change_places(name: str, one: str, other: str) -> None:
    assert scored(name, one, [other]) == pytest.approx(scored(name, other, [one]), abs=1e-12)


@pytest.mark.parametrize(
    "name", ["text_f1", "math_em", "captioning_meteor", "visual_qa_meteor", "vqa_accuracy"]
)
@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from(["кот", "ёлка", "йод", "машина", "замок"]), min_size=1, max_size=5))
def test_case_stress_and_composition_do_not_count(name: str, words: list[str]) -> None:
    plain = " ".join(words)
    odd = plain.upper().replace("Ё", "Е\u0308").replace("Й", "И\u0306").replace("А", "А\u0301")
    assert scored(name, odd, [plain]) == scored(name, plain, [plain])


@pytest.mark.parametrize("name", ["text_f1", "math_em", "captioning_meteor", "visual_qa_meteor"])
def test_yo_is_ye(name: str) -> None:
    assert scored(name, "зеленая елка", ["зелёная ёлка"]) == 1.0


@settings(max_examples=60, deadline=None)
@given(first=st.integers(-20, 20), second=st.integers(-20, 20))
def test_numbers_are_scored_the_same_either_way(first: int, second: int) -> None:
    there, back = (
        scored("visual_qa_meteor", str(one), [str(two)]) for one, two in ((first, second), (second, first))
    )
    assert there == back
    assert (there == 1.0) == (first == second)


@settings(max_examples=100)
@given(people=votes, data=st.data())
def test_nzad_grows_with_agreement(people: list[int], data: st.DataObject) -> None:
    assume(any(people))
    place = data.draw(st.integers(0, len(people) - 1))
    predicted = [int(index == place) for index in range(len(people))]
    more = [count + (index == place) for index, count in enumerate(people)]
    before, after = nzad_terms(predicted, people), nzad_terms(predicted, more)
    assert before.agreement <= after.agreement <= 1
    if people[place]:
        assert before.overlap <= after.overlap
    assert before.value == (before.overlap + before.agreement) / 2


@settings(max_examples=100)
@given(people=votes, place=st.integers(0, 5), weight=st.integers(1, 50))
def test_nzad_overlap_grows_with_the_weight_of_a_right_answer(
    people: list[int], place: int, weight: int
) -> None:
    assume(place < len(people) and people[place])
    light, heavy = (
        nzad_terms([weight * more * (index == place) for index in range(len(people))], people)
        for more in (1, 2)
    )
    assert light.overlap < heavy.overlap
    assert light.agreement == heavy.agreement


N = 50_000  # characters: 100 kB in Cyrillic
LONG = {
    "one word": ("а" * N, "б" * N),
    "one word many times": ("кот " * (N // 4), "кот " * (N // 4 - 7)),
    "synonyms": ("машина " * (N // 7), "автомобиль " * (N // 11)),
    "stems": ("кот коты " * (N // 9), "котам коту " * (N // 11)),
    "numerals": ("сто двадцать три " * (N // 17), "тысяча " * (N // 7)),
    "digits": ("9" * N, "1 000 " * (N // 6)),
    "marks": ("-" * N, "«." * (N // 2)),
    "emoji": ("🙂" * N, "🙃 " * (N // 2)),
    "combining": ("е\u0301" * (N // 2), "е" + "\u0308" * N),
    "latin": ("abc " * (N // 4), "a b c " * (N // 6)),
    "many words": (" ".join(map(str, range(N // 6))), " ".join(map(str, range(N // 5, 0, -1)))),
}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("case", LONG)
@pytest.mark.parametrize("name", TEXT_METRICS)
def test_100_kb_are_scored(name: str, case: str, profile: str) -> None:
    assert 0.0 <= scored(name, *_with_list(LONG[case]), profile) <= 1.0


def _with_list(pair: tuple[str, str]) -> tuple[str, list[str]]:
    return pair[0], [pair[1]]


@pytest.mark.parametrize("prediction", [None, 5, b"x", ["x"]])
@pytest.mark.parametrize("name", TEXT_METRICS)
def test_anything_but_text_is_refused(name: str, prediction: Any) -> None:
    with pytest.raises(ValueError, match=f"the prediction is {type(prediction).__name__}, not text"):
        METRICS[name].score(prediction, ["x"])
    with pytest.raises(ValueError, match="the references are str, not a list of texts"):
        METRICS[name].score("x", "x")
    with pytest.raises(ValueError, match="there is no reference"):
        METRICS[name].score("x", [])
