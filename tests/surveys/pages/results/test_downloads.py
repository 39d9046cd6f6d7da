"""Files of a batch: the right bytes to the right people."""

import io

import pytest
from django.urls import reverse

from surveys.results.files.layouts import layouts_for
from tests.factories import (
    make_batch,
    make_draft,
    make_hit,
    make_item,
    make_published,
    make_questionnaire,
    make_survey,
    submitted,
)
from tests.people import client_of

pytestmark = pytest.mark.django_db

NAMES = ["legacy", "legacy_filtered", "processed", "processed_filtered", "raw", "summary", "table", "tidy"]


@pytest.fixture
def batch():
    questionnaire = make_published(name="My study: 1")
    submitted(questionnaire, worker="ASECRETWORKER")
    return questionnaire.batch


def get(client, batch, name: str):
    return client.get(reverse("batch_download", args=[batch.pk, name]))


def body(response) -> bytes:
    return b"".join(response.streaming_content)


def test_every_layout_of_an_evil_study_is_offered(batch):
    assert sorted(layouts_for(batch)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_what_its_layout_writes(batch, name):
    expected = io.StringIO(newline="")
    layouts_for(batch)[name].write(batch, expected)
    response = get(client_of("Researcher"), batch, name)
    assert response.streaming
    assert body(response) == expected.getvalue().encode()


def test_a_file_has_a_name_and_a_type(batch):
    response = get(client_of("Researcher"), batch, "tidy")
    assert response["Content-Disposition"] == 'attachment; filename="my-study-1-tidy.csv"'
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert get(client_of("Assistant"), batch, "summary")["Content-Type"] == "application/json; charset=utf-8"


def test_raw_files_are_for_researchers_only(batch):
    assert get(client_of("Assistant"), batch, "raw").status_code == 403


@pytest.mark.parametrize("name", NAMES)
def test_no_file_names_a_worker(batch, name):
    assert b"ASECRETWORKER" not in body(get(client_of("Researcher"), batch, name))


def test_an_assistant_is_not_offered_the_raw_file(batch):
    page = client_of("Assistant").get(reverse("batch_files", args=[batch.pk])).context
    assert "raw.csv" not in [d.filename for d in page["downloads"]]
    page = client_of("Researcher").get(reverse("batch_files", args=[batch.pk])).context
    assert [d.filename for d in page["downloads"] if d.url_with_ids] == ["raw.csv"]


@pytest.mark.parametrize("name", ["nonsense", "raw.csv"])
def test_an_unknown_file_is_404(batch, name):
    assert client_of("Researcher").get(f"/batches/{batch.pk}/downloads/{name}").status_code == 404


def test_a_draft_has_no_files():
    assert get(client_of("Researcher"), make_draft(make_survey()), "tidy").status_code == 404


def test_nobody_else_gets_a_file(batch):
    assert get(client_of(), batch, "tidy").status_code == 403


def test_a_layout_with_no_place_for_the_answers_says_so():
    survey = make_survey()
    item = make_item(survey, systems=("one", "other"))
    batch = make_batch(survey)
    submitted(make_questionnaire(batch, items=[item], hit=make_hit()), n_correct=1)
    response = get(client_of("Researcher"), batch, "legacy")
    assert (response.status_code, response.url) == (302, batch.get_absolute_url())


def test_a_layout_with_no_place_for_the_answers_is_not_offered():
    survey = make_survey()
    item = make_item(survey, systems=("one", "other"))
    batch = make_batch(survey)
    submitted(make_questionnaire(batch, items=[item], hit=make_hit()), n_correct=1)
    assert sorted(layouts_for(batch)) == [
        "processed", "processed_filtered", "responses", "summary", "table", "tidy",
    ]  # fmt: skip
