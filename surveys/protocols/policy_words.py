"""A policy in words: for the researcher who chooses it, and for the worker before the work begins."""

from collections.abc import Iterable

from surveys.protocols.policy import Policy
from surveys.protocols.policy_reading import RULES

NEVER_REJECTS = "Never reject: everybody who submits is paid."
ALL_PAID = "Every complete assignment is paid. Your opinions are never a reason to reject."
OPINIONS_FREE = "Your opinions about the rest are never a reason to reject."
OTHER_LABELS = {"watched": "Watched worker"}
OPINIONS_WEIGHED = "An opinion that others don’t share is never enough to reject."


def label_of(kind: str) -> str:
    """Return what pages call a flag of this kind: its rule's label, or that somebody is watched."""
    return RULES[kind].label if kind in RULES else OTHER_LABELS.get(kind, kind)


def in_words(policy: Policy) -> str:
    """Return the policy as a researcher reads it."""
    rules = [rule for rule in policy.rules if rule.counts]
    alone = [rule.in_words() for rule in rules if rule.rejects_alone]
    others = [rule.in_words() for rule in rules if not rule.rejects_alone]
    sentences = [] if rules else [NEVER_REJECTS]
    sentences += [f"Proposed for rejection: {'; '.join(alone)}."] if alone else []
    sentences += [f"Flagged for a person: {'; '.join(others)}."] if others else []
    if policy.reject_at and len(rules) >= policy.reject_at:
        sentences.append(f"{_number(policy.reject_at)} of these together propose a rejection.")
    return " ".join([*sentences, *(rule.in_words() for rule in policy.rules if not rule.counts)])


def told(policy: Policy, *, is_automatic: bool) -> str:
    """Return what the policy does to a worker's pay, in the worker's words. `is_automatic`: no person decides."""
    rules = [rule for rule in policy.rules if rule.counts]
    alone = _either(rule.told() for rule in rules if rule.rejects_alone)
    others = _either(rule.told() for rule in rules if not rule.rejects_alone)
    consequence = "is not paid" if is_automatic else "may be rejected, after a person has looked at it"
    sentences = [f"An assignment {alone} {consequence}."] if alone else []
    sentences += [f"A person looks at an assignment {others} before it is paid."] if others else []
    is_graded_only = all(rule.needs_gold for rule in rules)
    sentences.append((OPINIONS_FREE if is_graded_only else OPINIONS_WEIGHED) if rules else ALL_PAID)
    return " ".join([*sentences, *(rule.told() for rule in policy.rules if not rule.counts)])


def _either(phrases: Iterable[str]) -> str:
    return ", or ".join(phrases)


def _number(n: int) -> str:
    return {2: "Two", 3: "Three"}.get(n, str(n))
