"""One door to all kinds of places that hold pictures."""

import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.fetching import fetch_pictures
from surveys.studies.importing.images import PictureError
from surveys.studies.importing.sources import FolderPictures, Pictures


@contextmanager
def open_pictures(place: str, *, names: Collection[str]) -> Iterator[Pictures | None]:
    """Open a folder, a ZIP or a URL prefix (from which `names` are fetched); None for an empty place.

    PictureError if there is nothing of the kind at `place`.
    """
    if not place:
        yield None
    elif place.startswith(("http://", "https://")):
        with tempfile.TemporaryDirectory() as folder:
            yield fetch_pictures(names, prefix=place, into=Path(folder))
    elif Path(place).is_dir():
        yield FolderPictures(Path(place))
    elif Path(place).is_file():
        with ZipPictures(Path(place)) as pictures:
            yield pictures
    else:
        raise PictureError(f"{place} is no folder, ZIP or URL.")
