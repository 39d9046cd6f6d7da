"""Change the core in a seeded sample of places, one at a time, and list the changes that no test notices.

python -m tests.mutants [--n 200] [--seed 1] [--jobs 2] [--only review quota ..] [--report FILE]

Each mutant runs in a copy of the project. It is killed when a test fails, an import does, or the tests take three
times as long as without it. What survives the tests named after its file is tried on all tests of its target.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from queue import Queue

from tests.mutants.mutations import Mutation, diff, mutated, places
from tests.mutants.targets import ROOT, TARGETS, files, mirror

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "var", "__pycache__", ".*_cache", ".hypothesis")
SPARE_SECONDS = 60
PASSED = 0


def sample(names: Sequence[str], *, n: int, seed: int) -> list[tuple[str, Mutation]]:
    """Draw `n` places of the targets, and one change of each; the same seed draws the same."""
    chance = random.Random(seed)
    found = [
        (name, ways) for name in names for path in files(TARGETS[name]) for ways in places(path, root=ROOT)
    ]
    chance.shuffle(found)
    drawn = ((name, chance.choice(ways)) for name, ways in found)
    return list(islice((one for one in drawn if is_python(mutated(one[1], root=ROOT))), n))


def is_python(code: str) -> bool:
    try:
        compile(code, "mutant", "exec")
    except SyntaxError:
        return False
    return True


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the project, beside the same published studies."""
    with tempfile.TemporaryDirectory(prefix="assent-mutants-") as name:
        Path(name).chmod(0o755)
        project = Path(name) / "assent"
        shutil.copytree(ROOT, project, ignore=LEFT_OUT)
        (Path(name) / "shared").symlink_to(ROOT.parent / "shared")
        yield project


def run(project: Path, tests: Sequence[str], *, timeout: float | None = None) -> bool:
    """Run tests in a copy and tell whether all of them passed."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-n0",
        "-p",
        "no:randomly",
        "-p",
        "no:cacheprovider",
    ]
    marks = ["-m", "not processes and not slow_faults"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(
        [*command, *marks, *tests],
        cwd=project,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True,
        **quiet,
    ) as process:
        try:
            return process.wait(timeout) == PASSED
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return False


@cache
def allowed(tests: tuple[str, ...]) -> float:
    """Return how many seconds tests may take with a mutant; RuntimeError if they fail without one."""
    with copied() as project:
        started = time.monotonic()
        if not run(project, tests):
            raise RuntimeError(f"These fail without any mutant: {' '.join(tests)}")
        return 3 * (time.monotonic() - started) + SPARE_SECONDS


def survives(mutation: Mutation, *, target: str, project: Path) -> bool:
    """Tell whether all tests pass with the mutation in the copy; the copy is as before afterwards."""
    place = project / mutation.path
    before = place.read_text()
    place.write_text(mutated(mutation, root=project))
    try:
        stages = [tuple(mirror(mutation.path)), TARGETS[target].tests]
        return all(run(project, tests, timeout=allowed(tests)) for tests in stages if tests)
    finally:
        place.write_text(before)


def check(mutants: Sequence[tuple[str, Mutation]], *, jobs: int) -> Iterator[tuple[Mutation, bool]]:
    """Yield each mutation and whether it survived, in order; each job has a copy of the project."""
    copies: Queue[Path] = Queue()

    def one(drawn: tuple[str, Mutation]) -> tuple[Mutation, bool]:
        project = copies.get()
        try:
            return drawn[1], survives(drawn[1], target=drawn[0], project=project)
        finally:
            copies.put(project)

    with ThreadPoolExecutor(jobs) as pool, copied() as first, copied() as second:
        for project in [first, second][:jobs]:
            copies.put(project)
        yield from pool.map(one, mutants)


def main() -> None:
    options = parsed()
    mutants = sample(options.only or list(TARGETS), n=options.n, seed=options.seed)
    survivors = []
    with options.report.open("w") as report:
        for number, (mutation, survived) in enumerate(check(mutants, jobs=options.jobs), 1):
            say(f"{number}/{len(mutants)} {'SURVIVED' if survived else 'killed'} {mutation}")
            if survived:
                survivors.append(mutation)
                report.write(f"{mutation.operator}\n{diff(mutation, root=ROOT)}\n\n")
                report.flush()
        n_killed = len(mutants) - len(survivors)
        rate = f"seed {options.seed}: {n_killed} of {len(mutants)} killed ({n_killed / len(mutants):.1%})"
        report.write(f"{rate}\n")
    say(f"{options.report.read_text()}\n{options.report}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=2)
    parser.add_argument("--only", nargs="+", choices=list(TARGETS))
    parser.add_argument("--report", type=Path, default=ROOT / "var" / "mutants.txt")
    options = parser.parse_args()
    options.report.parent.mkdir(parents=True, exist_ok=True)
    return options


if __name__ == "__main__":
    main()
