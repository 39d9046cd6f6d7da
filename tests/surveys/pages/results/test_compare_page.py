"""Batches and surveys beside each other on a page: the reader's own, by the code of the command."""

import re

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from surveys.models import Batch, KeptReport, Survey
from tests.people import client_of
from tests.surveys.pages.pages import text_of
from tests.surveys.results.rated import Rated, rated_batch

pytestmark = pytest.mark.django_db


def batch_of(system: str, *, subjects: str = "abc", low: str = "1") -> Batch:
    rows = [
        Rated(subject, system, worker, {"clarity": value, "trust": value})
        for subject in subjects
        for worker, value in (("x", low), ("y", "5"))
    ]
    return rated_batch(rows, name=f"round of {system}")


def look(client: Client, **chosen: list[int]) -> str:
    response = client.get(reverse("compare"), chosen)
    assert response.status_code == 200
    return text_of(response)


def test_two_batches_are_paired_on_the_subjects_they_share(tmp_path) -> None:
    batches = [batch_of("cst"), batch_of("ttnet", subjects="bcd", low="3")]
    text = look(client_of("Assistant"), batch=[batch.pk for batch in batches])
    assert "ttnet in round of ttnet" in text
    call_command("evaluate_results", batch=[b.name for b in batches], out=tmp_path)
    lines = (tmp_path / "pairing.csv").read_text().splitlines()
    assert lines[1] == "single,round of ttnet,ttnet,round of cst,cst,3,3,2,2,"
    found = (
        client_of("Researcher").get(reverse("compare"), {"batch": [b.pk for b in batches]}).context["found"]
    )
    assert [[cell.text for cell in line.cells] for line in found.pairings] == [["2", "3", "3", "2"]]
    (_, lines), *_ = found.families
    assert [[cell.text for cell in line.cells][:2] for line in lines] == [["4.0000", "3.0000"]] * 2
    assert [line.names[2] for line in lines] == ["Clear?", "Trust?"]


def test_a_survey_stands_for_all_its_published_batches() -> None:
    batches = [batch_of("cst"), batch_of("ttnet")]
    Batch.objects.update(survey=batches[0].survey)
    text = look(client_of("Assistant"), survey=[batches[0].survey_id])
    assert "ttnet in round of ttnet" in text
    assert KeptReport.objects.get().key == f"across:{batches[0].pk},{batches[1].pk}"


def test_batches_that_share_nothing_are_loudly_not_compared() -> None:
    batches = [
        rated_batch(
            [
                Rated(subject, system, worker, {"clarity": str(1 + (n + k) % 5), "trust": "3"})
                for n, subject in enumerate(subjects)
                for k, worker in enumerate("xyz")
            ],
            name=f"round of {system}",
        )
        for system, subjects in (("cst", "abcdef"), ("ttnet", "uvwxyz"))
    ]
    text = look(client_of("Assistant"), batch=[batch.pk for batch in batches])
    assert "Not comparable item by item" in text
    assert "they share none" in text
    assert "as two samples, not corrected" in text


def test_one_batch_is_nothing_to_compare() -> None:
    response = client_of("Assistant").get(reverse("compare"), {"batch": [batch_of("cst").pk]})
    assert response.status_code == 422
    assert "Choose two batches or more, at most 20; these are 1." in text_of(response)


def test_the_report_is_asked_of_the_worker_and_its_progress_told(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    monkeypatch.setattr("surveys.enqueue.enqueue", lambda *given: sent.append(given))
    chosen = {"batch": [batch_of("cst").pk, batch_of("ttnet").pk]}
    client = client_of("Assistant")
    for _ in range(2):
        assert "The report is being made." in look(client, **chosen)
    assert len(sent) == 1
    (report,) = client.get(reverse("compare_progress"), chosen).json()["reports"]
    assert report["percent"] == 0


def test_what_is_another_teams_is_neither_offered_nor_compared() -> None:
    batches = [batch_of("cst"), batch_of("ttnet")]
    Survey.objects.filter(pk=batches[1].survey_id).update(is_shared=False)
    client = client_of("Assistant")
    assert "round of ttnet" not in look(client)
    chosen = {"batch": [batch.pk for batch in batches]}
    response = client.get(reverse("compare"), chosen)
    assert response.status_code == 422
    assert "round of ttnet" not in text_of(response)
    assert client.get(reverse("compare_progress"), chosen).json() == {"reports": []}
    assert not KeptReport.objects.exists()


def test_drafts_are_not_offered() -> None:
    batch = batch_of("cst")
    Batch.objects.update(status=Batch.Status.DRAFT)
    text = look(client_of("Assistant"))
    assert batch.name not in text
    assert "There is no published batch yet." in text


def test_results_of_one_batch_lead_to_a_choice_in_which_it_is_ticked_and_nothing_is_wrong() -> None:
    batch = rated_batch([Rated("s", "a", "x", {"clarity": "3", "trust": "3"})])
    rated_batch([Rated("s", "a", "x", {"clarity": "3", "trust": "3"})])
    client = client_of("Assistant")
    page = client.get(reverse("batch_results", args=[batch.pk])).content.decode()
    (link,) = re.findall(r'href="(/compare/[^"]*)"', page)
    assert link == f"/compare/?beside={batch.pk}"
    choice = client.get(link)
    ticked = re.findall(r'name="batch" value="([0-9]+)"[^>]*checked', choice.content.decode())
    assert (choice.status_code, ticked, "Choose two" in text_of(choice)) == (200, [str(batch.pk)], False)
    assert client.get("/compare/?beside=nonsense").status_code == 200
