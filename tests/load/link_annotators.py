"""Simulated people who come by a personal link or from a panel; who left may come back late."""

from dataclasses import dataclass, field

from surveys.rehearsal.browser import Answer
from surveys.rehearsal.hit_page import headline, read_hit_page
from surveys.rehearsal.visits import LinkVisit, LinkVisitor, Visit
from surveys.simulating.views import UnexpectedPage
from tests.load.annotators import ALL_TAKEN, Annotator
from tests.load.records import Sheet


@dataclass
class LinkAnnotator(Annotator):
    """Somebody with a personal link, or sent by a panel, to each batch. `addresses`: {batch: address}."""

    addresses: dict[int, str] = field(default_factory=dict)
    left: dict[int, tuple[Visit, Sheet]] = field(default_factory=dict)

    def find(self) -> Visit | None:
        for batch, address in list(self.addresses.items()):
            if batch not in self.left and (visit := self._started(batch, address)):
                return visit
        return None

    def leave(self, visit: Visit) -> None:
        super().leave(visit)
        self.left[self.batch_of(visit)] = visit, self._drafted(visit)

    def come_back_late(self) -> None:
        """Finish what was left although its time ran out: the draft is there, and the answers are taken."""
        for visit, drafted in self.left.values():
            self._resume(visit, drafted)
            self.stage.records.count("late")

    def _started(self, batch: int, address: str) -> Visit | None:
        with self.line.allowing(ALL_TAKEN):  # the batch was completed in this moment
            if "/panel/" in address:
                landed = self.browser.get(address)
                if landed.status == ALL_TAKEN:
                    return None
                address = self.addresses[batch] = landed.url
            visitor = LinkVisitor(self.person, self.browser, self.stage.world, address)
            visit = visitor.start()
        paused = {other.url for other, _ in self.paused}
        return None if visit is None or visit.url.partition("?")[0] in paused else visit

    def reopened(self, visit: Visit, page: Answer) -> Visit:
        return LinkVisit(visitor=visit.visitor, url=page.url, page=read_hit_page(page.root))

    def submit(self, visit: LinkVisit) -> None:
        answer = visit.send()
        if answer.status != 200:
            raise UnexpectedPage(f"The answers were not taken: {answer.status} {headline(answer.root)}")

    def told_twice(self, visit: LinkVisit, answered: list[Answer]) -> None:
        statuses = sorted(answer.status for answer in answered)
        if statuses not in ([200, 200], [200, 403], [200, 409]):  # 403: the first is decided already
            raise UnexpectedPage(f"A page sent twice was answered {statuses}.")

    def batch_of(self, visit: Visit) -> int:
        token = visit.url.partition("/links/")[2].partition("/")[0]
        return next(batch for batch, address in self.addresses.items() if f"/links/{token}/" in address)
