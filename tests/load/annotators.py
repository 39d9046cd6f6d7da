"""Simulated annotators: each takes work, drafts, leaves and comes back, submits once, twice or in two tabs."""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from surveys.rehearsal.browser import Answer, Browser
from surveys.rehearsal.hit_page import Element, HitPage
from surveys.rehearsal.visits import DRAFTS, Visit, World
from surveys.simulating.people import Kind, Person
from surveys.simulating.views import UnexpectedPage
from tests.always_yes import AlwaysYes
from tests.load.meter import Line, Meter
from tests.load.records import Draft, Receipt, Records, Sheet, sheet

# How often a visit takes one of these courses; the rest are worked through and submitted.
LEAVES, PAUSES, TWO_TABS = 0.06, 0.2, 0.1
MOST_PAUSED = 2
ALL_TAKEN = 403  # the page that asks to return the HIT, or says that nothing is left
TOO_EARLY = 503  # the page of a HIT that is on the marketplace, and not yet written down with us


@dataclass(frozen=True)
class Stage:
    """Where everybody works, and where their work is written down."""

    marketplace_url: str
    seed: int
    meter: Meter
    records: Records

    @property
    def world(self) -> World:
        return World(self.marketplace_url, self.seed, AlwaysYes())


@dataclass
class Annotator:
    """What all have in common; `find` gives the next visit, None if there is nothing to do now."""

    stage: Stage
    person: Person
    is_leaving: bool = True
    paused: list[tuple[Visit, Sheet]] = field(default_factory=list)
    n_begun: int = 0

    def __post_init__(self) -> None:
        self.line = Line(self.stage.meter, self.person.worker_id)
        self.browser = Browser(self.line)
        self.chance = random.Random(f"{self.stage.seed}:{self.person.worker_id}:load")

    def work(self, *, until: float) -> None:
        """Work until the clock says `until`, then finish what was left for later."""
        while time.monotonic() < until:
            if not self.step():
                time.sleep(0.5)
        self.finish()

    def finish(self) -> None:
        """Come back to everything that was left with a draft."""
        while self.paused:
            self._come_back()

    def step(self) -> bool:
        """Do one piece of work. False if there was none."""
        if self.paused and (len(self.paused) >= MOST_PAUSED or self.chance.random() < PAUSES):
            self._come_back()
            return True
        if (visit := self.find()) is None:
            return False
        self.n_begun += 1
        visit.look(seen=set())
        visit.think()
        self.stage.records.count("drafts", len(self._drafted(visit)))
        self._go_on(visit)
        return True

    def find(self) -> Visit | None:
        raise NotImplementedError

    def submit(self, visit: Visit) -> None:
        raise NotImplementedError

    def leave(self, visit: Visit) -> None:
        """Walk away for good, drafts saved."""
        self.stage.records.count("abandoned")
        self.stage.records.keep(Draft(self.person.worker_id, self.batch_of(visit), self._drafted(visit)))

    def batch_of(self, visit: Visit) -> int | str:
        raise NotImplementedError

    def reopened(self, visit: Visit, page: Answer) -> Visit:
        """Return the visit on a page that was opened again."""
        raise NotImplementedError

    def _go_on(self, visit: Visit) -> None:
        chance = self.chance.random()
        is_away = chance < (0.5 if self.person.kind == Kind.ABANDONER else LEAVES)
        if self.is_leaving and is_away:
            self.leave(visit)
        elif self.is_leaving and chance < LEAVES + PAUSES and len(self.paused) < MOST_PAUSED:
            self.paused.append((visit, self._drafted(visit)))
        elif self.person.kind == Kind.DOUBLE_SUBMITTER or chance > 1 - TWO_TABS:
            self._submit_twice_at_once(visit)
        else:
            self._submit(visit)

    def _come_back(self) -> None:
        self._resume(*self.paused.pop(0))

    def _resume(self, visit: Visit, drafted: Sheet) -> None:
        page = visit.visitor.to_the_work(visit.url)
        again = self.reopened(visit, page)
        again.answers = visit.answers
        if (found := shown(page.root, again, drafted)) != drafted:
            raise UnexpectedPage(f"The draft {drafted} is shown as {found}.")
        self.stage.records.count("drafts reopened")
        self._submit(again)

    def _submit(self, visit: Visit) -> None:
        with self.line.allowing(422):  # something was forgotten, and is there the second time
            self.submit(visit)
        self._got_receipt(visit, sheet(visit, visit.answers))

    def _submit_twice_at_once(self, visit: Visit) -> None:
        """Two tabs, or two clicks: the same work with different answers in the same moment."""
        others = {item.position: _first_options(item) for item in visit.page.items}
        bodies = [list(_fields(visit.page, answers)) for answers in (visit.answers, others)]
        with ThreadPoolExecutor(2) as tabs, self.line.allowing(403, 409):
            answered = list(tabs.map(visit.post, bodies))
        self.told_twice(visit, answered)
        self.stage.records.count("submitted twice at once")
        self._got_receipt(visit, sheet(visit, visit.answers), sheet(visit, others))

    def told_twice(self, visit: Visit, answered: list[Answer]) -> None:
        raise NotImplementedError

    def _got_receipt(self, visit: Visit, *sheets: Sheet) -> None:
        self.stage.records.count("submitted")
        self.stage.records.keep(Receipt(self.person.worker_id, self.batch_of(visit), sheets))

    def _drafted(self, visit: Visit) -> Sheet:
        first = {item.position for item in visit.page.items[:DRAFTS]}
        return sheet(visit, {n: answers for n, answers in visit.answers.items() if n in first})


def shown(root: Element, visit: Visit, drafted: Sheet) -> Sheet:
    """Return what a reopened page shows for the fields of a draft."""
    ticked: dict[str, list[str]] = {}
    for control in root.find("form", id="hit").all("input"):
        if {"checked", "name"} <= control.attributes.keys():
            ticked.setdefault(control.attributes["name"], []).append(control.attributes["value"])
    return {
        item.question: {
            name: sorted(ticked.get(item.prefix + name, []))
            if isinstance(given, list)
            else "".join(ticked.get(item.prefix + name, []))
            for name, given in drafted[item.question].items()
        }
        for item in visit.page.items
        if item.question in drafted
    }


def _fields(page: HitPage, answers: dict[int, dict[str, str | list[str]]]) -> list[tuple[str, str]]:
    given = [pair for item in page.items for pair in answers[item.position].items()]
    many = [(name, one) for name, value in given for one in ([value] if isinstance(value, str) else value)]
    return [*page.form.hidden.items(), *many]


def _first_options(item) -> dict[str, str | list[str]]:
    return {
        group.name: [group.options[0].value] if group.is_checklist else group.options[0].value
        for group in item.all_groups()
    }
