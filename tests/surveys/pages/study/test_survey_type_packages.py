"""A survey type as one file with its pictures: taken, shown, followed and given back, or refused without a trace."""

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image

from surveys.models import Protocol, ProtocolPicture
from surveys.protocols.definition import Definition
from surveys.templatetags.drawings import picture_address
from tests.surveys.pages.study.test_survey_types import CAPTIONS, TYPES, WRITE, signed_in, write
from tests.surveys.studies.importing_cases import archive, png

pytestmark = pytest.mark.django_db

ILLUSTRATED = (
    CAPTIONS
    + """\
  background:
    - {title: What is a caption?, text: A sentence about a picture., picture: boat.png, caption: A boat}
  examples:
    - scene: At sea
      question: ""
      answer: ""
      explanation: A boat.
      verdict: ""
      reason: It can be seen.
      picture: scenes/Möwe (2).png
"""
)
BOAT, GULL = png("blue"), png("white", size=(40, 20))
SCRIPT = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1 1' onload='x()'/>"
PICTURES = {"boat.png": BOAT, "scenes/Möwe (2).png": GULL}
FILES = {"captions.yaml": ILLUSTRATED.encode(), **PICTURES}


@pytest.fixture
def ann() -> Client:
    return signed_in("ann")


def upload(client: Client, content: bytes, *, name: str = "captions.zip", query: str = ""):
    return client.post(WRITE + query, {"document": "", "file": SimpleUploadedFile(name, content)})


def unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_a_type_and_its_pictures_come_back_to_the_byte(ann: Client) -> None:
    assert upload(ann, archive(FILES)).status_code == 302
    sent = ann.get(TYPES + "captions.zip")
    assert (sent["Content-Type"], unpacked(sent.content)) == ("application/zip", FILES)
    assert upload(ann, sent.content).status_code == 422  # the same version again
    Protocol.objects.all().delete()
    assert ProtocolPicture.objects.count() == 0
    assert upload(ann, sent.content).status_code == 302
    assert ann.get(TYPES + "captions.zip").content == sent.content


def test_what_a_mac_packs_around_it_is_left_aside(ann: Client) -> None:
    around = {"mine/" + name.replace("ö", "o\u0308"): content for name, content in FILES.items()}
    assert (
        upload(ann, archive({**around, "__MACOSX/mine/._boat.png": b"x", "mine/.DS_Store": b"x"})).status_code
        == 302
    )
    assert unpacked(ann.get(TYPES + "captions.zip").content) == FILES


def test_pictures_are_shown_to_annotators_under_a_name_of_their_bytes(ann: Client) -> None:
    upload(ann, archive(FILES))
    definition = Protocol.objects.get().definition
    address = picture_address(definition.instructions.background[0].picture)
    shown = Client().get(address)
    assert (shown["Content-Type"], shown.content, "sandbox" in shown["Content-Security-Policy"]) == (
        "image/png",
        BOAT,
        True,
    )
    assert Definition.from_snapshot(definition.to_snapshot()) == definition
    assert Client().get("/pictures/types/none.png").status_code == 404


def test_where_a_photo_was_taken_is_given_back_but_not_shown(ann: Client) -> None:
    exif = Image.Exif()
    exif[0x010F] = "Camera of Ann"
    file = io.BytesIO()
    Image.new("RGB", (30, 20)).save(file, "JPEG", exif=exif)
    photo = file.getvalue()
    document = ILLUSTRATED.replace("boat.png", "boat.jpg").encode()
    content = {"captions.yaml": document, "boat.jpg": photo, "scenes/Möwe (2).png": GULL}
    upload(ann, archive(content))
    assert unpacked(ann.get(TYPES + "captions.zip").content) == content
    shown = ProtocolPicture.objects.get(name="boat.jpg")
    assert b"Camera of Ann" not in Client().get(f"/pictures/types/{shown.code}").content


def test_the_next_version_keeps_the_pictures_it_names(ann: Client) -> None:
    upload(ann, archive(FILES))
    later = ILLUSTRATED.replace("version: 1", "version: 2").replace(", picture: boat.png", "")
    assert "There is no picture “scenes/Möwe (2).png”." in write(ann, later).content.decode()
    assert ann.post(WRITE + "?from=captions", {"document": later}).status_code == 302
    assert [picture.name for picture in Protocol.objects.get(version=2).pictures.all()] == [
        "scenes/Möwe (2).png"
    ]


def test_nobody_copies_pictures_of_a_type_they_do_not_see(ann: Client) -> None:
    upload(ann, archive(FILES))
    bob = signed_in("bob")
    mine = ILLUSTRATED.replace("protocol: captions", "protocol: mine")
    assert bob.post(WRITE + "?from=captions", {"document": mine}).status_code == 422
    assert bob.get(TYPES + "captions.zip").status_code == 404


def test_a_built_in_type_is_such_a_file_too(ann: Client) -> None:
    content = unpacked(ann.get(TYPES + "xai.zip").content)
    assert content == {"xai.yaml": ann.get(TYPES + "xai.yaml").content}


def twice() -> bytes:
    file = io.BytesIO(archive(FILES))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(file, "a") as opened:
        opened.writestr("boat.png", GULL)
    return file.getvalue()


def without(name: str) -> dict[str, bytes]:
    return {key: content for key, content in FILES.items() if key != name}


REFUSED = {
    "The archive of pictures is not a ZIP that can be read.": b"not one",
    "captions.zip: The archive of pictures is not a ZIP": archive(FILES)[:-30],
    "holds &quot;../x.png&quot;, a path that leads outside.": archive({**FILES, "../x.png": BOAT}),
    "which unpacks to far more than a picture does.": archive({**FILES, "bomb.png": bytes(9_000_000)}),
    "The ZIP unpacks to more than 10 MB.": archive(
        {**FILES, **{f"{n}.png": bytes(10**6) for n in range(11)}}
    ),
    "The ZIP holds 203 files; 200 are the most.": archive(
        {**FILES, **{f"{n}.png": b"x" for n in range(200)}}
    ),
    "captions.yaml, line 20: There is no picture “boat.png”.": archive(without("boat.png")),
    "“notes.txt” is in the ZIP, and captions.yaml does not name it.": archive({**FILES, "notes.txt": b"x"}),
    "“boat.png”: It is not a JPEG, PNG, GIF, WebP or SVG picture.": archive({**FILES, "boat.png": b"MZ\x90"}),
    "The picture “boat.png”: It is broken or cut off.": archive({**FILES, "boat.png": BOAT[:45]}),
    "The picture “boat.png”: The SVG holds a script (onload).": archive({**FILES, "boat.png": SCRIPT}),
    "The ZIP holds no document; one that ends in .yaml belongs in it.": archive(PICTURES),
    "The ZIP holds 2 documents; one that ends in .yaml belongs in it.": archive({**FILES, "b.yml": b"x"}),
    "“captions.yaml” is larger than 500 kB.": archive({"captions.yaml": bytes(600_000)}),
    "“boat.png” lies outside the folder": archive({"a/captions.yaml": ILLUSTRATED.encode(), **PICTURES}),
    "captions.zip: The file is larger than 10 MB.": archive(FILES) + bytes(10 * 2**20),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_zip_that_is_no_type_is_refused_in_a_sentence(ann: Client, sentence: str) -> None:
    answer = upload(ann, REFUSED[sentence])
    assert (answer.status_code, sentence in answer.content.decode()) == (422, True)
    assert (Protocol.objects.count(), ProtocolPicture.objects.count()) == (0, 0)


def test_a_name_that_is_twice_in_a_zip_is_refused(ann: Client) -> None:
    assert "The ZIP holds “boat.png” twice." in upload(ann, twice()).content.decode()
    assert Protocol.objects.count() == 0


def test_a_zip_by_another_name_is_one(ann: Client) -> None:
    assert upload(ann, archive(FILES), name="captions.yaml").status_code == 302
