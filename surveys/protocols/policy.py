"""Several rules together: flag on any, propose a rejection on several, or on one that is enough by itself."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from math import isfinite
from typing import Any

from surveys.protocols.rules import (
    APPROVE,
    FLAG,
    REJECT,
    SHARE,
    Agreement,
    DifficultyAdjusted,
    Evidence,
    Flag,
    MinimumCorrect,
    PlantedChecks,
    PolicyError,
    Rule,
    Say,
    StraightLining,
    TooFast,
    Verdict,
    WorkerCap,
    refuse,
)

UNSEEN_FILES = "unseen"  # the kind of a flag that no rule raises


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of a batch. `reject_at`: how many hits propose a rejection; None leaves it to `rejects_alone`.

    Source of the combination: simulated crowds, where any two of several flags found bad work with a precision of .97
    to .99 and hit at most .4 % of honest assignments, while one fixed threshold hit up to 11 %.
    """

    rules: tuple[Rule, ...] = ()
    reject_at: int | None = None

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(rule.kind for rule in self.rules)

    @property
    def n_counted(self) -> int:
        """How many of the rules count towards `reject_at`."""
        return sum(rule.counts for rule in self.rules)

    def judge(self, evidence: Evidence) -> Verdict:
        """Return REJECT, FLAG or APPROVE, with everything the rules noticed. Whether REJECT is carried out or only
        proposed is the batch's choice."""
        noticed = [(rule, flag) for rule in self.rules if (flag := rule.notice(evidence))]
        hits = [(rule, flag) for rule, flag in noticed if flag.is_hit and rule.counts]
        flags = (*(flag for _, flag in noticed), *_unseen(evidence))
        if self._is_enough([rule for rule, _ in hits]):
            return _verdict(REJECT, evidence, flags, deciding=[flag for _, flag in hits])
        return _verdict(FLAG if flags else APPROVE, evidence, flags, deciding=flags)

    def _is_enough(self, hits: Sequence[Rule]) -> bool:
        """Tell whether these rules, hit together, propose a rejection."""
        are_several = self.reject_at is not None and len(hits) >= self.reject_at
        return are_several or any(rule.rejects_alone for rule in hits)


def _unseen(evidence: Evidence) -> Iterator[Flag]:
    """A person looks where we have only the worker's word that a file was not shown, and where nothing was judged."""
    n, n_items = evidence.n_unseen, len(evidence.is_correct)
    if n:
        said = (
            f"{n} of {n_items} items were not judged: a file was not shown, the annotator says; we have it."
        )
        yield Flag(UNSEEN_FILES, said, is_hit=False)
    elif n_items and evidence.n_gone == n_items:
        yield Flag(UNSEEN_FILES, "No item was judged, as each lacked a file.", is_hit=False)


def _verdict(
    verdict: str, evidence: Evidence, flags: tuple[Flag, ...], *, deciding: Iterable[Flag]
) -> Verdict:
    reason = " ".join(flag.sentence for flag in deciding)
    return Verdict(verdict, reason, evidence.n_correct, evidence.n_graded, flags)


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
    rule = rule_data(data, "worker_cap")
    return float(rule.get("share", SHARE)) if rule else None


def _rule(data: Any) -> Rule:
    if not isinstance(data, Mapping) or data.get("kind") not in RULES:
        raise PolicyError(f"Unknown rule {data.get('kind') if isinstance(data, Mapping) else data!r}.")
    kind = data["kind"]
    known = {field.name: field for field in fields(RULES[kind])}
    _check_names(data, known, kind=kind)
    given = {name: _value(data[name], field, kind=kind) for name, field in known.items() if name in data}
    return RULES[kind](**given)


def _check_names(data: Mapping[str, Any], known: "Mapping[str, Field[Any]]", *, kind: str) -> None:
    if unknown := sorted(set(data) - set(known) - {"kind"}):
        raise refuse(kind, f"it knows no {unknown[0]!r}.")
    missing = [name for name, field in known.items() if field.default is MISSING and name not in data]
    if missing:
        raise refuse(kind, f"it needs {missing[0]!r}.")


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


NEVER_REJECTS = "Never reject: everybody who submits is paid."
OTHER_LABELS = {"watched": "Watched worker", UNSEEN_FILES: "Items not judged for want of a file"}


def label_of(kind: str) -> str:
    """Return what pages call a flag of this kind: its rule's label, or that somebody is watched."""
    return RULES[kind].label if kind in RULES else OTHER_LABELS.get(kind, kind)


def in_words(policy: Policy) -> str:
    """Return the policy as a researcher reads it."""
    alone, others, uncounted = _apart(policy)
    sentences = [] if alone or others else [NEVER_REJECTS]
    if alone:
        sentences.append(f"Proposed for rejection: {'; '.join(rule.in_words() for rule in alone)}.")
    if others:
        sentences.append(f"Flagged for a person: {'; '.join(rule.in_words() for rule in others)}.")
    if policy.reject_at and policy.n_counted >= policy.reject_at:
        sentences.append(f"{_number(policy.reject_at)} of these together propose a rejection.")
    return " ".join([*sentences, *(rule.in_words() for rule in uncounted)])


def told(policy: Policy, *, is_automatic: bool, is_named: bool = False, say: Say = str) -> str:
    """Return what the policy does to a worker's pay, in the worker's words.

    `is_automatic`: no person decides. `is_named`: they came by a personal link, and are told only what holds for them.
    `say` puts an English text into the worker's language.
    """
    rules = tuple(rule for rule in policy.rules if rule.is_for_named or not is_named)
    alone, others, uncounted = _apart(Policy(rules))
    sentences = []
    if alone:
        if is_automatic:
            words = say("An assignment %(rules)s is not paid.")
        else:
            words = say("An assignment %(rules)s may be rejected, after a person has looked at it.")
        sentences.append(words % {"rules": _either(alone, say)})
    if others:
        words = say("A person looks at an assignment %(rules)s before it is paid.")
        sentences.append(words % {"rules": _either(others, say)})
    sentences.append(_of_opinions([*alone, *others], say))
    return " ".join([*sentences, *(rule.told(say) for rule in uncounted)])


def _apart(policy: Policy) -> tuple[list[Rule], list[Rule], list[Rule]]:
    """Return the rules that reject alone, the others that count, and those that do not count."""
    counted = [rule for rule in policy.rules if rule.counts]
    alone = [rule for rule in counted if rule.rejects_alone]
    others = [rule for rule in counted if not rule.rejects_alone]
    return alone, others, [rule for rule in policy.rules if not rule.counts]


def _of_opinions(counted: Sequence[Rule], say: Say) -> str:
    if not counted:
        return say("Every complete assignment is paid. Your opinions are never a reason to reject.")
    if all(rule.needs_gold for rule in counted):
        return say("Your opinions about the rest are never a reason to reject.")
    return say("An opinion that others don’t share is never enough to reject.")


def _either(rules: Iterable[Rule], say: Say) -> str:
    return say(", or ").join(rule.told(say) for rule in rules)


def _number(n: int) -> str:
    return {2: "Two", 3: "Three"}.get(n, str(n))
