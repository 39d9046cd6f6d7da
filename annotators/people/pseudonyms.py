"""Which worker an id stands for, also after ids were purged: a purged worker is called by a keyed hash of the id.

The hash is the pseudonym that exports carry, so a purged worker keeps their name in every file, and is known again when
a marketplace or a panel names them once more. Whoever has the key and a list of ids can compute it, nobody else.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from django.db.models import Exists, QuerySet

from annotators.models import Worker
from annotators.people.names import MARK, NAMED, WHOLE, names_of, pseudonym
from statements import Hole, Statement, insert_new

BEGINNING = re.compile(rf"[0-9a-f]{{4,{WHOLE}}}")  # of a pseudonym; shorter ones are anybody's
# Anything shorter stands in ordinary words; no marketplace or panel gives ids of fewer letters.
SHORTEST_IN_TEXT = 6


def called(text: str, *, among: QuerySet[Worker]) -> list[int]:
    """Return who of some workers has a pseudonym that begins with `text`; nobody where that can't be a pseudonym.

    A pseudonym can't be turned back, so each worker's is made: 10,000 take some hundredths of a second.
    """
    if not BEGINNING.fullmatch(text.lower()):
        return []
    ids = among.order_by().values_list("pk", "worker_id").distinct()
    return [pk for pk, worker_id in ids.iterator() if pseudonym(worker_id).startswith(text.lower())]


def worker_of(worker_id: str, *, source: str) -> Worker:
    """Return the worker a source knows by this id, purged or not; a new one where there is none."""
    return _worker_of(worker_id, source=source, known=Worker.objects.all())[0]


def locked_worker_of(worker_id: str, *, source: str, is_unknown: bool = False) -> tuple[Worker, bool]:
    """Return that worker, locked: one person does one thing at a time. To be called in a transaction.

    And whether they are new: nothing can be known of them. `is_unknown`: they were not known a moment ago, by
    `is_known`, so that they are not looked for before they are written.
    """
    known = Worker.objects.select_for_update(no_key=True)
    return _worker_of(worker_id, source=source, known=known, is_unknown=is_unknown)


def is_known(*, source: Any, n_names: int) -> Exists:
    """Tell, in a query with `name_holes`, whether a source knows a worker by any of these names."""
    return Exists(Worker.objects.filter(source=source, worker_id__in=name_holes(n_names)))


def known_worker(worker_id: str, *, source: str) -> Worker | None:
    """Return the worker a source knows by this id, purged or not; None where there is none."""
    return _named(worker_id, source=source, among=Worker.objects.all())


def _worker_of(
    worker_id: str, *, source: str, known: QuerySet[Worker], is_unknown: bool = False
) -> tuple[Worker, bool]:
    if not is_unknown and (found := _named(worker_id, source=source, among=known)):
        return found, False
    newcomer = Worker(source=source, worker_id=worker_id)
    if insert_new(newcomer, unique=("source", "worker_id")):
        return newcomer, True
    return known.get(source=source, worker_id=worker_id), False  # somebody was quicker


def _named(worker_id: str, *, source: str, among: QuerySet[Worker]) -> Worker | None:
    names = names_of(worker_id)
    called = _called(len(names), is_locked=among.query.select_for_update)
    return called.first(source=source, **by_name(names))


@cache
def _called(n_names: int, *, is_locked: bool) -> Statement[Worker]:
    """Return the statement that finds a worker by any of so many names."""
    source = Hole("source", Worker._meta.get_field("source"))

    def made() -> QuerySet[Worker]:
        called = Worker.objects.filter(source=source, worker_id__in=name_holes(n_names)).order_by("pk")[:1]
        return called.select_for_update(no_key=True) if is_locked else called

    return Statement(made)


def name_holes(n_names: int) -> list[Hole]:
    """Return the holes of a statement about a worker of so many names; `by_name` fills them."""
    return [Hole(f"name_{n}", Worker._meta.get_field("worker_id")) for n in range(n_names)]


def by_name(names: Sequence[str]) -> dict[str, str]:
    """Return what goes into the `name_holes`."""
    return {f"name_{n}": name for n, name in enumerate(names)}


def without_id(text: str, *, worker: Worker, name: str = "") -> str:
    """Return a text with the worker's pseudonym, marked, for their id wherever it stands as a word of its own.

    `name`: what the worker is called once purged; without it, what follows from the id.
    """
    for written in written_ids(worker):
        if _may_stand_in(text, written):
            text = re.sub(
                rf"(?<![A-Za-z0-9]){re.escape(written)}(?![A-Za-z0-9])",
                MARK + pseudonym(name or worker.worker_id),
                text,
                flags=re.IGNORECASE,
            )
    return text


def _may_stand_in(text: str, written: str) -> bool:
    """Rule out what certainly does not: a pattern of a worker's own takes longer to compile than all else here.

    Beyond ASCII a pattern takes more letters for one another than `lower` does.
    """
    return not (text.isascii() and written.isascii()) or written.lower() in text.lower()


def written_ids(worker: Worker) -> Iterator[str]:
    """Yield how a text can name a worker by id: whole, and a panel's without the panel. Nothing for a purged one."""
    if not NAMED.fullmatch(worker.worker_id):
        ids = (worker.worker_id, worker.worker_id.partition(":")[2])
        yield from (written for written in ids if len(written) >= SHORTEST_IN_TEXT)
