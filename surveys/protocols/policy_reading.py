"""A policy's data, as a batch stores them, become a policy."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from math import isfinite
from typing import Any

from surveys.protocols.agreement import Agreement
from surveys.protocols.difficulty import DifficultyAdjusted
from surveys.protocols.minimum_correct import MinimumCorrect
from surveys.protocols.planted_checks import PlantedChecks
from surveys.protocols.policy import Policy
from surveys.protocols.rules import PolicyError, Rule, refuse
from surveys.protocols.straight_lining import StraightLining
from surveys.protocols.too_fast import TooFast
from surveys.protocols.worker_cap import SHARE, WorkerCap

RULES: dict[str, type[Rule]] = {
    rule.kind: rule
    for rule in (
        MinimumCorrect,
        DifficultyAdjusted,
        TooFast,
        StraightLining,
        Agreement,
        PlantedChecks,
        WorkerCap,
    )
}
LEAST_HITS = 2  # one hit alone rejects only where the rule itself says so
NEVER: dict[str, Any] = {"rules": [], "reject_at": None}
KEYS = {"rules", "reject_at"}


def read_policy(data: Mapping[str, Any], *, items_per_hit: int) -> Policy:
    """Build the policy a batch stores as {"rules": [{"kind", parameters, "rejects_alone"}], "reject_at": int | None}.

    Raises PolicyError, naming the rule, if the data contradict themselves or can't hold for the batch's HITs.
    """
    policy = parse(data)
    for rule in policy.rules:
        rule.check(items_per_hit=items_per_hit)
    return policy


def parse(data: Mapping[str, Any]) -> Policy:
    """Build a policy without asking whether it can hold for any HIT. Raises PolicyError."""
    if set(data) != KEYS or not isinstance(data["rules"], list):
        raise PolicyError("A review policy is made of 'rules', a list, and 'reject_at'.")
    rules = tuple(_rule(rule) for rule in data["rules"])
    for kind, n in Counter(rule.kind for rule in rules).items():
        if n > 1:
            raise refuse(kind, "it stands there twice.")
    return Policy(rules, reject_at=_reject_at(data["reject_at"]))


def rule_version(data: Mapping[str, Any]) -> str:
    """Return a name that changes with every change of the policy: "1:" and 12 digits of its JSON's SHA-256."""
    canonical = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return "1:" + hashlib.sha256(canonical.encode()).hexdigest()[:12]


def rule_data(data: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """Return the data of the policy's rule of this kind; empty if it has none."""
    return next((rule for rule in data.get("rules", []) if rule.get("kind") == kind), {})


def judges(data: Mapping[str, Any]) -> bool:
    """Tell whether the policy judges anybody's work: without that everybody who submits is paid."""
    kinds = {rule.get("kind") for rule in data.get("rules", [])}
    return any(rule.counts for kind, rule in RULES.items() if kind in kinds)


def needs_gold(data: Mapping[str, Any]) -> bool:
    """Tell whether a rule of the policy grades answers."""
    kinds = {rule.get("kind") for rule in data.get("rules", [])}
    return any(rule.needs_gold for kind, rule in RULES.items() if kind in kinds)


def can_reject(data: Mapping[str, Any]) -> bool:
    """Tell whether the policy could ever propose a rejection; what is no policy can't."""
    try:
        policy = parse(data)
    except PolicyError:
        return False
    is_enough = policy.reject_at is not None and policy.n_counted >= policy.reject_at
    return is_enough or any(rule.rejects_alone for rule in policy.rules)


def cap(data: Mapping[str, Any]) -> float | None:
    """Return the share of a batch's assignments one worker may have; None without such a rule."""
    found = rule_data(data, "worker_cap")
    return float(found.get("share", SHARE)) if found else None


def _rule(data: Any) -> Rule:
    if not isinstance(data, Mapping) or data.get("kind") not in RULES:
        raise PolicyError(f"Unknown rule {data.get('kind') if isinstance(data, Mapping) else data!r}.")
    kind = data["kind"]
    known = {field.name: field for field in fields(RULES[kind])}
    if unknown := sorted(set(data) - set(known) - {"kind"}):
        raise refuse(kind, f"it knows no {unknown[0]!r}.")
    missing = [name for name, field in known.items() if field.default is MISSING and name not in data]
    if missing:
        raise refuse(kind, f"it needs {missing[0]!r}.")
    given = {name: _value(data[name], field, kind=kind) for name, field in known.items() if name in data}
    return RULES[kind](**given)


def _value(given: Any, field: "Field[Any]", *, kind: str) -> Any:
    is_number = isinstance(given, int | float) and not isinstance(given, bool) and isfinite(given)
    if field.type is float and is_number:
        return float(given)
    if field.type is int and is_number and given == int(given):
        return int(given)
    if field.type is bool and isinstance(given, bool):
        return given
    names = {float: "a number", int: "a whole number", bool: "true or false"}
    raise refuse(kind, f"{field.name!r} must be {names[field.type]}.")  # type: ignore[index]


def _reject_at(given: Any) -> int | None:
    if given is None:
        return None
    if isinstance(given, int) and not isinstance(given, bool) and given >= LEAST_HITS:
        return given
    raise PolicyError(f"'reject_at' is a whole number from {LEAST_HITS}, or null.")
