"""Where pictures come from, and how the name in a file finds its picture."""

import os
import re
import unicodedata
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from django.conf import settings

from surveys.studies.importing.images import PictureError, check_picture
from surveys.studies.importing.plan import Plan, PlannedItem, PlannedPicture, Problem
from surveys.studies.importing.steps import ANY_ENDING, state_name

ENDING = re.compile(r"\.[^./]*$")
PADDED = re.compile("_0+(?=[0-9]+$)")


class Pictures(ABC):
    """A set of files by path. `find` takes a name as a CSV gives it, percent-encoded or plain."""

    @abstractmethod
    def paths(self) -> Iterable[str]:
        """Return the path of every file, with `/` between folders."""

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Return the bytes of one file; PictureError if that is impossible or it is too large."""

    @cached_property
    def _index(self) -> dict[str, list[str]]:
        """Every spelling by which a file may be asked for, with the files it means."""
        index: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.paths()):
            for spelling in (*_spellings(path), *_states(path)):
                index[spelling].append(path)
        return index

    def find(self, name: str) -> str | None:
        """Return the path of the file called `name`, None if there is none, PictureError if there are several."""
        for spelling in (name, *_spellings(name)):
            found = self._index.get(_normal(spelling), [])
            if len(found) > 1 and name not in found:
                raise PictureError(f"There are {len(found)} files of this name: {', '.join(found[:3])}.")
            if found:
                return name if name in found else found[0]
        return None


def _normal(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _spellings(path: str) -> list[str]:
    """Return the path and its last part, each as it is and percent-decoded, each once."""
    last = PurePosixPath(path).name
    return list(dict.fromkeys(map(_normal, (path, unquote(path), last, unquote(last)))))


def _states(path: str) -> list[str]:
    """Return the names a file has as a state of a sequence: `8_1.jpg`, `8_01.png` and `8/1.webp` are `8_1.*`."""
    joined = "_".join(path.rsplit("/", 1))
    stems = (ENDING.sub("", spelling) for spelling in (*_spellings(path), *_spellings(joined)))
    return list(dict.fromkeys(PADDED.sub("_", stem) + ANY_ENDING for stem in stems))


class FolderPictures(Pictures):
    """The files in a folder and its sub-folders; hidden ones are left out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def paths(self) -> Iterator[str]:
        for directory, _, names in os.walk(self.folder):
            parent = Path(directory).relative_to(self.folder)
            yield from ((parent / name).as_posix() for name in names if not name.startswith("."))

    def read(self, path: str) -> bytes:
        try:
            with (self.folder / path).open("rb") as file:
                return limited(file.read(settings.UPLOAD_MAX_BYTES + 1))
        except OSError as error:
            raise PictureError(f"The picture can't be read: {error.strerror}.") from None


def limited(data: bytes) -> bytes:
    """Return `data`, or raise PictureError if it is over UPLOAD_MAX_BYTES."""
    if len(data) > settings.UPLOAD_MAX_BYTES:
        raise PictureError(f"The picture is larger than {settings.UPLOAD_MAX_BYTES // 2**20} MB.")
    return data


def missing_names(plan: Plan, *, pictures: Pictures | None) -> set[str]:
    """Return the names of pictures that no file answers to; PictureError is left to `check_pictures`."""
    return {p.name for item in plan.items for p in item.pictures if not _exists(p.name, pictures=pictures)}


def _exists(name: str, *, pictures: Pictures | None) -> bool:
    try:
        return pictures is not None and pictures.find(name) is not None
    except PictureError:
        return True


def check_pictures(plan: Plan, *, pictures: Pictures | None, allow_missing: bool = False) -> Plan:
    """Return the plan with every picture that is missing (unless allowed) or is none named as an error."""
    wanted: dict[str, list[PlannedPicture]] = defaultdict(list)
    for item in plan.items:
        for picture in item.pictures:
            if picture.name:
                wanted[picture.name].append(picture)
    missing = missing_names(plan, pictures=pictures) & wanted.keys()
    problems: list[Problem] = []
    for name, uses in wanted.items():
        if message := _trouble(
            uses[0], pictures=pictures, is_missing=name in missing, allow_missing=allow_missing
        ):
            problems.extend(use.cell.error(message) for use in uses)
    problems.extend(problem for item in plan.items for problem in _surplus(item, pictures=pictures))
    return plan.with_problems(problems, missing=missing if allow_missing else ())


def _surplus(item: PlannedItem, *, pictures: Pictures | None) -> Iterator[Problem]:
    """Tell of a sequence found by its id that has more pictures than its texts can stand between."""
    if not item.pictures or not item.pictures[-1].name.endswith(ANY_ENDING):
        return
    n = len(item.pictures)
    if _exists(extra := state_name(item.subject, n + 1), pictures=pictures) and pictures:
        yield item.pictures[-1].cell.error(
            f'There must be one picture more than texts; "{extra}" is one too many.'
        )


def _trouble(
    picture: PlannedPicture, *, pictures: Pictures | None, is_missing: bool, allow_missing: bool
) -> str:
    if is_missing or pictures is None:
        return "" if allow_missing else f'The picture "{picture.name}" is missing.'
    try:
        check_picture(pictures.read(pictures.find(picture.name) or ""))
    except PictureError as error:
        return f'The picture "{picture.name}": {error}'
    return ""
