"""Files that take long, prepared by the worker: what is said of a whole large batch needs all of it in memory.

What has a row for each answer starts at once, whatever its size, and is sent while it is read (`taking`). A prepared
file is kept on the server for a day, and is taken only while nothing has changed since.
"""

from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from surveys.models import Batch, Response
from surveys.results.files.layouts import Layout
from surveys.studies.kept_a_day import forget_old

LARGE = 5_000  # answers, of which a report takes seconds


def takes_long(batch: Batch, layout: Layout) -> bool:
    """Tell whether nobody should wait for a file in their browser."""
    return layout.lines is None and has_many_answers(batch)


def has_many_answers(batch: Batch) -> bool:
    return Response.objects.filter(batch=batch)[LARGE : LARGE + 1].exists()


def path_of(batch: Batch, name: str, *, version: str) -> Path:
    """Return where the file of this version of the data is, once it was prepared."""
    return _root() / f"{batch.pk}-{name}-{version}"


def prepare(batch: Batch, name: str, layout: Layout, *, version: str, tell: Callable[[int], object]) -> Path:
    """Write a file beside its place first, so that none is there in part. Forgets those that are a day old."""
    discard_old()
    tell(5)
    path = path_of(batch, name, version=version)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="") as stream:
        layout.write(batch, stream)
    return part.replace(path)


def discard_old() -> None:
    forget_old(_root())


def _root() -> Path:
    return Path(settings.DATA_DIR) / "prepared"
