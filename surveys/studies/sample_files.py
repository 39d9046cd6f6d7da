"""What a sample is written into: a batch CSV for each data set, and the log of who was eligible.

On a server a sample has a folder with a name nobody can guess: first what is asked for, with the uploads, then the
files and `facts.json`, for a day.
"""

import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TypeVar

from django.conf import settings

from surveys.studies.kept_a_day import forget_old
from surveys.studies.predictions import read_earlier, read_predictions
from surveys.studies.sampling import Sample, check, draw, write_batch, write_log

LOG = "eligibility.csv"
ALONE = "sample"  # what the file of predictions without data sets is called
ASKED, FACTS, UPLOADS = "asked.json", "facts.json", "uploads"
ROWS_A_TELL = 20_000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Line:
    """What the log says of one data set. `reasons`: (why rows were left out, how many)."""

    name: str
    rows: int
    eligible: int
    reasons: tuple[tuple[str, int], ...]
    sampled: int
    overlap: int
    possible: int

    @property
    def filename(self) -> str:
        return f"{self.name}.csv"


def line_of(sample: Sample) -> Line:
    return Line(
        name=sample.dataset or ALONE,
        rows=sample.n_rows,
        eligible=sample.n_eligible,
        reasons=tuple(sorted(sample.reasons.items())),
        sampled=len(sample.rows),
        overlap=sample.overlap,
        possible=sample.possible,
    )


def write_sample(samples: Sequence[Sample], folder: Path, *, size: int, seed: str) -> list[Path]:
    """Write all files beside their names first, so that none is there if one fails; return their paths."""

    def batch(sample: Sample) -> Callable[[IO[str]], None]:
        return lambda stream: write_batch(sample, stream, size=size, seed=seed)

    writers = {line_of(sample).filename: batch(sample) for sample in samples}
    writers[LOG] = lambda stream: write_log(samples, stream)
    folder.mkdir(parents=True, exist_ok=True)
    parts = {folder / name: folder / f"{name}.part" for name in writers}
    try:
        for part, write in zip(parts.values(), writers.values(), strict=True):
            with part.open("w", encoding="utf-8", newline="") as stream:
                write(stream)
        for path, part in parts.items():
            part.replace(path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return list(parts)


class SampleGone(LookupError):
    """The sample was drawn more than a day ago."""


@dataclass(frozen=True, slots=True)
class KeptSample:
    """A sample on the server, for a day: to look at, to download and to import."""

    folder: Path
    system: str
    seed: str
    lines: tuple[Line, ...]

    def path(self, filename: str) -> Path | None:
        """Return the path of one of its files; None if it has none of that name."""
        names = {LOG, *(line.filename for line in self.lines)}
        return self.folder / filename if filename in names else None


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be drawn of which upload, in the sample's folder; `earlier` are uploads too."""

    n: int
    size: int
    seed: str
    system: str
    predictions: str
    earlier: tuple[str, ...] = ()


def new_folder() -> Path:
    """Make a folder for a sample and its uploads, and remove what is older than a day."""
    discard_old()
    folder = _root() / secrets.token_hex(16)
    (folder / UPLOADS).mkdir(parents=True)
    return folder


def ask_for(folder: Path, asked: Asked) -> None:
    (folder / ASKED).write_text(json.dumps(asdict(asked)))


def draw_asked(name: str, *, tell: Callable[[int], object]) -> None:
    """Draw what a folder asks for and write it there; `tell` takes percents.

    Raises SamplingError, whose message is for whoever asked, and SampleGone. Drawn again it gives the same files.
    """
    folder = _root() / name
    try:
        asked = Asked(**json.loads((folder / ASKED).read_text()))
    except FileNotFoundError:
        raise SampleGone(name) from None
    if (folder / FACTS).exists():
        return
    predictions = folder / UPLOADS / asked.predictions
    earlier = read_earlier({folder / UPLOADS / path: "" for path in asked.earlier}, predictions=predictions)
    rows = _told(read_predictions(predictions), n=_n_lines(predictions), tell=tell)
    samples = draw(rows, n=asked.n, seed=asked.seed, earlier=earlier, system=asked.system)
    check(samples, n=asked.n, size=asked.size)
    write_sample(samples, folder, size=asked.size, seed=asked.seed)
    system = next((row.system for sample in samples for row in sample.rows), "")
    facts = {"system": system, "seed": asked.seed, "lines": [asdict(line_of(sample)) for sample in samples]}
    (folder / FACTS).write_text(json.dumps(facts))
    shutil.rmtree(folder / UPLOADS, ignore_errors=True)


def _n_lines(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(block.count(b"\n") for block in iter(lambda: stream.read(2**20), b""))


def _told(rows: Iterable[T], *, n: int, tell: Callable[[int], object]) -> Iterator[T]:
    for number, row in enumerate(rows):
        if number % ROWS_A_TELL == 0:
            tell(min(95, 95 * number // max(n, 1)))
        yield row


def has_folder(name: str) -> bool:
    """Tell whether a sample was asked for, and less than a day ago."""
    return (_root() / name / ASKED).exists()


def load_sample(name: str) -> KeptSample:
    """Return a sample by the name of its folder; SampleGone if it is no longer there."""
    folder = _root() / name
    try:
        facts = json.loads((folder / FACTS).read_text())
    except FileNotFoundError:
        raise SampleGone(name) from None
    lines = (Line(**{**line, "reasons": tuple(map(tuple, line["reasons"]))}) for line in facts["lines"])
    return KeptSample(folder, facts["system"], facts["seed"], tuple(lines))


def discard_old() -> None:
    forget_old(_root())


def _root() -> Path:
    return Path(settings.DATA_DIR) / "samples"
