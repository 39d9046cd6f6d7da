"""Where pictures come from, and how the name in a file finds its picture."""

import base64
import io
import os
import re
import unicodedata
import warnings
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Protocol
from urllib.parse import unquote
from xml.etree import ElementTree

from django.conf import settings
from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

from surveys.studies.importing.plan import Plan, PlannedItem, PlannedPicture, Problem
from surveys.studies.importing.tables import ANY_ENDING, state_name

MAX_PIXELS = 50_000_000
FORMATS = ("JPEG", "PNG", "GIF", "WEBP")
TYPES = {
    "JPEG": ("image/jpeg", "jpg"),
    "MPO": ("image/jpeg", "jpg"),  # what phones write: several JPEGs in one file
    "PNG": ("image/png", "png"),
    "GIF": ("image/gif", "gif"),
    "WEBP": ("image/webp", "webp"),
}
# The keys of Image.info under which Pillow keeps EXIF, XMP and IPTC.
METADATA = re.compile(r"exif|xmp|XML:com\.adobe\.xmp|photoshop|Raw profile.*|mp", re.DOTALL)

# What browsers play: https://developer.mozilla.org/en-US/docs/Web/Media/Guides/Formats/Containers
MEDIA = {"audio": ("audio/mpeg", "audio/wav", "audio/ogg", "audio/mp4"), "video": ("video/mp4", "video/webm")}
MEDIA_NAMES = {"audio": "an MP3, WAV, Ogg or M4A file", "video": "an MP4 or WebM video"}
QUICKTIME = b"qt  "  # .mov, which Safari alone plays
MEDIA_STARTS = (
    (re.compile(rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]"), ("audio/mpeg", "mp3")),
    (re.compile(rb"RIFF.{4}WAVE", re.DOTALL), ("audio/wav", "wav")),
    (re.compile(rb"OggS"), ("audio/ogg", "ogg")),
    (re.compile(rb"\x1a\x45\xdf\xa3.{0,60}webm", re.DOTALL), ("video/webm", "webm")),
)

SVG = "http://www.w3.org/2000/svg"
SVG_ELEMENTS = re.compile(
    "svg|g|path|rect|circle|ellipse|line|polyline|polygon|text|tspan|title|desc|defs|linearGradient|"
    "radialGradient|stop|clipPath|mask|pattern|symbol|use"
)
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
SVG_MAX_ELEMENTS = 20_000
SVG_CHUNK = 2**16  # bytes read at a time
SVG_MAX_DEPTH = 64  # of elements in one another, references followed
SVG_MAX_DRAWN = 100_000  # elements a browser draws, once for each time it is told to
SVG_REFERENCE = re.compile(r"url\(\s*['\"]?#([^)'\"]+)", re.IGNORECASE)
SVG_LENGTH = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)(?:px)?\s*")
ElementTree.register_namespace("", SVG)


class Readable(Protocol):
    """What bytes are read from: a file, or a server's answer."""

    def read(self, n_bytes: int, /) -> bytes: ...


class PictureError(ValueError):
    """These bytes can't be shown as a picture; the message says why."""


@dataclass(frozen=True, slots=True)
class CheckedPicture:
    """Bytes that are safe to serve, their MIME type, file extension, and size in pixels."""

    data: bytes
    content_type: str
    extension: str
    width: int
    height: int


def check_picture(data: bytes) -> CheckedPicture:
    """Return what to keep of a JPEG, PNG, GIF, WebP or SVG; PictureError says what is wrong with it.

    A picture without metadata keeps its bytes; one with metadata is turned upright and written anew.
    """
    if not data:
        raise PictureError("The file is empty (0 bytes).")
    return _check_svg(data) if _looks_like_xml(data) else _check_bitmap(data)


def check_file(data: bytes, *, kind: str) -> CheckedPicture:
    """Return what to keep of a picture, an audio or a video, as `kind` says; PictureError says what is wrong."""
    if kind == "picture":
        return check_picture(data)
    if not data:
        raise PictureError("The file is empty (0 bytes).")
    if not (found := _media_type(data)) or found[0] not in MEDIA[kind]:
        raise PictureError(f"It is not {MEDIA_NAMES[kind]}.")
    return CheckedPicture(data, *found, 0, 0)


def _media_type(data: bytes) -> tuple[str, str] | None:
    """Return the MIME type and extension of what a browser plays, by its first bytes."""
    if data[4:8] == b"ftyp" and data[8:12] != QUICKTIME:
        return ("audio/mp4", "m4a") if data[8:11] in (b"M4A", b"M4B") else ("video/mp4", "mp4")
    return next((found for start, found in MEDIA_STARTS if start.match(data)), None)


def _looks_like_xml(data: bytes) -> bool:
    return data[:256].removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"<?xml", b"<svg", b"<!--"))


def _check_bitmap(data: bytes) -> CheckedPicture:
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(io.BytesIO(data), formats=FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise Image.DecompressionBombError
            image.load()
            return _without_metadata(image, data=data)
    except UnidentifiedImageError:
        raise PictureError("It is not a JPEG, PNG, GIF, WebP or SVG picture.") from None
    except Image.DecompressionBombError:
        raise PictureError(f"It has more than {MAX_PIXELS // 10**6} million pixels.") from None
    except (
        Exception
    ):  # Pillow's decoders raise almost anything on damaged bytes (KeyError, struct.error, ...)
        raise PictureError("It is broken or cut off.") from None


def _without_metadata(image: Image.Image, *, data: bytes) -> CheckedPicture:
    content_type, extension = TYPES[image.format or ""]
    if any(METADATA.fullmatch(str(key)) for key in image.info) or image.getexif():
        data, size = _written_anew(image, is_photograph=extension == "jpg")
    else:
        size = image.size
    return CheckedPicture(data, content_type, extension, *size)


def _written_anew(image: Image.Image, *, is_photograph: bool) -> tuple[bytes, tuple[int, int]]:
    """Return the picture upright and without metadata; a JPEG that stands already keeps its quantisation."""
    is_turned = image.getexif().get(ExifTags.Base.Orientation, 1) != 1
    is_moving = getattr(image, "n_frames", 1) > 1 and not is_photograph
    upright = ImageOps.exif_transpose(image) if is_turned and not is_moving else image
    icc_profile = upright.info.get("icc_profile")
    for key in [key for key in upright.info if METADATA.fullmatch(str(key))]:
        del upright.info[key]
    upright.getexif().clear()
    buffer = io.BytesIO()
    quality = "keep" if upright.format == "JPEG" else 95
    name = "JPEG" if is_photograph else image.format
    upright.save(buffer, format=name, save_all=is_moving, quality=quality, icc_profile=icc_profile)
    return buffer.getvalue(), upright.size


def _check_svg(data: bytes) -> CheckedPicture:
    """Accept a drawing made of shapes and text only; it is written anew, without comments."""
    if re.search(rb"<!(DOCTYPE|ENTITY)", data, re.IGNORECASE):
        raise PictureError("An SVG with a document type is refused.")
    root = _svg_root(data)
    if root.tag != f"{{{SVG}}}svg":
        raise PictureError("It is XML, but not an SVG.")
    for element in root.iter():
        _check_element(element)
    _check_expansion(root)
    width, height = _svg_size(root)
    return CheckedPicture(ElementTree.tostring(root, encoding="utf-8"), "image/svg+xml", "svg", width, height)


def _svg_root(data: bytes) -> ElementTree.Element:
    """Read the elements, and no further than there may be."""
    started: list[ElementTree.Element] = []
    depth = 0
    try:
        for event, element in _svg_events(data):
            if event == "start":
                started.append(element)
            depth += 1 if event == "start" else -1
            _check_size(n_elements=len(started), depth=depth)
        return started[0]
    except PictureError:
        raise
    except (ElementTree.ParseError, ValueError, LookupError):
        raise PictureError("It is not well-formed XML.") from None


def _svg_events(data: bytes) -> Iterator[tuple[str, ElementTree.Element]]:
    parser: ElementTree.XMLPullParser[ElementTree.Element] = ElementTree.XMLPullParser(
        events=("start", "end")
    )
    for start in range(0, len(data), SVG_CHUNK):
        parser.feed(data[start : start + SVG_CHUNK])
        yield from parser.read_events()  # type: ignore[misc]  # of these two events only
    parser.close()
    yield from parser.read_events()  # type: ignore[misc]


def _check_size(*, n_elements: int = 0, depth: int = 0, n_drawn: int = 0) -> None:
    if n_elements > SVG_MAX_ELEMENTS:
        raise PictureError(f"The SVG has more than {SVG_MAX_ELEMENTS} elements.")
    if depth > SVG_MAX_DEPTH:
        raise PictureError(f"The SVG has more than {SVG_MAX_DEPTH} elements in one another.")
    if n_drawn > SVG_MAX_DRAWN:
        raise PictureError(f"The SVG repeats its parts: more than {SVG_MAX_DRAWN} elements are drawn.")


def _check_expansion(root: ElementTree.Element) -> None:
    """Refuse what grows by references to itself: a few `use` elements can ask for a thousand million rectangles."""
    named: dict[str, ElementTree.Element] = {}
    for element in root.iter():
        if name := element.get("id"):
            named.setdefault(name, element)
    known: dict[ElementTree.Element, tuple[int, int]] = {}

    def measured(element: ElementTree.Element, level: int) -> tuple[int, int]:
        """Return how many elements are drawn for this one, and how deep it goes."""
        _check_size(depth=level)
        if element not in known:
            parts = [*element, *(named[name] for name in _references(element) if name in named)]
            sizes = [measured(part, level + 1) for part in parts]
            n_drawn, depth = 1 + sum(n for n, _ in sizes), 1 + max((d for _, d in sizes), default=0)
            _check_size(n_drawn=n_drawn, depth=depth)
            known[element] = n_drawn, depth
        return known[element]

    measured(root, 1)


def _references(element: ElementTree.Element) -> Iterator[str]:
    """Yield the ids of the elements that this one shows, is filled with or cut by."""
    for key, value in element.attrib.items():
        if key in ("href", XLINK_HREF):
            yield unquote(value.strip().removeprefix("#"))
        yield from (unquote(name.strip()) for name in SVG_REFERENCE.findall(value))


def _check_element(element: ElementTree.Element) -> None:
    name = str(element.tag).removeprefix(f"{{{SVG}}}")
    if not SVG_ELEMENTS.fullmatch(name):
        raise PictureError(f"The SVG holds <{name}>, which is refused.")
    for key, value in element.attrib.items():
        if key.lower().startswith("on"):
            raise PictureError(f"The SVG holds a script ({key}).")
        if key in ("href", XLINK_HREF) and not value.startswith("#"):
            raise PictureError("The SVG refers to another file.")
        if re.search(r"url\((?!\s*['\"]?#)|@import|expression", value, re.IGNORECASE) or "\\" in value:
            raise PictureError("The SVG refers to another file.")


def _svg_size(root: ElementTree.Element) -> tuple[int, int]:
    """Return width and height in pixels, from the attributes or the view box."""
    sides = [SVG_LENGTH.fullmatch(root.get(name, "")) for name in ("width", "height")]
    numbers = [side[1] for side in sides if side]
    if len(numbers) < 2:
        numbers = re.split(r"[\s,]+", root.get("viewBox", "").strip())[2:]
    try:
        width, height = (round(float(number)) for number in numbers)
    except (ValueError, OverflowError):
        raise PictureError("The SVG has no size: give it a viewBox.") from None
    if not (0 < width <= 20_000 and 0 < height <= 20_000):
        raise PictureError("The SVG has no usable size.")
    return width, height


def thumbnail_uri(checked: CheckedPicture, *, side: int = 200) -> str:
    """Return a `data:` address of the picture, shrunk to fit a square of `side` pixels."""
    data, content_type = checked.data, checked.content_type
    if content_type != "image/svg+xml":
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            image.thumbnail((side, side))
            buffer = io.BytesIO()
            image.convert("RGB").save(buffer, format="JPEG", quality=80)
        data, content_type = buffer.getvalue(), "image/jpeg"
    return f"data:{content_type};base64,{base64.b64encode(data).decode('ascii')}"


ENDING = re.compile(r"\.[^./]*$")
PADDED = re.compile("_0+(?=[0-9]+$)")


class Pictures(ABC):
    """A set of files by path. `find` takes a name as a CSV gives it, percent-encoded or plain."""

    @abstractmethod
    def paths(self) -> Iterable[str]:
        """Return the path of every file, with `/` between folders."""

    @abstractmethod
    def read(self, path: str, *, kind: str = "picture") -> bytes:
        """Return the bytes of one file; PictureError if that is impossible or it is too large for its kind.

        Of one that is too large no more is read than shows it.
        """

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

    def read(self, path: str, *, kind: str = "picture") -> bytes:
        try:
            with (self.folder / path).open("rb") as file:
                return read_limited(file, kind=kind, n_bytes=os.fstat(file.fileno()).st_size)
        except OSError as error:
            raise PictureError(f"The picture can't be read: {error.strerror}.") from None


def most_bytes(kind: str) -> int:
    """Return how large a picture, an audio or a video may be."""
    return int(settings.MEDIA_MAX_BYTES.get(kind, settings.UPLOAD_MAX_BYTES))


def read_limited(file: Readable, *, kind: str, n_bytes: int = 0) -> bytes:
    """Return what is in a file, or raise PictureError: at once where its size, `n_bytes`, is known to be too large."""
    most = most_bytes(kind)
    data = file.read(most + 1) if n_bytes <= most else b""
    if max(len(data), n_bytes) > most:
        raise PictureError(f"The file is larger than {most // 2**20} MB.")
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
    wanted: dict[tuple[str, str], list[PlannedPicture]] = defaultdict(list)
    for item in plan.items:
        for picture in item.pictures:
            if picture.name:
                wanted[picture.name, picture.kind].append(picture)
    missing = missing_names(plan, pictures=pictures) & {name for name, _ in wanted}
    problems: list[Problem] = []
    for (name, _), uses in wanted.items():
        if message := _trouble(
            uses[0], pictures=pictures, is_missing=name in missing, allow_missing=allow_missing
        ):
            problems.extend(use.cell.error(message) for use in uses)
    problems.extend(problem for item in plan.items for problem in _surplus(item, pictures=pictures))
    return plan.with_problems(problems, missing=missing if allow_missing else ())


def _surplus(item: PlannedItem, *, pictures: Pictures | None) -> Iterator[Problem]:
    """Tell of a sequence found by its id that has more pictures than its texts can stand between."""
    states = [picture for picture in item.pictures if not picture.block]
    if not states or not states[-1].name.endswith(ANY_ENDING):
        return
    n = len(states)
    if _exists(extra := state_name(item.subject, n + 1), pictures=pictures) and pictures:
        yield states[-1].cell.error(f'There must be one picture more than texts; "{extra}" is one too many.')


def _trouble(
    picture: PlannedPicture, *, pictures: Pictures | None, is_missing: bool, allow_missing: bool
) -> str:
    if is_missing or pictures is None:
        return "" if allow_missing else f'The {picture.kind} "{picture.name}" is missing.'
    try:
        data = pictures.read(pictures.find(picture.name) or "", kind=picture.kind)
        check_file(data, kind=picture.kind)
    except PictureError as error:
        return f'The {picture.kind} "{picture.name}": {error}'
    return ""
