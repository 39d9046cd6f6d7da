"""Figures and tables on the page: they are there to download, and are those of the choice in the address."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from surveys.models import Batch, KeptReport
from surveys.results import reports
from tests.factories import make_published, submitted
from tests.people import client_of
from tests.surveys.pages.results.shown import results

pytestmark = pytest.mark.django_db


def study() -> Batch:
    questionnaire = make_published()
    submitted(questionnaire, n_correct=5)
    submitted(questionnaire, n_correct=2)
    results(questionnaire.batch)
    return questionnaire.batch


def test_everything_the_page_offers_is_there() -> None:
    batch, client = study(), client_of("Assistant")
    shown = client.get(reverse("batch_results", args=[batch.pk])).content.decode()
    offered = re.findall(r'href="([^"]+/results/(?:figures|tables)/[^"]+)"', shown)
    found = {path.rpartition("/")[2]: client.get(path) for path in offered}
    assert len(offered) == 9 + 6
    assert {answer.status_code for answer in found.values()} == {200}
    assert {answer["Content-Type"] for answer in found.values()} == {
        "image/svg+xml", "application/pdf", "image/png", "text/csv; charset=utf-8", "application/x-tex; charset=utf-8",
    }  # fmt: skip
    assert all(answer["Content-Disposition"].startswith("attachment") for answer in found.values())


def test_a_table_is_of_the_chosen_answers() -> None:
    batch, client = study(), client_of("Assistant")
    path = reverse("result_table", args=[batch.pk, "systems", "csv"])
    client.get(path + "?rows=filtered")
    for row in KeptReport.objects.exclude(asked_version=""):
        reports.make(row.pk)
    every, chosen = (client.get(path + query).content.decode() for query in ("", "?rows=filtered"))
    n = [text.splitlines()[0].split(",").index("justifies n") for text in (every, chosen)]
    assert [text.splitlines()[1].split(",")[at] for text, at in zip((every, chosen), n, strict=True)] == [
        "10",
        "7",
    ]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("result_figure", ["means", "nothing", "svg"]),
        ("result_figure", ["pie", "justifies", "svg"]),
        ("result_figure", ["means", "justifies", "exe"]),
        ("result_table", ["systems", "docx"]),
        ("result_table", ["everything", "csv"]),
    ],
)
def test_what_is_not_there_is_not_found(name: str, given: list[str]) -> None:
    client: Client = client_of("Assistant")
    assert client.get(reverse(name, args=[study().pk, *given])).status_code == 404


def test_before_there_is_a_report_one_is_led_to_where_it_is_awaited(
    monkeypatch: pytest.MonkeyPatch, reports_at_once: None
) -> None:
    batch, client = study(), client_of("Assistant")
    monkeypatch.setattr("surveys.enqueue.enqueue", lambda *given: None)
    answer = client.get(reverse("result_table", args=[batch.pk, "systems", "csv"]) + "?rows=filtered")
    assert (answer.status_code, answer["Location"]) == (
        302,
        reverse("batch_results", args=[batch.pk]) + "?rows=filtered",
    )
