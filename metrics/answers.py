"""Answers to questions in text: token F1 and exact match, from the FusionBrain Challenge 2.0 (AIJ 2022).

Both take the greatest value over the accepted answers. The profile `reference` does what the published evaluation
code does where it and its document part: it deletes ASCII punctuation only, reads the words for 0 to 10 as digits, and,
when an answer scores low, puts the first letter a to e found in it in its place.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from metrics import words
from metrics.inputs import check_texts, checked_profile

REFERENCE_DIGITS: Final = {
    "ноль": "0",
    "нисколько": "0",
    "никакой": "0",
    "один": "1",
    "два": "2",
    "три": "3",
    "четыре": "4",
    "пять": "5",
    "шесть": "6",
    "семь": "7",
    "восемь": "8",
    "девять": "9",
    "десять": "10",
}
"""The words that the competition's code reads as digits: a fact of its program, not of the language."""

_MINUS_BEFORE_DIGIT: Final = re.compile(r"[-\u2010-\u2015\u2212](?=\d)")
_KEPT_MINUS: Final = "\ue000"
_OPTION_LETTER: Final = re.compile("[a-e]")
Tokens = list[str]


def text_f1(prediction: str, references: Sequence[str], *, profile: str = "document") -> float:
    """Return the harmonic mean of token precision and recall, the greatest over the references.

    F1 = 2PR / (P + R), P = common / predicted tokens, R = common / reference tokens, tokens counted with
    repetition, after lower case, without punctuation, in dictionary form. Range 0 to 1, no unit, more is better.
    Empty: both sides without a token 1, one side 0. `reference`: when F1 <= 0.5 the option letter replaces the answer,
    even if that lowers the score. Raises MetricError for no or malformed references.
    Source: FusionBrain Challenge 2.0 metrics, sub-task 1; evaluation/textqa of its code.
    """
    if checked_profile(profile) == "document":
        return _best(prediction, references, tokens=_document_tokens, score=_f1)
    best = partial(_best, tokens=partial(_reference_tokens, kept=""), score=_f1)
    first = best(prediction, references)
    letter = _OPTION_LETTER.search(prediction)
    if first > 0.5 or letter is None:
        return first
    return best(letter[0], references)


def math_em(prediction: str, references: Sequence[str], *, profile: str = "document") -> float:
    """Return 1 when all tokens equal those of one reference, in order, else 0.

    Tokens as for `text_f1`, but a minus or dash right before a digit stays as `-`. Accepted are letter, number or both:
    whatever stands among the references. Range 0 or 1, no unit, more is better. Empty: equal only to empty.
    `reference`: only ASCII minus is one, words for 0 to 10 are digits, and a wrong answer is tried again as its
    option letter. Raises MetricError for no or malformed references.
    Source: FusionBrain Challenge 2.0 metrics, sub-task 2; evaluation/mathqa of its code.
    """
    if checked_profile(profile) == "document":
        return _best(prediction, references, tokens=_document_signed_tokens, score=_equal)
    best = partial(_best, tokens=partial(_reference_tokens, kept="-"), score=_equal)
    first = best(prediction, references)
    letter = _OPTION_LETTER.search(prediction)
    if first or letter is None:
        return first
    return best(letter[0], references)


def f1_of_counts(*, common: int, predicted: int, accepted: int) -> float:
    """Return 2PR / (P + R) from three token counts; two empty sides are equal, one is not."""
    if not predicted or not accepted:
        return float(predicted == accepted)
    # 2PR/(P+R) with P = common/predicted and R = common/accepted, both denominators multiplied out.
    return 2 * common / (predicted + accepted)


def _best(
    prediction: str,
    references: Sequence[str],
    *,
    tokens: Callable[[str], Tokens],
    score: Callable[[Tokens, Tokens], float],
) -> float:
    check_texts(prediction, references)
    mine = tokens(prediction)
    return max(score(mine, tokens(reference)) for reference in references)


def _f1(mine: Tokens, theirs: Tokens) -> float:
    common = (Counter(mine) & Counter(theirs)).total()
    return f1_of_counts(common=common, predicted=len(mine), accepted=len(theirs))


def _equal(mine: Tokens, theirs: Tokens) -> float:
    return float(mine == theirs)


def _document_tokens(text: str) -> Tokens:
    bare = words.without_punctuation(words.canonical(text))
    return [words.fold_yo(words.lemma(word)) for word in bare.split()]


def _document_signed_tokens(text: str) -> Tokens:
    signed = _MINUS_BEFORE_DIGIT.sub(_KEPT_MINUS, words.canonical(text))
    bare = words.without_punctuation(signed).replace(_KEPT_MINUS, "-")
    return [words.fold_yo(words.lemma(word)) for word in bare.split()]


def _reference_tokens(text: str, *, kept: str) -> Tokens:
    pieces = text.lower().split(kept) if kept else [text.lower()]
    bare = kept.join(map(words.without_ascii_punctuation, pieces))
    lemmas = (words.lemma(word) for word in bare.split())
    return [REFERENCE_DIGITS.get(word, word) for word in lemmas]
