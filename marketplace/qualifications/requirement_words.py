"""Requirements in words, for the worker site."""

from dataclasses import dataclass
from typing import Any

from marketplace.models import HITType
from marketplace.qualifications import requirements
from marketplace.qualifications.requirements import Record

WORDS = {
    "LessThan": "less than",
    "LessThanOrEqualTo": "at most",
    "GreaterThan": "more than",
    "GreaterThanOrEqualTo": "at least",
    "EqualTo": "exactly",
    "NotEqualTo": "not",
    "In": "one of",
    "NotIn": "none of",
    "Exists": "any value",
    "DoesNotExist": "no value",
}


@dataclass(frozen=True)
class Line:
    """One requirement: `name`, what is asked, whether the worker has it; a type_id where it can be requested."""

    name: str
    asked: str
    is_met: bool
    type_id: str


def lines(hit_type: HITType, *, record: Record) -> list[Line]:
    """Describe what HITs of the type ask of a worker. At most one query."""
    names = dict(requirements.SYSTEM_NAMES)
    own = []
    if any(row["QualificationTypeId"] not in names for row in hit_type.requirements):
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
    type_id, is_met = requirement["QualificationTypeId"], requirements.is_met(requirement, record=record)
    may_help = not is_met and type_id in on_request
    return Line(name, _asked(requirement), is_met, type_id if may_help else "")


def _asked(requirement: dict[str, Any]) -> str:
    places = ["-".join(place.values()) for place in requirement.get("LocaleValues", [])]
    values = [str(value) for value in requirement.get("IntegerValues", [])] or places
    return f"{WORDS[requirement['Comparator']]} {', '.join(values)}".strip()
