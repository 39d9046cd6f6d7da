"""A large batch CSV into a new study by the command: CPU and the most memory, beside the import of one row.

Run `python benchmarks/importing.py [--rows 10000]`. A row is a HIT of five questions; SQLite, no pictures. Each
measurement is a process of its own; the ratios are what can be compared between machines.
"""

import argparse
import csv
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.database import NAME, copy_to  # noqa: E402 (after the path)

N_SLOTS = 5
TEXTS = {
    "id": "item-{n}",
    "question": "What is in picture {n}?",
    "answer": "cat",
    "output_answer": "cat",
    "output_explanation": "it has whiskers, as animal {n} would",
    "explanation": "it purrs {n} times",
    "other_answer1": "bat",
    "other_answer2": "dog",
    "img_name": "{n}.png",
}
MEASURE = """
import resource, sys
sys.path.insert(0, {root!r})
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", *{arguments!r}])
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    rows = parser.parse_args().rows
    with TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder / "items.csv", rows=rows)
        fill(folder / "one.csv", rows=1)
        if not copy_to(folder / NAME):
            ran(folder, "migrate", "--verbosity=0")
        plain, found = (imported(folder, name=name) for name in ("one", "items"))
    sys.stdout.write(f"{rows:,} rows, {rows * N_SLOTS:,} items\n")
    for what, (seconds, megabytes) in (("one row", plain), ("import", found)):
        sys.stdout.write(
            f"{what:<8} {seconds:6.1f} s CPU  {megabytes:5.0f} MB   x one row {seconds / plain[0]:.1f} "
            f"and {megabytes / plain[1]:.1f}\n"
        )


def imported(folder: Path, *, name: str) -> tuple[float, float]:
    into = (f"--survey={name}", "--definition=evil-vqax", "--allow-missing-images", "--accept-warnings")
    return ran(folder, "import_items", str(folder / f"{name}.csv"), *into)


def fill(path: Path, *, rows: int) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([f"{name}_{slot}" for name in TEXTS for slot in range(N_SLOTS)])
        for row in range(rows):
            numbers = range(row * N_SLOTS, (row + 1) * N_SLOTS)
            writer.writerow([text.format(n=n) for text in TEXTS.values() for n in numbers])


def ran(folder: Path, *arguments: str) -> tuple[float, float]:
    """Run a command in a process of its own; return the seconds of CPU and the most memory in MB it took."""
    settings = {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATABASE_URL": f"sqlite:///{folder / NAME}",
        "ASSENT_DATA_DIR": str(folder),
    }
    code = MEASURE.format(root=str(ROOT), arguments=list(arguments))
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=os.environ | settings,
    )
    seconds, megabytes = done.stdout.split()[-2:]
    return float(seconds), float(megabytes)


if __name__ == "__main__":
    main()
