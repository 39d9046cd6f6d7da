"""The way of docs/tutorial.md in a real browser: the pictures of that page are taken here, and none may be out of date.

What a picture's page said when it was taken is kept beside it, in `shown.json`. `make tutorial` takes them again.
"""

import csv
import random
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from annotators.models import Assignment, Worker
from surveys.models import Batch, Response
from tests.browser.conftest import Visit
from tests.browser.taken import DOCS, Pictures
from tests.link_study import Visitor
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


def invite(page: Page, pictures: Pictures) -> list[str]:
    page.get_by_role("link", name="People").click()
    page.locator("textarea").first.fill("Ann\nBea\nCem")
    page.get_by_role("button", name="Make links", exact=True).click()
    pictures.take(page, "people")
    return [one.input_value() for one in page.locator("input[value*='/links/']").all()]


def look_on_a_phone(page: Page, address: str, pictures: Pictures) -> None:
    page.goto(address)
    page.locator("main a, main button").first.click()
    expect(page.locator("input[type=radio]").first).to_be_attached()
    with (DOCS / "tutorial" / "labels.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    pictures.take(page, "phone", drawn=cells)


def rate(link: str, *, person: int) -> None:
    """Answer all three HITs on the pages of a personal link."""
    visitor, worker = Visitor(urlsplit(link).path), Worker.objects.order_by("pk")[person]
    for _ in range(3):
        path = visitor.start().headers["Location"]
        sent = visitor.scores(visitor.client.get(path))
        for response in (
            Assignment.objects.filter(worker=worker).latest("pk").responses.select_related("item")
        ):
            sent |= liked(response, person=person)
        saved = visitor.client.post(path, sent)
        assert (saved.status_code, "saved=" in saved.headers["Location"]) == (303, True)


def liked(response: Response, *, person: int) -> dict[str, str]:
    """As three people might: whoever lists what is seen is liked better, by some people more than by others."""
    output = response.item.outputs.get()
    likely = "54443" if output.system == "feature-list" else "12234"
    draw = random.Random(f"{person} {response.item.external_id}")
    keys = [criterion.key for criterion in response.item.survey.definition.criteria]
    rated = {f"i{response.position}-{output.code}-{key}": draw.choice(likely) for key in keys}
    return {f"i{response.position}-seconds": "20"} | rated


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
    links = invite(page, pictures)
    phone = new_context(viewport={"width": 390, "height": 844})
    look_on_a_phone(phone.new_page(), links[0], pictures)
    phone.close()
    for person, link in enumerate(links):
        rate(link, person=person)
    assert Assignment.objects.filter(saved_at__isnull=False).count() == 9
    page.goto(
        f"/batches/{Batch.objects.get().pk}/results/", timeout=30_000
    )  # its numbers are made on the way
    expect(page.get_by_text("nothing has changed since")).to_be_visible(timeout=30_000)
    pictures.take(page, "results")
    page.close()
    assert pictures.shown == pictures.kept, "make tutorial takes the pictures again"
