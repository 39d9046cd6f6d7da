"""The course of a rehearsal by personal links: everybody has one annotation open and sends it in turn.

Who opens a page and walks away comes back at the end of the round; the annotation is still theirs until its time runs
out.
"""

import itertools
from dataclasses import dataclass, field

from surveys.rehearsal import study
from surveys.rehearsal.browser import Browser
from surveys.rehearsal.driver import MOST_ROUNDS, Driver
from surveys.rehearsal.link_visits import LinkVisit, LinkVisitor
from surveys.rehearsal.people import Kind, cast
from surveys.rehearsal.tally import Course
from surveys.rehearsal.waiting import Bar, Stalled


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
