"""What every rehearsal has in common, however its people come: publish, count, wait until the app has settled."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

import urllib3

from surveys.models import Batch
from surveys.protocols.policy import rule_data
from surveys.rehearsal import study
from surveys.rehearsal.control import Control
from surveys.rehearsal.people import Person
from surveys.rehearsal.tally import Course
from surveys.rehearsal.visits import Visit, World
from surveys.rehearsal.waiting import Bar, Patience, Stopwatch

MOST_ROUNDS = 30


@dataclass(slots=True)
class Driver:
    """Everybody who takes part in one batch, and what they have done so far."""

    batch: Batch
    world: World
    control: Control
    pool: urllib3.PoolManager
    patience: Patience
    stopwatch: Stopwatch
    stream: TextIO
    people: list[Person] = field(default_factory=list)
    seen_pictures: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def publish(self) -> None:
        """Publish the batch and wait until every questionnaire has its HIT."""
        with self.stopwatch.timing("publish"):
            study.publish(self.batch)
            self._wait(study.n_published, total=self.batch.questionnaires.count(), label="Publishing")

    def run(self, *, n_workers: int) -> Course:
        """Work until every questionnaire has its kept assignments. Raises Stalled or UnexpectedPage."""
        raise NotImplementedError

    def count(self, visit: Visit) -> None:
        """Count what was submitted, as the workers know it themselves."""
        rule = rule_data(self.batch.review_policy, "minimum_correct")
        is_judged = not visit.skipped and len(visit.page.items) == rule.get("out_of")
        self.counts["submitted"] += 1
        self.counts["skipped"] += bool(visit.skipped)
        self.counts["below"] += bool(is_judged and visit.n_right < rule["minimum"])

    def settle(self, hit_ids: Sequence[str], *, number: int) -> None:
        """Wait until all that was submitted is decided, and replaced where it has to be."""

        def n_settled(batch: Batch) -> int:
            study.approve_flagged(batch)
            return study.n_settled(batch)

        study.ask_for_sync(hit_ids)
        self._wait(n_settled, total=self.counts["submitted"], label=f"Round {number}: reviewing")

    def check(self) -> None:
        """Raise Stalled once the time is over."""
        self.patience.check(lambda: study.waiting(self.batch))

    def course(self, *, rounds: int) -> Course:
        return Course(
            workers=len(self.people),
            stand_ins=self.counts["stand_ins"],
            rounds=rounds,
            submitted=self.counts["submitted"],
            skipped=self.counts["skipped"],
            expected_rejections=self.counts["below"],
            abandoned=self.counts["abandoned"],
            double_submissions=self.counts["doubled"],
            missing_pictures=self.counts["missing_pictures"],
        )

    def _wait(self, count: Callable[[Batch], int], *, total: int, label: str) -> None:
        self.patience.wait(
            lambda: count(self.batch),
            total=total,
            bar=Bar(self.stream, label),
            what=lambda: study.waiting(self.batch),
        )
