"""A survey type as one file: a ZIP of its document and the pictures that its instructions name."""

import io
import unicodedata
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO

from surveys.models import Protocol
from surveys.protocols.documents import MOST_BYTES as MOST_DOCUMENT_BYTES
from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.pictures import PictureError

MOST_BYTES = 10 * 2**20  # of the file, and of all that is in it; forms are no larger (config/bodies.py)
MOST_FILES = 200
DOCUMENTS = (".yaml", ".yml")
ZIP = b"PK\x03\x04"
WRITTEN_AT = (1980, 1, 1, 0, 0, 0)  # the first a ZIP can tell: the same type is the same file


class PackageError(ValueError):
    """A file that is no survey type; the message says why."""


@dataclass(frozen=True, slots=True)
class Package:
    """A document with its file's name, and the pictures beside it by the names it calls them."""

    name: str
    document: bytes
    pictures: dict[str, bytes] = field(default_factory=dict)


def is_zip(file: IO[bytes], *, name: str) -> bool:
    """Tell whether a file is, or says it is, a ZIP."""
    start = file.read(len(ZIP))
    file.seek(0)
    return start == ZIP or name.lower().endswith(".zip")


def opened(file: IO[bytes], *, name: str, size: int) -> Package:
    """Return what a file holds: a document, or a ZIP of one with its pictures. Nothing too large is read.

    Raises PackageError.
    """
    if is_zip(file, name=name):
        if size > MOST_BYTES:
            raise PackageError(f"{name}: The file is larger than {MOST_BYTES // 2**20} MB.")
        return unpacked(file, name=name)
    if size > MOST_DOCUMENT_BYTES:
        raise PackageError(f"{name}: The file is larger than {MOST_DOCUMENT_BYTES // 1000} kB.")
    return Package(name, file.read())


def unpacked(file: IO[bytes], *, name: str) -> Package:
    """Return what a ZIP holds: one document, and pictures named from its folder on. PackageError if it is otherwise.

    Nothing is written anywhere, and nothing is read that is too large. `name` is the file's.
    """
    try:
        with ZipPictures(file) as archive:
            paths = _checked_paths(archive)
            (document,) = (path for path in paths if path.lower().endswith(DOCUMENTS))
            folder = document.removesuffix(PurePosixPath(document).name)
            pictures = {_named(path, folder): archive.read(path) for path in paths if path != document}
            return Package(PurePosixPath(document).name, archive.read(document), pictures)
    except PictureError as error:
        raise PackageError(f"{name}: {error}") from None


def _checked_paths(archive: ZipPictures) -> list[str]:
    """Return the names of the files that count. PictureError if they are too many, too large, doubled or no type."""
    paths = list(archive.paths())
    entries = archive.archive.infolist()
    if len(entries) > MOST_FILES:
        raise PictureError(f"The ZIP holds {len(entries):,} files; {MOST_FILES} are the most.")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise PictureError(f"The ZIP unpacks to more than {MOST_BYTES // 2**20} MB.")
    if twice := [path for path, n in Counter(map(_normal, paths)).items() if n > 1]:
        raise PictureError(f"The ZIP holds “{twice[0]}” twice.")
    documents = [path for path in paths if path.lower().endswith(DOCUMENTS)]
    if len(documents) != 1:
        count = f"{len(documents)} documents" if documents else "no document"
        raise PictureError(f"The ZIP holds {count}; one that ends in .yaml belongs in it.")
    if archive.archive.getinfo(documents[0]).file_size > MOST_DOCUMENT_BYTES:
        raise PictureError(f"“{documents[0]}” is larger than {MOST_DOCUMENT_BYTES // 1000} kB.")
    return paths


def _named(path: str, folder: str) -> str:
    """Return a picture's name from the document's folder on. PictureError for what lies elsewhere."""
    if not path.startswith(folder):
        raise PictureError(f"“{path}” lies outside the folder of the document.")
    return _normal(path.removeprefix(folder))


def _normal(name: str) -> str:
    """Return a name with its letters in one piece: macOS packs accents apart."""
    return unicodedata.normalize("NFC", name)


def packed(key: str, *, document: str, protocol: Protocol | None) -> bytes:
    """Return a type as a ZIP that `unpacked` reads to the same bytes. `protocol` has its pictures."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(f"{key}.yaml", WRITTEN_AT), document.encode())
        for picture in protocol.pictures.all() if protocol else ():
            archive.writestr(zipfile.ZipInfo(picture.name, WRITTEN_AT), picture.content)
    return buffer.getvalue()
