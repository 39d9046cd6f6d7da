"""The way of docs/tutorial.md in a real browser: the pictures of that page are taken here, and none may be out of date.

What a picture's page said when it was taken is kept beside it, in `shown.json`. `make tutorial` takes them again.
"""

import csv
import random
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from annotators.models import Assignment, Worker
from surveys.answering import allocation
from surveys.answering.allocation import NothingLeft
from surveys.answering.collection import ItemAnswer, save_answers
from surveys.models import Batch
from tests.browser.conftest import Visit
from tests.browser.taken import DOCS, Pictures
from tests.link_people import take
from tests.market_site import eager
from tests.surveys.studies.importing_cases import archive

__all__ = ["eager"]
ROLES = {"predicted": "Label", "why": "Explanation", "method": "system", "was right": "model correct"}


@pytest.fixture
def pictures() -> Pictures:
    return Pictures("shown.json")


def import_items(page: Page, pictures: Pictures) -> None:
    page.get_by_role("link", name="Import items").first.click()
    page.get_by_label("Name of the new survey").fill("Labels explained")
    page.get_by_label("Type of the new survey").select_option("xai")
    page.locator("[name=items]").set_input_files(DOCS / "tutorial" / "labels.csv")
    folder = Path(settings.BASE_DIR) / "fixtures" / "demo" / "xai" / "pictures"
    zipped = archive({picture.name: picture.read_bytes() for picture in folder.iterdir()})
    page.locator("[name=archive]").set_input_files(
        {"name": "pictures.zip", "mimeType": "application/zip", "buffer": zipped}
    )
    page.get_by_role("button", name="Look before importing").click()
    for column, role in ROLES.items():
        box = page.get_by_label(column, exact=True)
        names = box.locator("option").all_inner_texts()
        box.select_option(label=next(name for name in names if name.startswith(role)))
    pictures.take(page, "columns")
    page.get_by_role("button", name="Look before importing").click()
    pictures.take(page, "preview")
    page.get_by_role("button", name="Confirm: import 12 items").click()


def launch(page: Page, pictures: Pictures) -> None:
    page.get_by_label("No marketplace").check()
    page.get_by_label("Assignments per HIT").fill("3")
    publish = page.get_by_role("button", name="Publish 3 HITs for $14.40")
    expect(publish).to_be_visible()
    pictures.take(page, "launch")
    publish.click()
    expect(page.locator(".status.open").first).to_be_visible()


def invite(page: Page, pictures: Pictures) -> str:
    page.get_by_role("link", name="People").click()
    page.locator("textarea").first.fill("Ann\nBea\nCem")
    page.get_by_role("button", name="Make links", exact=True).click()
    pictures.take(page, "people")
    return page.locator("input[value*='/links/']").first.input_value()


def look_on_a_phone(page: Page, address: str, pictures: Pictures) -> None:
    page.goto(address)
    page.locator("main a, main button").first.click()
    expect(page.locator("input[type=radio]").first).to_be_attached()
    with (DOCS / "tutorial" / "labels.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    pictures.take(page, "phone", drawn=cells)


def rate(assignment: Assignment, *, person: int) -> None:
    """As three people might: whoever lists what is seen is liked better, by some people more than by others."""
    answers = []
    for response in assignment.responses.select_related("item"):
        output = response.item.outputs.get()
        likely = "54443" if output.system == "feature-list" else "12234"
        draw = random.Random(f"{person} {response.item.external_id}")
        values = {
            criterion.key: draw.choice(likely) for criterion in response.item.survey.definition.criteria
        }
        answers.append(
            ItemAnswer(position=response.position, ratings={output.code: values}, active_seconds=20.0)
        )
    save_answers(assignment, answers=answers, comment="")
    allocation.settle(assignment)


def test_the_way_of_the_tutorial(
    visit: Visit,
    eager: None,
    new_context: CreateContextCallback,
    pictures: Pictures,
    tmp_path: Path,
    settings,
) -> None:
    settings.MEDIA_ROOT = tmp_path
    page = visit("/admin/")
    page.set_default_timeout(6000)
    import_items(page, pictures)
    launch(page, pictures)
    address = invite(page, pictures)
    phone = new_context(viewport={"width": 390, "height": 844})
    look_on_a_phone(phone.new_page(), address, pictures)
    phone.close()
    batch = Batch.objects.get()
    for n, worker in enumerate(Worker.objects.order_by("pk")):
        with suppress(NothingLeft):
            while True:
                rate(take(batch, worker), person=n)
    page.goto(f"/batches/{batch.pk}/results/")
    pictures.take(page, "results")
    page.close()
    assert pictures.shown == pictures.kept, "make tutorial takes the pictures again"
