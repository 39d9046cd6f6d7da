"""The course of a rehearsal: rounds in which everybody opens their HITs, then submits, then the app settles.

All pages of a round are opened before the first answer is posted. What a worker is shown depends on what was
shown and rejected before, so this order, and not the speed of the machine, decides what comes out.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

import urllib3

from surveys.models import Batch
from surveys.rehearsal import study
from surveys.rehearsal.browser import Browser
from surveys.rehearsal.control import Control
from surveys.rehearsal.people import Kind, Person, cast, stand_in
from surveys.rehearsal.schedule import Turn, turns
from surveys.rehearsal.tally import Course
from surveys.rehearsal.visits import Visit, Visitor, World
from surveys.rehearsal.waiting import Bar, Patience, Stalled, Stopwatch

MOST_ROUNDS = 30
MARGIN_SECONDS = 60


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
    visitors: dict[str, Visitor] = field(default_factory=dict)
    done: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))
    seen_pictures: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)

    def publish(self) -> None:
        """Publish the batch and wait until every HIT is there."""
        with self.stopwatch.timing("publish"):
            study.publish(self.batch)
            self._wait(study.n_published, total=self.batch.questionnaires.count(), label="Publishing")

    def run(self, *, n_workers: int) -> Course:
        """Work until every HIT has its kept assignments. Raises Stalled or UnexpectedPage."""
        self.people = cast(self._identities(n_workers), seed=self.world.seed)
        for number in itertools.count(1):
            places = study.places(self.batch)
            if not places:
                return self._course(rounds=number - 1)
            if number > MOST_ROUNDS:
                raise Stalled(f"No end after {MOST_ROUNDS} rounds. Waiting: {study.waiting(self.batch)}")
            self._round(number, places)
        raise AssertionError("unreachable")

    def _round(self, number: int, places: list[study.Place]) -> None:
        with self.stopwatch.timing("open and draft"):
            visits = list(self._open(self._plan(number, places), places, number=number))
        stayed = [visit for visit in visits if visit.person.kind != Kind.ABANDONER]
        with self.stopwatch.timing("submit"):
            self._submit(stayed, number=number)
        with self.stopwatch.timing("review"):
            self._settle(places, number=number)
        if len(stayed) < len(visits):
            duration = self.batch.assignment_duration.total_seconds()
            self.control.advance(seconds=int(duration) + MARGIN_SECONDS)

    def _plan(self, number: int, places: list[study.Place]) -> list[Turn]:
        """Draw who does what; where too few are left, call in as many more as it takes."""
        wanted: Counter[int] = Counter()
        for place in places:
            wanted[place.position] += place.n
        while True:
            planned, missing = turns(
                wanted, people=self.people, done=self.done, seed=self.world.seed, round_number=number
            )
            if not missing:
                return planned
            self._call_in(missing)

    def _call_in(self, n: int) -> None:
        identities = self._identities(len(self.people) + n)
        self.people += [stand_in(*one, seed=self.world.seed) for one in identities[len(self.people) :]]
        self.counts["stand_ins"] += n

    def _identities(self, n: int) -> list[tuple[str, str]]:
        return self.control.workers(count=n, seed=self.world.seed)

    def _open(self, planned: list[Turn], places: list[study.Place], *, number: int) -> Iterator[Visit]:
        bar = Bar(self.stream, f"Round {number}: opening")
        hits = _by_position(places)
        for n, turn in enumerate(planned, 1):
            place = next(hits[turn.position])
            visit = self._visitor(turn.person).accept(hit_type_id=place.hit_type_id, hit_id=place.hit_id)
            self.done[turn.position].add(turn.person.worker_id)
            self.counts["missing_pictures"] += visit.look(seen=self.seen_pictures)
            visit.think()
            self.counts["abandoned"] += turn.person.kind == Kind.ABANDONER
            bar.show(n, of=len(planned))
            self._check()
            yield visit

    def _submit(self, visits: list[Visit], *, number: int) -> None:
        bar = Bar(self.stream, f"Round {number}: submitting")
        for n, visit in enumerate(visits, 1):
            visit.submit()
            self.counts["submitted"] += 1
            self.counts["below"] += self._is_below(visit)
            self.counts["doubled"] += visit.is_doubled
            bar.show(n, of=len(visits))
            self._check()

    def _is_below(self, visit: Visit) -> bool:
        policy = self.batch.review_policy
        return bool(len(visit.page.items) == policy.get("out_of") and visit.n_right < policy["minimum"])

    def _settle(self, places: list[study.Place], *, number: int) -> None:
        def n_settled(batch: Batch) -> int:
            study.approve_flagged(batch)
            return study.n_settled(batch)

        study.ask_for_sync(places)
        self._wait(n_settled, total=self.counts["submitted"], label=f"Round {number}: reviewing")

    def _wait(self, count: Callable[[Batch], int], *, total: int, label: str) -> None:
        self.patience.wait(
            lambda: count(self.batch),
            total=total,
            bar=Bar(self.stream, label),
            what=lambda: study.waiting(self.batch),
        )

    def _check(self) -> None:
        self.patience.check(lambda: study.waiting(self.batch))

    def _visitor(self, person: Person) -> Visitor:
        if person.worker_id not in self.visitors:
            self.visitors[person.worker_id] = Visitor(person, Browser(self.pool), self.world)
        return self.visitors[person.worker_id]

    def _course(self, *, rounds: int) -> Course:
        return Course(
            workers=len(self.people),
            stand_ins=self.counts["stand_ins"],
            rounds=rounds,
            submitted=self.counts["submitted"],
            expected_rejections=self.counts["below"],
            abandoned=self.counts["abandoned"],
            double_submissions=self.counts["doubled"],
            missing_pictures=self.counts["missing_pictures"],
        )


def _by_position(places: list[study.Place]) -> dict[int, Iterator[study.Place]]:
    """Return, for each questionnaire, its HIT (or HITs, siblings last) once for every place."""
    lists: defaultdict[int, list[study.Place]] = defaultdict(list)
    for place in places:
        lists[place.position] += [place] * place.n
    return {position: iter(found) for position, found in lists.items()}
