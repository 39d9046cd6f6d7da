"""Does the marketplace stay quick when it fills? Its busiest requests beside a bare Django JSON view of one gunicorn.

Run `python benchmarks/marketplace.py [--rounds 100] [--sizes 1000 100000] [--database URL]`. It starts its own
gunicorn with an empty SQLite database, or with the empty database at URL, and fills one HIT with so many assignments;
then times reading them by the API (signed beforehand), and accepting and submitting on the site. `x bare` is the
median beside the bare view, measured in turn with the others.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import urllib3

from benchmarks.served_pages import Timing, served, timed

SIZES = (1_000, 100_000)
SPARE = 1_000_000
CSRF = "b" * 32
TARGET = "MTurkRequesterServiceV20170117.ListAssignmentsForHIT"
# Of every twenty assignments.
STATUSES = ["Approved"] * 15 + ["Submitted"] * 3 + ["Rejected", "Returned"]


@dataclass(frozen=True)
class Market:
    """One requester's HIT, and where it is found."""

    url: str
    app_url: str
    key: tuple[str, str]
    type_id: str
    hit_id: str


def open_market() -> Market:
    """Publish one HIT with room for everything."""
    from django.conf import settings
    from django.utils import timezone

    from marketplace.accounts import keys
    from marketplace.engine import hits
    from marketplace.engine.hits import Offer, TypeValues
    from marketplace.models import Requester
    from marketplace.money import ledger

    now, requester = timezone.now(), Requester.objects.create(name="Benchmark")
    ledger.deposit(requester, cents=10**10, now=now)
    values = {"title": "Look", "description": "Look at a picture.", "keywords": "", "requirements": []}
    seconds = {"duration_seconds": 86_400, "auto_approval_seconds": 2_592_000}
    kind = hits.hit_type_for(requester, values=TypeValues(reward_cents=38, **values, **seconds), now=now)
    offer = Offer(question=question(), max_assignments=SPARE, lifetime=timedelta(days=30))
    hit = hits.publish(kind, offer=offer, now=now)
    key, secret = keys.create_key(requester)
    return Market(settings.MARKETPLACE_URL, settings.APP_URL, (key.key_id, secret), kind.type_id, hit.hit_id)


def question() -> str:
    schema = (
        "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
    )
    url = "<ExternalURL>https://lab.example/hit</ExternalURL>"
    return f'<ExternalQuestion xmlns="{schema}">{url}<FrameHeight>0</FrameHeight></ExternalQuestion>'


def fill(market: Market, *, up_to: int) -> None:
    """Add assignments, each of a worker of its own, until the HIT has so many; the counts follow."""
    from django.db import transaction
    from django.db.models import Count

    from marketplace.models import HIT, Assignment

    hit = HIT.objects.get(hit_id=market.hit_id)
    have = Assignment.objects.count()
    with transaction.atomic():
        for start in range(have, up_to, 5_000):
            Assignment.objects.bulk_create(assignments(hit, numbers=range(start, min(start + 5_000, up_to))))
        found = Assignment.objects.values_list("status").annotate(number=Count("pk"))
        counts = {status.lower(): number for status, number in found}
        names = ("submitted", "approved", "rejected")
        HIT.objects.filter(pk=hit.pk).update(**{name: counts.get(name, 0) for name in names})


def assignments(hit: object, *, numbers: range) -> list[object]:
    from django.utils import timezone

    from marketplace.models import Assignment, Worker

    now = timezone.now()
    later = now + timedelta(days=30)
    made = Worker.objects.bulk_create(Worker(worker_id=f"AFILL{n}", code_digest="-") for n in numbers)
    answer = "<QuestionFormAnswers>" + "x" * 400 + "</QuestionFormAnswers>"
    return [
        Assignment(
            assignment_id=f"3FILL{n}",
            hit=hit,
            worker=worker,
            status=STATUSES[n % len(STATUSES)],
            accepted_at=now,
            deadline=later,
            submitted_at=now,
            auto_approval_at=later,
            approved_at=now,
            rejected_at=now,
            answer=answer,
        )
        for n, worker in zip(numbers, made, strict=True)
    ]


def newcomers(number: int) -> list[dict[str, str]]:
    """Make workers who are signed in; return what their browsers send."""
    from importlib import import_module

    from django.conf import settings

    from marketplace.accounts import keys
    from marketplace.accounts.sessions import SESSION_KEY

    store, sent = import_module(settings.SESSION_ENGINE).SessionStore, []
    for _ in range(number):
        session = store()
        session[SESSION_KEY] = keys.create_worker()[0].pk
        session.create()
        cookies = f"{settings.SESSION_COOKIE_NAME}={session.session_key}; {settings.CSRF_COOKIE_NAME}={CSRF}"
        sent.append({"Cookie": cookies, "X-CSRFToken": CSRF})
    return sent


def signed(market: Market, **values: object) -> Callable[[urllib3.PoolManager], int]:
    """Return a ListAssignmentsForHIT call that only has to be sent."""
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    body = json.dumps({"HITId": market.hit_id, **values}).encode()
    headers = {"X-Amz-Target": TARGET, "Content-Type": "application/x-amz-json-1.1"}
    request = AWSRequest(method="POST", url=f"{market.url}/", data=body, headers=headers)
    SigV4Auth(Credentials(*market.key), "mturk-requester", "us-east-1").add_auth(request)
    made = dict(request.headers.items())
    return lambda pool: pool.request("POST", f"{market.url}/", body=body, headers=made).status


def last_page(market: Market) -> str:
    """Return the token of the page that begins a hundred assignments before the end."""
    from django.core import signing

    from marketplace.api import calls
    from marketplace.models import Assignment

    listed = Assignment.objects.filter(status__in=["Approved", "Submitted", "Rejected"]).order_by("-pk")
    return signing.dumps([market.hit_id, listed.values_list("pk", flat=True)[100]], salt=calls.SALT)


def accepted(pool: urllib3.PoolManager, market: Market, headers: dict[str, str], held: list[str]) -> int:
    """Accept the next HIT as a form on the site does; 200 if there was one."""
    address = f"{market.url}/projects/{market.type_id}/tasks/accept_random"
    response = pool.request("POST", address, headers=headers, redirect=False)
    _, found, assignment_id = response.headers.get("Location", "").partition("assignment_id=")
    held.append(assignment_id)
    return 200 if found else response.status


def submitted(pool: urllib3.PoolManager, market: Market, held: Iterator[str]) -> int:
    fields = urlencode({"assignmentId": next(held), "answer": "yes"})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return pool.request("POST", f"{market.url}/mturk/externalSubmit", body=fields, headers=headers).status


def measure(market: Market, *, rounds: int, pid: int) -> list[Timing]:
    """Time every kind of request `rounds` times, one at a time."""
    pool, held = urllib3.PoolManager(num_pools=4, maxsize=8), list[str]()
    few, page = signed(market), signed(market, MaxResults=100)
    end = signed(market, MaxResults=100, NextToken=last_page(market))
    workers = newcomers(rounds)

    def bare() -> int:
        return pool.request("GET", f"{market.app_url}/bare.json").status

    def in_turn(name: str, work: Sequence[Callable[[], int]]) -> Timing:
        return timed(name, work, clients=1, pid=pid)

    for _ in range(min(20, rounds)):
        bare(), few(pool)
    timings = [
        in_turn("bare JSON view", [bare] * rounds),
        in_turn("list, 10 of them", [partial(few, pool)] * rounds),
        in_turn("list, 100 of them", [partial(page, pool)] * rounds),
        in_turn("list, the last 100", [partial(end, pool)] * rounds),
        in_turn("accept", [partial(accepted, pool, market, headers, held) for headers in workers]),
    ]
    given = iter(held)
    return [*timings, in_turn("submit", [partial(submitted, pool, market, given)] * rounds)]


def show(measured: dict[int, list[Timing]]) -> None:
    """Print one line a request: median and CPU at each size, and what they became."""
    smallest, largest = min(measured), max(measured)
    sizes = "".join(f"{f'{size:,}: p50':>16}{'x bare':>8}{'cpu ms':>8}" for size in sorted(measured))
    print(f"\n{'':20}{sizes}{'x p50':>8}{'x cpu':>8}")
    for row in range(len(measured[smallest])):
        line = f"{measured[smallest][row].name:20}"
        for size in sorted(measured):
            timing, bare = measured[size][row], measured[size][0]
            line += f"{timing.median:>16.2f}{timing.median / bare.median:>8.1f}{timing.cpu:>8.1f}"
        before, after = measured[smallest][row], measured[largest][row]
        print(f"{line}{after.median / before.median:>8.2f}{after.cpu / (before.cpu or 1):>8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100, help="requests of each kind (default: 100)")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="assignments of the HIT")
    parser.add_argument("--database", default="", help="URL of an empty database (default: SQLite)")
    given = parser.parse_args()
    with served(MARKETPLACE_CONTROL_TOKEN="", DATABASE_URL=given.database) as pid:
        market, measured = open_market(), {}
        for size in sorted(given.sizes):
            fill(market, up_to=size)
            measured[size] = measure(market, rounds=given.rounds, pid=pid)
        show(measured)


if __name__ == "__main__":
    main()
