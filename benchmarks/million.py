"""Does anything that is looked at cost more with a million assignments than with a few?

Run `python benchmarks/million.py [--studies 30 90] [--copies 1]`; `FULL=1` takes a million. It starts a PostgreSQL of
its own, has a study of one item to a HIT done by simulated people, on the embedded marketplace and here, and copies it
into so many studies: first by the same people, then by others. At both sizes every kind of page that links lead a
researcher and a worker to is asked for once, and every task of the schedule; PostgreSQL explains each statement as it
runs it, and says how many rows of tables and indexes it touched. Printed is the worst statement of each. The status is
1 where one touches more the more other studies there are, or many times what the study has.
"""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qsl, urljoin, urlsplit

import psycopg2

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import sync as syncing
from benchmarks.database import POSTGRES
from benchmarks.served_pages import DEMO, served

HITS, PER_HIT = 40, 3  # done; as many assignments each, and a quarter as many HITs are open, with one done
STUDIES, FULL_STUDIES = (30, 90), (30, 360)  # a list shows fewer than the first
COPIES, FULL_COPIES = 1, 21
# Rows below which nothing counts, growth between the two sizes, and how often everything a study has.
MOST_ROWS, MOST_GROWTH, MOST_TIMES = 500, 1.5, 50
EXPLAINED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "EXECUTE")
UNTIL_KEPT = 5  # plans, after which PostgreSQL decides whether one is good for all values (PREPARE, Notes)
OPEN_STUDIES, MOST_PAGES = 3, 400
# What ends the session or is no page, and the admin's own ways to look at the same list.
SKIPPED = re.compile(
    r"logout|sign-out|/static/|jsi18n|[?&](?:_facets|_changelist_filters|created_at|decided_at|at__)"
)


@dataclass(frozen=True, order=True)
class Statement:
    """Rows that a statement read from tables and indexes, rows it returned or changed, milliseconds, its text."""

    touched: int
    shown: int
    ms: float
    sql: str


@dataclass
class Explaining:
    """Has PostgreSQL run each statement once more, taken back, and say what it did.

    What is prepared (`statements/words.py`) by the plan that it keeps, if it would keep one.
    """

    seen: list[Statement] = field(default_factory=list)

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        connection = context["connection"]
        if sql.startswith("PREPARE"):
            preparation, _, sql = sql.rpartition("; ")
            with connection.connection.cursor() as cursor:
                cursor.execute(preparation.replace("%%", "%"))
                for _ in range(UNTIL_KEPT):
                    cursor.execute(f"EXPLAIN {sql}", params)
        if not many and sql.startswith(EXPLAINED):
            self.seen.append(explained(connection, sql, params))
        return execute(sql, params, many, context)


def explained(connection: Any, sql: str, params: Any) -> Statement:
    begin, back = (
        ("SAVEPOINT looked", "ROLLBACK TO looked") if connection.in_atomic_block else ("BEGIN", "ROLLBACK")
    )
    with connection.connection.cursor() as cursor:
        cursor.execute(begin)
        try:
            cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", params)
            found = cursor.fetchone()[0][0]
            if sql.startswith("EXECUTE"):
                cursor.execute(
                    "SELECT statement FROM pg_prepared_statements WHERE name = %s", [sql.split()[1]]
                )
                (sql,) = cursor.fetchone()
        finally:
            cursor.execute(back)
    nodes = list(walk(found["Plan"]))
    changes = [one for one in nodes if one["Node Type"] == "ModifyTable"]
    shown = rows_of(changes[0]["Plans"][0]) if changes and "Plans" in changes[0] else rows_of(found["Plan"])
    return Statement(sum(map(touched, nodes)), shown, found["Execution Time"], sql)


def walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", ()):
        yield from walk(child)


def rows_of(node: dict[str, Any]) -> int:
    return round(node["Actual Rows"] * node["Actual Loops"])


def touched(node: dict[str, Any]) -> int:
    """Rows of a table or an index; those a bitmap's index found are counted where the table is read."""
    if "Scan" not in node["Node Type"] or node["Node Type"] in {
        "Bitmap Index Scan",
        "CTE Scan",
        "Subquery Scan",
    }:
        return 0
    removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
    return round((node["Actual Rows"] + removed) * node["Actual Loops"])


# -- What is looked at -----------------------------------------------------------------------------------------


@contextmanager
def database() -> Iterator[str]:
    """Yield the address of an empty database of a server of its own."""
    from surveys.operations.processes.supervisor import Supervisor
    from tests.services_postgres import Postgres
    from tests.services_template import DATABASE

    with tempfile.TemporaryDirectory(prefix="assent-million-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        made = os.environ.get(POSTGRES)
        server = Postgres(folder / "postgres", template=Path(made) if made else None)
        with Supervisor([server.process()], log_dir=folder / "logs"):
            server.create("assent", template=DATABASE if made else "")
            with closing(psycopg2.connect(server.url)) as connected, connected.cursor() as cursor:
                connected.autocommit = True
                cursor.execute(
                    "ALTER DATABASE assent SET random_page_cost = 1.1"
                )  # as docs/operations.md advises
            yield server.url


def base_study(n_hits: int, *, n_copies: int) -> int:
    """A study of one item to a HIT: most of it done and approved, the rest open; then each of its HITs so often more.

    Returns its number of assignments.
    """
    from annotators.models import Assignment
    from benchmarks import copies
    from surveys import sync

    batch = syncing.open_study("vtt", DEMO / "vtt" / "items.jsonl")
    n_all = n_hits + n_hits // 4
    syncing.fill(batch, up_to=n_all)
    for number, questionnaire in enumerate(syncing.show_items(batch, n=n_all, items=1)):
        for _ in range(PER_HIT if number < n_hits else 1):
            syncing.hand_in(questionnaire, saved=True)
    sync.sync_moved()
    if n_copies:
        copies.of_hits(n_copies)
    return Assignment.objects.count()


def fill(n_studies: int) -> None:
    """Copy all studies as often as makes so many. The first few are open: what is done of them costs as ever."""
    from django.db import connection

    from annotators.models import Assignment
    from benchmarks import copies
    from surveys.models import Batch

    n_there = Batch.objects.count()
    copies.of_studies(n_studies // n_there - 1, with_people=n_there > 1)
    Batch.objects.filter(pk__gt=OPEN_STUDIES).update(status=Batch.Status.COMPLETE)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(f"{n_studies} studies, {Assignment.objects.count():,} assignments", flush=True)


class Links(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag == "a" and known.get("href"):
            self.found.append(known["href"] or "")
        if tag in {"img", "iframe"} and known.get("src"):
            self.found.append(known["src"] or "")


def kind_of(address: str) -> tuple[str, ...]:
    """Return what kind of page it is: its address without keys, names of studies and values."""
    parts = urlsplit(address)
    path = re.sub(r"(?<=/)[^/]*\d[^/]*(?=/|$)|(?<=/studies/)[^/]+", "*", parts.path)
    return (path, *sorted(name for name, _ in parse_qsl(parts.query)))


def crawl(client: Any, start: str, *, n_pages: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield each kind of page that links lead to, with how to ask for it; the answer is looked at for further links."""
    waiting, met = [start], set()
    host = urlsplit(start).netloc
    while waiting and len(met) < n_pages:
        address = waiting.pop(0)
        kind = kind_of(address)
        if kind in met or SKIPPED.search(address):
            continue
        met.add(kind)
        answers: list[Any] = []
        yield address, lambda address=address, answers=answers: answers.append(asked(client, address))
        if answers and (html := text_of(answers[0])):
            links = (urljoin(address, link) for link in Links(html).found)
            waiting += [link.split("#")[0] for link in links if urlsplit(link).netloc == host]


def asked(client: Any, address: str) -> Any:
    """Return the answer, or the one it leads to."""
    answer = fetched(client, address)
    return fetched(client, urljoin(address, answer["Location"])) if answer.status_code == 302 else answer


def fetched(client: Any, address: str) -> Any:
    parts = urlsplit(address)
    answer = client.get(f"{parts.path}?{parts.query}", headers={"host": parts.netloc})
    answer.body = b"".join(answer) if answer.streaming else answer.content
    if answer.status_code >= 500:
        raise SystemExit(f"{answer.status_code}: {address}")
    return answer


def text_of(answer: Any) -> str:
    return answer.body.decode() if answer["Content-Type"].startswith("text/html") else ""


def researcher(n_pages: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(raise_request_exception=False)
    client.force_login(User.objects.get_or_create(username="ada", is_staff=True, is_superuser=True)[0])
    return crawl(client, f"{settings.APP_URL}/admin/", n_pages=n_pages)


def annotator(n_pages: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    from django.conf import settings
    from django.test import Client

    client = Client(raise_request_exception=False)
    return crawl(client, f"{settings.MARKETPLACE_URL}/", n_pages=n_pages)


def tasks() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every task that needs no argument: those of the schedule, and what the sweep begins."""
    from config.celery import app

    app.loader.import_default_modules()
    for name, task in sorted(app.tasks.items()):
        if name.startswith(("surveys.", "marketplace.")) and not signature(task.run).parameters:
            yield name, task


Worst = dict[tuple[str, ...], Statement]


def looks(n_pages: int) -> Worst:
    """Look at everything once; return the statement of each that touched most beyond what it showed."""
    from celery.app.task import Task

    everything = chain(researcher(n_pages), annotator(n_pages), tasks())
    # What is left to the worker is about one HIT or study, or looked at here by itself.
    with patch.object(Task, "apply_async"):
        return {kind_of(name): worst_of(run) for name, run in everything}


def worst_of(run: Callable[[], Any]) -> Statement:
    from django.db import connection

    explaining = Explaining()
    with connection.execute_wrapper(explaining):
        run()
    return max(explaining.seen, key=lambda one: one.touched - one.shown, default=Statement(0, 0, 0.0, ""))


def show(few: Worst, many: Worst, *, n_assignments: int) -> list[str]:
    """Print what each touched among few and among many studies; return what is beyond the limits."""
    beyond = []
    for kind in sorted(few.keys() ^ many.keys()):
        print(f"Met at one size only: {' '.join(kind)}")
    for kind in sorted(few.keys() & many.keys()):
        less, more = few[kind], many[kind]
        print(f"{less.touched:>11,}{more.touched:>11,}{more.shown:>9,}{more.ms:>9.1f}  {' '.join(kind)}")
        is_grown = more.touched > MOST_GROWTH * max(less.touched, more.shown, MOST_ROWS)
        if is_grown or more.touched > MOST_TIMES * max(n_assignments, MOST_ROWS):
            beyond.append(kind[0])
            print(f"{'':40}  {short(more.sql)}")
    return beyond


def short(sql: str) -> str:
    """Return what a statement is about: from its first table on."""
    return re.sub(r'"\w+"\."(\w+)"', r"\1", sql[max(0, sql.find(" FROM ")) :])[:600]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--studies", type=int, nargs=2, default=FULL_STUDIES if os.environ.get("FULL") else STUDIES
    )
    parser.add_argument("--copies", type=int, default=FULL_COPIES if os.environ.get("FULL") else COPIES)
    parser.add_argument("--hits", type=int, default=HITS, help="HITs of the study that people do")
    parser.add_argument(
        "--pages", type=int, default=MOST_PAGES, help="kinds of pages, at most, on either site"
    )
    given = parser.parse_args()
    with database() as url, served(LOG_LEVEL="ERROR", DATABASE_URL=url):
        from config.celery import app

        app.conf.update(task_always_eager=True, task_eager_propagates=True)
        n_assignments = base_study(given.hits, n_copies=given.copies)
        found = []
        for n_studies in given.studies:
            fill(n_studies)
            found.append(looks(given.pages))
        print(f"{'few':>11}{'many':>11}{'shown':>9}{'ms':>9}")
        beyond = show(*found, n_assignments=n_assignments)
    print(f"Beyond a limit: {', '.join(beyond) or 'none'}.")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
