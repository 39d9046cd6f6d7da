"""Pictures in a ZIP, read in place: nothing is ever unpacked to a path the archive names."""

import lzma
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Self

from django.conf import settings

from surveys.studies.importing.pictures import PictureError, Pictures, read_limited

MAX_ENTRIES = 100_000
MAX_RATIO = 200  # photographs hardly shrink; a bomb shrinks a thousandfold
RATIO_FROM_BYTES = 2**20
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    KeyError,
    RuntimeError,  # encrypted
    NotImplementedError,
)


class ZipPictures(Pictures):
    """The files of a ZIP. PictureError at once if the archive is broken, hostile or too large."""

    def __init__(self, file: Path | IO[bytes]) -> None:
        try:
            self.archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            raise PictureError("The archive of pictures is not a ZIP that can be read.") from None
        try:
            self._check()
        except PictureError:
            self.close()
            raise

    def close(self) -> None:
        self.archive.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self) -> None:
        entries = self.archive.infolist()
        if len(entries) > MAX_ENTRIES:
            raise PictureError(
                f"The archive holds {len(entries):,} files; at most {MAX_ENTRIES:,} are allowed."
            )
        if sum(entry.file_size for entry in entries) > settings.IMAGE_ARCHIVE_MAX_BYTES:
            allowed = settings.IMAGE_ARCHIVE_MAX_BYTES // 2**20
            raise PictureError(f"The archive unpacks to more than {allowed} MB.")
        for entry in entries:
            if reason := _refusal(entry):
                raise PictureError(f'The archive holds "{entry.filename}", {reason}.')

    def paths(self) -> Iterator[str]:
        for entry in self.archive.infolist():
            path = PurePosixPath(entry.filename)
            if path.name and not entry.is_dir() and "__MACOSX" not in path.parts and path.name[0] != ".":
                yield entry.filename

    def read(self, path: str, *, kind: str = "picture") -> bytes:
        try:
            with self.archive.open(path) as file:
                return read_limited(file, kind=kind, n_bytes=self.archive.getinfo(path).file_size)
        except BROKEN:
            raise PictureError("It can't be unpacked from the archive.") from None


def _refusal(entry: zipfile.ZipInfo) -> str:
    """Return why an entry makes the whole archive refused; an empty text if it is fine."""
    name = entry.filename.replace("\\", "/")
    if name.startswith("/") or ".." in name.split("/") or name[1:3] == ":/":
        return "a path that leads outside"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "a symbolic link"
    if entry.flag_bits & 0x1:
        return "which is encrypted"
    if entry.file_size > RATIO_FROM_BYTES and entry.file_size > MAX_RATIO * max(entry.compress_size, 1):
        return "which unpacks to far more than a picture does"
    return ""
