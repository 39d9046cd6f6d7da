"""What the annotators know about their own work; the database has to know the same."""

import threading
from collections import Counter
from dataclasses import dataclass, field

from surveys.rehearsal.visits import Visit
from surveys.simulating.people import Answers, Given

Sheet = dict[str, dict[str, Given]]


@dataclass(frozen=True)
class Receipt:
    """Answers the app said it has. `sheets`: what was sent, {question: {field: value}}; of two at once one counts."""

    worker_id: str
    batch: int | str
    sheets: tuple[Sheet, ...]


@dataclass(frozen=True)
class Draft:
    """A draft the app said it has, of work that nobody ever came back to."""

    worker_id: str
    batch: int | str
    sheet: Sheet


@dataclass
class Records:
    """Everybody's receipts and drafts."""

    receipts: list[Receipt] = field(default_factory=list)
    drafts: list[Draft] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str, n: int = 1) -> None:
        with self.lock:
            self.counts[what] += n

    def keep(self, record: Receipt | Draft) -> None:
        with self.lock:
            (self.receipts if isinstance(record, Receipt) else self.drafts).append(record)


def sheet(visit: Visit, answers: dict[int, Answers]) -> Sheet:
    """Return the answers to a page's items by their questions, the fields without the item's prefix."""
    return {
        item.question: {
            name.removeprefix(item.prefix): sorted(given) if isinstance(given, list) else given
            for name, given in answers[item.position].items()
        }
        for item in visit.page.items
        if item.position in answers
    }
