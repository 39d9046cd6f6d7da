"""Text recognition: one minus the normalised edit distance, from the FusionBrain Challenge 2.0 (AIJ 2022)."""

from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from metrics.inputs import best_score, checked_profile


def one_minus_ned(prediction: str, references: Sequence[str], *, profile: str = "document") -> float:
    """Return 1 - D(s, r) / max(len(s), len(r)), the greatest over the references.

    D is Levenshtein's distance; strings are compared as they are, by Unicode code points: case, spaces, punctuation and
    composition count. Range 0 to 1, no unit, more is better. Empty: one side 0; both sides 0/0 in the formula,
    scored 1 under `document` (nothing to recognise, nothing recognised) and 0 under `reference`, as the code does.
    Raises MetricError for no or malformed references.
    Source: FusionBrain Challenge 2.0 metrics, sub-task 6; evaluation/text_recognition of its code.
    """
    if checked_profile(profile) == "reference" and prediction == "":
        return best_score(prediction, references, score=lambda _prediction, _reference: 0.0)
    return best_score(prediction, references, score=Levenshtein.normalized_similarity)
