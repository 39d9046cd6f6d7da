"""Qualification requirements: what HITs ask of a worker, and whether this worker has it.

Two of MTurk's system qualifications are counted (approval rate, approved HITs), the locale is what an
administrator entered, a requester's own types hold what was granted. Nobody is a Master or has stated an age.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext, gettext_noop, pgettext_lazy

from marketplace import refusals
from marketplace.models import Assignment, Block, HITType, Qualification, QualificationType, Worker
from marketplace.refusals import Refusal

APPROVAL_RATE = "000000000000000000L0"
HITS_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
SYSTEM_NAMES = {
    APPROVAL_RATE: gettext_noop("HIT approval rate (%)"),
    HITS_APPROVED: gettext_noop("Number of HITs approved"),
    LOCALE: gettext_noop("Location"),
    "00000000000000000060": gettext_noop("Adult content"),
    "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH": gettext_noop("Masters"),
    "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6": gettext_noop("Masters (sandbox)"),
}
COUNTED = frozenset({APPROVAL_RATE, HITS_APPROVED})
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
WORDS = {
    "LessThan": pgettext_lazy("of a qualification's value", "less than"),
    "LessThanOrEqualTo": pgettext_lazy("of a qualification's value", "at most"),
    "GreaterThan": pgettext_lazy("of a qualification's value", "more than"),
    "GreaterThanOrEqualTo": pgettext_lazy("of a qualification's value", "at least"),
    "EqualTo": pgettext_lazy("of a qualification's value", "exactly"),
    "NotEqualTo": pgettext_lazy("of a qualification's value", "not"),
    "In": pgettext_lazy("of a qualification's value", "one of"),
    "NotIn": pgettext_lazy("of a qualification's value", "none of"),
    "Exists": pgettext_lazy("of a qualification's value", "any value"),
    "DoesNotExist": pgettext_lazy("of a qualification's value", "no value"),
}
TRUE_WITHOUT_VALUE = frozenset({"DoesNotExist", "NotEqualTo", "NotIn"})
WITHOUT_OPERAND = frozenset({"Exists", "DoesNotExist"})
OPERANDS = {"Exists": (0, 0), "DoesNotExist": (0, 0), "In": (1, 30), "NotIn": (1, 30)}
ORDERED = frozenset({"LessThan", "LessThanOrEqualTo", "GreaterThan", "GreaterThanOrEqualTo"})


@dataclass(frozen=True)
class Record:
    """All that requirements can ask of a worker: decided work, place, granted values, and who blocks them."""

    approved: int = 0
    rejected: int = 0
    country: str = ""
    subdivision: str = ""
    granted: dict[str, int] = field(default_factory=dict)
    blocked_by: frozenset[int] = frozenset()

    @property
    def rate(self) -> int | None:
        """Percent approved, rounded half up; None before anything was decided."""
        decided = self.approved + self.rejected
        return (200 * self.approved + decided) // (2 * decided) if decided else None

    @property
    def values(self) -> dict[str, int]:
        decided = self.approved + self.rejected
        rate = self.rate if decided >= RATE_COUNTS_FROM else 100
        counted = {APPROVAL_RATE: 100 if rate is None else rate, HITS_APPROVED: self.approved}
        return {**self.granted, **counted}


def record_of(
    worker: Worker | None, *, hit_types: Iterable[HITType] | None = None, may_be_blocked: bool = True
) -> Record:
    """Gather what is known about a worker, or as much as these types' requirements ask; of a visitor nothing is.

    Three queries, one fewer where nobody blocks the worker, and two where the types ask for nothing.
    """
    if worker is None:
        return Record()
    asked = None if hit_types is None else set[str]().union(*map(_asked_of, hit_types))
    counts, granted = _counts(worker, asked), _granted(worker, asked)
    blocks = Block.objects.filter(worker=worker).values_list("requester", flat=True) if may_be_blocked else ()
    return Record(
        **counts,
        country=worker.country,
        subdivision=worker.subdivision,
        granted=granted,
        blocked_by=frozenset(blocks),
    )


def _counts(worker: Worker, asked: set[str] | None) -> dict[str, int]:
    if asked is not None and not asked & COUNTED:
        return {}
    status = Assignment.Status
    return Assignment.objects.filter(worker=worker).aggregate(
        approved=Count("pk", filter=Q(status=status.APPROVED)),
        rejected=Count("pk", filter=Q(status=status.REJECTED)),
    )


def _granted(worker: Worker, asked: set[str] | None) -> dict[str, int]:
    if asked is not None and not asked - COUNTED:
        return {}
    held = Qualification.objects.filter(worker=worker, status=Qualification.Status.GRANTED)
    return dict(held.values_list("qualification_type__type_id", "value"))


def _asked_of(hit_type: HITType) -> set[str]:
    return {requirement["QualificationTypeId"] for requirement in hit_type.requirements}


def asks_own(hit_type: HITType) -> bool:
    """Tell whether a type asks for a qualification that is a requester's own."""
    return bool(_asked_of(hit_type) - SYSTEM_NAMES.keys())


def complete(given: dict[str, Any]) -> dict[str, Any]:
    """Fill in what MTurk fills in; the older RequiredToPreview guards the preview as well."""
    to_preview = given.get("RequiredToPreview", False)
    guarded = "PreviewAndAccept" if to_preview else "Accept"
    return {"ActionsGuarded": guarded, "RequiredToPreview": to_preview, **given}


def check(requirements: Iterable[dict[str, Any]]) -> list[QualificationType]:
    """Return the requesters' own types that are asked for. Raises Refusal for what cannot be asked."""
    for requirement in requirements:
        _check_operands(requirement)
    asked = {requirement["QualificationTypeId"] for requirement in requirements} - SYSTEM_NAMES.keys()
    found = QualificationType.objects.filter(type_id__in=asked, disposed_at=None)
    kinds = {kind.type_id: kind for kind in found} if asked else {}
    for type_id in sorted(asked):
        _check_kind(type_id, kind=kinds.get(type_id))
    return list(kinds.values())


def _check_kind(type_id: str, *, kind: QualificationType | None) -> None:
    if kind is None:
        raise refusals.qualification_type_does_not_exist(type_id)
    if kind.status != QualificationType.Status.ACTIVE:
        raise Refusal(
            "InvalidQualificationTypeState", "This operation can be called with a status of: Active"
        )


def _check_operands(requirement: dict[str, Any]) -> None:
    comparator, is_place = requirement["Comparator"], requirement["QualificationTypeId"] == LOCALE
    right, wrong = ("LocaleValues", "IntegerValues") if is_place else ("IntegerValues", "LocaleValues")
    number = len(requirement.get(right, []))
    least, most = OPERANDS.get(comparator, (1, 1))
    if not least <= number <= most or requirement.get(wrong) or (is_place and comparator in ORDERED):
        raise Refusal(
            "InvalidQualificationRequirement",
            f"The values do not suit {requirement['QualificationTypeId']} and the comparator {comparator}.",
        )


def is_met(requirement: dict[str, Any], *, record: Record) -> bool:
    """Tell whether what is known about a worker meets one requirement."""
    comparator, type_id = requirement["Comparator"], requirement["QualificationTypeId"]
    if type_id == LOCALE and record.country:
        return _is_in_place(requirement, record=record)
    value = record.values.get(type_id)
    if value is None:
        return comparator in TRUE_WITHOUT_VALUE
    compare: Callable[[int, list[int]], bool] = COMPARE[comparator]
    return compare(value, requirement.get("IntegerValues", []))


def _is_in_place(requirement: dict[str, Any], *, record: Record) -> bool:
    """A place without a subdivision is the whole country."""
    comparator: str = requirement["Comparator"]
    if comparator in WITHOUT_OPERAND:
        return comparator == "Exists"
    matches = any(
        (place["Country"], place.get("Subdivision", record.subdivision))
        == (record.country, record.subdivision)
        for place in requirement["LocaleValues"]
    )
    return matches == (comparator not in TRUE_WITHOUT_VALUE)


def may(action: str, hit_type: HITType, *, record: Record) -> bool:
    """Tell whether a worker may take an action (Accept, Preview or Discover) on HITs of the type."""
    if action == "Accept" and hit_type.requester_id in record.blocked_by:
        return False
    return all(
        is_met(requirement, record=record)
        for requirement in hit_type.requirements
        if action in requirement["ActionsGuarded"]
    )


@dataclass(frozen=True)
class Line:
    """One requirement: `name`, what is asked, whether the worker has it; a type_id where it can be requested."""

    name: str
    asked: str
    is_met: bool
    type_id: str


def lines(hit_type: HITType, *, record: Record) -> list[Line]:
    """Describe what HITs of the type ask of a worker. At most one query."""
    names = {type_id: gettext(name) for type_id, name in SYSTEM_NAMES.items()}
    own = []
    if asks_own(hit_type):
        own = list(hit_type.qualification_types.all())
    names.update({kind.type_id: kind.name for kind in own})
    on_request = {
        kind.type_id
        for kind in own
        if kind.disposed_at is None and (kind.is_retakeable or kind.type_id not in record.granted)
    }
    return [
        _line(row, name=names[row["QualificationTypeId"]], record=record, on_request=on_request)
        for row in hit_type.requirements
    ]


def _line(requirement: dict[str, Any], *, name: str, record: Record, on_request: set[str]) -> Line:
    type_id, has_it = requirement["QualificationTypeId"], is_met(requirement, record=record)
    may_help = not has_it and type_id in on_request
    return Line(name, _asked(requirement), has_it, type_id if may_help else "")


def _asked(requirement: dict[str, Any]) -> str:
    places = ["-".join(place.values()) for place in requirement.get("LocaleValues", [])]
    values = [str(value) for value in requirement.get("IntegerValues", [])] or places
    return f"{WORDS[requirement['Comparator']]} {', '.join(values)}".strip()
