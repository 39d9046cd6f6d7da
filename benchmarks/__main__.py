"""Every benchmark that has a limit, one after the other: `make bench`, with FULL=1 at 10,000 and 100,000.

Each says for itself what it compares with; docs/performance.md has what was measured and what is asked for. SMOKE=1
takes the smallest sizes that still pass through everything, to see that the programs work.
"""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEER = HERE.parent / ".venv" / "peer" / "bin" / "python"
TURKLE = ("--peer", str(PEER))
# The program, and what it is given: usually, with FULL=1, with SMOKE=1.
PROGRAMS: tuple[tuple[str, str, str, str], ...] = (
    ("journey", "--hits 60 1000", "--hits 60 1000 10000 100000 --rounds 5", "--hits 5 --rounds 1"),
    ("clients", "--seconds 10", "--hits 10000", "--hits 5 --seconds 0.2 --clients 2"),
    ("regulars", "", "--hits 300 --annotations 10000", "--hits 3 --annotations 4"),
    ("served_pages", "--rounds 30", "--rounds 100", "--rounds 2"),
    ("marketplace", "--rounds 30 --sizes 1000 10000", "--sizes 1000 100000", "--rounds 2 --sizes 120"),
    ("sync", "--hits 1000", "", "--hits 20 --looked-at 2 --ticks 1"),
    ("million", "", "", "--studies 2 4 --copies 0 --hits 4 --pages 3"),
    ("publishing", "--hits 500", "", "--hits 15"),
    ("idle", "--seconds 60", "--seconds 600", "--seconds 1 --wait 1"),
    ("hit_page", "", "", "--rounds 1"),
    ("evaluate_results", "--times 2", "--times 10", "--times 1 --growing 20 --rounds 1"),
    ("report", "--items 500", "--items 10000", "--items 4"),
    ("downloads", "--assignments 1000", "", "--assignments 4"),
    ("importing", "--rows 1000", "--rows 10000", "--rows 5"),
    ("design", "--subjects 1000", "", "--subjects 20"),
    ("sampling", "--rows 20000", "--rows 1000000", "--rows 4000"),
    ("inference", "--fast --runs 200 --workers 20", "--runs 400", "--runs 1 --workers 12"),
    ("intervals", "--runs 40", "--runs 400", "--runs 1"),
    ("text_metrics", "--pairs 1000 --jobs 1", "", "--pairs 20 --together 20 --jobs 1"),
)


def arguments(name: str, given: str) -> Sequence[str]:
    return [*given.split(), *(TURKLE if name in {"journey", "clients"} else ())]


def main() -> int:
    size = 2 if os.environ.get("SMOKE") else 1 if os.environ.get("FULL") else 0
    failed = []
    for name, *sizes in PROGRAMS:
        print(f"\n== {name} {sizes[size]}", flush=True)
        started = time.monotonic()
        command = [sys.executable, str(HERE / f"{name}.py"), *arguments(name, sizes[size])]
        if subprocess.run(command, check=False).returncode:
            failed.append(name)
        print(f"({time.monotonic() - started:.0f} s)", flush=True)
    print(f"\nBeyond a limit, or broken: {', '.join(failed) or 'none'}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
