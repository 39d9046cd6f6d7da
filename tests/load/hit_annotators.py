"""Simulated workers of the marketplace, who find HITs in its list, return some and let others run out."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import urljoin

from surveys.rehearsal.browser import Answer
from surveys.rehearsal.hit_page import Element, Form, headline, read_hit_page, read_last_form
from surveys.rehearsal.visits import HitVisit, HitVisitor, Visit
from surveys.simulating.views import UnexpectedPage
from tests.load.annotators import ALL_TAKEN, TOO_EARLY, Annotator

MOMENT_SECONDS = 30


@dataclass
class HitAnnotator(Annotator):
    """A worker of the marketplace, who finds HITs in its list."""

    turned_away: set[str] = field(default_factory=set)
    works: dict[str, Answer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.visitor = HitVisitor(self.person, self.browser, self.stage.world)

    def find(self) -> Visit | None:
        self.visitor._sign_in()
        types = [
            element.attributes["data-hit-type"]
            for element in self._see("/").root.all("li")
            if "data-hit-type" in element.attributes
        ]
        self.chance.shuffle(types)
        return next((visit for hit_type in types if (visit := self._accepted(hit_type))), None)

    def _accepted(self, hit_type: str) -> Visit | None:
        preview = self._see(f"/projects/{hit_type}/tasks")
        form = _form(preview.root, "accept")
        if form is None or form.hidden["hitId"] in self.turned_away:
            return None
        work = self.browser.post_form(urljoin(preview.url, form.action), form.hidden.items())
        if _form(work.root, "return") is None:
            return None  # somebody was quicker
        return self._opened(work)

    def _opened(self, work: Answer) -> Visit | None:
        url = work.root.find("iframe", id="task").attributes["src"]
        with self.line.allowing(ALL_TAKEN, TOO_EARLY):
            answer = self._not_too_early(url)
        if answer.status == ALL_TAKEN:
            self.turned_away.add(work.url.partition("?")[0].rpartition("/")[2])
            self.stage.records.count("turned away")
            self._return(work)
            return None
        self.works[url] = work
        return HitVisit(visitor=self.visitor, url=url, page=read_hit_page(answer.root))

    def _not_too_early(self, url: str) -> Answer:
        """Open a HIT again while its page says that it is just being published, as that page asks."""
        until = time.monotonic() + MOMENT_SECONDS
        while (answer := self.visitor.to_the_work(url)).status == TOO_EARLY and time.monotonic() < until:
            self.stage.records.count("opened too early")
            time.sleep(0.5)
        if answer.status == TOO_EARLY:
            raise UnexpectedPage(f"Not published for {MOMENT_SECONDS} seconds: {url}")
        return answer

    def leave(self, visit: Visit) -> None:
        """Half of them return the HIT, the others let its time run out."""
        super().leave(visit)
        if self.chance.random() < 0.5:
            self._return(self.works[visit.url])
            self.stage.records.count("returned")

    def _return(self, work: Answer) -> None:
        form = _form(work.root, "return")
        self.browser.post_form(urljoin(work.url, form.action), form.hidden.items())

    def reopened(self, visit: Visit, page: Answer) -> Visit:
        return HitVisit(visitor=self.visitor, url=visit.url, page=read_hit_page(page.root))

    def submit(self, visit: HitVisit) -> None:
        form = read_last_form(visit.send().root)
        visit._tell(form, expected=200)

    def told_twice(self, visit: HitVisit, answered: list[Answer]) -> None:
        forms = [read_last_form(answer.root) for answer in answered]
        if forms[0] != forms[1]:
            raise UnexpectedPage(f"Two receipts for one work: {forms}")
        with ThreadPoolExecutor(2) as tabs, self.line.allowing(400):
            told = list(tabs.map(lambda f: self.browser.post_form(f.action, f.hidden.items()), forms))
        if sorted(answer.status for answer in told) != [200, 400]:
            said = [(answer.status, headline(answer.root)) for answer in told]
            raise UnexpectedPage(f"The marketplace was told twice: {said}")

    def batch_of(self, visit: Visit) -> str:
        """The questionnaire's id, from the frame's address."""
        return visit.url.partition("/hits/")[2].partition("/")[0]

    def _see(self, path: str) -> Answer:
        return self.browser.get(self.stage.marketplace_url + path)


def _form(root: Element, name: str) -> Form | None:
    found = root.find("form", id=name)
    return Form.of(found) if found else None
