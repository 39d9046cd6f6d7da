"""What does it cost to keep up with a marketplace while most HITs are touched by nobody?

Run `python benchmarks/sync.py [--hits 1000]`; `FULL=1` takes 10,000 and 100,000. It starts its own gunicorn with an
empty SQLite database, and writes so many open HITs on both sides, as if they had been published. Then, in milliseconds
of CPU, the server's and the worker's: one list of all of them, and how many seconds apart lists are; what lists and
ticks cost a second while nothing happens; and submissions past our pages, each on a HIT of its own, from the list that
tells of them until they are judged, beside a bare list of one HIT's assignments. Linux only: it is read from /proc.
"""

import argparse
import os
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.served_pages import cpu_seconds, served

SIZES = (1_000,)
FULL_SIZES = (10_000, 100_000)
N_SUBMITTED = 20
CHUNK = 2_000
MOVED_EVERY = 10  # seconds, as config/schedule.py has it


@dataclass
class Cost:
    """CPU seconds of this process and of the marketplace's."""

    here: float = 0.0
    there: float = 0.0

    @property
    def both(self) -> float:
        return self.here + self.there


@contextmanager
def measured(pid: int) -> Iterator[Cost]:
    cost, here, there = Cost(), time.process_time(), cpu_seconds(pid)
    yield cost
    cost.here, cost.there = time.process_time() - here, cpu_seconds(pid) - there


def open_study() -> Any:
    """A batch with its type on both sides and no HIT yet."""
    from django.core.management import call_command

    from annotators.crowds.mturk.gateway import Gateway
    from benchmarks.served_pages import DEMO
    from surveys.models import Batch
    from surveys.protocols.registry import get_definition
    from surveys.publishing import hits
    from surveys.publishing.questionnaires import start_publishing
    from surveys.rehearsal.study import Material, draft_batch, import_material

    call_command("loaddata", "marketplace_demo", verbosity=0)
    material = Material(get_definition("evil-vqax"), DEMO / "items.csv", str(DEMO / "pictures"))
    batch = draft_batch(import_material(material), seed=1)
    start_publishing(batch)
    hits.register_hit_type(batch, gateway=Gateway(batch.endpoint))
    batch.questionnaires.all().delete()
    Batch.objects.update(status=Batch.Status.OPEN)
    return batch


def fill(batch: Any, *, up_to: int) -> None:
    """Write HITs for three on both sides until there are so many."""
    from django.utils import timezone

    from annotators.models import HIT
    from benchmarks.marketplace import question
    from marketplace import models as marketplace
    from surveys.models import Questionnaire

    now, kind = timezone.now(), marketplace.HITType.objects.get()
    end = now.replace(microsecond=0) + timedelta(days=30)
    marketplace.HITType.objects.count_open(kind.pk, by=max(0, up_to - HIT.objects.count()))
    for start in range(HIT.objects.count(), up_to, CHUNK):
        numbers = range(start, min(start + CHUNK, up_to))
        common = {"created_at": now - timedelta(hours=1), "expires_at": end, "max_assignments": 3}
        ours = HIT.objects.bulk_create(
            HIT(hit_type=batch.hit_type, hit_id=f"3BENCH{n}", synced_at=now, **common) for n in numbers
        )
        Questionnaire.objects.bulk_create(
            Questionnaire(pk=uuid.uuid4(), batch=batch, hit=hit, position=n, target_assignments=3)
            for n, hit in zip(numbers, ours, strict=True)
        )
        marketplace.HIT.objects.bulk_create(
            marketplace.HIT(
                hit_type=kind,
                requester=kind.requester,
                hit_id=f"3BENCH{n}",
                question=question(),
                held_slots=3,
                **common,
            )
            for n in numbers
        )
    from marketplace.money import ledger

    ledger.deposit(kind.requester, cents=10**9, now=now)


def submit(hit_id: str) -> None:
    """Somebody hands in work past our pages, one of three on this HIT."""
    from django.utils import timezone

    from marketplace import models as marketplace
    from marketplace.accounts import keys
    from marketplace.engine import assignments
    from marketplace.questions import answer_documents

    hit, worker = marketplace.HIT.objects.get(hit_id=hit_id), keys.create_worker()[0]
    accepted = assignments.accept(hit, worker=worker, now=timezone.now())
    answer = answer_documents.document({"answer": "yes"})
    assignments.submit(accepted, answer=answer, now=timezone.now())


def _list_anew(sync: Any) -> None:
    """List without waiting until it is time."""
    from annotators.models import Listing

    Listing.objects.update(began_at=None)
    sync.list_hits("embedded")


def measure(pid: int, *, n_hits: int) -> None:
    """Print what a list, a tick and a submission cost at this size."""
    from annotators.crowds.mturk.gateway import Gateway
    from annotators.models import HIT, Assignment, Listing
    from surveys import sync

    gateway, listed = Gateway("embedded"), [HIT.objects.order_by("pk")[n] for n in range(N_SUBMITTED)]
    list_anew = partial(_list_anew, sync)
    list_anew()
    with measured(pid) as listing:
        list_anew()
    with measured(pid) as tick:
        for _ in range(N_SUBMITTED):
            sync.sync_moved()
    with measured(pid) as bare:
        for hit in listed:
            gateway.list_assignments(hit.hit_id)
    before = Assignment.objects.count()
    for hit in listed:
        submit(hit.hit_id)
    with measured(pid) as finding:
        list_anew()
    found = Assignment.objects.count() - before
    pages = Listing.objects.get().n_pages
    interval = 60 * max(1, pages / 20)
    idle = listing.both / interval + tick.both / N_SUBMITTED / MOVED_EVERY
    each, alone = (finding.both - listing.both) / N_SUBMITTED, bare.both / N_SUBMITTED
    print(
        f"{n_hits:>9,}{pages:>7}{listing.both * 1000:>11.0f}{interval:>10.0f}{idle * 1000:>12.1f}"
        f"{found:>7}{each * 1000:>12.1f}{alone * 1000:>11.1f}{each / alone:>8.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hits", type=int, nargs="+", help="how many open HITs")
    sizes = parser.parse_args().hits or (FULL_SIZES if os.environ.get("FULL") else SIZES)
    with served(LOG_LEVEL="ERROR") as pid:
        from config.celery import app

        app.conf.update(task_always_eager=True, task_eager_propagates=True)
        batch = open_study()
        print(f"{'open HITs':>9}{'pages':>7}{'list: ms':>11}{'every s':>10}{'idle: ms/s':>12}", end="")
        print(f"{'found':>7}{'each: ms':>12}{'bare: ms':>11}{'x':>8}")
        for n_hits in sizes:
            fill(batch, up_to=n_hits)
            measure(pid, n_hits=n_hits)


if __name__ == "__main__":
    main()
