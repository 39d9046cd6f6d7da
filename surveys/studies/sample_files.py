"""What a sample is written into: a batch CSV for each data set, and the log of who was eligible."""

import json
import secrets
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from django.conf import settings

from surveys.studies.sampling import Sample, write_batch, write_log

LOG = "eligibility.csv"
ALONE = "sample"  # what the file of predictions without data sets is called
KEPT_SECONDS = 24 * 60 * 60


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


def keep_sample(samples: Sequence[Sample], *, size: int, seed: str, system: str) -> KeptSample:
    """Write a sample into a new folder with a name nobody can guess."""
    _discard_old()
    folder = _root() / secrets.token_hex(16)
    write_sample(samples, folder, size=size, seed=seed)
    lines = tuple(line_of(sample) for sample in samples)
    facts = {"system": system, "seed": seed, "lines": [asdict(line) for line in lines]}
    (folder / "facts.json").write_text(json.dumps(facts))
    return KeptSample(folder, system, seed, lines)


def load_sample(name: str) -> KeptSample:
    """Return a sample by the name of its folder; SampleGone if it is no longer there."""
    folder = _root() / name
    try:
        facts = json.loads((folder / "facts.json").read_text())
    except FileNotFoundError:
        raise SampleGone(name) from None
    lines = (Line(**{**line, "reasons": tuple(map(tuple, line["reasons"]))}) for line in facts["lines"])
    return KeptSample(folder, facts["system"], facts["seed"], tuple(lines))


def _discard_old() -> None:
    for folder in _root().glob("*"):
        with suppress(FileNotFoundError):
            if time.time() - folder.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _root() -> Path:
    return Path(settings.DATA_DIR) / "samples"
