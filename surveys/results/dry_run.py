"""What a policy would do to what a batch has: whom it hits, what that costs, how the scores move. Writes nothing."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pandas as pd
from django.db.models import Exists, OuterRef

from annotators.models import Assignment
from surveys.models import Batch
from surveys.protocols.policy import Policy
from surveys.protocols.rules import APPROVE, REJECT, Flag, Verdict
from surveys.publishing import budget
from surveys.results.frames.base import Frame
from surveys.results.frames.database import read_batch
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.results.statistics.numbers import Selection
from surveys.results.statistics.summary import summarise
from surveys.review import decisions

Status = Assignment.Status
NOW, WITHOUT_REJECTED, WITHOUT_FLAGGED = "used now", "without rejections", "without flagged"


@dataclass(frozen=True, slots=True)
class Hit:
    """An assignment the policy would flag, or propose to reject. `is_open`: nobody has decided about it for good.

    `hit` is the number of its HIT in the batch; `reason` says why, to the worker if it is a rejection.
    """

    pk: int
    assignment_id: str
    hit: int
    worker: str
    flags: tuple[Flag, ...]
    reason: str
    is_rejected: bool
    is_open: bool


@dataclass(frozen=True, slots=True)
class WorkerHit:
    """A worker of whom something would be flagged: how much of how many assignments, by which rules."""

    worker: str
    n: int
    n_flagged: int
    n_rejected: int
    kinds: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class DryRun:
    """`each` is what one assignment costs. Of those it would reject, only the open ones can still go unpaid."""

    n: int
    n_open: int
    hits: tuple[Hit, ...]
    workers: tuple[WorkerHit, ...]
    kinds: tuple[tuple[str, int], ...]
    each: Decimal
    scores: dict[str, Selection]

    @property
    def rejected(self) -> list[Hit]:
        return [hit for hit in self.hits if hit.is_rejected]

    @property
    def n_unpaid(self) -> int:
        return sum(hit.is_open for hit in self.rejected)

    @property
    def n_decided_rejected(self) -> int:
        return len(self.rejected) - self.n_unpaid

    @property
    def unpaid(self) -> Decimal:
        """What those would not be paid who are rejected; their replacements cost as much again."""
        return self.n_unpaid * self.each


def dry_run(batch: Batch, *, policy: Policy, scores: bool = True) -> DryRun:
    """Judge by `policy` what was handed in of a batch. Without `scores` means are not worked out."""
    said = decisions.decide_all(batch, policy=policy)
    rows = list(_assignments(batch))
    names = Pseudonyms()
    hits = [_hit(row, said[row.pk], worker=names(row.worker.worker_id)) for row in rows if _is_hit(row, said)]
    n_of_worker = Counter(names(row.worker.worker_id) for row in rows)
    return DryRun(
        n=len(rows),
        n_open=sum(map(_is_open, rows)),
        hits=tuple(hits),
        workers=tuple(_workers(hits, n_of_worker)),
        kinds=_kinds(hits),
        each=budget.one_more(batch),
        scores=_scores(batch, hits) if scores and rows else {},
    )


def _assignments(batch: Batch) -> Iterable[Assignment]:
    handed_in = Assignment.objects.filter(
        hit__questionnaire__batch=batch, status__in=[Status.SUBMITTED, Status.APPROVED, Status.REJECTED]
    )
    by_rule_alone = Exists(decisions.by_rule_alone().filter(assignment=OuterRef("pk")))
    related = handed_in.select_related("worker", "decision", "hit__questionnaire")
    return related.annotate(is_by_rule_alone=by_rule_alone).order_by("submitted_at", "pk")


def _is_hit(row: Assignment, said: dict[int, Verdict]) -> bool:
    return row.pk in said and said[row.pk].verdict != APPROVE


def _is_open(row: Any) -> bool:
    return row.status == Status.SUBMITTED and (not hasattr(row, "decision") or row.is_by_rule_alone)


def _hit(row: Assignment, said: Verdict, *, worker: str) -> Hit:
    return Hit(
        pk=row.pk,
        assignment_id=row.assignment_id,
        hit=row.hit.questionnaire.position,
        worker=worker,
        flags=said.flags,
        reason=said.reason,
        is_rejected=said.verdict == REJECT,
        is_open=_is_open(row),
    )


def _workers(hits: Iterable[Hit], n_of_worker: Counter[str]) -> list[WorkerHit]:
    by_worker: dict[str, list[Hit]] = defaultdict(list)
    for hit in hits:
        by_worker[hit.worker].append(hit)
    found = [
        WorkerHit(worker, n_of_worker[worker], len(of), sum(hit.is_rejected for hit in of), _kinds(of))
        for worker, of in by_worker.items()
    ]
    return sorted(found, key=lambda one: (-one.n_rejected, -one.n_flagged, one.worker))


def _kinds(hits: Iterable[Hit]) -> tuple[tuple[str, int], ...]:
    """Return how many assignments each rule noticed, the busiest rule first."""
    return tuple(Counter(flag.kind for hit in hits for flag in hit.flags).most_common())


def _scores(batch: Batch, hits: list[Hit]) -> dict[str, Selection]:
    """Return means of what is used now, and of that without what would be rejected, and without all that is flagged."""
    frame = read_batch(batch)
    left_out: dict[str, frozenset[tuple[str, str]]] = {
        NOW: frozenset(),
        WITHOUT_REJECTED: frozenset((hit.assignment_id, hit.worker) for hit in hits if hit.is_rejected),
        WITHOUT_FLAGGED: frozenset((hit.assignment_id, hit.worker) for hit in hits),
    }
    found = {out: summarise(used_without(frame, out)).kept for out in set(left_out.values())}
    return {name: found[out] for name, out in left_out.items()}


def used_without(frame: Frame, assignments: Collection[tuple[str, str]]) -> Frame:
    """Return the kept rows alone, as a frame, without those of some assignments: (AssignmentId, worker).

    Whether answers are right is left out too: what is asked of such a frame are the means of all its rows.
    """
    kept = frame.kept
    names = pd.MultiIndex.from_frame(kept[["assignment_id", "worker"]])
    rows = kept[~names.isin(list(assignments))] if assignments else kept
    ungraded = pd.array([pd.NA] * len(rows), dtype="boolean")
    return replace(frame, responses=rows.assign(answer_correct=ungraded))
