"""Compare a text metric with the vectors of both profiles."""

from typing import Any

from metrics import METRICS

TOLERANCE = 1e-9


def first_text(prediction: list[dict[str, str]]) -> str:
    """Return what the competition takes as the answer: the first element of type text."""
    return next((element["content"] for element in prediction if element["type"] == "text"), "")


def deviations(
    cases: list[dict[str, Any]], name: str, profile: str, **options: Any
) -> dict[str, tuple[float, float]]:
    """Return id -> (expected, got) for every case of a profile that has a value and differs from it."""
    found = {}
    for case in cases:
        expected = case[f"{profile}_output"]
        if expected is None:
            continue
        text = first_text(case["prediction"])
        got = METRICS[name].score(text, case["references"], profile=profile, **options)
        if abs(got - expected) > TOLERANCE:
            found[case["id"]] = (expected, got)
    return found
