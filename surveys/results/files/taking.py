"""Who may take which file of a batch away, and the file in parts, as it is read."""

from collections.abc import Callable, Iterable, Iterator
from io import TextIOWrapper
from tempfile import TemporaryFile
from typing import IO

from django.utils.text import slugify

from surveys.models import Batch
from surveys.results.files.layouts import LAYOUTS, Layout, named
from surveys.teams import Person

EXPORT_RAW = "surveys.export_raw"
BLOCK = 64 * 1024  # bytes


def layout_of(batch: Batch, name: str) -> Layout | None:
    """Return a file of a published batch by its name; a draft has none."""
    return None if batch.status == Batch.Status.DRAFT else LAYOUTS.get(name)


def may_have(person: Person, layout: Layout) -> bool:
    return not layout.is_raw or person.has_perm(EXPORT_RAW)


def filename(batch: Batch, layout: Layout) -> str:
    return named(batch, f"{slugify(batch.name) or batch.pk}-{layout.filename}")


def headers(batch: Batch, layout: Layout) -> dict[str, str]:
    """Return what an answer says of the file that it is."""
    return {
        "Content-Type": f"{layout.content_type}; charset=utf-8",
        "Content-Disposition": f'attachment; filename="{filename(batch, layout)}"',
    }


def parts(batch: Batch, layout: Layout) -> Iterator[bytes]:
    """Return a file under pseudonyms, made when it is read."""
    return joined(layout.lines(batch)) if layout.lines else _blocks(batch, layout.write)


def joined(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield a file's lines in blocks, as each block is sent on its own; the first line at once."""
    block: list[str] = []
    size = BLOCK
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= BLOCK:
            yield "".join(block).encode()
            block, size = [], 0
    if block:
        yield "".join(block).encode()


def _blocks(batch: Batch, write: Callable[[Batch, IO[str]], None]) -> Iterator[bytes]:
    """Yield what is written only when the first block is asked for."""
    yield from read(written(batch, write))


def written(batch: Batch, write: Callable[[Batch, IO[str]], None]) -> IO[bytes]:
    """Return the whole file, at its beginning."""
    file = TemporaryFile()  # noqa: SIM115 (closed when it is read)
    text = TextIOWrapper(file, encoding="utf-8", newline="")
    write(batch, text)
    text.detach()
    file.seek(0)
    return file


def read(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while block := file.read(BLOCK):
            yield block
