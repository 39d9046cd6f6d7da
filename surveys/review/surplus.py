"""Work beyond what a questionnaire wanted: handed in when its places were filled, paid all the same, and marked."""

from collections.abc import Iterable

from django.db.models import F, Q, QuerySet, Window
from django.db.models.functions import Coalesce, RowNumber

from annotators.models import Assignment
from surveys.models import Batch, does_not_count

Status = Assignment.Status
FAMILY = ("hit__questionnaire__sibling_of", "hit__questionnaire")
TARGET = (
    "hit__questionnaire__sibling_of__target_assignments",
    "hit__questionnaire__target_assignments",
)


def surplus_among(assignments: Iterable[Assignment]) -> set[int]:
    """Return which of some assignments, as keys, hold work that was not wanted any more.

    Of what counts for a questionnaire and its siblings, in the order of submission, that is what comes after as many
    as were wanted. It is derived: work that is rejected or left out later makes room for what came after it.
    """
    shown = {one.hit.questionnaire for one in assignments}
    families = {one.sibling_of_id or one.pk for one in shown}
    own = Q(hit__questionnaire__in=families) | Q(hit__questionnaire__sibling_of__in=families)
    return set(_surplus(_counted().filter(own)).values_list("pk", flat=True))


def surplus_of(batch: Batch) -> QuerySet[Assignment]:
    """Return a batch's surplus assignments, in the order of submission."""
    return _surplus(_counted().filter(hit__questionnaire__batch=batch)).order_by("submitted_at", "pk")


def _counted() -> QuerySet[Assignment]:
    handed_in = Assignment.objects.filter(status__in=[Status.SUBMITTED, Status.APPROVED])
    return handed_in.exclude(does_not_count())


def _surplus(counted: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Number what counts for a questionnaire and its siblings, and keep what comes after the last wanted number."""
    order = [F("submitted_at").asc(), F("pk").asc()]
    number = Window(RowNumber(), partition_by=[Coalesce(*map(F, FAMILY))], order_by=order)
    return counted.annotate(number=number).filter(number__gt=Coalesce(*map(F, TARGET)))
