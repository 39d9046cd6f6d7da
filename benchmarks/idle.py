"""What does a demo cost that nobody uses: CPU a second, and memory, over all its processes?

Run `python benchmarks/idle.py [--seconds 60] [--wait 300]`. It starts `manage.py demo` with data of its own on a free
port, waits until its simulated people are done and CPU has come to rest, but no longer than --wait, and counts for so
long. Memory is PSS (smaps_rollup), in which a page that forked processes share is counted once; RSS counts it in each,
and is shown beside it. It ends with status 1 above 10 ms of CPU a second or 450 MB; with a shorter --wait people may be
at work, and CPU is not judged. Linux only.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.database import NAME, copy_to  # noqa: E402 (after the path)
from benchmarks.served_pages import cpu_seconds  # noqa: E402
from surveys.operations.processes.stack import free_port  # noqa: E402

MOST_CPU, MOST_MEMORY = 10.0, 450.0  # milliseconds a second, and MB
LONGEST_START, LONGEST_WORK = 300.0, 300.0  # seconds


def family(pid: int) -> list[int]:
    """Return a process and all that descend from it."""
    children = (Path(f"/proc/{pid}/task/{pid}/children")).read_text().split()
    return [pid, *(one for child in children for one in family(int(child)))]


def memory(pid: int) -> dict[str, float]:
    """Return the MB of one process by kind: Rss, Pss and so on."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    return {name: int(size.split()[0]) / 1024 for name, _, size in (line.partition(":") for line in lines)}


def role(pid: int) -> str:
    """Return what a process is called. All but beat are copies of the first, with its command line."""
    name = Path(f"/proc/{pid}/comm").read_text().strip()
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return "beat" if "beat" in words else name.removeprefix("assent-")


def wait_until_up(demo: "subprocess.Popen[str]") -> None:
    assert demo.stdout is not None
    ends = time.monotonic() + LONGEST_START
    for line in demo.stdout:
        if line.startswith("Data and logs are in"):
            return
        if time.monotonic() > ends:
            break
    raise SystemExit("The demo did not start.")


def wait_until_at_rest(pid: int, *, seconds: float, longest: float) -> None:
    """Wait until the simulated people of its studies are done: a span takes no more than a tenth of a core."""
    ends = time.monotonic() + longest
    while time.monotonic() < ends:
        before = cpu_seconds(pid)
        time.sleep(seconds)
        if cpu_seconds(pid) - before < seconds / 10:
            return


def measure(pid: int, *, seconds: float, most_cpu: float) -> bool:
    """Print what each process takes; tell whether that is within the limits."""
    before = cpu_seconds(pid)
    time.sleep(seconds)
    cpu = (cpu_seconds(pid) - before) / seconds * 1000
    each = [(role(one), memory(one)) for one in family(pid)]
    print(f"{'':10}{'PSS: MB':>10}{'RSS: MB':>10}")
    for name, found in each:
        print(f"{name:10}{found['Pss']:>10.0f}{found['Rss']:>10.0f}")
    pss, rss = (sum(found[kind] for _, found in each) for kind in ("Pss", "Rss"))
    print(f"{'all':10}{pss:>10.0f}{rss:>10.0f}   (limit {MOST_MEMORY:.0f} MB, PSS)")
    print(f"CPU {cpu:.1f} ms a second   (limit {most_cpu:.0f})")
    return cpu <= most_cpu and pss <= MOST_MEMORY


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--wait", type=float, default=LONGEST_WORK, help="for simulated people, at most (default: 300 s)"
    )
    given = parser.parse_args()
    seconds, most_cpu = given.seconds, MOST_CPU if given.wait >= LONGEST_WORK else math.inf
    forget = {"DATABASE_URL", "REDIS_URL", "ASSENT_MEDIA_DIR"}
    with tempfile.TemporaryDirectory(prefix="assent-benchmark-") as folder:
        copy_to(Path(folder, NAME))
        kept = {name: value for name, value in os.environ.items() if name not in forget}
        command = [sys.executable, "manage.py", "demo", "--no-browser", f"--port={free_port()}"]
        with subprocess.Popen(
            command, cwd=ROOT, env={**kept, "ASSENT_DATA_DIR": folder}, stdout=subprocess.PIPE, text=True
        ) as demo:
            try:
                wait_until_up(demo)
                wait_until_at_rest(demo.pid, seconds=min(10.0, seconds), longest=given.wait)
                return int(not measure(demo.pid, seconds=seconds, most_cpu=most_cpu))
            finally:
                demo.terminate()
                demo.communicate()  # until all its processes are gone


if __name__ == "__main__":
    sys.exit(main())
