"""What `make mutants` changes, and which tests have to notice: those named after a file first, then its target's."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Target:
    """Files of the core by glob, and the tests (files or folders) of all of them; both from the project's folder."""

    files: str
    tests: tuple[str, ...]


TARGETS = {
    "review": Target("surveys/review/*.py", ("tests/surveys/review",)),
    "quota": Target("surveys/publishing/quota.py", ("tests/surveys/publishing", "tests/surveys/answering")),
    "allocation": Target("surveys/answering/allocation.py", ("tests/surveys/answering",)),
    "orders": Target("surveys/answering/orders.py", ("tests/surveys/answering",)),
    "budget": Target("surveys/publishing/budget.py", ("tests/surveys/publishing", "tests/surveys/review")),
    "engine": Target("marketplace/engine/*.py", ("tests/marketplace/engine", "tests/marketplace/money")),
    "ledger": Target("marketplace/money/*.py", ("tests/marketplace/money", "tests/marketplace/engine")),
    "outbox": Target("annotators/outbox/*.py", ("tests/annotators/outbox",)),
    "statistics": Target("surveys/results/statistics/*.py", ("tests/surveys/results",)),
}


def files(target: Target) -> list[Path]:
    """Return the target's files that hold code, from the project's folder."""
    found = sorted(ROOT.glob(target.files))
    return [path.relative_to(ROOT) for path in found if path.name != "__init__.py"]


def mirror(path: Path) -> list[str]:
    """Return the test files that are named after a file, in the folder that mirrors its own or the one above."""
    folders = [ROOT / "tests" / path.parent, ROOT / "tests" / path.parent.parent]
    tests = [test for folder in folders for test in sorted(folder.glob(f"test_{path.stem}*.py"))]
    return [str(test.relative_to(ROOT)) for test in tests]
