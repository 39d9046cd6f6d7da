"""Review policies: rules as data on the batch, pure decisions. A policy proposes; `review` carries out."""

from surveys.policies.base import (
    APPROVE,
    FLAG,
    PROPOSE,
    REJECT,
    Evidence,
    Flag,
    PolicyError,
    Rule,
    Verdict,
)
from surveys.policies.policy import Policy
from surveys.policies.reading import (
    NEVER,
    RULES,
    can_reject,
    cap,
    judges,
    needs_gold,
    parse,
    read_policy,
    rule_data,
    rule_version,
)
from surveys.policies.record import GradedAnswer, RatedAlike, Record
from surveys.policies.words import in_words, label_of, told
from surveys.policies.worker_cap import most_assignments

__all__ = [
    "APPROVE",
    "FLAG",
    "NEVER",
    "PROPOSE",
    "REJECT",
    "RULES",
    "Evidence",
    "Flag",
    "GradedAnswer",
    "Policy",
    "PolicyError",
    "RatedAlike",
    "Record",
    "Rule",
    "Verdict",
    "can_reject",
    "cap",
    "in_words",
    "judges",
    "label_of",
    "most_assignments",
    "needs_gold",
    "parse",
    "read_policy",
    "rule_data",
    "rule_version",
    "told",
]
