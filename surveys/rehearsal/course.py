"""The course of a rehearsal on the marketplace: everybody opens their HITs, then submits, then the app settles.

All pages of a round are opened before the first answer is posted. What a worker is shown depends on what was
shown and rejected before, so this order, and not the speed of the machine, decides what comes out.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from surveys.rehearsal import study
from surveys.rehearsal.browser import Browser
from surveys.rehearsal.driver import MOST_ROUNDS, Driver
from surveys.rehearsal.hit_visits import HitVisit, HitVisitor
from surveys.rehearsal.people import Kind, Person, cast, stand_in
from surveys.rehearsal.schedule import Turn, turns
from surveys.rehearsal.tally import Course
from surveys.rehearsal.waiting import Bar, Stalled

MARGIN_SECONDS = 60


@dataclass(slots=True)
class HitDriver(Driver):
    """The workers of the marketplace."""

    visitors: dict[str, HitVisitor] = field(default_factory=dict)
    done: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def run(self, *, n_workers: int) -> Course:
        """Work until every HIT has its kept assignments. Raises Stalled or UnexpectedPage."""
        self.people = cast(self._identities(n_workers), seed=self.world.seed)
        for number in itertools.count(1):
            places = study.places(self.batch)
            if not places:
                return self.course(rounds=number - 1)
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
            self.settle([place.hit_id for place in places], number=number)
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

    def _open(self, planned: list[Turn], places: list[study.Place], *, number: int) -> Iterator[HitVisit]:
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
            self.check()
            yield visit

    def _submit(self, visits: list[HitVisit], *, number: int) -> None:
        bar = Bar(self.stream, f"Round {number}: submitting")
        for n, visit in enumerate(visits, 1):
            visit.submit()
            self.count(visit)
            self.counts["doubled"] += visit.is_doubled
            bar.show(n, of=len(visits))
            self.check()

    def _visitor(self, person: Person) -> HitVisitor:
        if person.worker_id not in self.visitors:
            self.visitors[person.worker_id] = HitVisitor(person, Browser(self.pool), self.world)
        return self.visitors[person.worker_id]


def _by_position(places: list[study.Place]) -> dict[int, Iterator[study.Place]]:
    """Return, for each questionnaire, its HIT (or HITs, siblings last) once for every place."""
    lists: defaultdict[int, list[study.Place]] = defaultdict(list)
    for place in places:
        lists[place.position] += [place] * place.n
    return {position: iter(found) for position, found in lists.items()}
