"""The design of a large study beside HITs in the order of rows: CPU, and their ratio."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from surveys.publishing.design import Unit, draw_blocks, n_meetings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subjects", type=int, default=10_000)
    parser.add_argument("--systems", type=int, default=3)
    parser.add_argument("--size", type=int, default=5)
    options = parser.parse_args()
    pairs = [(s, k) for k in range(options.systems) for s in range(options.subjects)]
    units = [Unit(n, f"subject {s}", f"system {k}") for n, (s, k) in enumerate(pairs)]
    ours, blocks = timed(lambda: draw_blocks(units, size=options.size, seed="1"))
    plain, _ = timed(lambda: in_order(units, size=options.size))
    sys.stdout.write(
        f"{len(units)} items, {len(blocks)} HITs: {ours:.2f} s, by rows {plain:.2f} s, ratio {ours / plain:.0f}; "
        f"{n_meetings(blocks)} share a HIT with their subject\n"
    )


def in_order(units: list[Unit], *, size: int) -> list[list[Unit]]:
    """Everybody's first item of a subject, then everybody's second, cut into HITs."""
    seen: dict[str, int] = {}
    rounds = []
    for unit in units:
        seen[unit.subject] = seen.get(unit.subject, -1) + 1
        rounds.append((seen[unit.subject], unit))
    ordered = [unit for _, unit in sorted(rounds, key=lambda pair: pair[0])]
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def timed(run: Callable[[], list[list[Unit]]]) -> tuple[float, list[list[Unit]]]:
    """Return the seconds of CPU it took, and what it returned."""
    start = process_time()
    result = run()
    return process_time() - start, result


if __name__ == "__main__":
    main()
