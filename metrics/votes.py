"""An answer against the votes of several people: VQA accuracy and the NZAD proposal."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from metrics import words
from metrics.inputs import MetricError, check_texts, checked_profile

AGREEING_FOR_FULL: Final = 3
"""So many agreeing people make an answer fully right (Antol et al., VQA, 2015)."""

_ARTICLES: Final = {"a", "an", "the"}
_DIGITS: Final = {
    word: str(number)
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
} | {"none": "0"}
_DIGIT_GROUPS: Final = re.compile(r"(?<=\d),(?=\d)")


def vqa_accuracy(prediction: str, references: Sequence[str], *, profile: str = "document") -> float:
    """Return how many people agree with an answer: min(n / 3, 1).

    n is the number of references equal to the prediction; answers are compared in lower case without punctuation and
    articles, English number words as digits. Range 0 to 1, no unit, more is better. An empty answer equals only an
    empty one. `reference` is the official evaluator's mean of min(n / 3, 1) over all subsets that leave one person out
    (0.3, 0.6 and 0.9 for n = 1, 2 and 3 of ten); with a single reference it is min(n / 3, 1). The official
    evaluator skips normalisation when all people agree; here it is never skipped. Malformed input: MetricError.
    Source: Antol et al., VQA: Visual Question Answering, 2015; the official vqaEval.py.
    """
    check_texts(prediction, references)
    answer = normal_answer(prediction)
    votes = [normal_answer(reference) == answer for reference in references]
    if checked_profile(profile) == "document" or len(votes) == 1:
        return _share_of_full(sum(votes))
    agreeing, people = sum(votes), len(votes)
    without_one = agreeing * _share_of_full(agreeing - 1) + (people - agreeing) * _share_of_full(agreeing)
    return without_one / people


def normal_answer(text: str) -> str:
    """Return an answer as it is compared with others: `The Two cats.` is `2 cats`."""
    bare = words.without_punctuation(_DIGIT_GROUPS.sub("", words.canonical(text)))
    kept = (word for word in bare.split() if word not in _ARTICLES)
    return " ".join(_DIGITS.get(word, word) for word in kept)


@dataclass(frozen=True, kw_only=True)
class Nzad:
    """NZAD and what it is made of."""

    value: float
    overlap: float
    """2 / NZ(t) * <p, t> / (|p| + |t|): not bounded by 1, it grows with |p|."""
    agreement: float
    """min(AGA / 3, 1), between 0 and 1."""


def nzad(predicted: Sequence[float], people: Sequence[float], *, profile: str = "document") -> float:
    """Return NZAD(p, t) = (overlap + agreement) / 2; see `nzad_terms`. Both profiles are the printed formula."""
    checked_profile(profile)
    return nzad_terms(predicted, people).value


def nzad_terms(predicted: Sequence[float], people: Sequence[float]) -> Nzad:
    """Return the non-zeros averaged dot product of a predicted vector p with people's votes t, term by term.

    NZAD = (2 / NZ(t) * <p, t> / (|p| + |t|) + min(AGA / 3, 1)) / 2 with Euclidean norms, NZ(t) the number of answers
    anybody gave, AGA the votes for the predicted answer: the greatest p, the first of equals. Both vectors hold one
    number >= 0 per answer. No unit, more is better; from 0, without an upper bound, as the first term grows with |p|.
    p all zero: nothing is predicted, 0. t all zero, unequal lengths, or a negative or not finite number: MetricError.

    Source: A. Gholami, VQA Accuracy Proposal, 29 April 2019. Its three examples, t = (5, 3, 2, 0, ...), are printed as
    56, 46 and 49 %. The formula gives 73.26, 63.96 and 74.50 %: the second term is 1 in all three and the first
    is not negative, so no choice of norm brings NZAD below 50 % there, nor does any give the printed order.
    """
    _check_votes(predicted, people)
    if not any(predicted):
        return Nzad(value=0.0, overlap=0.0, agreement=0.0)
    dot = math.fsum(p * t for p, t in zip(predicted, people, strict=True))
    answers = sum(votes != 0 for votes in people)
    overlap = 2 / answers * dot / (math.hypot(*predicted) + math.hypot(*people))
    chosen = max(range(len(predicted)), key=predicted.__getitem__)
    agreement = _share_of_full(people[chosen])
    return Nzad(value=(overlap + agreement) / 2, overlap=overlap, agreement=agreement)


def _share_of_full(agreeing: float) -> float:
    return min(agreeing / AGREEING_FOR_FULL, 1.0)


def _check_votes(predicted: Sequence[float], people: Sequence[float]) -> None:
    if len(predicted) != len(people):
        raise MetricError(f"p has {len(predicted)} numbers, t has {len(people)}")
    for name, vector in (("p", predicted), ("t", people)):
        wrong = [index for index, number in enumerate(vector) if not (0 <= number < math.inf)]
        if wrong:
            raise MetricError(f"{name}[{wrong[0]}] is {vector[wrong[0]]}, not a number from 0")
    if not any(people):
        raise MetricError("t is all zero: nobody gave an answer")
