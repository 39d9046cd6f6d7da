"""Values as files spell them: a choice by its value or by its score, as number or text."""

from collections.abc import Mapping
from typing import Any

from surveys.protocols.definition import Criterion

TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def number(given: Any) -> float | None:
    """Return a number, also where it is written as a text; None for anything else."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        return None
    try:
        return float(given)
    except (ValueError, OverflowError):
        return None


def choice_value(criterion: Criterion, given: Any) -> str:
    """Return the value of the scale's choice that `given` is, by value or by score; ValueError if there is none."""
    for choice in criterion.choices:
        if given == choice.value or (choice.score is not None and number(given) == choice.score):
            return choice.value
    raise ValueError(f"{given!r} is not one of {', '.join(criterion.values)}")


def truth(text: str) -> bool | None:
    """Return what a cell says, None where it is blank; ValueError for anything but true or false."""
    if not text.strip():
        return None
    try:
        return TRUTHS[text.strip().lower()]
    except KeyError:
        raise ValueError(f"{text!r} is neither true nor false") from None


def name_in(names: Mapping[str, Any], criterion: Criterion) -> str | None:
    """Return the name under which a file has a criterion: its key, an alias of it or its label."""
    return next(
        (name for name in (criterion.key, *criterion.aliases, criterion.label) if name in names), None
    )
