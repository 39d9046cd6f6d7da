"""The power fails while people write to SQLite: what a disk can be left with opens, adds up, and has what was promised.

All writers are halted at one moment, which is what a power cut does, and the three files are copied. What the disk
was not yet told to keep may be gone or torn then: the shared-memory file, the log behind its last commit, and pages of
the database that are still in the log (sqlite.org/wal.html#checkpointing; sqlite.org/walformat.html). The files are
damaged in just these places. A copy of files that go on being written is no backup, and nothing is promised of it.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from django.conf import settings

from marketplace.money import audit
from tests.faults.points import slow
from tests.faults.stack import database
from tests.faults.writers import N_WRITERS
from tests.services_template import migrated_file

pytestmark = pytest.mark.processes
NAME = "db.sqlite3"
WAL_HEAD, FRAME_HEAD = 32, 24  # sqlite.org/fileformat2.html#walformat
SCORES = """
SELECT rating.criterion, rating.value FROM surveys_annotationslot slot
JOIN surveys_response response ON response.assignment_id = slot.assignment_id
JOIN surveys_rating rating ON rating.response_id = response.id WHERE slot.number = ?
"""


@dataclass
class Writers:
    """Processes that write, and what they have acknowledged so far."""

    folder: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    promises: list[str] = field(default_factory=list)

    def start(self) -> None:
        for number in range(N_WRITERS):
            process = subprocess.Popen(
                command(str(number)), env=environment(self.folder), stdout=subprocess.PIPE
            )
            assert process.stdout is not None
            os.set_blocking(process.stdout.fileno(), False)
            self.processes.append(process)

    def listen(self) -> None:
        """Read what was acknowledged; of a halted process that is all it has said."""
        for process in self.processes:
            assert process.stdout is not None
            self.promises += (process.stdout.read() or b"").decode().splitlines()

    @contextmanager
    def halted(self) -> Iterator[None]:
        """Keep all of them standing where they are."""
        for process in self.processes:
            process.send_signal(signal.SIGSTOP)
        for process in self.processes:
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
        try:
            yield
        finally:
            for process in self.processes:
                process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


@dataclass
class Moment:
    """The files as they were at one moment, and what had been promised by then."""

    folder: Path
    promises: list[str]

    @property
    def database(self) -> Path:
        return self.folder / NAME

    @property
    def wal(self) -> Path:
        return self.folder / f"{NAME}-wal"

    @property
    def shm(self) -> Path:
        return self.folder / f"{NAME}-shm"


def command(job: str) -> list[str]:
    return [sys.executable, "-m", "tests.faults.writers", job]


def environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "ASSENT_DATA_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / NAME}",
        "REDIS_URL": "",
        "SECRET_KEY": settings.SECRET_KEY,
        "PYTHONWARNINGS": "ignore",
    }


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study that nobody has worked on."""
    folder = tmp_path_factory.mktemp("power")
    shutil.copyfile(migrated_file(), folder / NAME)
    subprocess.run(command("seed"), env=environment(folder), check=True)
    return folder


def moments(studied: Path, folder: Path, *, n: int, seed: int) -> list[Moment]:
    """Let people write, and take `n` pictures of the files, at random moments of which a seed tells.

    From one to the next something is promised.
    """
    shutil.copytree(studied, folder / "live")
    writers, chance, found = Writers(folder / "live"), random.Random(seed), list[Moment]()
    writers.start()
    try:
        wait_for(lambda: len(writers.promises) > 8 * N_WRITERS, writers)
        for number in range(n):
            n_before = len(writers.promises)
            time.sleep(chance.uniform(0.05, 0.6))
            wait_for(lambda n_before=n_before: len(writers.promises) > n_before, writers)
            with writers.halted():
                writers.listen()
                found.append(
                    Moment(picture(writers.folder, folder / f"moment-{number}"), list(writers.promises))
                )
    finally:
        writers.end()
    return found


def wait_for(is_so: Callable[[], bool], writers: Writers) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        assert all(process.poll() is None for process in writers.processes)
        time.sleep(0.05)
        writers.listen()


def picture(live: Path, folder: Path) -> Path:
    folder.mkdir()
    for path in live.glob(f"{NAME}*"):
        shutil.copy(path, folder)
    return folder


# -- What a disk can be left with ----------------------------------------------------------------------------------


def as_it_was(moment: Moment, *, chance: random.Random) -> None:
    """Every byte arrived."""


def without_shared_memory(moment: Moment, *, chance: random.Random) -> None:
    moment.shm.unlink()


def with_torn_shared_memory(moment: Moment, *, chance: random.Random) -> None:
    moment.shm.write_bytes(chance.randbytes(moment.shm.stat().st_size))


def with_a_torn_log(moment: Moment, *, chance: random.Random) -> None:
    """What was being written behind the last commit is noise, of any length."""
    end = committed(moment.wal)[1]
    noise = chance.randbytes(chance.randint(1, 20_000))
    moment.wal.write_bytes(moment.wal.read_bytes()[:end] + noise)


def with_a_cut_log(moment: Moment, *, chance: random.Random) -> None:
    end = committed(moment.wal)[1]
    moment.wal.write_bytes(moment.wal.read_bytes()[:end])


def with_torn_pages(moment: Moment, *, chance: random.Random) -> None:
    """A checkpoint was under way: of the pages that the log still has, some are noise in the database."""
    pages, _ = committed(moment.wal)
    size = page_size(moment.database)
    with moment.database.open("r+b") as file:
        n_pages = moment.database.stat().st_size // size
        for page in sorted(pages):
            if page <= n_pages and chance.random() < 0.5:
                file.seek((page - 1) * size)
                file.write(chance.randbytes(chance.randint(1, size)))


LEFT = [
    as_it_was,
    without_shared_memory,
    with_torn_shared_memory,
    with_a_torn_log,
    with_a_cut_log,
    with_torn_pages,
]


def page_size(path: Path) -> int:
    size: int = struct.unpack(">H", path.read_bytes()[16:18])[0]
    return 65536 if size == 1 else size


def committed(wal: Path) -> tuple[set[int], int]:
    """Return the pages in the log's present round up to its last commit, and where that commit ends in the file."""
    data = wal.read_bytes()
    if len(data) < WAL_HEAD:
        return set(), len(data)
    size, salts = struct.unpack(">I", data[8:12])[0], data[16:24]
    pages, open_pages, end, place = set[int](), set[int](), WAL_HEAD, WAL_HEAD
    while place + FRAME_HEAD + size <= len(data) and data[place + 8 : place + 16] == salts:
        page, n_after = struct.unpack(">II", data[place : place + 8])
        place += FRAME_HEAD + size
        open_pages.add(page)
        if n_after:  # a commit
            pages, open_pages, end = pages | open_pages, set(), place
    return pages, end


# -- What must hold ------------------------------------------------------------------------------------------------


def check(moment: Moment) -> dict[str, int]:
    """Open the files, and compare them with all that was promised; return how many promises of each kind were kept."""
    kept = {"answer": 0, "paid": 0}
    with closing(sqlite3.connect(moment.database)) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert opened.execute("PRAGMA foreign_key_check").fetchall() == []
        for kind, *words in (promise.split(" ", 2) for promise in moment.promises):
            if kind == "answer":
                number, scores = words
                assert dict(opened.execute(SCORES, [int(number)]).fetchall()) == json.loads(scores)
                kept[kind] += 1
            elif kind == "paid":
                query = "SELECT status FROM marketplace_assignment WHERE assignment_id = ?"
                assert opened.execute(query, words).fetchall() == [("Approved",)]
                kept[kind] += 1
    with database(f"sqlite:///{moment.database}"):
        assert [one["problems"] for one in audit.report()["requesters"]] == [[]]
    return kept


def left(moment: Moment, *, name: str) -> Moment:
    return Moment(
        shutil.copytree(moment.folder, moment.folder.with_name(f"{moment.folder.name}-{name}")),
        moment.promises,
    )


def survive(found: list[Moment], *, seed: int) -> None:
    """Check every picture in every way that it can be left in."""
    for number, moment in enumerate(found):
        for damage in LEFT:
            one = left(moment, name=damage.__name__)
            damage(one, chance=random.Random(f"{seed}/{number}/{damage.__name__}"))
            assert min(check(one).values()) > 0


@pytest.mark.django_db
def test_what_was_acknowledged_is_there(studied: Path, tmp_path: Path) -> None:
    """2 is FULL: in WAL mode the log is on the disk before a commit returns, which NORMAL does not wait for.

    The last two lines show that the test can fail: with a disk that forgets what it was told last.
    """
    found = moments(studied, tmp_path, n=2, seed=1)
    assert {"pragma journal_mode wal", "pragma synchronous 2"} <= set(found[0].promises)
    survive(found, seed=1)
    with pytest.raises(AssertionError):
        check(Moment(found[0].folder, found[1].promises))


@slow
@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(2, 8))
def test_what_was_acknowledged_is_there_at_many_moments(studied: Path, tmp_path: Path, seed: int) -> None:
    survive(moments(studied, tmp_path, n=12, seed=seed), seed=seed)
