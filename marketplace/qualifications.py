"""Qualification requirements, as far as this marketplace knows anything about a worker.

It knows two of MTurk's system qualifications: the approval rate and the number of approved HITs. A worker
has no value for the others (locale, Masters, adult content). A requester's own types do not exist here yet.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from marketplace.errors import Refusal
from marketplace.models import Assignment, HITType, Worker

APPROVAL_RATE = "000000000000000000L0"
HITS_APPROVED = "00000000000000000040"
WITHOUT_VALUE = frozenset(
    {
        "00000000000000000071",
        "00000000000000000060",
        "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH",
        "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6",
    }
)
DEFAULTS = {"ActionsGuarded": "Accept", "RequiredToPreview": False}
RATE_COUNTS_FROM = 100  # a new worker's rate reads 100 % until then (psiTurk's notes on its settings)

COMPARE: dict[str, Callable[[int, list[int]], bool]] = {
    "LessThan": lambda value, given: value < given[0],
    "LessThanOrEqualTo": lambda value, given: value <= given[0],
    "GreaterThan": lambda value, given: value > given[0],
    "GreaterThanOrEqualTo": lambda value, given: value >= given[0],
    "EqualTo": lambda value, given: value == given[0],
    "NotEqualTo": lambda value, given: value != given[0],
    "In": lambda value, given: value in given,
    "NotIn": lambda value, given: value not in given,
    "Exists": lambda value, given: True,
    "DoesNotExist": lambda value, given: False,
}
TRUE_WITHOUT_VALUE = frozenset({"DoesNotExist", "NotEqualTo", "NotIn"})
WITHOUT_OPERAND = frozenset({"Exists", "DoesNotExist"})


@dataclass(frozen=True)
class Record:
    """A worker's decided work."""

    approved: int
    rejected: int

    @property
    def rate(self) -> int | None:
        """Percent approved, rounded half up; None before anything was decided."""
        decided = self.approved + self.rejected
        return (200 * self.approved + decided) // (2 * decided) if decided else None

    @property
    def values(self) -> dict[str, int]:
        decided = self.approved + self.rejected
        rate = self.rate if decided >= RATE_COUNTS_FROM else 100
        return {APPROVAL_RATE: 100 if rate is None else rate, HITS_APPROVED: self.approved}


def record_of(worker: Worker) -> Record:
    """Count a worker's approved and rejected assignments. One query."""
    status = Assignment.Status
    counts = Assignment.objects.filter(worker=worker).aggregate(
        approved=Count("pk", filter=Q(status=status.APPROVED)),
        rejected=Count("pk", filter=Q(status=status.REJECTED)),
    )
    return Record(**counts)


def check(requirement: dict[str, Any]) -> None:
    """Raise Refusal for a requirement that cannot be asked."""
    type_id = requirement["QualificationTypeId"]
    if type_id not in {APPROVAL_RATE, HITS_APPROVED} | WITHOUT_VALUE:
        raise Refusal("QualificationTypeDoesNotExist", f"QualificationType {type_id} does not exist.")
    operands = len(requirement.get("IntegerValues", [])) + len(requirement.get("LocaleValues", []))
    if (requirement["Comparator"] in WITHOUT_OPERAND) == bool(operands):
        raise Refusal(
            "InvalidQualificationRequirement",
            f"The number of values does not suit the comparator {requirement['Comparator']}.",
        )
    if type_id in {APPROVAL_RATE, HITS_APPROVED} and requirement.get("LocaleValues"):
        raise Refusal("InvalidQualificationRequirement", f"{type_id} is compared with IntegerValues.")


def is_met(requirement: dict[str, Any], *, record: Record) -> bool:
    comparator = requirement["Comparator"]
    value = record.values.get(requirement["QualificationTypeId"])
    if value is None:
        return comparator in TRUE_WITHOUT_VALUE
    return COMPARE[comparator](value, requirement.get("IntegerValues", []))


def may(action: str, hit_type: HITType, *, record: Record) -> bool:
    """Tell whether a worker may take an action (Accept, Preview or Discover) on HITs of the type."""
    return all(
        is_met(requirement, record=record)
        for requirement in hit_type.requirements
        if action in requirement["ActionsGuarded"]
    )
