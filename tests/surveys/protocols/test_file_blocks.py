"""Files of a protocol's blocks, from a column to the pages of annotator and reviewer: pictures, audio and video."""

import re
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from annotators.models import Assignment
from surveys.models import Batch, Picture
from surveys.pages.review.answers import answered_items
from surveys.protocols.documents import read
from surveys.protocols.policy import NEVER
from surveys.studies.importing.pictures import FolderPictures, check_pictures
from surveys.studies.importing.reading import read_items
from surveys.studies.importing.writing import attach_pictures
from tests import driven
from tests.surveys.pages.hit_pages import open_page
from tests.surveys.studies.importing_cases import jsonl, long_csv, png

DOCUMENT = """\
protocol: recordings
name: Recordings
version: 1
title: Rate recordings
question_label: ""
output_label: Transcript
outputs_per_item: 1
pictures: none
headline: right
blocks:
  - {column: before, label: Before, kind: pictures}
  - {column: step, label: What was done}
  - {column: recording, label: Recording, kind: audio}
  - {column: clip, kind: video}
criteria:
  - key: right
    label: Is the transcript right?
    choices:
      - {value: 1, label: No, score: 0}
      - {value: 2, label: Yes, score: 1}
skip_reasons: [{value: missing, label: Something is missing}]
instructions:
  summary: You will hear recordings.
  steps: [Listen.]
"""
ROW = {
    "item_id": "a",
    "system": "m",
    "text": "Hello.",
    "before": "a 1.png|a%202.png",
    "step": "Cut.",
    "recording": "gold-yes.mp3",
    "clip": "a.webm",
}
MP3, WAV, OGG = b"ID3\x04" + b"\0" * 60, b"RIFF\x24\0\0\0WAVEfmt ", b"OggS\0\x02"
M4A, MP4, MOV = (b"\0\0\0\x20ftyp" + brand + b"\0" * 9 for brand in (b"M4A ", b"isom", b"qt  "))
WEBM = b"\x1a\x45\xdf\xa3\x9fB\x82\x84webm" + b"\0" * 90
FILES = {"a 1.png": png(), "a 2.png": png("blue"), "gold-yes.mp3": MP3, "a.webm": WEBM}


@pytest.fixture
def definition():
    return read(DOCUMENT, name="recordings.yaml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def problems(definition, folder: Path, **changes: str) -> list[tuple[str, str]]:
    plan = read_items(long_csv([ROW | changes]), definition=definition)
    checked = check_pictures(plan, pictures=FolderPictures(folder))
    return [(problem.column, problem.message) for problem in checked.errors]


@pytest.mark.parametrize(
    ("column", "data"),
    [
        ("recording", MP3),
        ("recording", WAV),
        ("recording", OGG),
        ("recording", M4A),
        ("clip", MP4),
        ("clip", WEBM),
    ],
)
def test_files_that_browsers_play(definition, folder: Path, column: str, data: bytes) -> None:
    (folder / "x.bin").write_bytes(data)
    assert problems(definition, folder, **{column: "x.bin"}) == []


NO_AUDIO, NO_VIDEO = "It is not an MP3, WAV, Ogg or M4A file.", "It is not an MP4 or WebM video."


@pytest.mark.parametrize(
    ("column", "data", "message"),
    [
        ("recording", MP4, f'The audio "x.bin": {NO_AUDIO}'),
        ("recording", b"<script>", f'The audio "x.bin": {NO_AUDIO}'),
        ("recording", b"", 'The audio "x.bin": The file is empty (0 bytes).'),
        ("clip", MOV, f'The video "x.bin": {NO_VIDEO}'),
        ("clip", MP3, f'The video "x.bin": {NO_VIDEO}'),
        ("before", MP3, 'The picture "x.bin": It is not a JPEG, PNG, GIF, WebP or SVG picture.'),
    ],
)
def test_files_that_they_do_not(definition, folder: Path, column: str, data: bytes, message: str) -> None:
    (folder / "x.bin").write_bytes(data)
    assert problems(definition, folder, **{column: "x.bin"}) == [(column, message)]


def test_a_video_of_two_gigabytes(definition, folder: Path, settings) -> None:
    settings.MEDIA_ROOT = folder / "media"
    with (folder / "a.webm").open("r+b") as file:
        file.truncate(2 * 10**9)  # takes no space
    assert problems(definition, folder) == [("clip", 'The video "a.webm": The file is larger than 100 MB.')]
    assert not settings.MEDIA_ROOT.exists()


def test_each_kind_of_file_has_its_own_limit(definition, folder: Path, settings) -> None:
    settings.UPLOAD_MAX_BYTES, settings.MEDIA_MAX_BYTES = 10**6, {"audio": 2 * 10**6, "video": 3 * 2**20}
    with (folder / "a.webm").open("r+b") as file:
        file.truncate(3 * 2**20)
    assert problems(definition, folder) == []
    with (folder / "a.webm").open("r+b") as file:
        file.truncate(3 * 2**20 + 1)
    assert problems(definition, folder) == [("clip", 'The video "a.webm": The file is larger than 3 MB.')]


def test_files_that_are_missing(definition, folder: Path) -> None:
    assert problems(definition, folder, clip="b.mp4") == [("clip", 'The video "b.mp4" is missing.')]
    assert problems(definition, folder, clip="", recording="") == []


def test_a_column_that_is_missing(definition) -> None:
    row = {name: cell for name, cell in ROW.items() if name != "clip"}
    (problem,) = read_items(long_csv([row]), definition=definition).problems
    assert (problem.column, problem.message) == (
        "clip",
        "The column is missing. The file has item_id, system, text, before, step, recording.",
    )


def test_a_json_list_of_pictures(definition) -> None:
    (item,) = read_items(jsonl([ROW | {"before": ["a|1.png", "b.png"]}]), definition=definition).items
    assert [(picture.name, picture.kind) for picture in item.pictures] == [
        ("a|1.png", "picture"),
        ("b.png", "picture"),
        ("gold-yes.mp3", "audio"),
        ("a.webm", "video"),
    ]
    assert item.payload["blocks"] == {"step": "Cut."}


def page_of(questionnaire) -> str:
    return open_page(Client(), questionnaire).content.decode()


@pytest.mark.django_db
def test_what_the_pages_show(folder: Path, settings) -> None:
    settings.MEDIA_ROOT = folder / "media"
    questionnaire = driven.study(DOCUMENT, items=long_csv([ROW]), folder=folder, pictures=tuple(FILES))
    urls = [picture.get_absolute_url() for picture in Picture.objects.order_by("position")]
    shown = [
        f'<img src="{urls[0]}" width="3" height="2" alt="Before 1" loading="lazy">',
        f'<img src="{urls[1]}" width="3" height="2" alt="Before 2" loading="lazy">',
        f'<audio controls preload="metadata" src="{urls[2]}" aria-label="Recording">',
        f'<video controls playsinline preload="metadata" src="{urls[3]}" aria-label="Video">',
    ]
    page = page_of(questionnaire)
    assert re.findall(r"<(?:img|audio|video)[^>]*>", page) == shown
    assert "gold-yes" not in page
    assert page.index(urls[1]) < page.index("Cut.") < page.index(urls[2])
    assert driven.answer(questionnaire, {"right": "2"}.__getitem__).status_code == 200
    Batch.objects.update(review_policy=NEVER)
    reviewer = Client()
    reviewer.force_login(get_user_model().objects.get())
    ids = [questionnaire.batch_id, Assignment.objects.get(saved_at__isnull=False).pk]
    seen = reviewer.get(reverse("assignment", args=ids)).content.decode()
    assert re.findall(r"<(?:img|audio|video)[^>]*>", seen) == shown
    items = reviewer.get(reverse("study_items", args=["recordings"])).content.decode()
    assert re.findall(r"<(audio|video) controls", items) == ["audio", "video"]


@pytest.mark.django_db
def test_what_is_missing_is_said_and_can_be_brought(definition, folder: Path, settings) -> None:
    settings.MEDIA_ROOT = folder / "media"
    questionnaire = driven.study(DOCUMENT, items=long_csv([ROW]), folder=folder, pictures=tuple(FILES))
    Picture.objects.update(file="", content_type="")
    said = re.findall(r'<p class="missing">([^<]*)</p>', page_of(questionnaire))
    assert said[2:] == [
        f"{name} is missing. If you need it, choose “Skip: it can’t be judged” below."
        for name in ("Recording", "Video")
    ]
    reviewed = answered_items(Assignment.objects.get(), definition=definition)[0].blocks
    assert [file.url or block.can_skip for row in reviewed for block in row for file in block.files] == [
        False
    ] * 4
    attached = attach_pictures(questionnaire.batch.survey, pictures=FolderPictures(folder))
    assert (attached.n_attached, attached.missing) == (4, ())
    assert [picture.content_type for picture in Picture.objects.order_by("position")] == [
        "image/png",
        "image/png",
        "audio/mpeg",
        "video/webm",
    ]
