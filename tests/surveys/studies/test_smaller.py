"""Smaller copies of pictures: which are made, from what, and what browsers are offered of them."""

import io
import random
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from PIL import Image

from surveys.models import Item, Picture, Survey
from surveys.studies.smaller import CHUNK, make_next

pytestmark = pytest.mark.django_db
KINDS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}


@pytest.fixture
def item(settings, tmp_path: Path) -> Item:
    settings.MEDIA_ROOT = tmp_path
    survey = Survey.objects.create(name="Study", slug="study", definition_key="evil-vqax")
    return Item.objects.create(survey=survey, external_id="a", position=1)


def noise(width: int, height: int, *, mode: str = "RGB") -> Image.Image:
    """Return a picture that no format makes small."""
    n_bytes = width * height * len(Image.new(mode, (1, 1)).getbands())
    return Image.frombytes(mode, (width, height), random.Random(1).randbytes(n_bytes))


def kept(item: Item, image: Image.Image, *, form: str = "JPEG", name: str = "a", **saving: object) -> Picture:
    buffer = io.BytesIO()
    image.save(buffer, format=form, **saving)
    picture = Picture(
        item=item,
        position=item.pictures.count() + 1,
        name=name,
        content_type=KINDS[form],
        width=image.width,
        height=image.height,
    )
    picture.file.save(f"{name}.{form.lower()}", ContentFile(buffer.getvalue()))
    return picture


def files(folder: Path) -> dict[str, tuple[str | None, tuple[int, int]]]:
    found = {}
    for path in folder.rglob("*.webp"):
        with Image.open(path) as image:
            found[path.name] = image.format, image.size
    return found


def test_a_photograph_has_a_copy_for_each_screen(item: Item, tmp_path: Path) -> None:
    picture = kept(item, noise(2000, 400))
    assert make_next() is None
    picture.refresh_from_db()
    assert picture.widths == [1600, 960, 480]
    assert files(tmp_path) == {
        "a.jpeg.1600.webp": ("WEBP", (1600, 320)),
        "a.jpeg.960.webp": ("WEBP", (960, 192)),
        "a.jpeg.480.webp": ("WEBP", (480, 96)),
    }


def test_browsers_choose_among_the_copies_and_enlarge_what_came(item: Item) -> None:
    large, medium = kept(item, noise(2000, 400)), kept(item, noise(1400, 350), name="b")
    make_next()
    large.refresh_from_db()
    medium.refresh_from_db()
    at = large.get_absolute_url()
    assert large.srcset == f"{at}/480 480w, {at}/960 960w, {at}/1600 1600w"
    at = medium.get_absolute_url()
    assert medium.srcset == f"{at}/480 480w, {at}/960 960w, {at} 1400w"


@pytest.mark.parametrize(
    ("image", "form"),
    [
        (Image.new("RGB", (2000, 1500), "red"), "JPEG"),  # light as it is
        (noise(470, 900), "PNG"),  # narrower than any copy
        (noise(600, 300, mode="L").convert("I;16"), "PNG"),  # more shades than a WebP has
    ],
)
def test_what_needs_no_copy_or_can_have_none_is_looked_at_once(
    item: Item, image: Image.Image, form: str
) -> None:
    picture = kept(item, image, form=form)
    make_next()
    picture.refresh_from_db()
    assert (picture.widths, picture.srcset) == ([], "")


def test_what_moves_keeps_moving(item: Item) -> None:
    frames = [noise(600, 400), noise(600, 400).rotate(180)]
    picture = kept(item, frames[0], form="WEBP", save_all=True, append_images=frames[1:])
    make_next()
    picture.refresh_from_db()
    assert picture.widths == []


def test_what_is_seen_through_stays_so(item: Item, tmp_path: Path) -> None:
    kept(item, noise(1000, 500, mode="RGBA"), form="PNG")
    make_next()
    with Image.open(tmp_path / "pictures" / "a.png.480.webp") as copy:
        assert copy.mode == "RGBA"


def test_a_copy_that_saves_little_is_not_kept(item: Item, tmp_path: Path) -> None:
    picture = kept(item, noise(1000, 600), form="WEBP", quality=20)
    make_next()
    picture.refresh_from_db()
    assert picture.widths == [480]
    assert sorted(files(tmp_path)) == ["a.webp", "a.webp.480.webp"]


def test_the_same_bytes_are_shrunk_once_for_all_who_show_them(item: Item) -> None:
    first = kept(item, noise(1400, 350))
    second = Picture.objects.create(
        item=item, position=2, name="b", file=first.file.name, content_type="image/jpeg", width=1400
    )
    make_next()
    second.refresh_from_db()
    assert second.widths == [960, 480]


def test_a_picture_that_is_gone_or_broken_stays_as_it_is(item: Item, tmp_path: Path) -> None:
    gone, broken = kept(item, noise(1400, 350)), kept(item, noise(1400, 350), name="b")
    Path(gone.file.path).unlink()
    Path(broken.file.path).write_bytes(Path(broken.file.path).read_bytes()[:160_000])
    make_next()
    assert [picture.widths for picture in Picture.objects.all()] == [[], []]
    assert files(tmp_path) == {}


def test_many_are_made_in_parts_each_after_the_last(item: Item) -> None:
    for n in range(CHUNK + 1):
        kept(item, Image.new("RGB", (4, 4)), form="PNG", name=f"{n:02}")
    last = make_next()
    assert last == f"pictures/{CHUNK - 1:02}.png"
    assert Picture.objects.filter(widths__isnull=True).count() == 1
    assert make_next(after=last) is None
    assert Picture.objects.filter(widths__isnull=True).count() == 0
