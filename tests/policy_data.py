"""Review policies as a batch stores them."""

from typing import Any

NEVER: dict[str, Any] = {"rules": [], "reject_at": None}


def policy_of(*rules: dict[str, Any], reject_at: int | None = 2) -> dict[str, Any]:
    return {"rules": list(rules), "reject_at": reject_at}


def at_least(minimum: int, out_of: int, *, rejects_alone: bool = True) -> dict[str, Any]:
    """Fewer right answers than that are rejected, or only flagged."""
    rule = {"kind": "minimum_correct", "minimum": minimum, "out_of": out_of, "rejects_alone": rejects_alone}
    return policy_of(rule)


THREE_OF_FIVE = at_least(3, 5)
FLAG_ONLY = at_least(3, 5, rejects_alone=False)
