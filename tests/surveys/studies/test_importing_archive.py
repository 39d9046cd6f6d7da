"""Archives of pictures: what leads outside, what unpacks to too much, what is no archive."""

import io
import stat
import zipfile

import pytest

from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.pictures import PictureError, check_picture, check_pictures
from surveys.studies.importing.reading import read_items
from tests.protocols import VQAX
from tests.surveys.studies.importing_cases import archive, batch_csv, png, slot


@pytest.mark.parametrize("name", ["../1.png", "a/../../1.png", "/etc/1.png", "..\\1.png", "C:/1.png"])
def test_an_archive_that_leads_outside(name: str) -> None:
    with pytest.raises(PictureError) as error:
        ZipPictures(io.BytesIO(archive({name: png()})))
    assert str(error.value) == f'The archive holds "{name}", a path that leads outside.'


def test_an_archive_with_a_link() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        link = zipfile.ZipInfo("1.png")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        written.writestr(link, "/etc/passwd")
    with pytest.raises(PictureError) as error:
        ZipPictures(file)
    assert str(error.value) == 'The archive holds "1.png", a symbolic link.'


def test_a_bomb() -> None:
    with pytest.raises(PictureError) as error:
        ZipPictures(io.BytesIO(archive({"1.png": b"\0" * 4 * 2**20})))
    assert str(error.value) == 'The archive holds "1.png", which unpacks to far more than a picture does.'


def test_an_archive_that_unpacks_to_too_much(settings) -> None:
    settings.IMAGE_ARCHIVE_MAX_BYTES = 2**20
    with pytest.raises(PictureError) as error:
        ZipPictures(io.BytesIO(archive({f"{n}.png": png() + bytes(2**18) for n in range(5)})))
    assert str(error.value) == "The archive unpacks to more than 1 MB."


def test_an_archive_that_lies_about_sizes(settings) -> None:
    """The directory says 10 bytes; reading stops at the limit whatever it says."""
    data = bytearray(archive({"1.png": png() + bytes(3 * 2**20 // 4)}))
    entry = data.index(b"PK\1\2") + 24
    data[entry : entry + 4] = (10).to_bytes(4, "little")
    with ZipPictures(io.BytesIO(bytes(data))) as pictures, pytest.raises(PictureError):
        check_picture(pictures.read("1.png"))


def test_what_is_no_archive() -> None:
    with pytest.raises(PictureError) as error:
        ZipPictures(io.BytesIO(b"PK\3\4 and then nothing"))
    assert str(error.value) == "The archive of pictures is not a ZIP that can be read."


def test_an_encrypted_archive() -> None:
    data = bytearray(archive({"1.png": png()}))
    data[data.index(b"PK\1\2") + 8] |= 1
    with pytest.raises(PictureError) as error:
        ZipPictures(io.BytesIO(bytes(data)))
    assert str(error.value) == 'The archive holds "1.png", which is encrypted.'


def test_a_damaged_entry_is_an_error_of_its_picture() -> None:
    data = bytearray(archive({"1.png": png(size=(30, 30))}))
    data[45:60] = bytes(15)
    with ZipPictures(io.BytesIO(bytes(data))) as pictures:
        plan = check_pictures(
            read_items(batch_csv([slot(0, img_name="1.png")]), definition=VQAX), pictures=pictures
        )
    assert [p.message for p in plan.errors] == [
        'The picture "1.png": It can\'t be unpacked from the archive.'
    ]


def test_what_a_mac_adds_to_an_archive_is_left_out() -> None:
    files = {"pics/1.png": png(), "__MACOSX/pics/._1.png": b"x", "pics/.DS_Store": b"x", ".": b"x"}
    with ZipPictures(io.BytesIO(archive(files))) as pictures:
        assert list(pictures.paths()) == ["pics/1.png"]
