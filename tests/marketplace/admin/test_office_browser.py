"""The back office in a real browser: a batch from upload to results by keyboard, and every page under axe."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from marketplace.accounts import keys
from marketplace.models import HIT
from marketplace.questions import answer_documents
from tests.accessible import faults
from tests.marketplace.batches.batches_made import TABLE, TEMPLATE, draft, hits, published, work


@pytest.fixture
def office(page, live_server, settings, db):
    """A function that opens a page of the back office as its administrator."""
    address = f"http://127.0.0.1:{live_server.thread.port}"
    settings.CSRF_TRUSTED_ORIGINS = [address]
    User.objects.create_superuser("admin", password="some-long-pass")
    page.goto(f"{address}/admin/login/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill("some-long-pass")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}/admin/")

    def office(path):
        page.goto(f"{address}/admin/marketplace/{path}")
        return page

    return office


def test_a_batch_from_upload_to_publication(office, requester):
    page = office("templatebatch/add/")
    page.get_by_label("or HTML, pasted here").fill(TEMPLATE)
    page.get_by_label("CSV").set_input_files({"name": "rows.csv", "mimeType": "text/csv", "buffer": TABLE})
    page.get_by_label("Title").fill("Look at pictures")
    page.get_by_label("Description").fill("Short questions.")
    page.get_by_role("button", name="Look before publishing").press("Enter")
    expect(page.frame_locator("iframe >> nth=1").get_by_text("<b>Why?</b>")).to_be_visible()
    expect(page.frame_locator("iframe >> nth=1").get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_role("button", name="Publish 2 HITs").press("Enter")
    expect(page.locator("#received")).to_have_text("0 of 10 assignments submitted, 0 of 2 HITs complete")
    assert HIT.objects.count() == 2


def test_every_page_is_accessible_and_fits(office, requester, page):
    first, second = draft(requester, max_assignments=400), published(requester)
    work(hits(second)[0], worker=keys.create_worker()[0], answer=answer_documents.document({"a": "1"}))
    seen = {}
    for path in (
        "",
        f"requester/{requester.pk}/statement/",
        f"templatebatch/add/?again={first.pk}",
        f"templatebatch/{first.pk}/change/",
        f"templatebatch/{second.pk}/change/",
        "invitation/add/",
    ):
        office(path)
        seen[path] = faults(page)
    page.get_by_role("button", name="Make and show links").click()
    seen["links"] = faults(page)
    office("templatebatch/add/").get_by_role("button", name="Look before publishing").click()
    seen["empty form"] = faults(page)
    assert {name: found for name, found in seen.items() if found} == {}
