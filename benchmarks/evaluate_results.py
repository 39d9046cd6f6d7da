"""How fast is evaluation? Our columnar path beside an ordinary row-by-row pandas script that writes the same bytes.

Run `python benchmarks/evaluate_results.py [RAW.csv] [--times 10] [--growing ROWS] [--rounds 5]`. The file is repeated
with new assignment ids. The script is plain pandas, as one would write it: iterrows, a dict per question, one frame at
the end. "growing" is the same with the frame grown by concat, as published scripts do; it is quadratic and timed on the
file itself. At last the command as people run it, a process of its own, beside one that imports pandas; FULL=1 takes
the file 167 times, 50,000 assignments of a study of 300, and ends with status 1 above 25 s of CPU or 500 MB.
"""

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

django.setup()

import pandas as pd  # noqa: E402

from surveys.results.files.frame_layouts import FRAME_LAYOUTS, result_writers  # noqa: E402
from surveys.results.files.writing import write_files  # noqa: E402
from surveys.results.frames.mturk_csv import frame_from_csv  # noqa: E402
from surveys.results.frames.pseudonyms import Pseudonyms  # noqa: E402

DEFAULT = Path(__file__).resolve().parent.parent.parent / "shared" / "data" / "ofax" / "vqax_results_raw.csv"
SCORES = {"yes": 1.0, "weak_yes": 2 / 3, "weak_no": 1 / 3, "no": 0.0}
ROUNDS = 5
ROOT = Path(__file__).resolve().parent.parent
# What a process says of itself: what `getrusage` says of a child is never less than its parent held.
MEASURE = """
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""
LARGE = 167  # times the file
MOST_SECONDS, MOST_MEMORY = 25.0, 500.0  # of the command on that, of CPU and in MB
Files = tuple[str, str]


def repeated(path: Path, *, times: int, rows: int | None = None) -> bytes:
    """Return the file, or its first rows, `times` over, every assignment under a new id."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False, index_col=False)[:rows]
    parts = [table.assign(AssignmentId=table["AssignmentId"] + f"x{n}") for n in range(times)]
    return pd.concat(parts).to_csv(index=False, lineterminator="\r\n").encode()


def columnar(data: bytes) -> Files:
    frame = frame_from_csv(data, study="s", pseudonyms=Pseudonyms("key"))
    return written(frame, "processed"), written(frame, "processed_filtered")


def written(frame: object, layout: str) -> str:
    stream = io.StringIO(newline="")
    FRAME_LAYOUTS[layout].write(frame, stream)
    return stream.getvalue()


def row_by_row(data: bytes) -> Files:
    table = pd.DataFrame([line for row in kept_rows(data) for line in lines(row)])
    return both(table)


def growing(data: bytes) -> Files:
    table = None
    for row in kept_rows(data):
        for line in lines(row):
            one = pd.DataFrame([line])
            table = one if table is None else pd.concat([table, one])
    return both(table)


def both(table: pd.DataFrame) -> Files:
    right = table[table["answer_correct"]]
    return tuple(part.to_csv(index=False, lineterminator="\n") for part in (table, right))


def kept_rows(data: bytes) -> list[pd.Series]:
    table = pd.read_csv(io.BytesIO(data), keep_default_na=False, dtype=str)
    table = table[table["AssignmentStatus"].isin(["Submitted", "Approved"])]
    return [row for _, row in table.iterrows()]


def lines(row: pd.Series) -> list[dict]:
    answers = json.loads(row["Answer.taskAnswers"])[0]
    field = "answer" if "task1_answer" in answers else "image_statement_relationship"
    n_tasks = sum(key.endswith("_image_id") for key in answers)
    return [line(row, answers, n, field=field) for n in range(1, n_tasks + 1)]


def line(row: pd.Series, answers: dict, n: int, *, field: str) -> dict:
    selected, gold = chosen(answers[f"task{n}_{field}"]), row[f"Input.answer_{n - 1}"]
    ours, gt = (chosen(answers[f"task{n}_explanation{s}_explanation_justifies_answer"]) for s in (1, 2))
    preferred = answers[f"task{n}_preference"]
    return {
        "assignment_id": row["AssignmentId"],
        "img_id": answers[f"task{n}_image_id"],
        "answer_correct": selected == gold,
        "explanation_ours": row[f"Input.output_explanation_{n - 1}"],
        "expl_score_ours": SCORES.get(ours),
        **shortcomings(answers, n, side=1, suffix="ours"),
        "explanation_gt": row[f"Input.explanation_{n - 1}"],
        "expl_score_gt": SCORES.get(gt),
        **shortcomings(answers, n, side=2, suffix="gt"),
        "expl_value_our": ours,
        "expl_value_gt": gt,
        "prefer_ours": preferred["expl_1"],
        "prefer_gt": preferred["expl_2"],
        "prefer_none": preferred["no_preference"],
        "system_ours": "model",
        "system_gt": "ground_truth",
        "shown_position_ours": None,
        "shown_position_gt": None,
        "worker": PSEUDONYMS(row["WorkerId"]),
        "hit_id": row["HITId"],
        "position": n,
        "answer": selected,
        "gold": gold,
        "active_seconds": None,
        "work_seconds": int(row["WorkTimeInSeconds"]),
        "status": row["AssignmentStatus"],
        "decision": {"Approved": "approve"}.get(row["AssignmentStatus"], ""),
    }


PSEUDONYMS = Pseudonyms("key")


def shortcomings(answers: dict, n: int, *, side: int, suffix: str) -> dict[str, bool]:
    names = {
        "confusing": "confusing_sentence",
        "incorrect": "incorrect_description",
        "insufficient": "insufficient_justification",
    }
    key = f"task{n}_explanation{side}_shortcomings_"
    return {f"{short}_{suffix}": answers[key + name]["selected"] for short, name in names.items()}


def chosen(options: dict[str, bool]) -> str | None:
    return next((option for option, is_on in options.items() if is_on), None)


def all_files(data: bytes) -> None:
    """Do what the command does: read, and write the four files."""
    frame = frame_from_csv(data, study="s", pseudonyms=Pseudonyms("key"))
    with TemporaryDirectory() as folder:
        write_files(Path(folder), writers=result_writers(frame))


def seconds(run: Callable[[bytes], object], data: bytes, *, rounds: int) -> float:
    """Return the median of `rounds` runs, in seconds of this process's CPU: other work does not count."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run(data)
        times.append(time.process_time() - start)
    return statistics.median(times)


def spent(statement: str) -> tuple[float, float]:
    """Run a statement in a Python of its own; return its seconds of CPU and the most MB it held."""
    measured = f"import resource, sys\nsys.path.insert(0, {str(ROOT)!r})\n{statement}\n{MEASURE}"
    done = subprocess.run(
        [sys.executable, "-c", measured], check=True, capture_output=True, text=True, cwd=ROOT
    )
    seconds, kilobytes = done.stdout.split()[-2:]
    return float(seconds), int(kilobytes) / 1024


def run_command(raw: Path, *, times: int) -> bool:
    """Print what the command takes on the file so many times; tell whether the largest is within its limits."""
    with TemporaryDirectory() as name:
        file, out = Path(name) / "raw.csv", str(Path(name) / "out")
        file.write_bytes(repeated(raw, times=times))
        line = ["manage.py", "evaluate_results", str(file), "--out", out]
        pandas, _ = spent("import pandas")
        seconds, memory = spent(f"import manage\nsys.argv = {line!r}\nmanage.main()")
    beside = f"{seconds / pandas:5.1f} x importing pandas"
    print(f"the command, file x {times:<4}        {seconds:8.2f} s   {beside}   {memory:.0f} MB")
    return times < LARGE or (seconds <= MOST_SECONDS and memory <= MOST_MEMORY)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("raw", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--growing", type=int, help="rows of the file to time it on (default: all)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs that a median is taken of")
    options = parser.parse_args()
    rounds = options.rounds
    many = repeated(options.raw, times=options.times)
    if columnar(many) != row_by_row(many):
        sys.exit("The two paths do not write the same bytes.")
    ours, script = (seconds(run, many, rounds=rounds) for run in (columnar, row_by_row))
    print(f"{options.raw.name} x {options.times}: same bytes from both, CPU, medians of {rounds} runs")
    print(f"columnar, two processed files    {ours:8.3f} s")
    print(f"row by row, the same two files   {script:8.3f} s   {script / ours:5.1f} times as long")
    print(f"columnar, all four files         {seconds(all_files, many, rounds=rounds):8.3f} s")
    once = repeated(options.raw, times=1, rows=options.growing)
    small, grown = seconds(columnar, once, rounds=rounds), seconds(growing, once, rounds=1)
    print(
        f"the file itself: columnar {small:.3f} s, growing a frame {grown:.3f} s, {grown / small:.0f} times as long"
    )
    sizes = sorted({1, options.times, *([LARGE] if os.environ.get("FULL") else [])})
    is_within = [run_command(options.raw, times=times) for times in sizes]
    if not all(is_within):
        sys.exit("Beyond the limits.")


if __name__ == "__main__":
    main()
