"""Planted checks: items whose right verdict is known beforehand.

An item is one if its row of the import has a filled column `check`: "answer" (the gold answer must be chosen) or
`criterion=value`, values apart by "|", about the only system's output or, as `system.criterion=value`, about one
of several: "justifies=no|weak_no", "ofa-x.justifies=no", "fluency=1|2". Nothing of it is ever shown, and results
leave these items out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from surveys.models import Batch, Item, Rating, Response
from surveys.protocols.definition import Definition

COLUMN = "check"
ANSWER = "answer"


class CheckError(ValueError):
    """What stands in the column can't be checked; the message says why."""


@dataclass(frozen=True, slots=True)
class Check:
    """The values that pass, of a criterion, about the output of `system` ("": any output, or the item)."""

    criterion: str
    values: tuple[str, ...]
    system: str = ""

    @property
    def is_answer(self) -> bool:
        return self.criterion == ANSWER


def read_check(text: str, *, definition: Definition) -> Check:
    """Read what a row's column `check` says. CheckError if this survey type asks no such thing."""
    text = text.strip()
    if text == ANSWER:
        if definition.answer is None:
            raise CheckError("this survey type asks for no answer.")
        return Check(ANSWER, ())
    check = _parts(text)
    _check_values(check, definition=definition)
    return check


def _parts(text: str) -> Check:
    name, _, values = text.partition("=")
    system, _, key = name.strip().rpartition(".")
    wanted = tuple(value.strip() for value in values.split("|") if value.strip())
    if not wanted:
        raise CheckError(f"{text!r} is neither 'answer' nor 'criterion=value'.")
    return Check(key, wanted, system)


def _check_values(check: Check, *, definition: Definition) -> None:
    allowed = {criterion.key: criterion.values for criterion in definition.criteria if criterion.is_scale}
    if check.criterion not in allowed:
        raise CheckError(f"{check.criterion!r} is no scale of this survey type.")
    if unknown := [value for value in check.values if value not in allowed[check.criterion]]:
        raise CheckError(f"{unknown[0]!r} is no value of {check.criterion!r}.")


def planted(batch: Batch) -> dict[int, Check]:
    """Return the planted checks among a batch's items; what can't be read is none."""
    items = Item.objects.filter(slots__questionnaire__batch=batch, payload__has_key=COLUMN)
    found = {}
    for pk, text in items.values_list("pk", f"payload__{COLUMN}"):
        try:
            found[pk] = read_check(str(text), definition=batch.definition)
        except CheckError:
            continue
    return found


def passed(checks: Mapping[int, Check], responses: QuerySet[Response]) -> dict[int, list[bool]]:
    """Return {assignment: whether each of the checks shown in it was passed}; skipped ones are left out."""
    results: dict[int, list[bool]] = {}
    shown = responses.filter(item__in=list(checks), skip_reason="").order_by("pk")
    rated = _rated(shown, {check.criterion for check in checks.values()})
    for pk, assignment, item, is_correct in shown.values_list("pk", "assignment_id", "item_id", "is_correct"):
        check = checks[item]
        is_passed = bool(is_correct) if check.is_answer else _is_as_wanted(check, rated.get(pk, []))
        results.setdefault(assignment, []).append(is_passed)
    return results


def _rated(responses: QuerySet[Response], criteria: set[str]) -> dict[int, list[tuple[str, str, str]]]:
    rows: dict[int, list[tuple[str, str, str]]] = {}
    ratings = Rating.objects.filter(response__in=responses.values("pk"), criterion__in=criteria)
    columns = ("response", "criterion", "output__system", "value")
    for response, criterion, system, value in ratings.values_list(*columns):
        rows.setdefault(response, []).append((criterion, system or "", value))
    return rows


def _is_as_wanted(check: Check, ratings: list[Any]) -> bool:
    given = [
        value
        for criterion, system, value in ratings
        if criterion == check.criterion and check.system in {"", system}
    ]
    return bool(given) and all(value in check.values for value in given)
