"""A sample of many predictions: CPU and the most memory, beside reading the same file with the csv module alone.

Run `python benchmarks/sampling.py [--rows 1000000]`. Three data sets, answers by Zipf's law, four of five right; an
earlier sample of each data set. Each measurement is a process of its own.
"""

import argparse
import csv
import random
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SETS, N_ANSWERS, N = ("esnlive", "vcr", "vqa"), 30_000, 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--step", choices=STEP, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        STEP[options.step](options.folder)
        sys.stdout.write(measured())
        return
    with TemporaryDirectory() as name:
        folder = Path(name)
        size = fill(folder, rows=options.rows)
        found = {step: child(step, folder) for step in STEP}
    plain, _ = found["read"]
    sys.stdout.write(f"{options.rows:,} predictions, {size / 1e6:.0f} MB\n")
    for step, (seconds, megabytes) in found.items():
        sys.stdout.write(
            f"{step:<8} {seconds:6.1f} s CPU  {megabytes:5.0f} MB   x reading {seconds / plain:.1f}\n"
        )


def fill(folder: Path, *, rows: int) -> int:
    """Write predictions and earlier samples; return how many bytes the predictions have."""
    chance = random.Random(7)
    with (folder / "predictions.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(
            ["dataset", "item", "gold", "answer", "explanation", "reference", "question", "img_name"]
        )
        for n in range(rows):
            gold = f"answer {min(int(chance.paretovariate(0.5)), N_ANSWERS)}"
            given = gold if chance.random() < 0.8 else "another"
            texts = ["because it says so", "since it does", "What is this?", f"{n}.jpg"]
            writer.writerow([SETS[n % 3], n // 3, gold, given, *texts])
    for name in SETS:
        items = chance.sample(range(max(rows // 3, N)), N)
        (folder / f"{name}.csv").write_text("id\n" + "\n".join(map(str, items)) + "\n")
    return (folder / "predictions.csv").stat().st_size


def child(step: str, folder: Path) -> tuple[float, float]:
    command = [sys.executable, __file__, "--step", step, "--folder", str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    seconds, megabytes = done.stdout.split()[-2:]
    return float(seconds), float(megabytes)


def measured() -> str:
    """Return the CPU seconds of this process since it began, and the most memory it has held, in MB."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return f"\n{used.ru_utime + used.ru_stime:.3f} {used.ru_maxrss / 1024:.1f}\n"


def read(folder: Path) -> None:
    with (folder / "predictions.csv").open(encoding="utf-8", newline="") as stream:
        sum(len(cells) for cells in csv.reader(stream))


def sample(folder: Path) -> None:
    from surveys.studies.predictions import read_earlier, read_predictions
    from surveys.studies.sampling import check, draw

    files = {folder / f"{name}.csv": "" for name in SETS}
    earlier = read_earlier(files, predictions=folder / "predictions.csv")
    samples = draw(read_predictions(folder / "predictions.csv"), n=N, seed="1", earlier=earlier)
    check(samples, n=N, size=5)


STEP = {"read": read, "sample": sample}

if __name__ == "__main__":
    main()
