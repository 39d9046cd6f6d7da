"""A load test's course: everybody works for a while, then all that was begun is brought to its end."""

import itertools
import random
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db import connection

from surveys.simulating.people import Kind, cast, stand_in
from tests.load.annotators import Annotator, Stage
from tests.load.hit_annotators import HitAnnotator
from tests.load.link_annotators import LinkAnnotator
from tests.load.meter import Meter
from tests.load.records import Records
from tests.load.site import LoadSite
from tests.load.study import PROVIDER, Study

HOUR = 3600
SEED = 11
PATIENCE_SECONDS = 180  # in which nothing at all changes
SHIFT = 8  # people


class NoEnd(AssertionError):
    """The batches do not complete."""


@dataclass
class Rush:
    """`n` annotators, half of them on the marketplace, for `seconds`; then until all batches are complete.

    A machine so slow that nobody on the marketplace has earned anything by then is given as long once more, and again.
    """

    site: LoadSite
    n: int
    seconds: float
    meter: Meter = field(default_factory=Meter)
    records: Records = field(default_factory=Records)
    last_change: tuple[float, list[str]] = (0.0, [])

    def __post_init__(self) -> None:
        self.chance = random.Random(SEED)
        self.stage = Stage(self.site.marketplace_url, SEED, self.meter, self.records)
        identities = self.site.control.workers(count=self.n // 2, seed=SEED)
        on_market = [HitAnnotator(self.stage, person) for person in cast(identities, seed=SEED)]
        names = [(_name(number), "") for number in range(self.n - self.n // 2)]
        by_link = [LinkAnnotator(self.stage, person) for person in cast(names, seed=SEED)]
        self.study = Study(self.site.app_url, per_hit=max(2, min(5, self.n // 4)), people=by_link)
        self.people: list[Annotator] = [*on_market, *by_link]

    def run(self) -> None:
        """Raises NoEnd. What went wrong on the way is in `meter.errors`."""
        self.study.publish()
        patience = time.monotonic() + self.seconds + PATIENCE_SECONDS
        self._work()
        while not self._is_anything_earned():
            if time.monotonic() > patience:
                raise NoEnd("Nobody earns anything on the marketplace.")
            self._work()
        self._let_time_pass()
        self._clear_up()
        self._come_back_late()

    def _work(self) -> None:
        until = time.monotonic() + self.seconds
        self._at_once(self.people, lambda one: one.work(until=until), meanwhile=lambda: self._supply(until))

    def _is_anything_earned(self) -> bool:
        """Tell whether somebody on the marketplace has submitted what will be approved: it alone is charged for."""
        diligent = {
            one.person.worker_id
            for one in self.people
            if isinstance(one, HitAnnotator) and one.person.kind is Kind.DILIGENT
        }
        return any(receipt.worker_id in diligent for receipt in self.records.receipts)

    def _supply(self, until: float) -> None:
        while time.monotonic() < until:
            self.study.keep_supplied(n_people=self.n)
            self.site.supervisor.check()
            time.sleep(0.5)

    def _let_time_pass(self) -> None:
        """What was abandoned runs out, on the marketplace and with us."""
        self.site.control.advance(seconds=HOUR + 60)
        self.study.run_out()

    def _clear_up(self) -> None:
        """Nobody leaves any more; a few at a time do what is left, new ones where those have seen everything."""
        for one in self.people:
            one.is_leaving = False
        for helpers in self._shifts():
            while self.study.unfinished() and not self.study.n_free():
                self._look_on()
            if not self.study.unfinished():
                return
            self._at_once(helpers, _work_off)

    def _shifts(self) -> Iterator[list[Annotator]]:
        """Yield those who were there, some at a time, then one new person after the other."""
        everybody = self.chance.sample(self.people, k=len(self.people))
        yield from (everybody[first : first + SHIFT] for first in range(0, len(everybody), SHIFT))
        for number in itertools.count():
            yield [self._call_in(number)]

    def _come_back_late(self) -> None:
        """What was left and given to others is finished by its authors after all."""
        late = [one for one in self.people if isinstance(one, LinkAnnotator) and one.left]
        self._at_once(late, LinkAnnotator.come_back_late)
        while self.study.undecided() or self.study.is_reopening() or self.study.is_calling():
            self._look_on()

    def _look_on(self) -> None:
        """Wait a little. Raises NoEnd where nothing has changed for long."""
        self.site.supervisor.check()
        now, state = time.monotonic(), self.study.waiting()
        if state != self.last_change[1]:
            self.last_change = now, state
        if now > self.last_change[0] + PATIENCE_SECONDS:
            raise NoEnd(f"Nothing changes any more: {state}")
        time.sleep(0.5)

    def _call_in(self, number: int) -> Annotator:
        """One more diligent person by link."""
        late = LinkAnnotator(self.stage, stand_in(f"ALATE{number:02}", "", seed=SEED), is_leaving=False)
        self.people.append(late)
        for batch in self.study.unfinished():
            self.study.welcome(batch, late)
        return late

    def _at_once(
        self,
        people: Sequence[Annotator],
        work: Callable[[Annotator], None],
        *,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        threads = [threading.Thread(target=self._guarded, args=(one, work)) for one in people]
        for thread in threads:
            thread.start()
        try:
            meanwhile()
        finally:
            for thread in threads:
                thread.join()

    def _guarded(self, one: Annotator, work: Callable[[Annotator], None]) -> None:
        try:
            work(one)
        except Exception:
            self.meter.complain(f"{one.person.worker_id}: {traceback.format_exc()[-2500:]}")
        finally:
            connection.close()


def _work_off(one: Annotator) -> None:
    while one.step():
        pass
    one.finish()


def _name(number: int) -> str:
    return f"{PROVIDER}:P{number:03}" if number % 2 else f"ALINK{number:03}"
