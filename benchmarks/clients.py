"""How many journeys a second are done with 1, 8 and 32 clients at once, beside Turkle served by the same gunicorn?

Run `python benchmarks/clients.py [--clients 1 8 32] [--hits 1000] [--seconds 20] [--peer PYTHON] [--database URL]
[--peer-database URL]`. A journey is one new worker's: list, preview, accept, work, frame, a draft, submit and
externalSubmit; Turkle's is the one of journey_turkle.py. Both sites run with two processes of four threads, on this
machine, as do the clients, a process that takes part of its cores: theirs is the same for both but for the page's
form, which ours has to read. A journey that is refused or fails is counted as failed, and takes its time; one of ours
ends this with status 1.
"""

import argparse
import html
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import urllib3

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.journey import EACH, PEER, add_hits, new_session, open_market
from benchmarks.journey_turkle import ANSWERED
from benchmarks.served_pages import Sitting, cpu_seconds, fill, served

QUESTIONS = 5  # of a HIT
MOST_A_SECOND = 60  # journeys that are prepared for
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
FRAME = re.compile(r'<iframe[^>]*src="([^"]+)"')


class Refused(Exception):
    """A page was not what a journey goes on from."""


@dataclass(frozen=True)
class Rate:
    """What so many clients got done: journeys a second, those that failed, and the server's CPU for one in ms."""

    per_second: float
    failed: int
    cpu: float


@dataclass(frozen=True)
class Site:
    """A server: its process, and one journey of a worker with a session."""

    pid: int
    sessions: Iterator[str]
    journey: Callable[[str], None]


def new_browser(session: str, *, site: str) -> Any:
    """Return a browser that is signed in on a site."""
    from surveys.rehearsal.browser import Browser

    browser = Browser(POOL)
    browser.keep_cookies(site, [f"sessionid={session}"])
    return browser


POOL = urllib3.PoolManager(num_pools=4, maxsize=64, timeout=urllib3.Timeout(connect=10, read=60))


def seen(answer: Any) -> str:
    if answer.status != 200:
        raise Refused(f"{answer.status} at {answer.url}")
    return str(answer.body.decode())


def framed(page: str) -> str:
    found = FRAME.search(page)
    if found is None:
        raise Refused("no work on the page")
    return html.unescape(found[1])


def our_journey(session: str, *, market: str, kind: str) -> None:
    from surveys.rehearsal.hit_page import parse, read_last_form

    browser = new_browser(session, site=market)
    seen(browser.get(f"{market}/"))
    preview = seen(browser.get(f"{market}/projects/{kind}/tasks"))
    token = TOKEN.findall(preview)[:1]
    work = seen(
        browser.post_form(f"{market}/projects/{kind}/tasks/accept_random", [("csrfmiddlewaretoken", *token)])
    )
    sitting = Sitting(framed(work))
    sitting.html = seen(browser.get(sitting.url))
    fill(sitting)
    seen(browser.post_json(sitting.draft_url, sitting.draft))
    receipt = seen(browser.post_form(sitting.submit_url, sitting.fields))
    seen(browser.post_form(f"{market}/mturk/externalSubmit", read_last_form(parse(receipt)).hidden.items()))


@contextmanager
def ours(*, n_hits: int, n_journeys: int, database: str) -> Iterator[Site]:
    n_pages = n_journeys // EACH + 1
    with served(DATABASE_URL=database, MARKETPLACE_CONTROL_TOKEN="", LOG_LEVEL="ERROR") as pid:
        from django.conf import settings

        kind = open_market(n_items=n_pages * QUESTIONS).type_id
        add_hits(kind, up_to=n_hits)
        sessions = [new_session() for _ in range(n_journeys)]
        market = settings.MARKETPLACE_URL
        yield Site(pid, iter(sessions), lambda session: our_journey(session, market=market, kind=kind))


def their_journey(session: str, *, site: str, batch: int) -> None:
    browser = new_browser(session, site=site)
    seen(browser.get(f"{site}/"))
    preview = browser.get(f"{site}/batch/{batch}/preview_next_task/")
    seen(preview)
    task = preview.url.strip("/").split("/")[-1].removesuffix("/preview")
    seen(browser.get(f"{site}/task/{task}/iframe/"))
    work = browser.get(f"{site}/batch/{batch}/accept_task/{task}/")
    page = seen(work)
    frame = seen(browser.get(urljoin(site, framed(page))))
    token = (TOKEN.findall(page) or TOKEN.findall(frame))[:1]
    seen(browser.post_form(work.url, [("csrfmiddlewaretoken", *token), *((name, "a") for name in ANSWERED)]))


@contextmanager
def theirs(python: str, *, n_hits: int, n_journeys: int, database: str) -> Iterator[Site]:
    command = [python, str(PEER), "serve", str(n_hits), str(n_journeys), *filter(None, [database])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            told = json.loads(server.stdout.readline())
            batch, site = told["batch"], f"http://127.0.0.1:{told['port']}"
            wait_for(site)
            yield Site(
                server.pid, iter(told["sessions"]), lambda one: their_journey(one, site=site, batch=batch)
            )
        finally:
            server.terminate()


def wait_for(site: str) -> None:
    for _ in range(100):
        try:
            POOL.request("GET", site, retries=False, redirect=False)
            return
        except urllib3.exceptions.HTTPError:
            time.sleep(0.1)
    raise SystemExit("Turkle does not answer.")


def measure(site: Site, *, clients: int, seconds: float) -> Rate:
    """Let so many clients go through one journey after the other, until the time is over."""
    failures: list[str] = []
    done, cpu, began = count(), cpu_seconds(site.pid), time.monotonic()

    def work() -> None:
        while time.monotonic() < began + seconds and (session := next(site.sessions, "")):
            try:
                site.journey(session)
            except (Refused, urllib3.exceptions.HTTPError) as error:
                failures.append(str(error))
            else:
                next(done)

    with ThreadPoolExecutor(clients) as pool:
        for one in [pool.submit(work) for _ in range(clients)]:
            one.result()
    n, spent = next(done), time.monotonic() - began
    if failures:
        print(f"  failed {len(failures)}, such as: {failures[0]}", file=sys.stderr)
    return Rate(n / spent, len(failures), (cpu_seconds(site.pid) - cpu) / max(n, 1) * 1000)


def show(name: str, clients: int, rate: Rate, *, beside: float = 0.0) -> None:
    ratio = f"{rate.per_second / beside:10.1f} x" if beside else ""
    print(f"{name:8}{clients:>8}{rate.per_second:>12.2f}{rate.failed:>8}{rate.cpu:>10.0f}{ratio}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--hits", type=int, default=1_000, help="open HITs (default: 1,000)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement (default: 20)")
    parser.add_argument("--peer", default="", help="a Python that has Turkle and gunicorn")
    parser.add_argument("--database", default="", help="URL of an empty database for ours (default: SQLite)")
    parser.add_argument("--peer-database", default="", help="the same for Turkle")
    given = parser.parse_args()
    n = max(EACH, int(given.seconds * MOST_A_SECOND * len(given.clients)))
    rates: dict[int, float] = {}
    print(f"{given.hits:,} open HITs\n{'':8}{'clients':>8}{'a second':>12}{'failed':>8}{'cpu ms':>10}")
    if given.peer and Path(given.peer).exists():
        with theirs(given.peer, n_hits=given.hits, n_journeys=n, database=given.peer_database) as site:
            for clients in given.clients:
                rate = measure(site, clients=clients, seconds=given.seconds)
                rates[clients] = rate.per_second
                show("Turkle", clients, rate)
    n_lost = 0
    with ours(n_hits=given.hits, n_journeys=n, database=given.database) as site:
        for clients in given.clients:
            rate = measure(site, clients=clients, seconds=given.seconds)
            show("ours", clients, rate, beside=rates.get(clients, 0.0))
            n_lost += rate.failed or not rate.per_second
    return int(n_lost > 0)


if __name__ == "__main__":
    sys.exit(main())
