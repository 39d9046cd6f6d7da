"""What every metric refuses, in the same words."""

from collections.abc import Callable, Sequence
from typing import Final, Literal, get_args

Profile = Literal["document", "reference"]
"""`document` follows the written definition; `reference` does what its authors' program does."""
PROFILES: Final[tuple[Profile, ...]] = get_args(Profile)


class MetricError(ValueError):
    """An input that has no score; the message says which and why."""


def checked_profile(profile: str) -> Profile:
    """Return a known profile; raise MetricError for another."""
    if profile not in PROFILES:
        raise MetricError(f"profile {profile!r} is unknown; known are {', '.join(PROFILES)}")
    return profile


def best_score(prediction: str, references: Sequence[str], *, score: Callable[[str, str], float]) -> float:
    """Return the greatest of `score(prediction, reference)` over all accepted answers.

    Raises MetricError when the prediction is no text, or the references are no list of texts, or are none at all.
    """
    check_texts(prediction, references)
    return max(score(prediction, reference) for reference in references)


def check_texts(prediction: object, references: object) -> None:
    """Raise MetricError unless this is a text and a non-empty list of texts; a bare text is no list."""
    if not isinstance(prediction, str):
        raise MetricError(f"the prediction is {type(prediction).__name__}, not text")
    if isinstance(references, str) or not isinstance(references, Sequence):
        raise MetricError(f"the references are {type(references).__name__}, not a list of texts")
    if not references:
        raise MetricError("there is no reference")
    for index, reference in enumerate(references):
        if not isinstance(reference, str):
            raise MetricError(f"reference {index} is {type(reference).__name__}, not text")
