"""Picture files for the metrics that look at pictures."""

from pathlib import Path
from typing import Final

from PIL import Image

from metrics.inputs import MetricError

SUFFIXES: Final = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".tif", ".tiff")


def pictures_in(folder: Path) -> list[Path]:
    """Return the pictures of a folder in order of name; MetricError when there is no such folder or no picture."""
    if not folder.is_dir():
        raise MetricError(f"{folder} is no folder of pictures")
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES)
    if not found:
        raise MetricError(f"{folder} holds no picture")
    return found


def opened_picture(path: Path) -> Image.Image:
    """Return a picture as RGB; MetricError when it cannot be read."""
    try:
        with Image.open(path) as picture:
            return picture.convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise MetricError(f"{path} cannot be read as a picture: {error}") from error
