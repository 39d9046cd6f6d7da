"""The rows that evidence is made of. Each table is read once, and only if it is asked for."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from django.db.models import Count, Q, Sum

from annotators.models import Assignment, Channel
from surveys.models import Batch, Rating, Response
from surveys.publishing.shares import n_wanted
from surveys.review.evidence_sizes import Size, sizes_of
from surveys.studies.planted_checks import passed, planted

Status = Assignment.Status
HANDED_IN = (Status.SUBMITTED, Status.APPROVED, Status.REJECTED)
COUNTED = Q(assignment__status__in=[Status.SUBMITTED, Status.APPROVED])
LEAST_FOR_MEDIAN = 5  # of fewer assignments a median says little


@dataclass(frozen=True, slots=True)
class Handed:
    """One assignment that was handed in. `is_counted`: it speaks about other people's work, as it was not rejected.

    Not `is_saved`: the marketplace has it, but complete answers never reached us.
    """

    pk: int
    worker: int
    is_saved: bool
    is_named: bool
    is_counted: bool
    work_seconds: int | None


class Rows:
    """What was handed in of a batch, by everybody or by one `worker`, and what all others did on the same items.

    Items are drawn, and drafts kept, when an assignment is opened: only what was saved as complete is an answer.
    """

    def __init__(self, batch: Batch, *, worker: int | None) -> None:
        self.batch, self.worker, self.definition = batch, worker, batch.definition
        self.narrow = {} if worker is None else {"worker": worker}
        complete = Response.objects.filter(assignment__saved_at__isnull=False, batch=batch)
        handed_in = complete.filter(assignment__status__in=HANDED_IN, **self.narrow)
        self.own = handed_in.order_by("assignment", "position")
        self.counted = complete.filter(COUNTED).order_by()

    @cached_property
    def assignments(self) -> list[Handed]:
        rows = Assignment.objects.filter(
            hit__questionnaire__batch=self.batch, status__in=HANDED_IN, **self.narrow
        )
        return [
            Handed(
                assignment.pk,
                worker=assignment.worker_id,
                is_saved=assignment.saved_at is not None,
                is_named=assignment.channel == Channel.LINK,
                is_counted=assignment.status != Status.REJECTED,
                work_seconds=assignment.work_seconds,
            )
            for assignment in rows.order_by("submitted_at", "pk").only(
                "worker_id", "channel", "status", "submitted_at", "accepted_at", "saved_at"
            )
        ]

    @cached_property
    def responses(self) -> dict[int, list[tuple[int, bool | None, float, str]]]:
        """{assignment: [(item, is_correct, active seconds, skip reason)]}"""
        columns = ("assignment", "item", "is_correct", "active_seconds", "skip_reason")
        return grouped(self.own.values_list(*columns))

    @cached_property
    def graded(self) -> dict[int, tuple[int, int]]:
        """{item: (graded answers that count, those right)}"""
        graded = self.counted.filter(is_correct__isnull=False)
        if self.worker is not None:
            graded = graded.filter(item__in=self.own.values("item").order_by())
        counts = graded.values("item").annotate(n=Count("pk"), n_right=Count("pk", filter=Q(is_correct=True)))
        return {item: (n, n_right) for item, n, n_right in counts.values_list("item", "n", "n_right")}

    @cached_property
    def overall(self) -> tuple[int, int]:
        """Graded answers that count in the whole batch, and those right."""
        graded = self.counted.filter(is_correct__isnull=False)
        counts = graded.aggregate(n=Count("pk"), n_right=Count("pk", filter=Q(is_correct=True)))
        return counts["n"], counts["n_right"]

    @cached_property
    def scores(self) -> dict[int, list[tuple[int | None, str, float]]]:
        """{assignment: [(output, criterion, score)]} of ratings on scales."""
        scales = [criterion.key for criterion in self.definition.criteria if criterion.is_scale]
        ratings = Rating.objects.filter(
            response__in=self.own.values("pk").order_by(), criterion__in=scales, score__isnull=False
        )
        columns = ("response__assignment", "output", "criterion", "score")
        return grouped(ratings.order_by("response", "pk").values_list(*columns))

    @cached_property
    def rated(self) -> dict[int | None, tuple[int, float]]:
        """{output: (ratings that count on the headline criterion, their sum)}"""
        counted = Q(response__assignment__status__in=[Status.SUBMITTED, Status.APPROVED])
        ratings = Rating.objects.filter(
            counted,
            response__batch=self.batch,
            criterion=self.definition.headline,
            output__isnull=False,
            score__isnull=False,
        ).order_by()
        if self.worker is not None:
            ratings = ratings.filter(response__item__in=self.own.values("item").order_by())
        sums = ratings.values("output").annotate(n=Count("pk"), total=Sum("score"))
        return {output: (n, total) for output, n, total in sums.values_list("output", "n", "total")}

    @cached_property
    def sizes(self) -> dict[int, Size]:
        items = {item for rows in self.responses.values() for item, *_ in rows}
        return sizes_of(items, definition=self.definition)

    @cached_property
    def checks(self) -> dict[int, list[bool]]:
        known = planted(self.batch)
        return passed(known, self.own) if known else {}

    @cached_property
    def median_seconds(self) -> float | None:
        active = self.counted.values("assignment").annotate(seconds=Sum("active_seconds"))
        measured = list(active.filter(seconds__gt=0).values_list("seconds", flat=True))
        return median(measured) if len(measured) >= LEAST_FOR_MEDIAN else None

    @cached_property
    def n_wanted(self) -> int:
        return n_wanted(self.batch)


def grouped(rows: Iterable[Any]) -> dict[int, list[Any]]:
    """Return {first column: the rest of each of its rows}."""
    groups: dict[int, list[Any]] = defaultdict(list)
    for key, *rest in rows:
        groups[key].append(tuple(rest))
    return groups
