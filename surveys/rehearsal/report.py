"""What came out, counted from the database; the invariants it must keep; and the report of both.

JSON keys: `hits`, `assignments` (submitted), `rejected`, `skipped`, `replaced`, `kept_per_hit_min`, `kept_per_hit_max`,
`below_threshold_kept`, `cost` and `marketplace_cost` (dollars, fees included: by our ledger and by the
marketplace's), `files` (paths); beside them `seed`, `survey`, `workers`, `stand_ins`, `rounds`, `sibling_hits`,
`abandoned`, `double_submissions`, `missing_pictures`, `scores` ({selection: {system: mean}}), `seconds` ({stage:
seconds}) and `problems` (sentences; empty if all is well).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Coalesce

from annotators.models import Assignment, Call
from surveys.models import Batch, Replacement, does_not_count
from surveys.protocols.policy import rule_data
from surveys.rehearsal.study import IN, SKIPPED, assignments
from surveys.results.files.layouts import batch_report

Status = Assignment.Status
PAYING = (Call.Operation.APPROVE, Call.Operation.OVERTURN)


@dataclass(frozen=True, slots=True)
class Course:
    """What the workers did, as they know it themselves."""

    workers: int
    stand_ins: int
    rounds: int
    submitted: int
    skipped: int
    expected_rejections: int
    abandoned: int
    double_submissions: int
    missing_pictures: int


@dataclass(frozen=True, slots=True)
class Tally:
    """The app's own counts. A HIT's sibling counts as the same HIT: it shows the same items.

    Kept is what counts: not rejected, skipped or left out. `replaced` counts what was opened again for any of these.
    """

    hits: int
    sibling_hits: int
    assignments: int
    rejected: int
    skipped: int
    replaced: int
    wanted_per_hit: int
    kept_per_hit: tuple[int, ...]
    below_threshold_kept: int
    cost: Decimal
    scores: dict[str, dict[str, float | None]] = field(default_factory=dict)


def count(batch: Batch) -> Tally:
    submitted = assignments(batch).filter(status__in=IN)
    kept = submitted.exclude(status=Status.REJECTED)
    originals = batch.questionnaires.filter(sibling_of=None)
    return Tally(
        hits=originals.exclude(hit=None).count(),
        sibling_hits=batch.questionnaires.exclude(sibling_of=None).count(),
        assignments=submitted.count(),
        rejected=submitted.filter(status=Status.REJECTED).count(),
        skipped=submitted.filter(SKIPPED).count(),
        replaced=_replaced(batch),
        wanted_per_hit=batch.assignments_per_hit,
        kept_per_hit=_kept_per_hit(batch),
        below_threshold_kept=_below_threshold(batch, kept),
        cost=_charged(batch),
        scores=_scores(batch),
    )


def _replaced(batch: Batch) -> int:
    """Count what was opened again: on the marketplace by a replacement, by link by another slot."""
    if not batch.has_market:
        reopened = Assignment.objects.filter(annotation_slot__reopened_as__isnull=False)
        return reopened.filter(does_not_count(), annotation_slot__batch=batch).count()
    opened = Replacement.objects.filter(opened_at__isnull=False)
    return opened.filter(replaces__hit__questionnaire__batch=batch).count()


def _kept_per_hit(batch: Batch) -> tuple[int, ...]:
    handed_in = assignments(batch).filter(status__in=[Status.SUBMITTED, Status.APPROVED])
    kept = handed_in.exclude(does_not_count())
    root = Coalesce("hit__questionnaire__sibling_of", "hit__questionnaire")
    counts = dict(kept.annotate(root=root).values_list("root").annotate(n=Count("pk")).order_by())
    return tuple(
        counts.get(pk, 0) for pk in batch.questionnaires.filter(sibling_of=None).values_list("pk", flat=True)
    )


def _below_threshold(batch: Batch, kept: QuerySet[Assignment]) -> int:
    """Grade again, from the stored answers and the gold answers alone."""
    rule = rule_data(batch.review_policy, "minimum_correct")
    minimum, out_of = (rule.get(name, 0) for name in ("minimum", "out_of"))
    is_first = Q(responses__is_repeat=False)
    is_right = is_first & Q(responses__answer=F("responses__item__gold"))
    graded = kept.annotate(n=Count("responses", filter=is_first), n_right=Count("responses", filter=is_right))
    return graded.filter(n=out_of, n_right__lt=minimum).count()


def _charged(batch: Batch) -> Decimal:
    paid = Call.objects.filter(
        operation__in=PAYING, state=Call.State.DONE, assignment__hit__questionnaire__batch=batch
    )
    return sum(paid.values_list("amount", flat=True), Decimal("0.00"))


def _scores(batch: Batch) -> dict[str, dict[str, float | None]]:
    """Return {selection: {system: mean rating on the headline criterion}}."""
    summary = batch_report(batch).summary
    return {
        selection.name: {system.system: system.mean_of(summary.headline) for system in selection.systems}
        for selection in summary.selections
    }


def broken(tally: Tally, course: Course, *, marketplace_cost: Decimal) -> Iterator[str]:
    """Yield a sentence for each invariant that does not hold."""
    wanted = tally.wanted_per_hit
    if wrong := [n for n in tally.kept_per_hit if n != wanted]:
        yield f"{len(wrong)} HITs have not exactly {wanted} kept assignments, but {min(wrong)} to {max(wrong)}."
    if tally.below_threshold_kept:
        yield f"{tally.below_threshold_kept} kept assignments have fewer right answers than the rule asks for."
    if tally.replaced != tally.rejected + tally.skipped:
        gone = f"{tally.rejected} assignments were rejected and {tally.skipped} skipped"
        yield f"{gone}, but {tally.replaced} replaced."
    if tally.skipped != course.skipped:
        yield f"{course.skipped} items were skipped, but {tally.skipped} skips are in the database."
    if tally.rejected != course.expected_rejections:
        yield (
            f"{tally.rejected} assignments were rejected; by the item file it should be {course.expected_rejections}."
        )
    if tally.assignments != course.submitted:
        yield f"{course.submitted} assignments were submitted, but {tally.assignments} are in the database."
    if tally.cost != marketplace_cost:
        yield f"Our ledger says ${tally.cost} was charged, the marketplace's ${marketplace_cost}."


@dataclass(frozen=True, slots=True)
class Report:
    survey: str
    seed: int
    tally: Tally
    course: Course
    marketplace_cost: Decimal
    files: list[Path]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        return list(broken(self.tally, self.course, marketplace_cost=self.marketplace_cost))

    def as_data(self) -> dict[str, Any]:
        tally, course = self.tally, self.course
        return {
            "survey": self.survey,
            "seed": self.seed,
            "hits": tally.hits,
            "assignments": tally.assignments,
            "rejected": tally.rejected,
            "skipped": tally.skipped,
            "replaced": tally.replaced,
            "kept_per_hit_min": min(tally.kept_per_hit, default=0),
            "kept_per_hit_max": max(tally.kept_per_hit, default=0),
            "below_threshold_kept": tally.below_threshold_kept,
            "cost": float(tally.cost),
            "marketplace_cost": float(self.marketplace_cost),
            "files": [str(path) for path in self.files],
            "workers": course.workers,
            "stand_ins": course.stand_ins,
            "rounds": course.rounds,
            "sibling_hits": tally.sibling_hits,
            "abandoned": course.abandoned,
            "double_submissions": course.double_submissions,
            "missing_pictures": course.missing_pictures,
            "scores": tally.scores,
            "seconds": self.seconds,
            "problems": self.problems,
        }

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.as_data(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def text(self) -> str:
        """Return the one-page summary."""
        data = self.as_data()
        facts = [
            ("HITs", f"{data['hits']}{_siblings(self.tally.sibling_hits)}"),
            ("Assignments", f"{data['assignments']} submitted, {data['abandoned']} abandoned"),
            (
                "Rejected",
                f"{data['rejected']}, skipped {data['skipped']}, replaced {data['replaced']}",
            ),
            ("Kept per HIT", f"{data['kept_per_hit_min']} to {data['kept_per_hit_max']}"),
            ("Kept below the rule", f"{data['below_threshold_kept']}"),
            ("Cost", f"${self.tally.cost} by our ledger, ${self.marketplace_cost} by the marketplace's"),
            ("Workers", f"{data['workers']}, of them {data['stand_ins']} called in late"),
            ("Submitted twice", f"{data['double_submissions']}, nothing changed"),
            ("Pictures missing", f"{data['missing_pictures']}"),
            ("Rounds", f"{data['rounds']}"),
            ("Seconds", ", ".join(f"{name} {spent:.0f}" for name, spent in self.seconds.items())),
        ]
        lines = [f"Rehearsal of {self.survey}, seed {self.seed}", ""]
        lines += [f"{name:<20} {value}" for name, value in facts]
        lines += ["", *self._score_lines(), "", "Files", *(f"  {path}" for path in self.files)]
        return "\n".join(lines)

    def _score_lines(self) -> list[str]:
        systems = list(next(iter(self.tally.scores.values()), {}))
        lines = [f"{'Mean score':<20} " + " ".join(f"{system:>14}" for system in systems)]
        for name, means in self.tally.scores.items():
            shown = (f"{mean:>14.4f}" if mean is not None else f"{'-':>14}" for mean in means.values())
            lines.append(f"{name:<20} " + " ".join(shown))
        return lines


def _siblings(n: int) -> str:
    return f" and {n} sibling{'s' if n > 1 else ''} for replacements" if n else ""
