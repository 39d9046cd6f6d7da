"""What does it take to publish a batch, beside a script that creates as many HITs with a client of boto3's own?

Run `python benchmarks/publishing.py [--hits 500]`; `FULL=1` takes 10,000. It starts its own gunicorn with an empty
SQLite database and publishes one item to a HIT: first the request, which freezes the batch, then the worker's tasks,
one by one in this process: the HITs are written down, and each is created on the marketplace over HTTP. CPU is the
server's and the worker's; how many HITs a second of it makes says what one core can do. It ends with status 1 where the
request takes more than 0.5 s of CPU or a second of CPU makes fewer than 30 HITs. Linux only.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.served_pages import served
from benchmarks.sync import measured

N_HITS, FULL_HITS = 500, 10_000

LONGEST_REQUEST, LEAST_HITS = 0.5, 30.0  # seconds, and HITs in a second of CPU


def draft(*, n_hits: int) -> Any:
    """Return a draft of so many HITs, and give its requester the money for them."""
    from django.core.management import call_command
    from django.utils import timezone

    from benchmarks.served_pages import DEMO, add_items
    from marketplace.models import Requester
    from marketplace.money import ledger
    from surveys.models import Batch
    from surveys.protocols.policy import NEVER
    from surveys.protocols.registry import get_definition
    from surveys.rehearsal.study import Material, draft_batch, import_material

    call_command("loaddata", "marketplace_demo", verbosity=0)
    ledger.deposit(Requester.objects.get(), cents=10**9, now=timezone.now())
    survey = import_material(
        Material(get_definition("evil-vqax"), DEMO / "items.csv", str(DEMO / "pictures"))
    )
    add_items(survey, up_to=n_hits)
    batch = draft_batch(survey, seed=1)
    Batch.objects.filter(pk=batch.pk).update(items_per_hit=1, review_policy=NEVER)
    batch.refresh_from_db()
    return batch


def create_with_a_script(*, n: int) -> None:
    """Create so many HITs as a script does that was written for MTurk."""
    import boto3
    from django.conf import settings

    from annotators.crowds.mturk.questions import external_question

    known = settings.MTURK_ENDPOINTS["embedded"]
    names = ("endpoint_url", "aws_access_key_id", "aws_secret_access_key")
    client = boto3.client("mturk", region_name="us-east-1", **{name: known[name] for name in names})
    kind = client.create_hit_type(
        Title="Look", Description="Look.", Reward="0.38", AssignmentDurationInSeconds=3600
    )
    for number in range(n):
        client.create_hit_with_hit_type(
            HITTypeId=kind["HITTypeId"],
            Question=external_question(f"{settings.APP_URL}/hits/{number}/"),
            LifetimeInSeconds=86_400,
            MaxAssignments=5,
            UniqueRequestToken=f"script-{number}",
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hits", type=int, default=FULL_HITS if os.environ.get("FULL") else N_HITS)
    n_hits = max(15, parser.parse_args().hits)
    with served(LOG_LEVEL="ERROR") as pid:
        from config.celery import app
        from surveys import sync
        from surveys.models import Batch
        from surveys.publishing import questionnaires

        app.conf.update(task_always_eager=True, task_eager_propagates=True)
        batch = draft(n_hits=n_hits)
        n_script = min(n_hits, N_HITS)
        with measured(pid) as script:
            create_with_a_script(n=n_script)
        began = time.perf_counter()
        with measured(pid) as request:
            questionnaires.begin(batch)
        waited = time.perf_counter() - began
        with measured(pid) as writing:
            questionnaires.write(batch)
        with measured(pid) as creating:
            while Batch.objects.get(pk=batch.pk).status == Batch.Status.PUBLISHING:
                sync.publish_batch(batch.pk)
    per_second, by_script = n_hits / creating.both, n_script / script.both
    print(f"{n_hits:,} HITs")
    print(f"request     {request.here:8.2f} s CPU, {waited:.2f} s waited   (limit {LONGEST_REQUEST} s)")
    print(f"written     {writing.here:8.2f} s CPU")
    print(
        f"created     {creating.both / n_hits * 1000:8.1f} ms each, {per_second:.0f} in a second of CPU",
        end="",
    )
    print(f"   (limit {LEAST_HITS:.0f}; of it the worker's {creating.here / n_hits * 1000:.1f} ms)")
    print(f"by a script {1000 / by_script:8.1f} ms each, {by_script:.0f} in a second of CPU", end="")
    print(f"   x {by_script / per_second:.2f}")
    return int(request.here > LONGEST_REQUEST or per_second < LEAST_HITS)


if __name__ == "__main__":
    sys.exit(main())
