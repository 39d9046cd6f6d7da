"""What comes next, and how much is left, is found without a look at each slot, and is what a look at each finds."""

import random
import re
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection, transaction
from django.db.models import Q
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotators.models import Worker
from surveys.answering.allocation import NothingLeft
from surveys.answering.arrival import CannotServe
from surveys.models import AnnotationSlot, Batch
from surveys.publishing import giving, quota
from tests.factories import open_for
from tests.link_people import answered, make_batch, make_person, run_out, skipped, take

pytestmark = pytest.mark.django_db
N_STEPS = 50
# What becomes of an annotation somebody has: handed in, skipped, left until its time is over, or handed in after that.
BY_LINK, LATE = Q(assignment__channel="link"), Q(reopened_as__isnull=False)
ENDS = [
    *[(answered, BY_LINK), (skipped, BY_LINK)],
    *[(run_out, BY_LINK & ~LATE)] * 3,
    *[(answered, BY_LINK & LATE)] * 2,
]


def step(batch: Batch, people: list[Worker], chance: random.Random) -> None:
    """Somebody is given something, claims a HIT, or is done with what they had."""
    if chance.random() < 0.1:
        with suppress(CannotServe):
            open_for(chance.choice(list(batch.questionnaires.all())))
    elif chance.random() < 0.4:
        with suppress(NothingLeft):
            take(batch, chance.choice(people))
    else:
        end, which = chance.choice(ENDS)
        given = AnnotationSlot.objects.filter(which, batch=batch, assignment__isnull=False)
        if slots := list(given.filter(assignment__saved_at=None).select_related("assignment")):
            end(chance.choice(slots).assignment)


def test_what_is_found_is_what_a_look_at_each_slot_finds() -> None:
    seen = set()
    for seed in range(3):
        chance = random.Random(seed)
        batch = make_batch(n_items=4, copies=1, items_per_hit=2, endpoint="embedded", reward=Decimal("0.10"))
        people = [make_person() for _ in range(3)]
        for _ in range(N_STEPS):
            step(batch, people, chance)
            is_full = bool(quota.without_room(batch))
            for worker in (chance.choice(people), make_person()):
                slots = list(giving.free_slots(batch, worker=worker))
                first = slots[0] if slots else None
                assert giving.next_free(batch, worker=worker) == first
                with transaction.atomic():
                    assert giving.lock_next(batch, worker=worker) == first
                assert giving.n_free(batch, worker=worker) == len({slot.questionnaire_id for slot in slots})
                seen.add("nothing" if first is None else "again" if first.assignment_id else "first")
                seen.add("late ones" if is_full else "none late")
    assert seen == {"nothing", "again", "first", "late ones", "none late"}


def test_the_last_pages_of_a_batch_are_asked_for_as_the_first_ones_are() -> None:
    """A person who came twenty times is given the next with as many statements, and no row but that one."""
    batch, ann = make_batch(n_items=30), make_person()
    asked = []
    for _ in range(20):
        with CaptureQueriesContext(connection) as queries:
            answered(take(batch, ann))
        asked.append(len(queries))
    assert len(set(asked[2:])) == 1
    AnnotationSlot.objects.filter(assignment__isnull=False).update(
        leased_until=timezone.now() - timedelta(days=1)
    )
    assert giving.n_free(batch, worker=ann) == giving.n_free(batch, worker=make_person()) == 10


def plans(batch: Batch, worker: Worker) -> list[str]:
    """Return what the database says of each statement that looks for the next slot."""
    with CaptureQueriesContext(connection) as queries:
        giving.next_free(batch, worker=worker)
    asked = [row["sql"] for row in queries if row["sql"].startswith('SELECT "surveys_annotationslot"')]
    is_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        if not is_sqlite:  # of a small table PostgreSQL reads all
            cursor.execute("SET LOCAL enable_seqscan = off")
        found = []
        for sql in asked:
            cursor.execute(f"EXPLAIN {'QUERY PLAN ' if is_sqlite else ''}{sql}".replace("%", "%%"))
            found.append("\n".join(str(row[-1]) for row in cursor.fetchall()))
    return found


def test_what_nobody_had_is_read_in_the_order_it_is_given_in() -> None:
    (first,) = plans(make_batch(n_items=9), make_person())
    assert "annotation_never_given" in first
    assert "Sort" not in first
    assert "TEMP B-TREE" not in first


def test_what_is_free_again_is_found_by_what_is_not_handed_in() -> None:
    batch, ann = make_batch(n_items=9), make_person()
    for _ in range(9):
        answered(take(batch, ann))
    _, second = plans(batch, make_person())
    assert not re.search(r"annotationslot USING (?:COVERING )?INDEX \S+ \(batch_id=", second)
    assert "annotationslot_batch" not in second
    assert "annotation_id_once_per_batch" not in second
