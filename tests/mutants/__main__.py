"""Change the core in a seeded sample of places, one at a time, and list the changes that no test notices.

python -m tests.mutants [--n 200] [--seed 1] [--jobs 2] [--only quota ..] [--tests PATH ..] [--report FILE] [--again]

All tests of `make test` run once, to write down what each passes through (`--again` goes by what was written last).
With `--tests` only these do: it is quicker, and what survives them others may still notice.
Each mutant then runs in a copy of the project, with the tests that pass through the changed statement; where it runs
when its module is imported, with those that pass through its file. It is killed when a test fails, an import
does, or the tests take three times as long as without it.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from queue import Queue

from tests.mutants.covering import FILES, FOLDER, Passes, runs_at_import, statement
from tests.mutants.mutations import Mutation, changed_lines, diff, mutated, places
from tests.mutants.targets import ROOT, TARGETS, files

LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "var", "__pycache__", ".*_cache", ".hypothesis")
SPARE_SECONDS = 60
ALL = "tests"
LOG, LOG_SHOWN = "mutants.log", 3000
PASSED = 0


def sample(names: Sequence[str], *, n: int, seed: int) -> list[Mutation]:
    """Draw `n` places of the targets, and one change of each; the same seed draws the same."""
    chance = random.Random(seed)
    found = [ways for name in names for path in files(name) for ways in places(path, root=ROOT)]
    chance.shuffle(found)
    drawn = (chance.choice(ways) for ways in found)
    return list(islice((one for one in drawn if is_python(mutated(one, root=ROOT))), n))


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


def run(
    project: Path,
    tests: Sequence[str],
    *,
    timeout: float | None = None,
    first_only: bool = True,
    **environment: str,
) -> bool:
    """Run tests in a copy and tell whether all of them passed; what they say is in mutants.log there."""
    named = project / "mutants-tests.txt"
    named.write_text("\n".join(tests))
    plugins = [f"-p{name}" for name in ("no:randomly", "no:cacheprovider", "tests.mutants.covering")]
    marks = ["-m", "not processes and not slow_faults"]  # those of integration too
    with (
        (project / LOG).open("w") as log,
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "pytest",
                "-qx" if first_only else "-q",
                "-n0",
                *plugins,
                *marks,
                f"@{named}",
            ],
            cwd=project,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(project), **environment},
            start_new_session=True,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            return process.wait(timeout) == PASSED
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return False


def recorded(paths: Sequence[Path], *, tests: Sequence[str]) -> Passes:
    """Return what the tests pass through in these files; RuntimeError if they fail without any mutant."""
    with copied() as project, tempfile.TemporaryDirectory() as folder:
        named = os.pathsep.join(str(project / path) for path in paths)
        if not run(project, tests, first_only=False, **{FILES: named, FOLDER: folder}):
            said = (project / LOG).read_text()[-LOG_SHOWN:]
            raise RuntimeError(f"The tests fail without any mutant:\n{said}")
        return Passes.read(Path(folder), project=project, files=paths)


def passes_of(tests: Sequence[str], *, kept: Path, again: bool) -> Passes:
    """Return what the tests pass through in all targets, and keep it; what was kept last, if that will do."""
    if again and kept.exists():
        return Passes.load(kept)
    passes = recorded([path for name in TARGETS for path in files(name)], tests=tests)
    passes.save(kept)
    return passes


def survives(mutation: Mutation, *, passes: Passes, project: Path) -> bool:
    """Tell whether all tests pass with the mutation in the copy; the copy is as before afterwards."""
    place = project / mutation.path
    before = place.read_text()
    tests = passes.through(mutation.path, noticing(before, changed_lines(mutation, root=project)))
    seconds = sum(passes.seconds[test] for test in tests) or sum(passes.seconds.values())
    place.write_text(mutated(mutation, root=project))
    try:
        return run(project, tests or [ALL], timeout=3 * seconds + SPARE_SECONDS)
    finally:
        place.write_text(before)


def noticing(code: str, changed: Sequence[int]) -> list[int]:
    """Return the lines through which a test has to pass to notice a change; none where it works at import."""
    if any(runs_at_import(code, line=line) for line in changed):
        return []
    return [line for one in changed for line in statement(code, line=one)]


def check(mutants: Sequence[Mutation], *, passes: Passes, jobs: int) -> Iterator[tuple[Mutation, bool]]:
    """Yield each mutation and whether it survived, as they are tried; each job has a copy of the project."""
    copies: Queue[Path] = Queue()

    def one(mutation: Mutation) -> tuple[Mutation, bool]:
        project = copies.get()
        try:
            return mutation, survives(mutation, passes=passes, project=project)
        finally:
            copies.put(project)

    with ThreadPoolExecutor(jobs) as pool, copied() as first, copied() as second:
        for project in [first, second][:jobs]:
            copies.put(project)
        for tried in as_completed([pool.submit(one, mutation) for mutation in mutants]):
            yield tried.result()


def main() -> None:
    options = parsed()
    mutants = sample(options.only or list(TARGETS), n=options.n, seed=options.seed)
    kept = options.report.with_name("mutants-passes.json")
    passes = passes_of(options.tests, kept=kept, again=options.again)
    survivors = []
    with options.report.open("w") as report:
        for number, (mutation, survived) in enumerate(check(mutants, passes=passes, jobs=options.jobs), 1):
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
    parser.add_argument("--tests", nargs="+", default=[ALL])
    parser.add_argument("--again", action="store_true", help="Don't record anew what the tests pass through.")
    parser.add_argument("--report", type=Path, default=ROOT / "var" / "mutants.txt")
    options = parser.parse_args()
    options.report.parent.mkdir(parents=True, exist_ok=True)
    return options


if __name__ == "__main__":
    main()
