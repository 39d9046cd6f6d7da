"""Is this really a picture? What we keep of it carries no metadata: photographs know where they were taken."""

import base64
import io
import re
import warnings
from dataclasses import dataclass
from xml.etree import ElementTree

from PIL import ExifTags, Image, ImageOps, UnidentifiedImageError

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

SVG = "http://www.w3.org/2000/svg"
SVG_ELEMENTS = re.compile(
    "svg|g|path|rect|circle|ellipse|line|polyline|polygon|text|tspan|title|desc|defs|linearGradient|"
    "radialGradient|stop|clipPath|mask|pattern|symbol|use"
)
XLINK_HREF = "{http://www.w3.org/1999/xlink}href"
SVG_LENGTH = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)(?:px)?\s*")
ElementTree.register_namespace("", SVG)


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
    try:
        root = ElementTree.fromstring(data)  # noqa: S314 - entities are refused above
    except (ElementTree.ParseError, ValueError, LookupError):
        raise PictureError("It is not well-formed XML.") from None
    if root.tag != f"{{{SVG}}}svg":
        raise PictureError("It is XML, but not an SVG.")
    for element in root.iter():
        _check_element(element)
    width, height = _svg_size(root)
    return CheckedPicture(ElementTree.tostring(root, encoding="utf-8"), "image/svg+xml", "svg", width, height)


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
