"""Does a page cost more the more its visitor has done, or the more there is to do? Each beside itself, in one run.

Run `python benchmarks/regulars.py [--hits 120] [--annotations 2000] [--database URL]`. Somebody does so many HITs of
the demo study one after the other: each step's CPU in their last tenth is compared with that in their second. The
median of what the steps became dearer by is the machine's, which may be slower now; more than that is the page's own.
Then two people with personal links open and answer in turn annotations of a batch of as many, and of one of so many.
Server's CPU, PostgreSQL's own counted where it runs on this machine, without a network.
"""

import argparse
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.journey import STEPS, database_seconds, journey, open_market, sign_in
from benchmarks.served_pages import Sitting, add_items, fill, prepared

QUESTIONS = 5  # items of a HIT of the demo study
MOST = 1.5  # times as much: of a page that looks at more than it shows
WARM_UP, ANSWERED = 3, 12
FORM = "application/x-www-form-urlencoded"
Spent = dict[str, list[float]]


class Costs:
    """Milliseconds of CPU by step, in the order they were spent in."""

    def __init__(self) -> None:
        self.milliseconds: Spent = defaultdict(list)

    def take(self, step: str, request: Callable[[], Any]) -> Any:
        before, started = database_seconds(), time.process_time()
        answer = request()
        spent = time.process_time() - started + database_seconds() - before
        self.milliseconds[step].append(spent * 1000)
        return answer


def of_one_worker(n_hits: int) -> tuple[Spent, Spent]:
    """Let one worker do all HITs there are. Return what the second tenth of them took, and the last."""
    market, costs, tenth = open_market(n_items=n_hits * QUESTIONS), Costs(), max(n_hits // 10, 1)
    sign_in(market.worker)
    for n in range(n_hits):
        if n % tenth == 0:
            analyze()
        journey(market, costs, is_new=False)
    spent = {step: costs.milliseconds[step] for step in STEPS}
    return (
        {step: all_of[tenth : 2 * tenth] for step, all_of in spent.items()},
        {step: all_of[-tenth:] for step, all_of in spent.items()},
    )


def analyze() -> None:
    """Let PostgreSQL look at its tables, as autovacuum does each minute: all that is measured here takes less."""
    from django.db import connection

    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def by_link(n_annotations: int) -> Iterator[Spent]:
    """Let somebody with a personal link answer one annotation of so many after the other, and yield what that took."""
    from django.test import Client

    from surveys.models import Survey
    from surveys.publishing import questionnaires
    from surveys.rehearsal import study
    from surveys.sync import publish_batch

    survey = Survey.objects.get()
    add_items(survey, up_to=n_annotations * QUESTIONS)
    batch = study.draft_batch(survey, seed=n_annotations, by_link=True)
    questionnaires.start_publishing(batch)
    publish_batch(batch.pk)
    analyze()
    (address,) = study.invite(batch, names=["Ann"]).values()
    client, costs = Client(headers={"host": urlsplit(address).netloc}), Costs()
    answer = client.post(urlsplit(address).path)
    while True:
        path = urlsplit(answer["Location"]).path
        page = costs.take("open", partial(client.get, path))
        sitting = Sitting(urljoin(address, path), html=page.content.decode())
        fill(sitting)
        answer = costs.take(
            "answer", partial(client.post, path, urlencode(sitting.fields), content_type=FORM)
        )
        yield costs.milliseconds


def in_turn(*sides: Iterator[Spent], n: int) -> list[Spent]:
    """Let each of them do so much, in turn, after a few to warm up."""
    for _ in range(n):
        spent = [next(side) for side in sides]
    return [{step: took[min(WARM_UP, n - 1) :] for step, took in side.items()} for side in spent]


def dearer(title: str, *, less: Spent, more: Spent) -> dict[str, float]:
    """Print each step of the two beside each other, and return what the second ones cost of the first."""
    print(f"\n{title}")
    found = {}
    for step in less:
        one, other = statistics.median(less[step]), statistics.median(more[step])
        found[step] = other / one
        print(f"{step:16}{one:8.1f} ms{other:8.1f} ms{found[step]:8.2f}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hits", type=int, default=120, help="that one worker does")
    parser.add_argument("--annotations", type=int, default=2_000, help="of the larger batch by link")
    parser.add_argument("--database", default="", help="URL of an empty database (default: SQLite)")
    given = parser.parse_args()
    with prepared(DATABASE_URL=given.database, MARKETPLACE_CONTROL_TOKEN=""):
        second, last = of_one_worker(given.hits)
        steps = dearer(
            f"One worker's second tenth of {given.hits:,} HITs, and the last", less=second, more=last
        )
        by_hits = max(steps.values()) / statistics.median(steps.values())
        smaller, larger = in_turn(
            by_link(given.hits), by_link(given.annotations), n=min(given.hits - 1, WARM_UP + ANSWERED)
        )
        title = f"By link, of {given.hits:,} annotations and of {given.annotations:,}"
        by_annotations = max(dearer(title, less=smaller, more=larger).values())
    print(f"\nThe dearest step by {by_hits:.2f} and {by_annotations:.2f} (at most {MOST} and {MOST})")
    return int(max(by_hits, by_annotations) > MOST)


if __name__ == "__main__":
    sys.exit(main())
