"""The audit trail in words."""

from collections.abc import Iterator
from typing import Any

from django import template

from surveys import audit
from surveys.publishing.terms.batch_form import policy_in_words

NAMES = {
    "n_correct": "right answers",
    "n_graded": "answers graded",
    "is_auto_approved": "approved by the marketplace",
    "is_replaced": "collected again",
    "rule_said": "the rules said",
}

register = template.Library()


@register.filter
def outcome(name: str) -> str:
    """Return an outcome as pages say it."""
    return audit.in_words(name)


@register.filter
def facts(details: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (name, value) in words. Flags, which the reason tells, and what is empty or false are left out."""
    return [pair for key, value in details.items() if key != "flags" for pair in _facts(key, value)]


def _facts(key: str, value: Any) -> Iterator[tuple[str, str]]:
    name = NAMES.get(key, key.replace("_", " "))
    if key == "policy":
        yield name, policy_in_words(value)
    elif isinstance(value, dict):
        yield from ((f"{name}, {inner}", said) for inner, said in facts(value))
    elif value is True:
        yield name, "yes"
    elif value or (value == 0 and value is not False):
        yield name, audit.in_words(str(value))
