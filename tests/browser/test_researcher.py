"""What a researcher sees, in a real browser: on a desk and on a phone, in light and dark, with and without scripts."""

import re
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from surveys.answering.admissions import admit_panel
from surveys.models import Batch, Questionnaire
from tests.accessible import faults
from tests.factories import make_assignment, make_draft, make_published, make_survey, submitted
from tests.link_people import from_prolific, invite_one, make_batch, make_panel

# What two elements are called: a label names the first of them only, and axe is content with that.
SAME_IDS = """() => {
    const ids = [...document.querySelectorAll("[id]")].map(one => one.id);
    return ids.filter((id, n) => ids.indexOf(id) !== n);
}"""


@pytest.fixture
def questionnaire(db) -> Questionnaire:
    questionnaire = make_published()
    submitted(questionnaire, n_correct=5)
    submitted(questionnaire, n_correct=2)
    return questionnaire


def people_batch() -> Batch:
    """Somebody invited, somebody sent by a panel."""
    batch = make_batch()
    invite_one(batch)
    admit_panel(make_panel(batch).code, from_prolific())
    return batch


def pages_of(questionnaire: Questionnaire) -> list[str]:
    batch = questionnaire.batch
    draft = make_draft(batch.survey, endpoint="production", reward="0.01")
    assignment = questionnaire.hit.assignments.first()
    return [
        "/admin/",
        draft.get_absolute_url(),
        batch.get_absolute_url(),
        f"/studies/{batch.survey.slug}/",
        f"/studies/{batch.survey.slug}/items/",
        f"/studies/{batch.survey.slug}/design/",
        f"/studies/{batch.survey.slug}/settings/",
        f"/studies/{batch.survey.slug}/launch/",
        f"/batches/{draft.pk}/launch/",
        f"/batches/{batch.pk}/results/",
        f"/batches/{batch.pk}/files/",
        f"/batches/{batch.pk}/stop",
        f"/batches/{batch.pk}/assignments/",
        f"/batches/{people_batch().pk}/people/",
        f"/batches/{batch.pk}/assignments/{assignment.pk}/",
    ]


def test_pages_are_accessible_and_fit_the_window(visit, questionnaire):
    paths = pages_of(questionnaire)
    page = visit(paths[0])
    for path in paths:
        page.goto(path)
        assert (path, faults(page)) == (path, [])
        assert (path, page.evaluate(SAME_IDS)) == (path, [])


def test_signing_in_leads_to_the_page_that_was_asked_for(page, site, questionnaire):
    User.objects.create_superuser("eve", password="a long password")
    page.goto(site.app_url + questionnaire.batch.get_absolute_url())
    page.get_by_label("Username").fill("eve")
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name=questionnaire.batch.name)).to_be_visible()


def test_who_publishes_at_once_after_a_change_publishes_at_the_new_price(visit):
    survey = make_survey(n_items=5, name="Cats")
    page = visit(f"/studies/{survey.slug}/launch/")
    page.get_by_label("Embedded marketplace").check()
    page.get_by_label("Reward").fill("1.20")
    page.locator("#publish").click()
    expect(page.get_by_text("Publishing has started.")).to_be_visible()
    batch = Batch.objects.get(name="Cats 1")
    assert (batch.reward, batch.publishing.total) == (Decimal("1.20"), Decimal("7.20"))


def test_publishing_waits_for_the_price_of_the_last_change_and_no_longer(visit):
    survey = make_survey(n_items=5, name="Cats")
    page = visit(f"/studies/{survey.slug}/launch/")
    held = []
    page.route("**/launch/price", lambda route: held.append(route))
    publish, check = page.locator("#publish"), page.locator("#check")
    before = publish.text_content()
    with page.expect_request("**/launch/price"):
        page.get_by_label("Reward").fill("1.20")
    expect(publish).to_be_disabled()
    expect(publish).to_have_text("Working out the price…")
    expect(check).to_have_attribute("aria-busy", "true")
    held.pop().abort()
    expect(publish).to_have_text(before)
    expect(publish).to_be_enabled()
    expect(check).to_have_attribute("aria-busy", "false")
    page.unroute("**/launch/price")
    page.get_by_label("Reward").fill("2.40")
    expect(page.get_by_role("button", name="Publish 1 HIT for $14.40")).to_be_enabled()


def test_what_was_changed_before_the_page_was_all_there_is_in_the_price(visit):
    """As on a slow line: the script arrives after the reward."""
    survey = make_survey(n_items=5, name="Cats")
    page = visit("/studies/")
    held = []
    page.route("**/launch*.js", lambda route: held.append(route))
    page.goto(page.url.replace("/studies/", f"/studies/{survey.slug}/launch/"), wait_until="commit")
    page.get_by_label("Reward").fill("2.40")
    held.pop().continue_()
    expect(page.get_by_role("button", name="Publish 1 HIT for $14.40")).to_be_enabled()


def test_a_batch_is_planned_and_published(visit):
    survey = make_survey(n_items=5, name="Cats")
    page = visit("/admin/")
    page.get_by_role("link", name="New batch").click()
    page.get_by_label("Embedded marketplace").check()
    page.get_by_label("Reward").fill("1.20")
    page.get_by_role("button", name="Publish 1 HIT for $7.20").click()
    expect(page.get_by_text("Publishing has started.")).to_be_visible()
    batch = Batch.objects.get(name="Cats 1")
    assert (batch.survey, batch.status) == (survey, Batch.Status.PUBLISHING)


def test_progress_moves_without_reloading(visit, questionnaire):
    page = visit(questionnaire.batch.get_absolute_url())
    page.evaluate("window.isTheSamePage = true")
    expect(page.locator("[data-count=n_kept]")).to_have_text("2")
    make_assignment(questionnaire.hit, status="Approved")
    expect(page.locator("[data-count=n_kept]")).to_have_text("3")
    assert page.evaluate("window.isTheSamePage") is True
    assert page.evaluate("document.querySelector('[data-bar=n_kept]').value") == 3


def test_somebody_signed_out_is_not_sent_on_again_and_again(visit, questionnaire):
    page = visit(questionnaire.batch.get_absolute_url())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.context.clear_cookies()
    for _ in range(2):  # what follows the first answer is asked for before the second
        with page.expect_response("**/progress") as answer:
            pass
        assert answer.value.status == 302
    assert {url.rpartition("/")[2] for url in asked} - {"results"} == {"progress"}


def test_a_new_status_reloads_the_page(visit, questionnaire):
    page = visit(questionnaire.batch.get_absolute_url())
    Batch.objects.filter(pk=questionnaire.batch_id).update(status=Batch.Status.COMPLETE)
    expect(page.locator(".status.complete")).to_have_text("Complete")
    expect(page.get_by_role("link", name=re.compile("^Stop"))).to_have_count(0)


def test_a_whole_page_is_selected_at_once(visit, questionnaire):
    page = visit(f"/batches/{questionnaire.batch_id}/assignments/")
    page.get_by_label("Select all on this page").check()
    expect(page.locator("input[name=selected]:checked")).to_have_count(2)
    page.get_by_role("button", name="Approve").click()
    page.get_by_role("button", name="Approve 2").click()
    expect(page.get_by_text("2 decided.")).to_be_visible()


def test_an_assignment_is_rejected_without_scripts(visit, questionnaire):
    page = visit(f"/batches/{questionnaire.batch_id}/assignments/", scripts=False)
    page.locator("tbody tr", has_text="2 of 5").get_by_role("link").click()
    reason = "You answered 2 of 5 questions correctly; at least 3 are needed."
    expect(page.get_by_label("Why it is rejected")).to_have_value(reason)
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("Your decision is recorded.")).to_be_visible()
    expect(page.get_by_text("Reject, by ada.")).to_be_visible()
