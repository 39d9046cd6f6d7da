"""A batch's assignments as a reviewer lists them: filtered, in an order, and one after the other."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When
from django.http import HttpRequest

from annotators.models import Assignment, Worker
from annotators.people.pseudonyms import called
from surveys.models import Batch, Picture, Survey, is_used
from surveys.pages.people.labels import SEES_LABELS, label
from surveys.pages.review.decision_forms import LEFT_OUT, UNDECIDED, USED, FilterForm
from surveys.review.progress import runs_out
from surveys.teams import Person

THUMBS = 3
_OF_USE = {USED: is_used(), LEFT_OUT: Q(inclusion__is_included=False)}
_RIGHT = Count("responses", filter=Q(responses__is_correct=True, responses__is_repeat=False))
_GRADED = Count("responses", filter=Q(responses__is_correct__isnull=False, responses__is_repeat=False))
_UNDECIDED_FIRST = Case(When(runs_out(), then=Value(0)), default=Value(1), output_field=IntegerField())
ORDERS: dict[str, tuple[Any, ...]] = {
    "": (_UNDECIDED_FIRST, F("auto_approval_at").asc(nulls_last=True), "pk"),
    "newest": (F("submitted_at").desc(nulls_last=True), "pk"),
    "oldest": (F("submitted_at").asc(nulls_last=True), "pk"),
    "fewest_right": (F("n_right").asc(), F("n_graded").desc(), "pk"),
    "quickest": (F("submitted_at") - F("accepted_at"), "pk"),
    "hit": ("hit__questionnaire__position", "submitted_at", "pk"),
}


def listed(about: Batch | Survey, form: FilterForm, *, reader: Person) -> QuerySet[Assignment]:
    """Return what a form asks for of a batch or a study, in its order, with n_right, n_graded and label.

    A label is what researchers call somebody, and "" to readers who may not see any.
    """
    wanted = form.cleaned_data if form.is_valid() else {}
    called_so = label(about, worker="worker") if reader.has_perm(SEES_LABELS) else Value("")
    labelled = Assignment.objects.filter(of(about)).annotate(label=called_so)
    rows = filtered(labelled, about, wanted).annotate(n_right=_RIGHT, n_graded=_GRADED)
    return rows.order_by(*ORDERS[wanted.get("sort", "")])


def of(about: Batch | Survey, *, at: str = "") -> Q:
    """Choose the assignments of a batch or a study; `at` leads to them."""
    path = "hit__questionnaire__batch" if isinstance(about, Batch) else "hit__questionnaire__batch__survey"
    return Q(**{f"{at}{path}": about})


def filtered(
    rows: QuerySet[Assignment], about: Batch | Survey, wanted: dict[str, Any]
) -> QuerySet[Assignment]:
    """Return the assignments that meet every condition that was given."""
    if status := wanted.get("status"):
        rows = rows.filter(status=status)
    if verdict := wanted.get("verdict"):
        rows = rows.filter(decision=None) if verdict == UNDECIDED else rows.filter(decision__verdict=verdict)
    if use := wanted.get("use"):
        rows = rows.filter(_OF_USE[use])
    if worker := wanted.get("worker"):
        known = Worker.objects.filter(of(about, at="assignments__"))
        is_called = Q(worker__worker_id__icontains=worker) | Q(label__icontains=worker)
        rows = rows.filter(is_called | Q(worker__in=called(worker, among=known)))
    if hit := wanted.get("hit"):
        rows = rows.filter(hit__hit_id=hit)
    return rows


def query_of(request: HttpRequest) -> str:
    """Return the filter in an address without the page it was on."""
    kept = request.GET.copy()
    kept.pop("page", None)
    return kept.urlencode()


@dataclass(frozen=True, slots=True)
class Place:
    """Where one assignment stands in a list: from 1 of `n`, and who stands beside it."""

    number: int
    n: int
    previous: int | None
    next: int | None


def place_of(assignment: Assignment, *, batch: Batch, form: FilterForm, reader: Person) -> Place | None:
    """Return where an assignment stands among what a form asks for; None where it is none of them any more."""
    in_order = list(listed(batch, form, reader=reader).values_list("pk", flat=True))
    if assignment.pk not in in_order:
        return None
    at = in_order.index(assignment.pk)
    previous, following = in_order[at - 1] if at else None, in_order[at + 1 : at + 2]
    return Place(at + 1, len(in_order), previous, following[0] if following else None)


def thumbnails(assignments: Iterable[Assignment]) -> dict[int, list[str]]:
    """Return {questionnaire: addresses of its first pictures}, in one query."""
    wanted = {one.hit.questionnaire.pk for one in assignments}
    pictures = Picture.objects.filter(
        item__slots__questionnaire__in=wanted, block="", content_type__startswith="image/"
    ).exclude(file="")
    in_order = pictures.annotate(questionnaire=F("item__slots__questionnaire")).order_by(
        "questionnaire", "item__slots__position", "position"
    )
    addresses: dict[int, list[str]] = {}
    for picture in in_order:
        beside = addresses.setdefault(picture.questionnaire, [])
        if len(beside) < THUMBS:
            beside.append(picture.get_absolute_url())
    return addresses
