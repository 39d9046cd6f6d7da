"""Outputs that are files: pictures, recordings or videos that systems made, alone or beside each other."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from annotators.models import Assignment
from surveys.models import Batch, Picture
from surveys.pages.study.builder.preview import preview, trial_of
from surveys.protocols.definition import Definition
from surveys.protocols.documents import DocumentError
from surveys.protocols.policy import NEVER
from surveys.protocols.uploads import read
from surveys.studies import scoring
from surveys.studies.importing.pictures import FolderPictures, check_pictures
from surveys.studies.importing.reading import read_items
from surveys.studies.importing.writing import attach_pictures, waiting_kinds
from tests import driven
from tests.surveys.pages.hit_pages import open_page
from tests.surveys.studies.importing_cases import batch_csv, long_csv, png, slot

DOCUMENT = """\
protocol: drawn-pictures
name: Pictures from words
version: 1
title: Compare two pictures
question_label: Prompt
output_label: Picture {n}
output_kind: pictures
outputs_per_item: 2
pictures: none
headline: fits
criteria:
  - {key: fits, label: Does it fit?, choices: [{value: yes, label: Yes, score: 1}, {value: no, label: No, score: 0}]}
preference: {key: better, label: Which is better?, output_label: "Picture {n}", none_label: Neither}
skip_reasons: [{value: missing, label: Something is missing}]
instructions:
  summary: You will see pictures.
  steps: [Look.]
"""
LONGEST = "s" * 64
ROWS = [
    {"item_id": "a", "question": "A boat", "system": LONGEST, "text": "secret-one.png", "references": "boat"},
    {
        "item_id": "a",
        "question": "A boat",
        "system": "b",
        "text": "secret%20b1.png|b2.png",
        "references": "boat",
    },
]
NAMES = ("secret-one.png", "secret b1.png", "b2.png")


@pytest.fixture
def definition() -> Definition:
    return read(DOCUMENT, name="drawn.yaml")


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    for name, colour in zip(NAMES, ("red", "blue", "green"), strict=True):
        (tmp_path / name).write_bytes(png(colour))
    return tmp_path


def study(folder: Path) -> Any:
    return driven.study(DOCUMENT, items=long_csv(ROWS), folder=folder, pictures=NAMES)


def shown_alts(page: str) -> list[str]:
    return re.findall(r'<img [^>]*alt="([^"]+)"', page)


@pytest.mark.django_db
def test_pictures_are_compared_and_nothing_tells_whose_they_are(folder: Path) -> None:
    questionnaire = study(folder)
    page = open_page(Client(), questionnaire).content.decode()
    ones, others = "Picture {n}", "Picture {n} {m}"
    of_b = next(n for n in (1, 2) if others.format(n=n, m=2) in page)
    expected = {
        of_b: [others.format(n=of_b, m=m) for m in (1, 2)],
        3 - of_b: [ones.format(n=3 - of_b)],
    }
    assert shown_alts(page) == [*expected[1], *expected[2]]
    assert not re.search(rf"secret|b2\.png|{LONGEST}", page)
    given = {"fits": "yes", "better": "no_preference"}
    assert driven.answer(questionnaire, given.__getitem__).status_code == 200
    tidy = driven.files(questionnaire.batch, folder=folder / "out")["tidy.csv"]
    assert sorted((row["system"] == "b", row["criterion"], row["score"]) for row in tidy) == [
        (False, "better", "0.0"), (False, "fits", "1.0"), (True, "better", "0.0"), (True, "fits", "1.0"),
    ]  # fmt: skip


@pytest.mark.django_db
def test_reviewers_see_whose_they_are_and_no_metric_reads_their_names(folder: Path) -> None:
    questionnaire = study(folder)
    driven.answer(questionnaire, {"fits": "yes", "better": "no_preference"}.__getitem__)
    Batch.objects.update(review_policy=NEVER)
    reviewer = Client()
    reviewer.force_login(get_user_model().objects.get())
    done = Assignment.objects.get(saved_at__isnull=False)
    page = reviewer.get(reverse("assignment", args=[questionnaire.batch_id, done.pk])).content.decode()
    assert sorted(shown_alts(page)) == sorted(NAMES)
    survey = questionnaire.batch.survey
    assert survey.items.get().references == ["boat"]
    assert (scoring.unscored(), scoring.score_next(survey)) == ([], None)


@pytest.mark.django_db
def test_one_that_is_missing_is_said_and_can_be_brought(folder: Path) -> None:
    questionnaire = study(folder)
    survey = questionnaire.batch.survey
    Picture.objects.filter(name="secret-one.png").update(file="", content_type="")
    page = open_page(Client(), questionnaire).content.decode()
    [said] = re.findall(r'<p class="missing">([^<]*)</p>', page)
    assert re.fullmatch(
        r"Picture [12] is missing. If you need it, choose “Skip: it can’t be judged” below.",
        said,
    )
    assert waiting_kinds(survey) == {"secret-one.png": "picture"}
    assert attach_pictures(survey, pictures=FolderPictures(folder)).n_attached == 1


def test_files_are_checked_as_what_they_have_to_be(folder: Path) -> None:
    definition = read(DOCUMENT.replace("output_kind: pictures", "output_kind: audio"), name="drawn.yaml")
    plan = check_pictures(read_items(long_csv(ROWS), definition=definition), pictures=FolderPictures(folder))
    assert [(one.column, one.message) for one in plan.errors][:1] == [
        ("text", 'The audio "secret-one.png": It is not an MP3, WAV, Ogg or M4A file.')
    ]


def test_a_batch_csv_has_no_place_for_them(definition: Definition) -> None:
    assert [
        one.message
        for one in read_items(batch_csv([slot(n) for n in range(5)]), definition=definition).errors
    ] == ["A batch CSV has no place for outputs that are files; lay out one output a row."]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("choices: [{value: yes, label: Yes, score: 1}, {value: no, label: No, score: 0}]",
         "spans: {severities: [{value: bad, label: Bad, score: 1}]}",
         "line 12: Criterion 'fits' can't mark an output that is a file."),
        ("outputs_per_item: 2", "outputs_per_item: 1\nis_sequence: true",
         "line 7: The output of a sequence is texts, which stand between its states."),
        ("output_kind: pictures", "output_kind: film",
         "line 7: output_kind: Here belongs one of text, pictures, audio, video, not 'film'."),
    ],
)  # fmt: skip
def test_what_a_file_cant_be(old: str, new: str, sentence: str) -> None:
    with pytest.raises(DocumentError) as caught:
        read(DOCUMENT.replace(old, new), name="drawn.yaml")
    assert f"drawn.yaml, {sentence}" in caught.value.problems


def test_the_builder_shows_stand_ins(definition: Definition) -> None:
    page = preview(
        definition, trial=trial_of(long_csv(ROWS).decode(), definition=definition), language="en"
    ).content.decode()
    assert page.count("study/picture") == 3
    assert "secret" not in page


def test_what_was_published_before_says_nothing_of_it(definition: Definition) -> None:
    texts = read(DOCUMENT.replace("output_kind: pictures\n", ""), name="drawn.yaml")
    assert ("output_kind" in texts.to_snapshot(), definition.to_snapshot()["output_kind"]) == (
        False,
        "pictures",
    )
    assert Definition.from_snapshot(texts.to_snapshot()) == texts
