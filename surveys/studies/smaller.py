"""Smaller copies of pictures, made once by a worker for the screens that show them; what came is kept for the zoom."""

import warnings
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from django.conf import settings
from PIL import Image
from PIL.Image import Resampling

from surveys.models import Picture
from surveys.models.study import COPY_WIDTHS
from surveys.studies.importing.pictures import MAX_PIXELS
from surveys.studies.importing.writing import write_whole

CHUNK = 20  # files of one task: others wait for ten seconds at most
LIGHT = 150_000  # bytes: a smaller copy of such a file saves nobody anything
SAVING = 0.8  # of the file's bytes: a copy that is not lighter than that is not kept
MOST_PIXELS_A_SIDE = 16_383  # of a WebP: developers.google.com/speed/webp/faq
TYPES = ("image/jpeg", "image/png", "image/webp")


def make_next(*, after: str = "") -> str | None:
    """Make the copies of up to CHUNK files whose name follows `after`. Returns the last name, None after the last file.

    Only of files nobody has looked at: done twice, or by two at once, it ends the same.
    """
    waiting = Picture.objects.filter(widths__isnull=True, content_type__in=TYPES, file__gt=after)
    files = list(waiting.order_by("file").values_list("file", flat=True).distinct()[:CHUNK])
    for file in files:
        widths = list(_copied(Path(settings.MEDIA_ROOT) / file))
        Picture.objects.filter(file=file).update(widths=widths)
    return files[-1] if len(files) == CHUNK else None


def _copied(path: Path) -> Iterator[int]:
    """Write the copies that are worth it beside a picture, and yield their widths; none of one that can't be read."""
    try:
        n_bytes = path.stat().st_size
        with warnings.catch_warnings(action="ignore"), Image.open(path) as image:
            if n_bytes > LIGHT and _can_shrink(image):
                yield from _shrunk(image, path=path, n_bytes=n_bytes)
    except (
        Exception
    ):  # Pillow's decoders raise almost anything on damaged bytes; the picture is served as it is
        return


def _can_shrink(image: Image.Image) -> bool:
    """Leave out what moves, and what has more shades than a WebP."""
    is_moving = getattr(image, "n_frames", 1) > 1 and image.format != "MPO"
    return not is_moving and image.mode[0] not in "IF" and image.width * image.height <= MAX_PIXELS


def _shrunk(image: Image.Image, *, path: Path, n_bytes: int) -> Iterator[int]:
    """Each copy is made from the one before it: a large photograph is decoded once, and not at its full size."""
    full_width, full_height = image.size
    sizes = [(width, round(full_height * width / full_width)) for width in COPY_WIDTHS if width < full_width]
    sizes = [size for size in sizes if 0 < size[1] <= MOST_PIXELS_A_SIDE]
    if not sizes:
        return
    image.draft(None, sizes[0])
    # A profile of CMYK or of greys says nothing about the colours it becomes here.
    icc_profile = image.info.get("icc_profile", b"") if image.mode[:3] == "RGB" or image.mode == "P" else b""
    smaller = image.convert("RGBA" if image.has_transparency_data else "RGB")
    for size in sizes:
        smaller = smaller.resize(size, Resampling.LANCZOS, reducing_gap=3)
        buffer = BytesIO()
        smaller.save(buffer, format="WEBP", quality=82, icc_profile=icc_profile)
        if buffer.tell() < SAVING * n_bytes:
            write_whole(buffer.getvalue(), path=path.with_name(f"{path.name}.{size[0]}.webp"))
            yield size[0]
