"""What does it cost to keep up with a marketplace while most HITs are touched by nobody?

Run `python benchmarks/sync.py [--hits 1000] [--looked-at 20] [--ticks 20]`; `FULL=1` takes 10,000 and 100,000. It
starts its own gunicorn with an empty SQLite database, and writes so many open HITs on both sides, as if they had been
published. Then, in milliseconds of CPU, the server's and the worker's: one list of all of them, and how many seconds
apart lists are; and what lists, ticks and sweeps cost a second while nothing happens. Then people hand in complete
answers, one or more on a HIT: what the sync takes for each until it is approved, and how many statements, beside a
script with a client of boto3's own that lists the assignments of as many other HITs and approves them. Linux only: it
is read from /proc.
"""

import argparse
import os
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.served_pages import DEMO, cpu_seconds, served

SIZES = (1_000,)
FULL_SIZES = (10_000, 100_000)
N_HITS = 20  # that are looked at, usually
N_TICKS = 20  # and sweeps, usually
PER_HIT = (1, 3)  # assignments that are handed in before a HIT is looked at
ITEMS = 5
CHUNK = 2_000
MOST_IDLE, MOST_TIMES = 50.0, 1.3  # the limits: milliseconds of CPU a second, and times a script


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


def open_study(survey_type: str = "evil-vqax", items: Path = DEMO / "items.csv") -> Any:
    """A batch with its type on both sides and no HIT yet; pictures lie beside the items."""
    from django.core.management import call_command

    from annotators.crowds.mturk.gateway import Gateway
    from surveys.models import Batch
    from surveys.protocols.registry import get_definition
    from surveys.publishing import hits
    from surveys.publishing.questionnaires import start_publishing
    from surveys.rehearsal.study import Material, draft_batch, import_material

    call_command("loaddata", "marketplace_demo", verbosity=0)
    material = Material(get_definition(survey_type), items, str(items.parent / "pictures"))
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
    from marketplace.money import ledger
    from surveys.models import Questionnaire

    now, kind = timezone.now(), marketplace.HITType.objects.get()
    end = now.replace(microsecond=0) + timedelta(days=30)
    ledger.deposit(kind.requester, cents=10**9, now=now)
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
        theirs = marketplace.HIT.objects.bulk_create(
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
        ledger.hold_new(theirs, now=now)


def show_items(batch: Any, *, n: int, items: int = ITEMS) -> list[Any]:
    """Let HITs that show nothing yet show items of the study, the same each, and return their questionnaires."""
    from surveys.models import QuestionnaireItem

    shared = list(batch.survey.items.order_by("position")[:items])
    shown = list(batch.questionnaires.filter(slots=None).order_by("position")[:n])
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=one, item=item, position=position)
        for one in shown
        for position, item in enumerate(shared, start=1)
    )
    related = ("batch__survey", "batch__hit_type", "hit__hit_type")
    mine = batch.questionnaires.filter(pk__in=[one.pk for one in shown])
    return list(mine.select_related(*related).order_by("position"))


def hand_in(questionnaire: Any, *, saved: bool) -> None:
    """Somebody does one assignment of a HIT: with our page, or only there, by which we learn nothing of it."""
    from django.utils import timezone

    from marketplace import models as marketplace
    from marketplace.accounts import keys
    from marketplace.engine import assignments
    from marketplace.questions import answer_documents

    hit, worker = marketplace.HIT.objects.get(hit_id=questionnaire.hit.hit_id), keys.create_worker()[0]
    accepted = assignments.accept(hit, worker=worker, now=timezone.now())
    fields = answered(questionnaire, accepted) if saved else {"answer": "yes"}
    assignments.submit(accepted, answer=answer_documents.document(fields), now=timezone.now())


def answered(questionnaire: Any, accepted: Any) -> dict[str, str]:
    """Open the assignment, answer it rightly and save it; return what its page hands in."""
    from surveys.answering.arrival import Claims, open_assignment
    from surveys.answering.collection import save_answers, task_answers
    from surveys.answering.presentation import shown_item
    from surveys.simulating.people import Kind, Person, answers_for
    from surveys.simulating.seeing import answer_of, view_of
    from surveys.simulating.working import Known

    claims = Claims(accepted.assignment_id, questionnaire.hit.hit_id, accepted.worker.worker_id, "")
    assignment, definition = (
        open_assignment(questionnaire, claims=claims).assignment,
        questionnaire.batch.definition,
    )
    person, answers = Person(accepted.worker.worker_id, "", Kind.DILIGENT, 1.0, 1.0), []
    for response in assignment.responses.select_related("item").prefetch_related("item__outputs"):
        shown = shown_item(response)
        known = Known(response.item.gold, response.item.external_id)
        given = answers_for(view_of(shown, definition), person=person, knowledge=known, seed=1)
        answers.append(answer_of(shown, given, definition=definition, seconds=30.0))
    save_answers(assignment, answers=answers, comment="")
    return {"taskAnswers": task_answers(assignment), "nonce": str(assignment.nonce)}


def list_and_approve(hit_ids: Sequence[str]) -> None:
    """What a script does that was written for MTurk, and knows nothing else."""
    import boto3
    from django.conf import settings

    known = settings.MTURK_ENDPOINTS["embedded"]
    names = ("endpoint_url", "aws_access_key_id", "aws_secret_access_key")
    client = boto3.client("mturk", region_name="us-east-1", **{name: known[name] for name in names})
    for hit_id in hit_ids:
        pages = client.get_paginator("list_assignments_for_hit").paginate(HITId=hit_id)
        for assignment in (one for page in pages for one in page["Assignments"]):
            client.approve_assignment(AssignmentId=assignment["AssignmentId"])


def _list_anew(sync: Any) -> None:
    """List without waiting until it is time."""
    from annotators.models import Listing

    Listing.objects.update(began_at=None)
    sync.list_hits("embedded")


def measure_idle(pid: int, *, n_hits: int, n_ticks: int) -> None:
    """Print what a list and a tick cost at this size."""
    from annotators.models import Listing
    from config.schedule import MOVED_EVERY
    from surveys import sync

    list_anew = partial(_list_anew, sync)
    list_anew()
    with measured(pid) as listing:
        list_anew()
    with measured(pid) as tick:
        for _ in range(n_ticks):
            sync.sync_moved()
    with measured(pid) as sweep:
        for _ in range(n_ticks):
            sync.sweep()
    pages = Listing.objects.get().n_pages
    interval = 60 * max(1, pages / 20)
    idle = listing.both / interval + tick.both / n_ticks / MOVED_EVERY + sweep.both / n_ticks / 60
    print(
        f"{n_hits:>9,}{pages:>7}{listing.both * 1000:>11.0f}{interval:>10.0f}"
        f"{tick.both / n_ticks * 1000:>10.1f}{sweep.both / n_ticks * 1000:>11.1f}{idle * 1000:>12.1f}"
        f"{'' if idle * 1000 <= MOST_IDLE else '   beyond the limit'}"
    )


@dataclass
class Statements:
    """Counts what is asked of the database of this process."""

    n: int = 0

    def __call__(self, execute: Any, *asked: Any) -> Any:
        self.n += 1
        return execute(*asked)


@dataclass(frozen=True)
class Look:
    """What an assignment took, so many on a HIT: seconds of CPU, statements, and a script's seconds."""

    per_hit: int
    ours: float
    statements: float
    bare: float

    @property
    def ratio(self) -> float:
        return self.ours / self.bare


def measure_looks(batch: Any, pid: int, *, per_hit: int, n_hits: int) -> Look:
    """Have people hand in complete answers, and take the time until all are approved, by the sync and by a script."""
    from django.db import connection

    from annotators.models import Assignment
    from surveys import sync

    shown = show_items(batch, n=2 * n_hits)
    for number, questionnaire in enumerate(shown):
        for _ in range(per_hit):
            hand_in(questionnaire, saved=number >= n_hits)
    with measured(pid) as bare:
        list_and_approve([one.hit.hit_id for one in shown[:n_hits]])
    statements = Statements()
    with measured(pid) as look, connection.execute_wrapper(statements):
        sync.sync_moved()
    n = n_hits * per_hit
    if (
        n_approved := Assignment.objects.filter(hit__questionnaire__in=shown, status="Approved").count()
    ) != n:
        raise SystemExit(f"{n_approved} of {n} assignments were approved.")
    return Look(per_hit, look.both / n, statements.n / n, bare.both / n)


def show(looks: Sequence[Look]) -> None:
    print(f"\n{'on a HIT':>9}{'ms each':>10}{'statements':>12}{'script: ms':>12}{'x':>7}")
    for look in looks:
        beyond = "" if look.ratio <= MOST_TIMES else f"   beyond {MOST_TIMES}"
        print(
            f"{look.per_hit:>9}{look.ours * 1000:>10.1f}{look.statements:>12.1f}{look.bare * 1000:>12.1f}"
            f"{look.ratio:>7.2f}{beyond}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hits", type=int, nargs="+", help="how many open HITs")
    parser.add_argument("--looked-at", type=int, default=N_HITS, help="HITs on which something is handed in")
    parser.add_argument("--ticks", type=int, default=N_TICKS, help="ticks and sweeps that a mean is taken of")
    given = parser.parse_args()
    sizes = given.hits or (FULL_SIZES if os.environ.get("FULL") else SIZES)
    n_looked_at = given.looked_at
    with served(LOG_LEVEL="ERROR") as pid:
        from config.celery import app

        app.conf.update(task_always_eager=True, task_eager_propagates=True)
        batch = open_study()
        print(f"{'open HITs':>9}{'pages':>7}{'list: ms':>11}{'every s':>10}", end="")
        print(f"{'tick: ms':>10}{'sweep: ms':>11}{'idle: ms/s':>12}")
        for n_hits in sizes:
            fill(batch, up_to=n_hits)
            measure_idle(pid, n_hits=n_hits, n_ticks=given.ticks)
        fill(batch, up_to=max(sizes) + 2 * n_looked_at * len(PER_HIT))
        show([measure_looks(batch, pid, per_hit=n, n_hits=n_looked_at) for n in PER_HIT])


if __name__ == "__main__":
    main()
