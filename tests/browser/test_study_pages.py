"""A study's own pages in a real browser: short on a desk, whole on a phone, and readable by everybody."""

from collections.abc import Callable
from datetime import timedelta

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from surveys.models import KeptReport, Role, Survey
from surveys.results import reports
from surveys.studies import colleagues
from tests.accessible import faults
from tests.browser.conftest import Visit
from tests.builders import make_questionnaire
from tests.factories import make_published, make_survey, submitted
from tests.surveys.results.rated import rated_batch
from tests.surveys.results.test_together import FIRST, SECOND, beside

SIZE = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
TALLEST = 2500  # pixels at 1280
PAGES = ("study", "study_items", "study_design", "study_people", "study_review", "study_results", "study_files",
         "study_settings")  # fmt: skip


def rated_study() -> Survey:
    first, _ = beside(rated_batch(FIRST), rated_batch(SECOND))
    head = User.objects.create_superuser("head")
    colleagues.add(first.survey, person=User.objects.create_user("grace"), role=Role.ASSISTANT, by=head)
    until = timezone.now() + timedelta(days=3)
    colleagues.invite(first.survey, name="Ada from Delft", role=Role.READER, expires_at=until, by=head)
    client = Client()
    client.force_login(head)
    client.get(reverse("study_results", args=[first.survey.slug]))
    for row in KeptReport.objects.exclude(asked_version=""):
        reports.make(row.pk)
    return first.survey


def test_pages_of_a_whole_study_are_short_and_accessible(visit: Callable[..., Page]) -> None:
    survey = rated_study()
    for _ in range(2):
        beside(survey.batches.earliest("pk"), submitted(make_published()).hit.questionnaire.batch)
    pks = ",".join(str(batch.pk) for batch in survey.batches.order_by("pk")[:2])
    addresses = [reverse(name, args=[survey.slug]) for name in PAGES]
    addresses.append(reverse("study_results_of", args=[survey.slug, pks]))
    page = visit("/admin/")
    for address in addresses:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(address)
        assert page.evaluate(SIZE)[1] <= TALLEST, address
        assert (address, faults(page)) == (address, [])
    page.set_viewport_size({"width": 390, "height": 900})
    for address in addresses:
        page.goto(address)
        assert (address, page.evaluate(SIZE)[0]) == (address, 390)


def test_what_is_reviewed_and_the_admins_form_of_a_batch_are_short(visit: Callable[..., Page]) -> None:
    assignment = submitted(make_questionnaire(), n_correct=1)
    batch = assignment.hit.questionnaire.batch
    page = visit("/admin/")
    for address in (
        reverse("assignment", args=[batch.pk, assignment.pk]),
        reverse("admin:surveys_batch_add"),
    ):
        page.goto(address)
        assert page.evaluate(SIZE)[1] <= TALLEST, address


def test_an_item_is_looked_at_as_annotators_see_it_and_nothing_is_sent(visit: Visit) -> None:
    survey = make_survey(n_items=1)
    page = visit(f"/studies/{survey.slug}/items/")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="See it as annotators do: item-1").click()
    shown = opened.value
    sent: list[str] = []
    shown.on("request", lambda request: request.method == "POST" and sent.append(request.url))
    shown.get_by_role("radio", name="Maybe").check(force=True)
    shown.get_by_role("button", name="Submit").click()
    assert faults(shown) == []
    assert sent == []
