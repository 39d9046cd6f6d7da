"""What was answered, in terms that outlast the rows."""

from typing import Any

from annotators.models import Assignment
from surveys.answering.collection import save_draft
from surveys.models import Rating, Response
from tests.factories import answer_xml


def first(assignment: Assignment) -> Response:
    return assignment.responses.get(position=1)


def draft(assignment: Assignment, data: dict[str, Any], *, version: int, seconds: float = 1.0) -> bool:
    """Save a draft of the first item."""
    return save_draft(assignment, position=1, data=data, version=version, active_seconds=seconds)


def ratings_of(response: Response) -> list[tuple[str | None, str, str, float | None]]:
    rows = response.ratings.select_related("output").order_by("output__system", "criterion")
    return [(r.output and r.output.system, r.criterion, r.value, r.score) for r in rows]


def contents(assignment: Assignment) -> list[Any]:
    """All that was answered, in terms that outlast the rows."""
    return [
        (
            r.position,
            r.item_id,
            r.shown["outputs"],
            r.answer,
            r.is_correct,
            r.active_seconds,
            ratings_of(r),
        )
        for r in assignment.responses.all()
    ]


def forget_answers(assignment: Assignment, copy: str, **fields: str) -> Assignment:
    """Lose our rows, as if the database had been restored from before; the marketplace still has its copy."""
    Rating.objects.all().delete()
    Response.objects.all().delete()
    Assignment.objects.update(saved_at=None, comment="", answer_xml=answer_xml(copy, **fields))
    return Assignment.objects.get(pk=assignment.pk)
