"""What does one HIT cost the server, from the list to the receipt? CPU and statements, beside Turkle in the same run.

Run `python benchmarks/journey.py [--rounds 10] [--hits 60 1000] [--peer PYTHON] [--database URL]`. PYTHON is one that
has Turkle; `make bench` makes an environment with it. Requests go through the whole of Django in this process,
without a network, so that its CPU is the server's and, where that is SQLite, the database's; PostgreSQL's own is
added where it runs on this machine, and Turkle is asked on PostgreSQL too then, in a database beside the given one.
Both ask five questions with two explanations each, of workers who are signed in, and give out the oldest open HIT.
Only ratios of one run mean anything: on a shared machine the same work takes half as long again in some minutes, so
Turkle is asked before and in the middle.
"""

import argparse
import html
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.served_pages import Sitting, fill, frames, prepared

WARM_UP = 2
EACH = 9  # assignments of a HIT; three HITs have a page in the app
PLACES = 3 * EACH
CHUNK = 2_000
STEPS = ("list", "preview", "accept", "work", "frame", "submit", "externalSubmit")
PEER = Path(__file__).with_name("journey_turkle.py")


@dataclass
class Costs:
    """Milliseconds of CPU by step, a draft apart, and the statements of one journey."""

    milliseconds: dict[str, list[float]] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)

    def take(self, step: str, request: Callable[[], Any]) -> Any:
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        if not self.statements.get(step):  # the first journey only warms up
            with CaptureQueriesContext(connection) as captured:
                answer = request()
            self.statements[step] = len(captured)
            return answer
        before, started = database_seconds(), time.process_time()
        answer = request()
        spent = time.process_time() - started + database_seconds() - before
        self.milliseconds.setdefault(step, []).append(spent * 1000)
        return answer

    def median(self, step: str) -> float:
        return statistics.median(self.milliseconds[step])

    @property
    def journey(self) -> float:
        return sum(map(self.median, STEPS))


def database_seconds() -> float:
    """Return the CPU time of the server process of this connection, where it is PostgreSQL's on this machine.

    SQLite's is this process's. Source: kernel.org/doc/html/latest/scheduler/sched-stats.html, /proc/<pid>/schedstat.
    """
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


@dataclass
class Market:
    """The marketplace's HIT type, and two browsers: one for each site."""

    type_id: str
    worker: Any
    frame: Any


def open_market(*, n_items: int = 0) -> Market:
    """Put the demo study's HITs on offer."""
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client
    from django.utils import timezone

    from annotators.models import HIT
    from marketplace.engine import hits
    from marketplace.engine.hits import Offer, TypeValues
    from marketplace.models import HIT as OFFERED
    from marketplace.models import Requester
    from marketplace.money import ledger

    call_command("loaddata", "marketplace_demo", verbosity=0)
    now, requester = timezone.now(), Requester.objects.earliest("pk")
    ledger.deposit(requester, cents=10**9, now=now)
    texts = {"title": "Look", "description": "Look at a picture.", "keywords": "", "requirements": []}
    seconds = {"duration_seconds": 3_600, "auto_approval_seconds": 2_592_000}
    kind = hits.hit_type_for(requester, values=TypeValues(reward_cents=38, **texts, **seconds), now=now)
    urls = frames(n_items)
    HIT.objects.update(max_assignments=EACH)
    for url, hit in zip(urls, HIT.objects.order_by("pk"), strict=True):
        offer = Offer(
            question=question(url.partition("?")[0]), max_assignments=EACH, lifetime=timedelta(days=1)
        )
        OFFERED.objects.filter(pk=hits.publish(kind, offer=offer, now=now).pk).update(hit_id=hit.hit_id)
    app, market = (urlsplit(url).netloc for url in (settings.APP_URL, settings.MARKETPLACE_URL))
    return Market(kind.type_id, Client(headers={"host": market}), Client(headers={"host": app}))


def question(url: str) -> str:
    from marketplace.questions.documents import SCHEMAS

    shown = f"<ExternalURL>{url}</ExternalURL><FrameHeight>0</FrameHeight>"
    return f'<ExternalQuestion xmlns="{SCHEMAS}/2006-07-14/ExternalQuestion.xsd">{shown}</ExternalQuestion>'


def add_hits(type_id: str, *, up_to: int) -> None:
    """Offer more HITs, which nobody comes to: those with pages are older."""
    from django.utils import timezone

    from marketplace.models import HIT, HITType

    kind, now = HITType.objects.get(type_id=type_id), timezone.now()
    common = {"question": question("https://lab.example/"), "max_assignments": EACH, "held_slots": EACH}
    there = HIT.objects.count()
    HITType.objects.count_open(kind.pk, by=max(0, up_to - there))
    for start in range(there, up_to, CHUNK):
        HIT.objects.bulk_create(
            HIT(
                hit_id=f"3OPEN{n}",
                hit_type=kind,
                requester_id=kind.requester_id,
                created_at=now,
                expires_at=now + timedelta(days=1),
                **common,
            )
            for n in range(start, min(start + CHUNK, up_to))
        )


def journey(market: Market, costs: Any, *, is_new: bool = True) -> None:
    """One worker, a new one by default, takes one HIT. Raises SystemExit where a page is not what it should be."""
    from surveys.rehearsal.hit_page import parse, read_last_form

    if is_new:
        sign_in(market.worker)
    kind = f"/projects/{market.type_id}/tasks"
    costs.take("list", lambda: market.worker.get("/"))
    costs.take("preview", lambda: market.worker.get(kind))
    accepted = costs.take("accept", lambda: market.worker.post(f"{kind}/accept_random"))
    work = costs.take("work", lambda: market.worker.get(accepted["Location"]))
    url = html.unescape(re.findall(r'<iframe[^>]*src="([^"]+)"', work.content.decode())[0])
    page = costs.take("frame", lambda: market.frame.get(_path(url)))
    sitting = Sitting(url, html=page.content.decode())
    fill(sitting)
    post = market.frame.post
    draft = costs.take(
        "draft", lambda: post(_path(sitting.draft_url), sitting.draft, content_type="application/json")
    )
    body, form_type = urlencode(sitting.fields), "application/x-www-form-urlencoded"
    receipt = costs.take("submit", lambda: post(_path(sitting.submit_url), body, content_type=form_type))
    form = read_last_form(parse(receipt.content.decode()))
    handed_in = costs.take("externalSubmit", lambda: market.worker.post("/mturk/externalSubmit", form.hidden))
    if {page.status_code, draft.status_code, receipt.status_code, handed_in.status_code} != {200}:
        raise SystemExit("A page of the journey was refused.")


def sign_in(client: Any) -> None:
    from django.conf import settings

    client.cookies.clear()
    client.cookies[settings.SESSION_COOKIE_NAME] = new_session()


def new_session() -> str:
    """Return the key of a session in which a new worker is signed in on the marketplace."""
    from importlib import import_module

    from django.conf import settings

    from marketplace.accounts import keys
    from marketplace.accounts.sessions import SESSION_KEY

    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session[SESSION_KEY] = keys.create_worker()[0].pk
    session.create()
    return str(session.session_key)


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def peers_of(python: str, *, rounds: int, hits: int, database: str) -> dict[str, float]:
    """Return the milliseconds of CPU of Turkle's journey by where it was; none where there is no Turkle."""
    if not python or not Path(python).exists():
        return {}
    command = [python, str(PEER), str(rounds), str(hits)]
    found = {"SQLite": _milliseconds(command)}
    if database:
        with _beside(database) as url:
            found["PostgreSQL"] = _milliseconds([*command, url])
    return found


def _milliseconds(command: list[str]) -> float:
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


@contextmanager
def _beside(database: str) -> Iterator[str]:
    """Make an empty database on the same server, whose user has to be allowed to, and drop it afterwards."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE turkle_journey")
        try:
            yield urlsplit(database)._replace(path="/turkle_journey").geturl()
        finally:
            cursor.execute("DROP DATABASE turkle_journey")


def show(costs: Costs, *, hits: int, peers: Sequence[dict[str, float]]) -> None:
    print(f"\n{hits:,} open HITs: {costs.journey:.0f} ms of CPU a journey")
    for where in peers[0]:
        peer = statistics.mean(one[where] for one in peers)
        print(f"{costs.journey / peer:.2f} x Turkle's {peer:.0f} ms on {where}")
    if not peers[0]:
        print("no Turkle to compare with")
    for step in (*STEPS, "draft"):
        print(f"{step:16}{costs.median(step):8.1f} ms{costs.statements[step]:5} statements")
    print(f"{'journey':16}{costs.journey:8.1f} ms{sum(costs.statements[s] for s in STEPS):5} statements")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=10, help="journeys at each size (default: 10)")
    parser.add_argument("--hits", type=int, nargs="+", default=[60, 1_000], help="open HITs")
    parser.add_argument("--peer", default="", help="a Python that has Turkle")
    parser.add_argument("--database", default="", help="URL of an empty database (default: SQLite)")
    given = parser.parse_args()
    if (given.rounds + 1) * len(given.hits) > PLACES:
        parser.error(f"There are places for {PLACES} journeys, and one at each size warms up.")
    with prepared(DATABASE_URL=given.database, MARKETPLACE_CONTROL_TOKEN=""):
        market = open_market()
        for hits in sorted(given.hits):
            add_hits(market.type_id, up_to=hits)
            costs, peers = Costs(), []
            for n_rounds in (given.rounds // 2, given.rounds - given.rounds // 2 + 1):
                peers.append(peers_of(given.peer, rounds=given.rounds, hits=hits, database=given.database))
                for _ in range(n_rounds):
                    journey(market, costs)
            show(costs, hits=hits, peers=peers)


if __name__ == "__main__":
    main()
