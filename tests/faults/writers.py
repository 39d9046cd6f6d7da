"""People who write all the time, in a process of its own on a SQLite database, for the tests of power loss.

Each line it prints is a promise: what it names was acknowledged to somebody before. `python -m tests.faults.writers
seed` makes the study, `... N` is writer N, for whom part of the people work.
"""

import json
import os
import random
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import django
from django.conf import settings

N_ITEMS, N_PEOPLE, N_WRITERS = 40, 90, 3
DEPOSIT_CENTS, REWARD_CENTS = 10_000_000, 38
PEOPLE = Path(os.environ.get("ASSENT_DATA_DIR", "")) / "people.json"


def seed() -> None:
    """Make a study by link in which everybody may do every item, and a HIT without end on the marketplace."""
    from marketplace import clock
    from marketplace.engine import hits
    from marketplace.models import Requester
    from marketplace.money import ledger
    from tests.link_people import invite_one
    from tests.link_study import make_link_batch, path_of
    from tests.marketplace.question_documents import QUESTION

    batch = make_link_batch(n_items=N_ITEMS, assignments=N_PEOPLE)
    paths = [path_of(invite_one(batch, f"Person {n}")) for n in range(N_PEOPLE)]
    PEOPLE.write_text(json.dumps(paths))
    now, requester = clock.now(), Requester.objects.create(name="Lab")
    ledger.deposit(requester, cents=DEPOSIT_CENTS, now=now)
    values = hits.TypeValues(
        title="Look",
        description="At a picture.",
        keywords="",
        reward_cents=REWARD_CENTS,
        duration_seconds=3600,
        auto_approval_seconds=3600,
        requirements=[],
    )
    kind = hits.hit_type_for(requester, values=values, now=now)
    offer = hits.Offer(question=QUESTION, max_assignments=100_000, lifetime=timedelta(days=1))
    hits.publish(kind, offer=offer, now=now)


def write(number: int) -> None:
    """Answer one item after another, and pay somebody between two of them, until the process is ended."""
    from django.db import connection

    with connection.cursor() as cursor:
        for name in ("journal_mode", "synchronous"):
            cursor.execute(f"PRAGMA {name}")
            promise("pragma", name, cursor.fetchone()[0])
    people = json.loads(PEOPLE.read_text())[number::N_WRITERS]
    chance = random.Random(number)
    for path in people:
        for _ in range(N_ITEMS):
            answer(path, chance)
            pay()
    promise("out of people")


def answer(path: str, chance: random.Random) -> None:
    from tests.link_study import SCORES, Visitor

    visitor = Visitor(path)
    place = visitor.start()["Location"].split("?")[0]
    number = int(place.rstrip("/").rpartition("/")[2])
    scores = {key: str(chance.randint(1, 5)) for key in SCORES}
    receipt = visitor.answer(number, **scores)
    assert receipt.status_code == 303, (receipt.status_code, receipt.content[:500])
    promise("answer", number, json.dumps(scores, sort_keys=True))


def pay() -> None:
    from marketplace import clock
    from marketplace.accounts import keys
    from marketplace.engine import assignments
    from marketplace.models import HIT, Assignment

    worker, _ = keys.create_worker()
    row = assignments.accept(HIT.objects.get(), worker=worker, now=clock.now())
    assignments.submit(row, answer="<a/>", now=clock.now())
    assignments.approve(Assignment.objects.get(pk=row.pk), feedback=None, now=clock.now())
    promise("paid", row.assignment_id)


def promise(*words: Any) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def main(job: str) -> Any:
    django.setup()
    from django.test.utils import override_settings, setup_test_environment

    setup_test_environment()
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(STORAGES={**settings.STORAGES, "staticfiles": plain}):
        return seed() if job == "seed" else write(int(job))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main(sys.argv[1])
