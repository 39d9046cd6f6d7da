"""METEOR for answers about pictures: numbers count in proportion, from the FusionBrain Challenge 2.0 (AIJ 2022)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from metrics import words
from metrics.answers import REFERENCE_DIGITS, Tokens
from metrics.english import with_digits
from metrics.inputs import check_texts, checked_profile
from metrics.meteor import meteor
from metrics.numerals import number, numeric_tokens
from metrics.thesaurus import Synonyms, Thesaurus, as_thesaurus

_PLAIN_NUMBER: Final = re.compile(r"\d+")


def visual_qa_meteor(
    prediction: str, references: Sequence[str], *, profile: str = "document", thesaurus: Synonyms = None
) -> float:
    """Return METEOR with numbers scored by their ratio, the greatest over the references.

    Russian number words become digits on both sides. Beside a reference that is one number, the prediction's first
    number counts: smaller / larger, 0 without one, with unlike signs, or when exactly one is zero; two zeros are 1.
    Other references are scored as in `captioning_meteor`. Range 0 to 1, no unit, more is better. Empty: 0.
    `reference` follows the competition's code: ASCII punctuation deleted (sign and decimal point with it), the whole
    answer looked up as one word, the words for 0 to 10 only; its hypernym lookup in place of synonyms is not taken
    over. Raises MetricError for malformed input.
    Source: FusionBrain Challenge 2.0 metrics, sub-task 5; evaluation/vqa of its code.
    """
    return float(visual_qa_parts(prediction, references, profile=profile, thesaurus=thesaurus)["value"])


def visual_qa_parts(
    prediction: str, references: Sequence[str], *, profile: str = "document", thesaurus: Synonyms = None
) -> Mapping[str, Any]:
    """Return the value with its `rule`, `ratio` or `meteor`, and the index of the best reference."""
    check_texts(prediction, references)
    opened = as_thesaurus(thesaurus)
    if checked_profile(profile) == "document":
        mine = numeric_tokens(prediction)
        found = [_by_document(mine, numeric_tokens(reference), opened) for reference in references]
    else:
        mine = with_digits(_code_words(prediction))
        found = [_by_code(mine, _code_words(reference), opened) for reference in references]
    best = max(range(len(found)), key=lambda index: found[index][0])
    return {"value": found[best][0], "rule": found[best][1], "reference": best}


def ratio(predicted: float, accepted: float) -> float:
    """Return the smaller of two numbers over the larger: 1 for equal ones, 0 for unlike signs."""
    if predicted == accepted:
        return 1.0
    if not predicted or not accepted or (predicted > 0) != (accepted > 0):
        return 0.0
    smaller, larger = sorted((abs(predicted), abs(accepted)))
    return smaller / larger


def _by_document(mine: Tokens, theirs: Tokens, thesaurus: Thesaurus | None) -> tuple[float, str]:
    accepted = number(theirs[0]) if len(theirs) == 1 else None
    if accepted is None:
        return meteor(mine, theirs, thesaurus=thesaurus).value, "meteor"
    given = [value for value in map(number, mine) if value is not None]
    return (ratio(given[0], accepted) if given else 0.0), "ratio"


def _by_code(mine: Tokens, theirs: Tokens, thesaurus: Thesaurus | None) -> tuple[float, str]:
    if len(theirs) != 1 or not _PLAIN_NUMBER.fullmatch(theirs[0]):
        return meteor(mine, theirs, thesaurus=thesaurus, stem=words.porter_stem).value, "meteor"
    given = [float(word) for word in mine if _PLAIN_NUMBER.fullmatch(word)]
    return (ratio(given[0], float(theirs[0])) if given else 0.0), "ratio"


def _code_words(text: str) -> list[str]:
    """Return an answer's words after the code's dictionary lookup of the whole answer as if it were one word."""
    bare = words.without_ascii_punctuation(text).lower()
    whole = words.lemma_of_whole(bare)
    return REFERENCE_DIGITS.get(whole, whole).split()
