"""Uploaded files between preview and confirmation: a folder each, kept a day, gone once imported."""

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO

from django.conf import settings

from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.fetching import FetchedPictures
from surveys.studies.importing.pictures import Pictures
from surveys.studies.kept_a_day import forget_old


class StagedGone(LookupError):
    """The folder has been imported, is being imported, or was a day old."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What the researcher asked for: into which survey (`survey_id`, or a new one), and how to read the file.

    `columns` says what the file's are called, {our name: the file's}; pictures' names are appended to `address`.
    """

    filename: str
    survey_id: int | None
    name: str
    slug: str
    definition_key: str
    system: str
    layout: str
    allow_missing: bool
    columns: dict[str, str] = field(default_factory=dict)
    address: str = ""


@dataclass(frozen=True, slots=True)
class Staged:
    """One folder of uploaded files."""

    folder: Path
    wish: Wish

    @property
    def pictures_folder(self) -> Path:
        return self.folder / "pictures"

    @property
    def path(self) -> Path:
        return self.folder / "items"

    def items(self) -> bytes:
        return self.path.read_bytes()

    @contextmanager
    def pictures(self) -> Iterator[Pictures | None]:
        """Open the uploaded ZIP or the fetched pictures, None if there are neither; PictureError if it is broken."""
        if (archive := self.folder / "pictures.zip").exists():
            with ZipPictures(archive) as pictures:
                yield pictures
        else:
            yield FetchedPictures(self.pictures_folder) if self.pictures_folder.exists() else None


def stage(wish: Wish, *, items: bytes, archive: IO[bytes] | None) -> Staged:
    """Keep what was uploaded in a new folder with a name nobody can guess."""
    discard_old()
    folder = _root() / secrets.token_hex(16)
    folder.mkdir(parents=True)
    (folder / "items").write_bytes(items)
    if archive:
        with (folder / "pictures.zip").open("wb") as file:
            shutil.copyfileobj(archive, file)
    _keep(wish, folder=folder)
    return Staged(folder, wish)


def with_columns(staged: Staged, columns: dict[str, str]) -> Staged:
    """Keep what the file's columns mean with the file; StagedGone if that is no longer there."""
    wish = replace(staged.wish, columns=columns)
    try:
        _keep(wish, folder=staged.folder)
    except FileNotFoundError:
        raise StagedGone(staged.folder.name) from None
    return Staged(staged.folder, wish)


def _keep(wish: Wish, *, folder: Path) -> None:
    (folder / "wish.json").write_text(json.dumps(asdict(wish)))


def load(name: str) -> Staged:
    """Return a staged folder by its name; StagedGone if it is no longer there."""
    folder = _root() / name
    try:
        return Staged(folder, Wish(**json.loads((folder / "wish.json").read_text())))
    except FileNotFoundError:
        raise StagedGone(name) from None


@contextmanager
def claimed(staged: Staged) -> Iterator[Staged]:
    """Take the folder for one import: StagedGone for whoever comes second. It is removed if all goes well."""
    folder = staged.folder.with_suffix(".claimed")
    try:
        staged.folder.rename(folder)
    except FileNotFoundError:
        raise StagedGone(staged.folder.name) from None
    try:
        yield Staged(folder, staged.wish)
    except BaseException:
        folder.rename(staged.folder)
        raise
    discard(Staged(folder, staged.wish))


def discard(staged: Staged) -> None:
    shutil.rmtree(staged.folder, ignore_errors=True)


def discard_old() -> None:
    forget_old(_root())


def _root() -> Path:
    return Path(settings.DATA_DIR) / "imports"
