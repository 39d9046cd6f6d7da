"""A file of a large e-ViL batch: when its first byte comes, how fast the rest does, and what memory it takes.

Run `python benchmarks/downloads.py [--file raw] [--assignments 2000] [--database URL]`, or with FULL=1 for 30,000
assignments; files that are written part by part are raw, tidy, processed and processed_filtered. It fills
an empty database with one batch, then takes the file in a process of its own, through the page a researcher asks. Then,
beside it, the same process only fetches the same ratings, one by one. It ends with status 1 where the first byte takes
longer than half a second or the file more than 100 MB above what the process held when it had answered a page, or, with
FULL=1, where fewer than 20 MB of the raw file come in a second of CPU.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from report import child, fill, measured  # noqa: E402 (needs the path)

RATERS, PER_HIT = 10, 5
FULL = os.environ.get("FULL") == "1"
LATEST, MOST, LEAST = 0.5, 100.0, 20.0  # seconds, MB, MB a second
STEPS = ("fill", "take")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assignments", type=int, default=30_000 if FULL else 2_000)
    parser.add_argument("--file", default="raw", help="its name in the address (default: raw)")
    parser.add_argument("--database", default="", help="URL of an empty one (default: SQLite)")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        sys.stdout.write(f"{run(options)}\n")
        return 0
    with TemporaryDirectory() as folder:
        url = options.database or f"sqlite:///{folder}/benchmark.sqlite3"
        environment = os.environ | {"DATABASE_URL": url, "ASSENT_DATA_DIR": folder}
        arguments = ["--assignments", str(options.assignments), "--file", options.file, "--step"]
        for step in STEPS:
            child([*arguments, step], environment, script=__file__)
        taken = json.loads((Path(folder) / "taken").read_text())
    return told(options.file, **taken)


def told(
    name: str, *, first: float, seconds: float, megabytes: float, cpu: float, memory: float, fetch: float
) -> int:
    """Print the numbers and the limits they are held to; 1 where one is missed."""
    rate, fetching = megabytes / cpu, cpu / max(fetch, 0.01)
    sys.stdout.write(
        f"{megabytes:.1f} MB in {seconds:.1f} s; first byte after {first:.2f} s (limit {LATEST}); {rate:.1f} MB in"
        f" a second of CPU (limit {LEAST:.0f}); {memory:+.0f} MB of memory (limit {MOST:.0f});"
        f" {fetching:.1f} x the CPU of fetching the ratings\n"
    )
    is_slow = FULL and name == "raw" and rate < LEAST
    return int(first > LATEST or memory > MOST or is_slow)


def run(options: argparse.Namespace) -> str:
    import django

    django.setup()
    {"fill": fill_pairs, "take": take}[options.step](options)
    return measured()


def fill_pairs(options: argparse.Namespace) -> None:
    from django.contrib.auth.models import User

    from benchmarks.database import collect_static

    collect_static()
    n_items = max(options.assignments // RATERS * PER_HIT, PER_HIT)
    fill(argparse.Namespace(items=n_items, raters=RATERS, type="evil-vqax", systems="ofa-x"))
    User.objects.create_superuser("researcher")


def fetch() -> None:
    from surveys.models import Rating

    rows = Rating.objects.order_by().values_list("response", "output", "criterion", "value")
    sum(1 for _ in rows.iterator(10_000))


def signed_in() -> Any:
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get())
    return client


def page() -> Any:
    """What a server has read before anybody asks for a file."""
    from surveys.models import Batch

    client = signed_in()
    path = Batch.objects.get().get_absolute_url()
    assert client.get(path).status_code == 200
    return client


def take(options: argparse.Namespace) -> None:
    from django.conf import settings
    from django.urls import reverse

    from surveys.models import Batch

    client = page()
    path = reverse("batch_download", args=[Batch.objects.get().pk, options.file])
    cpu, memory = spent()
    began, first, size = time.monotonic(), 0.0, 0
    for part in client.get(path).streaming_content:
        first = first or time.monotonic() - began
        size += len(part)
    seconds = time.monotonic() - began
    cpu_after, memory_after = spent()
    fetch()
    taken = {
        "first": first,
        "seconds": seconds,
        "megabytes": size / 1e6,
        "cpu": cpu_after - cpu,
        "memory": memory_after - memory,
        "fetch": spent()[0] - cpu_after,
    }
    (settings.DATA_DIR / "taken").write_text(json.dumps(taken))


def spent() -> tuple[float, float]:
    """Return the CPU seconds of this process since it began, and the most MB it has held."""
    seconds, megabytes = measured().split()
    return float(seconds), float(megabytes)


if __name__ == "__main__":
    sys.exit(main())
