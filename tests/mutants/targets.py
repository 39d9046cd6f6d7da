"""What `make mutants` changes: the core."""

from pathlib import Path

ROOT = Path(__file__).parents[2]

# Files of the core by glob, from the project's folder.
TARGETS = {
    "review": "surveys/review/*.py",
    "giving": "surveys/publishing/giving.py",
    "quota": "surveys/publishing/quota.py",
    "allocation": "surveys/answering/allocation.py",
    "orders": "surveys/answering/orders.py",
    "budget": "surveys/publishing/budget.py",
    "engine": "marketplace/engine/*.py",
    "ledger": "marketplace/money/*.py",
    "outbox": "annotators/outbox/*.py",
    "statistics": "surveys/results/statistics/*.py",
}


def files(target: str) -> list[Path]:
    """Return the target's files that hold code, from the project's folder."""
    found = sorted(ROOT.glob(TARGETS[target]))
    return [path.relative_to(ROOT) for path in found if path.name != "__init__.py"]
