"""Where pictures come from, what is refused, what is kept of them."""

import io
import unicodedata
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image

from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.fetching import open_pictures
from surveys.studies.importing.pictures import FolderPictures, PictureError, check_picture, check_pictures
from surveys.studies.importing.plan import Plan
from surveys.studies.importing.reading import read_items
from tests.protocols import VQAX
from tests.surveys.studies.importing_cases import archive, batch_csv, png, slot

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 30">{}</svg>'


def plan_for(*names: str) -> Plan:
    return read_items(batch_csv([slot(n, img_name=name) for n, name in enumerate(names)]), definition=VQAX)


def photograph(kind: str = "JPEG", *, orientation: int = 1) -> bytes:
    """Return a 4 x 2 picture that knows where it was taken."""
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    exif[ExifTags.Base.Make] = "Phone of a Known Person"
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitude] = (50.0, 4.0, 12.0)
    file = io.BytesIO()
    Image.new("RGB", (4, 2), "green").save(file, kind, exif=exif)
    return file.getvalue()


def write(folder: Path, name: str, data: bytes | None = None) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data or png())


@pytest.mark.parametrize(
    ("on_disk", "in_file"),
    [
        ("1.png", "1.png"),
        ("160541986.jpg#3r1e.png", "160541986.jpg%233r1e.png"),
        ("160541986.jpg#3r1e.png", "160541986.jpg#3r1e.png"),
        ("160541986.jpg%233r1e.png", "160541986.jpg#3r1e.png"),
        ("160541986.jpg%233r1e.png", "160541986.jpg%233r1e.png"),
        ("a cat.png", "a%20cat.png"),
        ("50% off.png", "50% off.png"),
        ("deep/er/1.png", "1.png"),
        ("deep/er/1.png", "deep/er/1.png"),
        (unicodedata.normalize("NFD", "café.png"), unicodedata.normalize("NFC", "café.png")),
        (unicodedata.normalize("NFC", "café.png"), "caf%C3%A9.png"),
    ],
)
def test_a_name_finds_its_file_in_folder_and_zip(tmp_path: Path, on_disk: str, in_file: str) -> None:
    write(tmp_path, on_disk)
    plan = plan_for(in_file)
    assert check_pictures(plan, pictures=FolderPictures(tmp_path)).problems == ()
    with ZipPictures(io.BytesIO(archive({on_disk: png()}))) as pictures:
        assert check_pictures(plan, pictures=pictures).problems == ()


def test_the_picture_is_named_as_decoded() -> None:
    assert [p.name for item in plan_for("a%23b c.png").items for p in item.pictures] == ["a#b c.png"]


def test_an_exact_path_wins_over_the_same_name_elsewhere(tmp_path: Path) -> None:
    write(tmp_path, "1.png", png("red"))
    write(tmp_path, "other/1.png", png("blue"))
    pictures = FolderPictures(tmp_path)
    assert (pictures.find("1.png"), pictures.find("other/1.png")) == ("1.png", "other/1.png")


def test_two_files_of_one_name_are_an_error(tmp_path: Path) -> None:
    write(tmp_path, "a/1.png")
    write(tmp_path, "b/1.png")
    plan = check_pictures(plan_for("1.png"), pictures=FolderPictures(tmp_path))
    assert [str(p) for p in plan.problems] == [
        'row 1 (line 2), column img_name_0: The picture "1.png": '
        "There are 2 files of this name: a/1.png, b/1.png."
    ]


def test_a_missing_picture_is_an_error_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, "1.png")
    plan = check_pictures(plan_for("1.png", "2.png"), pictures=FolderPictures(tmp_path))
    assert [(p.severity.value, p.row, p.line, p.column, p.message) for p in plan.problems] == [
        ("error", 1, 2, "img_name_1", 'The picture "2.png" is missing.')
    ]


def test_a_missing_picture_is_allowed_on_request(tmp_path: Path) -> None:
    write(tmp_path, "1.png")
    plan = check_pictures(plan_for("1.png", "2.png"), pictures=FolderPictures(tmp_path), allow_missing=True)
    assert (plan.problems, plan.missing) == ((), frozenset({"2.png"}))


def test_no_source_at_all_misses_everything() -> None:
    plan = plan_for("1.png", "2.png")
    assert len(check_pictures(plan, pictures=None).errors) == 2
    assert check_pictures(plan, pictures=None, allow_missing=True).missing == {"1.png", "2.png"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\0" * 20, "It is not a JPEG, PNG, GIF, WebP or SVG picture."),
        (b"<!doctype html><p>Not found", "It is not a JPEG, PNG, GIF, WebP or SVG picture."),
        (png(size=(60, 60))[:-40], "It is broken or cut off."),
        (b"", "The file is empty (0 bytes)."),
    ],
)
def test_what_is_no_picture(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "1.png").write_bytes(data)
    plan = check_pictures(plan_for("1.png"), pictures=FolderPictures(tmp_path), allow_missing=True)
    assert [p.message for p in plan.errors] == [f'The picture "1.png": {message}']


def test_a_picture_over_the_size_limit(tmp_path: Path, settings) -> None:
    write(tmp_path, "1.png", png() + b"\0" * 2**20)
    settings.UPLOAD_MAX_BYTES = 2**20
    plan = check_pictures(plan_for("1.png"), pictures=FolderPictures(tmp_path))
    assert [p.message for p in plan.errors] == ['The picture "1.png": The file is larger than 1 MB.']


@pytest.mark.parametrize("side", [b"\xff\xff", b"\x1f\x40"])
def test_a_picture_of_too_many_pixels(side: bytes) -> None:
    header = png(size=(1, 1)).replace(b"\0\0\0\1\0\0\0\1\x08", b"\0\0%b\0\0%b\x08" % (side, side))
    crc = zlib.crc32(header[12:29]).to_bytes(4, "big")
    with pytest.raises(PictureError, match="It has more than 50 million pixels"):
        check_picture(header[:29] + crc + header[33:])


@pytest.mark.parametrize(
    ("kind", "content_type", "extension"),
    [
        ("JPEG", "image/jpeg", "jpg"),
        ("PNG", "image/png", "png"),
        ("GIF", "image/gif", "gif"),
        ("WEBP", "image/webp", "webp"),
    ],
)
def test_a_clean_picture_keeps_its_bytes(kind: str, content_type: str, extension: str) -> None:
    file = io.BytesIO()
    Image.new("RGB", (4, 2), "green").save(file, kind)
    checked = check_picture(file.getvalue())
    assert checked.data == file.getvalue()
    assert (checked.content_type, checked.extension, checked.width, checked.height) == (
        content_type,
        extension,
        4,
        2,
    )


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_where_a_picture_was_taken_is_not_kept(kind: str) -> None:
    original = photograph(kind)
    assert b"Known Person" in original
    checked = check_picture(original)
    assert b"Known Person" not in checked.data
    with Image.open(io.BytesIO(checked.data)) as image:
        assert (dict(image.getexif()), image.size, image.format) == ({}, (4, 2), kind)


def test_xmp_is_not_kept() -> None:
    file = io.BytesIO()
    Image.new("RGB", (4, 2)).save(file, "JPEG", xmp=b"<x:xmpmeta>Known Person</x:xmpmeta>")
    assert b"Known Person" in file.getvalue()
    assert b"Known Person" not in check_picture(file.getvalue()).data


def test_a_picture_that_lies_is_turned_upright() -> None:
    checked = check_picture(photograph(orientation=6))
    assert (checked.width, checked.height) == (2, 4)


def test_a_moving_picture_keeps_moving() -> None:
    file = io.BytesIO()
    frames = [Image.new("RGB", (4, 2), colour) for colour in ("red", "blue")]
    frames[0].save(
        file, "WEBP", save_all=True, append_images=frames[1:], exif=b"Exif\0\0MM\0*\0\0\0\x08\0\0\0\0\0\0"
    )
    with Image.open(io.BytesIO(check_picture(file.getvalue()).data)) as image:
        assert (image.n_frames, "exif" in image.info) == (2, False)


def test_a_drawing_is_written_anew_without_comments() -> None:
    checked = check_picture(SVG.format("<!-- gold: cat --><circle r='3' fill='url(#a)'/>").encode())
    assert (checked.content_type, checked.extension, checked.width, checked.height) == (
        "image/svg+xml",
        "svg",
        40,
        30,
    )
    assert b"gold" not in checked.data
    assert b"circle" in checked.data


def test_a_drawing_with_width_and_height() -> None:
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="12.4px" height="7"/>'
    checked = check_picture(drawing.encode())
    assert (checked.width, checked.height) == (12, 7)


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("<script>alert(1)</script>", "The SVG holds <script>, which is refused."),
        ("<foreignObject/>", "The SVG holds <foreignObject>, which is refused."),
        ("<style>*{fill:red}</style>", "The SVG holds <style>, which is refused."),
        ("<image href='https://example.org/x.png'/>", "The SVG holds <image>, which is refused."),
        ("<animate/>", "The SVG holds <animate>, which is refused."),
        (
            "<h:p xmlns:h='http://www.w3.org/1999/xhtml'/>",
            "The SVG holds <{http://www.w3.org/1999/xhtml}p>, which is refused.",
        ),
        ("<rect onclick='x()'/>", "The SVG holds a script (onclick)."),
        ("<rect OnLoad='x()'/>", "The SVG holds a script (OnLoad)."),
        ("<use href='https://example.org/x.svg#a'/>", "The SVG refers to another file."),
        ("<use xmlns:x='http://www.w3.org/1999/xlink' x:href='data:x'/>", "The SVG refers to another file."),
        ("<rect fill='url(https://example.org/x.svg#a)'/>", "The SVG refers to another file."),
        ("<rect style='fill:u\\72l(//example.org)'/>", "The SVG refers to another file."),
        ("<rect", "It is not well-formed XML."),
    ],
)
def test_a_drawing_that_does_more_than_show(inside: str, message: str) -> None:
    with pytest.raises(PictureError) as error:
        check_picture(SVG.format(inside).encode())
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("drawing", "message"),
    [
        (
            b'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY a "b">]><svg/>',
            "An SVG with a document type is refused.",
        ),
        (b"<?xml version='1.0'?><html/>", "It is XML, but not an SVG."),
        (b'<svg xmlns="http://www.w3.org/2000/svg"/>', "The SVG has no size: give it a viewBox."),
        (b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 0 9"/>', "The SVG has no usable size."),
    ],
)
def test_a_drawing_that_is_none(drawing: bytes, message: str) -> None:
    with pytest.raises(PictureError) as error:
        check_picture(drawing)
    assert str(error.value) == message


@given(st.one_of(st.binary(max_size=200), st.binary(max_size=200).map(lambda data: b"<svg" + data)))
def test_any_bytes_are_a_picture_or_an_error(data: bytes) -> None:
    with suppress(PictureError):
        assert check_picture(data).width > 0


@given(st.integers(min_value=0, max_value=300), st.binary(min_size=1, max_size=4))
def test_a_damaged_photograph_is_a_picture_or_an_error(at: int, damage: bytes) -> None:
    data = bytearray(photograph())
    data[at : at + len(damage)] = damage
    with suppress(PictureError):
        assert check_picture(bytes(data)).width > 0


def test_a_place_that_is_none(tmp_path: Path) -> None:
    with (
        pytest.raises(PictureError, match="is no folder, ZIP or URL"),
        open_pictures(str(tmp_path / "none"), names=[]),
    ):
        pass
