"""What people report reaches the researcher with its item, is counted, and is seen to."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotators.models import Assignment
from surveys.models import ProblemReport, Survey
from tests import factories


@pytest.fixture
def reported(db: None) -> Assignment:
    questionnaire = factories.make_published()
    Survey.objects.filter(pk=questionnaire.batch.survey_id).update(is_shared=True, slug="cats")
    assignment = factories.open_for(questionnaire)
    report(assignment, 1, "Upside <b>down</b>.")
    report(assignment, 2, "No cat.")
    report(assignment, 2, "No cat at all.")
    return assignment


def report(assignment: Assignment, position: int, text: str) -> ProblemReport:
    item = assignment.responses.get(position=position).item
    return ProblemReport.objects.create(assignment=assignment, item=item, text=text)


def settle(client: Client, report: ProblemReport) -> int:
    return client.post(f"/studies/cats/items/{report.item_id}/seen-to", {"last": str(report.pk)}).status_code


def n_open() -> int:
    return ProblemReport.objects.filter(settled_at=None).count()


def test_reports_stand_with_their_items_and_are_counted(admin_client: Client, reported: Assignment) -> None:
    page = admin_client.get("/studies/cats/items/").content.decode()
    assert "Upside &lt;b&gt;down&lt;/b&gt;." in page
    assert page.index("No cat at all.") < page.index("Upside")  # the most reported first
    assert 'Items <span class="badge">3<' in page


def test_seen_to_is_seen_to_once_and_later_reports_stay(admin_client: Client, reported: Assignment) -> None:
    shown = ProblemReport.objects.get(text="No cat at all.")
    later = report(reported, 2, "Came meanwhile.")
    assert [settle(admin_client, shown) for _ in range(2)] == [302, 302]
    assert n_open() == 2
    page = admin_client.get("/studies/cats/items/").content.decode()
    assert (later.text in page, shown.text in page) == (True, False)


@pytest.mark.parametrize("last", ["", "x", "²", "9" * 40])
def test_an_invented_last_report_settles_nothing(
    admin_client: Client, reported: Assignment, last: str
) -> None:
    item = ProblemReport.objects.get(text="No cat.").item_id
    assert admin_client.post(f"/studies/cats/items/{item}/seen-to", {"last": last}).status_code == 302
    assert n_open() == 3


def test_who_may_not_decide_settles_nothing(client: Client, reported: Assignment) -> None:
    client.force_login(User.objects.create_user("eve", is_staff=True))
    assert settle(client, ProblemReport.objects.get(text="No cat.")) in {403, 404}
    assert n_open() == 3


def test_another_studys_item_is_not_found(admin_client: Client, reported: Assignment) -> None:
    factories.make_survey(slug="dogs", is_shared=True)
    item = ProblemReport.objects.get(text="No cat.").item_id
    assert admin_client.post(f"/studies/dogs/items/{item}/seen-to", {"last": "99999"}).status_code == 404
