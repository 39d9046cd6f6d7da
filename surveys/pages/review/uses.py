"""Whether answers are used in the analysis, in the words of every page that says so."""

from dataclasses import dataclass

from annotators.models import Assignment
from surveys.models import Batch, Inclusion
from surveys.review.decisions import rejection_stands

Status = Assignment.Status
HANDED_IN = (Status.SUBMITTED, Status.APPROVED)


@dataclass(frozen=True, slots=True)
class Use:
    """Whether answers are used in the analysis, and what a person can change about that."""

    words: str
    can_exclude: bool = False
    can_include: bool = False
    can_replace: bool = False


def use_of(found: Assignment, *, is_replaced: bool) -> Use:
    """Say it of one assignment. `is_replaced`: somebody else gives, or is to give, its answers."""
    inclusion: Inclusion | None = getattr(found, "inclusion", None)
    if rejection_stands(found):
        return Use("Not used: it is rejected.")
    if found.status == Status.ACCEPTED:
        return Use("Not used: it is not handed in.")
    is_stopped = found.hit.questionnaire.batch.status == Batch.Status.STOPPED
    if inclusion and not inclusion.is_included:
        is_collected = inclusion.is_replaced and (is_replaced or not is_stopped)
        return Use("Left out, and collected once more." if is_collected else "Left out.", can_include=True)
    if found.status == Status.REJECTED:
        return Use("Used as soon as the marketplace has paid it.")
    return Use("Used.", can_exclude=found.status in HANDED_IN, can_replace=not (is_replaced or is_stopped))
