"""Evidence about all assignments of a batch, or about those of one worker, by the same queries."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from surveys.models import Batch
from surveys.protocols.policy_reading import RULES
from surveys.protocols.rules import Evidence
from surveys.protocols.worker_record import GradedAnswer, RatedAlike, Record
from surveys.review.evidence_rows import Handed, Rows

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
        found = {}
        for handed in self.rows.assignments:
            known = self._known(handed, n_before=n_before[handed.worker])
            found[handed.pk] = Evidence(worker=records[handed.worker], **known)
            n_before[handed.worker] += 1
        return found

    def _known(self, handed: Handed, *, n_before: int) -> dict[str, Any]:
        responses = self.rows.responses.get(handed.pk, [])
        known: dict[str, Any] = {
            "is_saved": handed.is_saved,
            "is_correct": tuple(is_correct for _, is_correct, *_ in responses),
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
        responses = self.rows.responses.get(handed.pk, [])
        sizes = [self.rows.sizes[item] for item, _, _, skip_reason in responses if not skip_reason]
        return {
            "seconds": sum(seconds for _, _, seconds, _ in responses) or handed.work_seconds,
            "n_words": sum(size.n_words for size in sizes),
            "n_pictures": sum(size.n_pictures for size in sizes),
            "n_inputs": sum(size.n_inputs for size in sizes),
            "median_seconds": self.rows.median_seconds,
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
