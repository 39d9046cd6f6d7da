"""METEOR as the FusionBrain Challenge 2.0 (AIJ 2022) writes it, for captions.

It is not the METEOR of other tools: the document has neither their fragmentation penalty nor their paraphrases, so
values published elsewhere, VTT's among them, are not comparable.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from metrics import words
from metrics.alignment import Alignment, align
from metrics.english import with_digits
from metrics.inputs import check_texts, checked_profile
from metrics.matching import Key
from metrics.thesaurus import Senses, Synonyms, Thesaurus, as_thesaurus

PENALTY_WEIGHT: Final = 0.5
PENALTY_POWER: Final = 3

_DELETED_BY_CODE: Final = str.maketrans("", "", ",.!?:;%()[]}")


@dataclass(frozen=True, kw_only=True)
class Meteor:
    """One hypothesis beside one reference."""

    value: float
    precision: float
    recall: float
    exact: int
    stem: int
    synonym: int
    chunks: int
    crossings: int
    penalty: float = 0.0


def captioning_meteor(
    prediction: str, references: Sequence[str], *, profile: str = "document", thesaurus: Synonyms = None
) -> float:
    """Return METEOR, 10PR / (R + 9P), the greatest over the references.

    P = m / prediction words, R = m / reference words, m the matches of three stages: equal words, equal Snowball stems
    (Russian and English), shared senses in the thesaurus; one to one, most matches, then fewest crossings.
    Range 0 to 1, no unit, more is better. Empty: without a word on either side or on both, 0.
    `reference` multiplies by 1 - 0.5 (chunks / m)^3 and aligns from the right end, as the competition's code does;
    equal captions of n words then have 1 - 0.5 / n^3. Not taken over from that code: its lookup of hypernyms and
    derivations in place of synonyms, and its crashes. Raises MetricError for malformed input.
    Source: FusionBrain Challenge 2.0 metrics, sub-task 4; evaluation/captioning of its code.
    """
    return best_meteor(prediction, references, profile=profile, thesaurus=thesaurus).value


def captioning_parts(
    prediction: str, references: Sequence[str], *, profile: str = "document", thesaurus: Synonyms = None
) -> Mapping[str, Any]:
    """Return how `captioning_meteor` came about, for its best reference."""
    return asdict(best_meteor(prediction, references, profile=profile, thesaurus=thesaurus))


def best_meteor(
    prediction: str, references: Sequence[str], *, profile: str = "document", thesaurus: Synonyms = None
) -> Meteor:
    """Return METEOR with its parts for the best reference, the first of equals."""
    check_texts(prediction, references)
    opened = as_thesaurus(thesaurus)
    if checked_profile(profile) == "document":
        mine = words.tokens(words.canonical(prediction))
        found = [meteor(mine, words.tokens(words.canonical(text)), thesaurus=opened) for text in references]
    else:
        mine = with_digits(_code_tokens(prediction))
        found = [penalised_meteor(mine, _code_tokens(text), thesaurus=opened) for text in references]
    return max(found, key=lambda one: one.value)


def meteor(
    hypothesis: Sequence[str],
    reference: Sequence[str],
    *,
    thesaurus: Thesaurus | None = None,
    stem: Key = words.stem,
) -> Meteor:
    """Return METEOR of two lists of words by the document's formula; `stem` is the second stage's."""
    return _from_alignment(_aligned(hypothesis, reference, thesaurus, stem=stem), hypothesis, reference)


def penalised_meteor(
    hypothesis: Sequence[str],
    reference: Sequence[str],
    *,
    thesaurus: Thesaurus | None = None,
    weight: float = PENALTY_WEIGHT,
) -> Meteor:
    """Return METEOR with NLTK's fragmentation penalty, words matched from the right end as NLTK does.

    The second stage stems Russian words only.
    """
    backwards = hypothesis[::-1], reference[::-1]
    alignment = _aligned(*backwards, thesaurus, stem=words.russian_stem, fewest_crossings=False)
    return _from_alignment(alignment, *backwards, weight=weight)


def _aligned(
    hypothesis: Sequence[str],
    reference: Sequence[str],
    thesaurus: Thesaurus | None,
    *,
    stem: Key = words.stem,
    fewest_crossings: bool = True,
) -> Alignment:
    def senses(word: str) -> Senses:
        return thesaurus.senses(words.lemma(word)) if thesaurus else ()

    related = [senses] if thesaurus else []
    return align(hypothesis, reference, same=[str, stem], related=related, fewest_crossings=fewest_crossings)


def _from_alignment(
    alignment: Alignment, hypothesis: Sequence[str], reference: Sequence[str], *, weight: float = 0.0
) -> Meteor:
    matches = len(alignment.pairs)
    precision, recall = (matches / len(side) if side else 0.0 for side in (hypothesis, reference))
    mean = 10 * precision * recall / (recall + 9 * precision) if matches else 0.0
    penalty = weight * (alignment.chunks / matches) ** PENALTY_POWER if matches else 0.0
    exact, stem, synonym = (*alignment.found, 0)[:3]
    return Meteor(
        value=mean * (1 - penalty),
        precision=precision,
        recall=recall,
        exact=exact,
        stem=stem,
        synonym=synonym,
        chunks=alignment.chunks,
        crossings=alignment.crossings,
        penalty=penalty,
    )


def _code_tokens(text: str) -> list[str]:
    found = words.razdel_tokens(text.translate(_DELETED_BY_CODE))
    return re.split(r"\s+", " ".join(found).lower().strip()) if found else []
