"""How long does an annotator wait? HIT page, draft and submission beside a bare Django page of the same gunicorn.

Run `python benchmarks/served_pages.py [--rounds 100]`. It starts its own gunicorn on a free port with an empty
SQLite database in a temporary folder; 15 demo questions, 5 to a HIT. Times are taken by a client on the same
machine, first one at a time, then 8 at once; a bare insert is a view that writes one row and nothing else. `cpu ms` is
what gunicorn and its workers spent on a request (read from /proc, so on Linux only); unlike the waiting times it hardly
changes on a busy machine.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import django  # noqa: E402 (after the path)

from benchmarks.database import collect_static, migrate  # noqa: E402

CLIENTS = (1, 8)
PLACES = 10_000  # on each HIT: beyond what it may have given out, those who opened it last would be sent away
MOST_TIMES_INSERT = 5.0
DEMO = ROOT / "fixtures" / "demo"


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one kind of request as the client waited, and the server's CPU for one of them."""

    name: str
    milliseconds: list[float]
    cpu: float
    per_second: float

    @property
    def median(self) -> float:
        return statistics.median(self.milliseconds)

    @property
    def slowest_twentieth(self) -> float:
        return statistics.quantiles(self.milliseconds, n=20)[-1]


@dataclass
class Sitting:
    """One worker with one HIT: the address of the frame, and what will be posted from it."""

    url: str
    html: str = ""
    draft_url: str = ""
    draft: dict[str, object] = field(default_factory=dict)
    submit_url: str = ""
    fields: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def prepared(**variables: str) -> Iterator[Path]:
    """Point this process at an empty database and yield its folder, which is gone afterwards.

    `variables` go into the environment.
    """
    from surveys.rehearsal.stage import environment

    with tempfile.TemporaryDirectory(prefix="assent-benchmark-") as name:
        os.environ.update({**environment(Path(name), seed=0), **variables})
        os.environ["DJANGO_SETTINGS_MODULE"] = "benchmarks.bare_settings"
        django.setup()
        migrate()
        collect_static()
        yield Path(name)


@contextmanager
def served(**variables: str) -> Iterator[int]:
    """Prepare the same for a gunicorn as well, and yield its process id; it is gone afterwards.

    On Linux it begins as a copy of this process, which needs the site as well, as a demo's does.
    """
    with prepared(**variables) as folder:
        from django.conf import settings

        from surveys.operations.processes.forked import as_copies
        from surveys.operations.processes.stack import web
        from surveys.operations.processes.supervisor import Supervisor

        process = web(port=int(settings.APP_URL.rsplit(":", 1)[1]), environment={})
        with Supervisor(as_copies([process], environment={}), log_dir=folder / "logs") as supervisor:
            yield supervisor.children["web"].pid


def add_items(survey: Any, *, up_to: int) -> None:
    """Give a study as many items: the first one again and again."""
    from surveys.models import Item, Output

    first, n = survey.items.order_by("position")[0], survey.items.count()
    made = Item.objects.bulk_create(
        (
            Item(
                survey=survey,
                external_id=f"made-{position}",
                position=position,
                payload=first.payload,
                choices=first.choices,
                gold=first.gold,
            )
            for position in range(n + 1, up_to + 1)
        ),
        batch_size=500,
    )
    outputs = [(output.system, output.text) for output in first.outputs.all()]
    Output.objects.bulk_create(
        (Output(item=item, system=system, text=text) for item in made for system, text in outputs),
        batch_size=500,
    )


def frames(n_items: int = 0) -> list[str]:
    """Publish the demo study as if a marketplace had confirmed it; return the address of each HIT's frame.

    `n_items` makes a longer study of it.
    """
    from django.conf import settings
    from django.utils import timezone

    from annotators.models import HIT, HITType
    from surveys.protocols.registry import get_definition
    from surveys.publishing.questionnaires import start_publishing
    from surveys.rehearsal.study import REWARD, Material, draft_batch, import_material

    survey = import_material(
        Material(get_definition("evil-vqax"), DEMO / "items.csv", str(DEMO / "pictures"))
    )
    add_items(survey, up_to=n_items)
    batch = draft_batch(survey, seed=1)
    start_publishing(batch)
    hit_type = HITType.objects.create(
        endpoint=batch.endpoint,
        hit_type_id="3TYPE",
        title=batch.title,
        reward=REWARD,
        assignment_duration=timedelta(hours=1),
        auto_approval_delay=timedelta(days=3),
    )
    urls = []
    for questionnaire in batch.questionnaires.all():
        now = timezone.now()
        questionnaire.hit = HIT.objects.create(
            hit_type=hit_type,
            hit_id=f"3HIT{questionnaire.position}",
            max_assignments=PLACES,
            created_at=now,
            expires_at=now + timedelta(days=1),
        )
        questionnaire.save()
        claims = {"hitId": questionnaire.hit.hit_id, "turkSubmitTo": settings.MARKETPLACE_URL}
        urls.append(f"{settings.APP_URL}{questionnaire.get_absolute_url()}?{urlencode(claims)}")
    return urls


def sittings(urls: Sequence[str], *, n: int, prefix: str) -> list[Sitting]:
    """Return n workers, each on one of the HITs."""
    claims = [urlencode({"workerId": f"A{prefix}{k}", "assignmentId": f"3{prefix}{k}"}) for k in range(n)]
    return [Sitting(f"{urls[k % len(urls)]}&{claim}") for k, claim in enumerate(claims)]


def fill(sitting: Sitting) -> None:
    """Read the page that was opened; prepare a draft and a complete submission."""
    from surveys.protocols.registry import get_definition
    from surveys.rehearsal.hit_page import parse, read_hit_page
    from surveys.rehearsal.knowledge import Knowledge
    from surveys.simulating.people import Kind, Person, answers_for

    page = read_hit_page(parse(sitting.html))
    person, knowledge = (
        Person("A1", "", Kind.RANDOM, 0.0, 1.0),
        Knowledge([], definition=get_definition("evil-vqax")),
    )
    given = {
        item.position: answers_for(item, person=person, knowledge=knowledge, seed=1) for item in page.items
    }
    first = page.items[0]
    sitting.draft_url = urljoin(sitting.url, page.draft_url)
    sitting.draft = {
        "token": page.form.hidden["token"],
        "position": first.position,
        "version": 1,
        "seconds": 9.5,
        "answers": {name.removeprefix(first.prefix): value for name, value in given[first.position].items()},
    }
    sitting.submit_url = urljoin(sitting.url, page.form.action)
    sitting.fields = list(page.form.hidden.items())
    for answers in given.values():
        for name, value in answers.items():
            sitting.fields += [(name, one) for one in ([value] if isinstance(value, str) else value)]


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process and its children, 0.0 where /proc does not tell. Source: proc(5)."""
    folder = Path(f"/proc/{pid}")
    if not folder.exists():
        return 0.0
    user, system = (folder / "stat").read_text().rpartition(")")[2].split()[11:13]
    children = (folder / "task" / str(pid) / "children").read_text().split()
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK") + sum(
        cpu_seconds(int(one)) for one in children
    )


def timed(name: str, work: Sequence[Callable[[], int]], *, clients: int, pid: int) -> Timing:
    """Do every request with so many clients at once. Raises SystemExit unless all are answered with 200."""

    def one(request: Callable[[], int]) -> float:
        started = time.perf_counter()
        status = request()
        spent = (time.perf_counter() - started) * 1000
        if status != 200:
            raise SystemExit(f"{name} was answered with {status}.")
        return spent

    started, before = time.perf_counter(), cpu_seconds(pid)
    with ThreadPoolExecutor(clients) as pool:
        milliseconds = list(pool.map(one, work))
    spent, cpu = time.perf_counter() - started, cpu_seconds(pid) - before
    return Timing(name, milliseconds, cpu / len(work) * 1000, len(work) / spent)


def measure(urls: Sequence[str], *, rounds: int, clients: int, pid: int) -> list[Timing]:
    """Time every kind of request `rounds` times."""
    from surveys.rehearsal.browser import Browser, new_pool

    browser = Browser(new_pool())
    bare = urljoin(urls[0], "/bare")
    working = sittings(urls, n=rounds, prefix=f"X{clients}X")
    for _ in range(min(20, rounds)):
        browser.get(bare)
        browser.get(urls[0])

    def opened(sitting: Sitting) -> int:
        answer = browser.get(sitting.url)
        sitting.html = answer.body.decode()
        return answer.status

    def in_turn(name: str, request: Callable[[Sitting], int]) -> Timing:
        return timed(name, [partial(request, sitting) for sitting in working], clients=clients, pid=pid)

    def rest() -> Iterator[Timing]:
        yield in_turn("HIT page, reloaded", lambda s: browser.get(s.url).status)
        yield in_turn("draft", lambda s: browser.post_json(s.draft_url, s.draft).status)
        yield in_turn("submit", lambda s: browser.post_form(s.submit_url, s.fields).status)
        yield in_turn("receipt", lambda s: browser.get(s.url).status)
        yield in_turn("bare page again", lambda s: browser.get(bare).status)

    first = [
        in_turn("bare page", lambda s: browser.get(bare).status),
        in_turn("bare insert", lambda s: browser.get(urljoin(bare, "/insert")).status),
        in_turn("HIT page, first time", opened),
    ]
    for sitting in working:
        fill(sitting)
    return [*first, *rest()]


def show(timings: list[Timing], *, clients: int) -> None:
    bare = timings[0].median
    print(
        f"\n{clients} client{'s' if clients > 1 else ''} at once, {len(timings[0].milliseconds)} requests each"
    )
    print(f"{'':22}{'p50 ms':>9}{'p95 ms':>9}{'x bare':>9}{'cpu ms':>9}{'a second':>10}")
    for timing in timings:
        ratio = timing.median / bare
        print(
            f"{timing.name:22}{timing.median:>9.1f}{timing.slowest_twentieth:>9.1f}"
            f"{ratio:>9.1f}{timing.cpu:>9.1f}{timing.per_second:>10.0f}"
        )
    cpu = {timing.name: timing.cpu for timing in timings}
    if cpu["bare insert"]:
        times = cpu["submit"] / cpu["bare insert"]
        print(f"submit beside a bare insert: {times:.1f} times the CPU   (limit {MOST_TIMES_INSERT:.0f})")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100, help="requests of each kind (default: 100)")
    rounds = parser.parse_args().rounds
    with served() as pid:
        urls = frames()
        for clients in CLIENTS:
            show(measure(urls, rounds=rounds, clients=clients, pid=pid), clients=clients)


if __name__ == "__main__":
    main()
