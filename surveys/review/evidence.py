"""Evidence about all assignments of a batch, or about those of one worker, by the same queries."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from annotators.crowds.base import crowd_of
from annotators.models import Assignment
from surveys.models import Batch, Item, Output, Rating, Response
from surveys.protocols.definition import FILE_GONE, FILE_UNSEEN, UNSEEN, Definition
from surveys.protocols.policy import RULES
from surveys.protocols.rules import Evidence, GradedAnswer, RatedAlike, Record
from surveys.publishing.quota import n_wanted
from surveys.studies.planted_checks import COLUMN, Check, CheckError, read_check


@dataclass(frozen=True, slots=True)
class Size:
    """Words and pictures one item shows, and inputs it asks for."""

    n_words: int
    n_pictures: int
    n_inputs: int


def sizes_of(items: Collection[int], *, definition: Definition) -> dict[int, Size]:
    """Return the size of each of these items, in two queries."""
    texts_of: dict[int, list[str]] = {}
    for item, text in Output.objects.filter(item__in=items).values_list("item", "text"):
        texts_of.setdefault(item, []).append(text)
    shown = Item.objects.filter(pk__in=items).annotate(n=Count("pictures"))
    sizes = {}
    for pk, payload, choices, n_pictures in shown.values_list("pk", "payload", "choices", "n"):
        outputs = _shown(texts_of.get(pk, []), definition)
        texts = [payload.get("question", ""), *(choice["label"] for choice in choices), *outputs]
        texts += [
            payload.get("blocks", {}).get(block.column, "")
            for block in definition.blocks
            if not block.file_kind
        ]
        sizes[pk] = Size(
            sum(len(text.split()) for text in texts), n_pictures, _inputs(definition, len(outputs))
        )
    return sizes


def _shown(outputs: list[str], definition: Definition) -> list[str]:
    """Return the texts that anybody had to read at least: of outputs that are drawn, the shortest."""
    return sorted(outputs, key=len)[: definition.outputs_per_item] if definition.is_drawn else outputs


def _inputs(definition: Definition, n_outputs: int) -> int:
    """Return how many questions everybody is asked: what only some are takes the others no time."""
    about_item, about_output = (
        sum(criterion.asked_if is None for criterion in criteria)
        for criteria in (definition.item_criteria, definition.output_criteria)
    )
    asked_once = [definition.answer, definition.preference]
    return sum(question is not None for question in asked_once) + about_item + n_outputs * about_output


Status = Assignment.Status
HANDED_IN = (Status.SUBMITTED, Status.APPROVED, Status.REJECTED)
COUNTED = Q(assignment__status__in=[Status.SUBMITTED, Status.APPROVED])
RESPONSE = ("assignment", "item", "is_correct", "active_seconds", "skip_reason", "is_repeat")
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
        self.firsts = self.own.filter(is_repeat=False)
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
                is_named=crowd_of(assignment).is_invited,
                is_counted=assignment.status != Status.REJECTED,
                work_seconds=assignment.work_seconds,
            )
            for assignment in rows.order_by("submitted_at", "pk").only(
                "worker_id", "channel", "status", "submitted_at", "accepted_at", "saved_at"
            )
        ]

    @cached_property
    def responses(self) -> dict[int, list[tuple[int, bool | None, float, str]]]:
        """{assignment: [(item, is_correct, active seconds, skip reason)]}, each item's first answer."""
        return {
            assignment: [
                (item, is_correct, seconds, skip)
                for item, is_correct, seconds, skip, again in rows
                if not again
            ]
            for assignment, rows in self.worked.items()
        }

    @cached_property
    def worked(self) -> dict[int, list[tuple[int, bool | None, float, str, bool]]]:
        """The same with items that were asked again, and whether they were: the work there was."""
        return grouped(self.own.values_list(*RESPONSE))

    @cached_property
    def graded(self) -> dict[int, tuple[int, int]]:
        """{item: (graded answers that count, those right)}"""
        graded = self.counted.filter(is_correct__isnull=False, is_repeat=False)
        if self.worker is not None:
            graded = graded.filter(item__in=self.own.values("item").order_by())
        counts = graded.values("item").annotate(n=Count("pk"), n_right=Count("pk", filter=Q(is_correct=True)))
        return {item: (n, n_right) for item, n, n_right in counts.values_list("item", "n", "n_right")}

    @cached_property
    def overall(self) -> tuple[int, int]:
        """Graded answers that count in the whole batch, and those right."""
        graded = self.counted.filter(is_correct__isnull=False, is_repeat=False)
        counts = graded.aggregate(n=Count("pk"), n_right=Count("pk", filter=Q(is_correct=True)))
        return counts["n"], counts["n_right"]

    @cached_property
    def scores(self) -> dict[int, list[tuple[int | None, str, float]]]:
        """{assignment: [(output, criterion, score)]} of ratings on scales."""
        scales = [criterion.key for criterion in self.definition.criteria if criterion.is_scale]
        ratings = Rating.objects.filter(
            response__in=self.firsts.values("pk").order_by(), criterion__in=scales, score__isnull=False
        )
        columns = ("response__assignment", "output", "criterion", "score")
        return grouped(ratings.order_by("response", "pk").values_list(*columns))

    @cached_property
    def rated(self) -> dict[int | None, tuple[int, float]]:
        """{output: (ratings that count on the headline criterion, their sum)}; a headline is never about the item."""
        counted = Q(response__assignment__status__in=[Status.SUBMITTED, Status.APPROVED])
        ratings = Rating.objects.filter(
            counted,
            response__batch=self.batch,
            response__is_repeat=False,
            criterion=self.definition.headline,
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
        known = _planted(self.batch)
        return _passed(known, self.own) if known else {}

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


DIGITS = 9  # a mean taken from a sum by subtraction is exact to no more
ALL = frozenset(RULES)


def evidence_of_batch(batch: Batch, *, kinds: Collection[str] = ALL) -> dict[int, Evidence]:
    """Return {assignment: evidence} for all assignments handed in, in that order; rules of other kinds go without."""
    return _Reader(Rows(batch, worker=None), kinds=kinds).evidence()


def evidence_of_worker(batch: Batch, *, worker: int, kinds: Collection[str] = ALL) -> dict[int, Evidence]:
    """Return {assignment: evidence} for what one worker handed in."""
    return _Reader(Rows(batch, worker=worker), kinds=kinds).evidence()


class _Reader:
    """Makes evidence for rules of some kinds; what none of them asks for is not read."""

    def __init__(self, rows: Rows, *, kinds: Collection[str]) -> None:
        self.rows, self.kinds = rows, frozenset(kinds)

    def evidence(self) -> dict[int, Evidence]:
        of_worker: dict[int, list[Handed]] = defaultdict(list)
        for handed in self.rows.assignments:
            of_worker[handed.worker].append(handed)
        records = {worker: self._record(works) for worker, works in of_worker.items()}
        n_before: Counter[int] = Counter()
        by_assignment = {}
        for handed in self.rows.assignments:
            known = self._known(handed, n_before=n_before[handed.worker])
            by_assignment[handed.pk] = Evidence(worker=records[handed.worker], **known)
            n_before[handed.worker] += 1
        return by_assignment

    def _known(self, handed: Handed, *, n_before: int) -> dict[str, Any]:
        responses = self.rows.responses.get(handed.pk, [])
        known: dict[str, Any] = {
            "is_saved": handed.is_saved,
            "is_correct": tuple(is_correct for _, is_correct, *_ in responses),
            "n_gone": sum(reason == FILE_GONE for *_, reason in responses),
            "n_unseen": sum(reason == FILE_UNSEEN for *_, reason, _ in self.rows.worked.get(handed.pk, [])),
        }
        if "too_fast" in self.kinds:
            known |= self._time(handed)
        if "straight_lining" in self.kinds:
            known["scores"] = tuple(score for *_, score in self.rows.scores.get(handed.pk, []))
        if "worker_cap" in self.kinds:
            known |= {"is_named": handed.is_named, "n_before": n_before, "n_wanted": self.rows.n_wanted}
        return known

    def _time(self, handed: Handed) -> dict[str, Any]:
        """Without a page that measured it, the marketplace's clock is an upper bound."""
        responses = self.rows.worked.get(handed.pk, [])
        sizes = [self.rows.sizes[item] for item, _, _, skip_reason, _ in responses if not skip_reason]
        return {
            "seconds": sum(seconds for _, _, seconds, *_ in responses) or handed.work_seconds,
            "n_words": sum(size.n_words for size in sizes),
            "n_pictures": sum(size.n_pictures for size in sizes),
            "n_inputs": sum(size.n_inputs for size in sizes),
            "median_seconds": self.rows.median_seconds
            and self.rows.median_seconds * _share_judged(responses),
        }

    def _record(self, works: Iterable[Handed]) -> Record:
        known: dict[str, Any] = {}
        if "difficulty_adjusted" in self.kinds:
            known |= self._answers(works)
        if "agreement" in self.kinds:
            known["ratings"] = tuple(self._ratings(works))
        if "planted_checks" in self.kinds:
            known["checks"] = tuple(ok for handed in works for ok in self.rows.checks.get(handed.pk, []))
        return Record(**known)

    def _answers(self, works: Iterable[Handed]) -> dict[str, Any]:
        own = [
            (item, is_correct, handed.is_counted)
            for handed in works
            for item, is_correct, *_ in self.rows.responses.get(handed.pk, [])
            if is_correct is not None
        ]
        answers = [self._graded(*answer) for answer in own]
        n_all, n_all_right = self.rows.overall
        return {
            "answers": tuple(answer for answer in answers if answer.n_others),
            "n_others_graded": n_all - sum(is_counted for *_, is_counted in own),
            "n_others_right": n_all_right - sum(right and is_counted for _, right, is_counted in own),
        }

    def _graded(self, item: int, is_correct: bool, is_counted: bool) -> GradedAnswer:
        """A worker answers an item once in a batch: without their own answer the rest are the others'."""
        n, n_right = self.rows.graded.get(item, (0, 0))
        return GradedAnswer(is_correct, n_right - (is_counted and is_correct), n - is_counted)

    def _ratings(self, works: Iterable[Handed]) -> Iterator[RatedAlike]:
        headline = self.rows.definition.headline
        for handed in works:
            for output, criterion, score in self.rows.scores.get(handed.pk, []):
                n, total = self.rows.rated.get(output, (0, 0.0))
                n, total = (n - 1, total - score) if handed.is_counted else (n, total)
                if criterion == headline and n > 0:
                    yield RatedAlike(score, round(total / n, DIGITS))


def _share_judged(worked: Sequence[tuple[int, bool | None, float, str, bool]]) -> float:
    """Return how much of the work there was: what nobody could see takes no time."""
    n_unseen = sum(reason in UNSEEN for _, _, _, reason, _ in worked)
    return 1 - n_unseen / len(worked) if worked else 1


def _planted(batch: Batch) -> dict[int, Check]:
    """Return the planted checks among a batch's items; what can't be read is none."""
    items = Item.objects.filter(slots__questionnaire__batch=batch, payload__has_key=COLUMN)
    checks = {}
    for pk, text in items.values_list("pk", f"payload__{COLUMN}"):
        try:
            checks[pk] = read_check(str(text), definition=batch.definition)
        except CheckError:
            continue
    return checks


def _passed(checks: Mapping[int, Check], responses: QuerySet[Response]) -> dict[int, list[bool]]:
    """Return {assignment: whether each of the checks shown in it was passed}; skipped ones are left out."""
    results: dict[int, list[bool]] = {}
    shown = responses.filter(item__in=list(checks), skip_reason="").order_by("pk")
    rated = _rated_values(shown, {check.criterion for check in checks.values()})
    for pk, assignment, item, is_correct in shown.values_list("pk", "assignment_id", "item_id", "is_correct"):
        check = checks[item]
        is_passed = bool(is_correct) if check.is_answer else _is_as_wanted(check, rated.get(pk, []))
        results.setdefault(assignment, []).append(is_passed)
    return results


def _rated_values(responses: QuerySet[Response], criteria: set[str]) -> dict[int, list[tuple[str, str, str]]]:
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
