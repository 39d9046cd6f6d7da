"""The media folder: what is in it, and how all of it is exchanged at once.

The folder itself stays where it is, as it may be a mount point; what lies in it is moved, and moved back on a failure.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from django.conf import settings

from surveys.operations.backups import folders
from surveys.operations.backups.archive import MEDIA, OWN, BackupError, Reader


def root() -> Path:
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def entries() -> list[Path]:
    """Return what lies directly in the media folder, without leftovers of a restore."""
    return sorted(path for path in root().iterdir() if not path.name.startswith(OWN))


def files() -> Iterator[Path]:
    """Yield the media files; BackupError for a link, as what it points to is not ours to copy or to replace."""
    for path in (found for entry in entries() for found in [entry, *sorted(entry.rglob("*"))]):
        if path.is_symlink():
            raise BackupError(f"{path} is a link; the media folder must hold files.")
        if path.is_file():
            yield path


def discard_dead(*, former_too: bool = False) -> None:
    """Remove what restores that were killed have left here."""
    folders.discard_dead(root(), prefix=OWN, former_too=former_too)


@contextmanager
def staged(archive: Reader) -> Iterator[Path]:
    """Unpack the archive's files beside the present ones; whatever is in that folder at the end is removed."""
    with folders.working(root(), prefix=OWN) as folder:
        new = folder / "new"
        new.mkdir()
        for member in archive.names(MEDIA):
            archive.extract(member, to=new / member)
        yield new


@contextmanager
def swapping(new: Path) -> Iterator[Callable[[], None]]:
    """Give a function that puts the files of `new` in the place of the present ones; undone if the block raises."""
    done: list[tuple[Path, Path]] = []
    try:
        yield partial(swap, new, done=done)
    except BaseException:
        for source, target in reversed(done):
            target.rename(source)
        raise


def swap(new: Path, *, done: list[tuple[Path, Path]]) -> None:
    """Move the present files beside `new` and its files to their place, noting each move in `done`."""
    old = new.parent / folders.FORMER
    old.mkdir()
    moves = [(path, old / path.name) for path in entries()]
    moves += [(path, root() / path.name) for path in sorted(new.iterdir())]
    for source, target in moves:
        source.rename(target)
        done.append((source, target))
