"""Pages that wait for the worker, in a real browser: they tell eyes and ears how far it is, in the study's place."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page, expect

from surveys.models import Importing, KeptReport
from surveys.pages.study.imports import preview_token
from surveys.results.files import prepared
from surveys.studies.importing import attaching, later
from surveys.studies.importing.staging import Staged, Wish, stage
from tests.accessible import faults
from tests.factories import make_published, make_survey, submitted

Visit = Callable[..., Page]
TABS = ["Batches", "Items", "Design", "Launch", "People", "Review", "Results", "Files", "Settings"]
DOGS = Wish(
    filename="dogs.csv",
    survey_id=None,
    name="Dogs",
    slug="dogs",
    definition_key="xai",
    system="lime",
    layout="auto",
    allow_missing=True,
    address="https://pictures.example.org/",
)


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path


def upload() -> Staged:
    return stage(DOGS, items=b"item_id,image,label,explanation\n1,1.png,dog,It barks.\n", archive=None)


def is_in_place(page: Page, here: str) -> bool:
    """Tell whether a page is one of a study's, at the tab it belongs to."""
    assert [tab.strip() for tab in page.locator(".tabs li").all_inner_texts()] == TABS
    return page.locator(".tabs [aria-current]").all_inner_texts() == [here]


def is_told(page: Page, row: KeptReport | Importing) -> None:
    """The page says nothing aloud at first, then in steps how far the worker is."""
    said = page.get_by_role("status")
    type(row).objects.filter(pk=row.pk).update(percent=47)
    expect(said).to_have_text("40 %")
    assert page.get_by_role("progressbar").evaluate("bar => bar.value") == 47
    type(row).objects.filter(pk=row.pk).update(percent=59)
    expect(page.get_by_role("progressbar")).to_have_js_property("value", 59)
    assert said.inner_text() == "40 %"


def test_an_upload_that_is_looked_at(visit: Visit) -> None:
    page = visit("/admin/")
    page.goto(reverse("import_preview", args=[preview_token(upload(), person=User.objects.get())]))
    expect(page.get_by_text("dogs.csv is being read")).to_be_visible()
    assert is_in_place(page, "Items")
    is_told(page, KeptReport.objects.get())
    assert faults(page) == []


def test_a_large_import_and_the_study_it_makes(visit: Visit) -> None:
    page = visit("/admin/")
    asked = later.ask(upload(), by=User.objects.get(), accept_warnings=True)
    page.goto(reverse("import_job", args=[asked.pk]))
    assert is_in_place(page, "Items")
    assert page.locator(".study .name").inner_text() == "Dogs"
    is_told(page, asked)
    assert faults(page) == []


def test_pictures_that_are_fetched(visit: Visit) -> None:
    page, survey = visit("/admin/"), make_survey(name="Cats")
    asked = attaching.ask(survey, address="https://pictures.example.org/")
    page.goto(reverse("pictures_job", args=[preview_token(asked, person=User.objects.get())]))
    assert is_in_place(page, "Items")
    is_told(page, KeptReport.objects.get())
    assert faults(page) == []
    page.get_by_role("link", name="Cats").last.click()
    assert urlsplit(page.url).path == reverse("study", args=[survey.slug])


def test_a_file_that_is_prepared(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = submitted(make_published()).hit.questionnaire.batch
    monkeypatch.setattr(prepared, "LARGE", 0)
    page = visit(reverse("batch_files", args=[batch.pk]))
    page.get_by_role("link", name="Table of results").click()
    expect(page.get_by_text("is being prepared")).to_be_visible()
    assert is_in_place(page, "Files")
    is_told(page, KeptReport.objects.get(key__startswith="file:"))
    assert faults(page) == []
