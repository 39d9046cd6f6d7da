"""The course of a rehearsal: everybody works, the app settles, and so on round by round until nothing is wanted.

On the marketplace all pages of a round are opened before the first answer is posted. What a worker is shown depends on
what was shown and rejected before, so this order, and not the speed of the machine, decides what comes out. By personal
link everybody has one annotation open and sends it in turn; who walks away comes back at the end of the round, as the
annotation is still theirs until its time runs out.
"""

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO

import urllib3

from surveys.models import Batch
from surveys.protocols.policy import rule_data
from surveys.rehearsal import study
from surveys.rehearsal.browser import Browser
from surveys.rehearsal.report import Course
from surveys.rehearsal.stage import Control
from surveys.rehearsal.visits import HitVisit, HitVisitor, LinkVisit, LinkVisitor, Visit, World
from surveys.rehearsal.waiting import Bar, Patience, Stalled, Stopwatch
from surveys.simulating.people import Kind, Person, cast, stand_in


@dataclass(frozen=True, slots=True)
class Turn:
    """One worker's go at the HITs of one questionnaire."""

    position: int
    person: Person


def turns(
    wanted: Mapping[int, int],
    *,
    people: Sequence[Person],
    done: Mapping[int, Collection[str]],
    seed: int,
    round_number: int,
) -> tuple[list[Turn], int]:
    """Return the turns of one round, and how many more workers it would take to fill every place.

    `wanted`: {questionnaire position: places to fill}. `done`: {position: ids of workers who had their go at it}. The
    active get more of the work; nobody gets the same questionnaire twice.
    """
    planned: list[Turn] = []
    missing = 0
    for position in sorted(wanted):
        free = [person for person in people if person.worker_id not in done.get(position, ())]
        draw = random.Random(f"{seed}:round:{round_number}:{position}")  # noqa: S311 (a simulation, not a secret)
        chosen = _weighted(free, n=wanted[position], draw=draw)
        planned.extend(Turn(position, person) for person in chosen)
        missing = max(missing, wanted[position] - len(chosen))
    return planned, missing


def _weighted(people: Sequence[Person], *, n: int, draw: random.Random) -> list[Person]:
    """Draw without replacement, by weight: the n smallest of exponential times with those rates.

    Source: Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006.
    """
    times = {person.worker_id: draw.expovariate(person.activity) for person in people}
    return sorted(people, key=lambda person: times[person.worker_id])[:n]


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


@dataclass(slots=True)
class LinkDriver(Driver):
    """People with personal links."""

    visitors: list[LinkVisitor] = field(default_factory=list)

    def run(self, *, n_workers: int) -> Course:
        """Work until nobody is given anything any more. Raises Stalled or UnexpectedPage."""
        addresses = study.invite(self.batch, names=[f"Person {n}" for n in range(1, n_workers + 1)])
        self.people = cast([(name, "") for name in addresses], seed=self.world.seed)
        self.visitors = [
            LinkVisitor(person, Browser(self.pool), self.world, addresses[person.worker_id])
            for person in self.people
        ]
        for number in itertools.count(1):
            if number > MOST_ROUNDS:
                raise Stalled(f"No end after {MOST_ROUNDS} rounds. Waiting: {study.waiting(self.batch)}")
            if not self._round(number):
                return self.course(rounds=number - 1)
        raise AssertionError("unreachable")

    def _round(self, number: int) -> bool:
        """Let everybody do what there is for them. False if there was nothing for anybody."""
        with self.stopwatch.timing("work"):
            visits = [visit for visitor in self.visitors if (visit := visitor.start())]
            is_any = bool(visits)
            while visits:
                visits = self._turn(visits, number=number)
        with self.stopwatch.timing("review"):
            self.settle(study.hit_ids(self.batch), number=number)
        return is_any

    def _turn(self, visits: list[LinkVisit], *, number: int) -> list[LinkVisit]:
        bar = Bar(self.stream, f"Round {number}: annotation")
        leaving_last = sorted(visits, key=lambda visit: visit.person.kind == Kind.ABANDONER)
        following = []
        for n, visit in enumerate(leaving_last, 1):
            following.append(self._work(visit))
            bar.show(n, of=len(visits))
            self.check()
        return [visit for visit in following if visit]

    def _work(self, visit: LinkVisit) -> LinkVisit | None:
        self.counts["missing_pictures"] += visit.look(seen=self.seen_pictures)
        visit.think()
        self.count(visit)
        following = visit.submit()
        self.counts["doubled"] += visit.is_doubled
        return following
