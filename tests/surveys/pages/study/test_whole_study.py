"""People, review, results and files over all batches of a study."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Batch, Decision, KeptReport, Survey
from surveys.results import reports
from surveys.review import decisions
from tests.factories import make_assignment, make_batch, make_published, make_worker, submitted
from tests.surveys.pages.pages import text_of
from tests.surveys.results.rated import rated_batch, single
from tests.surveys.results.test_together import FIRST, SECOND, beside

pytestmark = pytest.mark.django_db


def page(client: Client, name: str, survey: Survey, *more: Any, **query: str) -> Any:
    return client.get(reverse(name, args=[survey.slug, *more]), query)


def rated() -> tuple[Survey, list[Batch]]:
    batches = beside(rated_batch(FIRST), rated_batch(SECOND))
    return batches[0].survey, batches


def make_reports() -> None:
    for row in KeptReport.objects.exclude(asked_version=""):
        reports.make(row.pk)


def two_published() -> list[Assignment]:
    """Two batches of one study, an assignment of the same worker waiting in each."""
    done = [submitted(make_published(), worker="AANN") for _ in range(2)]
    first, second = (one.hit.questionnaire.batch for one in done)
    beside(first, second)
    return done


def test_the_results_of_a_study_are_one_report_whose_numbers_lead_to_answers(researcher: Client) -> None:
    survey, batches = rated()
    page(researcher, "study_results", survey)
    make_reports()
    found = page(researcher, "study_results", survey)
    assert (found.context["results"].counts.kept, found.context["results"].counts.rejected) == (18, 1)
    answers = researcher.get(found.context["answers_url"], {"rows": "all"})
    assert answers.context["page"].paginator.count == 19
    of_c = researcher.get(found.context["answers_url"], {"of": "c", "rows": "all"})
    assert f"/batches/{batches[1].pk}/assignments/" in of_c.content.decode()
    assert researcher.get(found.context["scope"].disputed_url).context["page"].paginator.count == 8
    work = reverse("study_review", args=[survey.slug])
    counted = [f"{work}?use=used", f"{work}?status=Rejected"]
    assert [researcher.get(address).context["page"].paginator.count for address in counted] == [18, 1]
    addresses = [*counted, reverse("study_people", args=[survey.slug]), found.context["scope"].disputed_url]
    assert [f'<dd><a href="{address}">' in found.text for address in addresses] == [True] * 4
    table = researcher.get(found.context["scope"].url("result_table", "systems", "csv"))
    assert (table.status_code, table["Content-Type"]) == (200, "text/csv; charset=utf-8")
    assert researcher.get(found.context["scope"].url("batch_results_progress")).json() == {"reports": []}


def test_the_work_behind_numbers_is_that_of_one_batch_or_of_all_never_of_more(researcher: Client) -> None:
    survey, (first, second) = rated()
    one = page(researcher, "study_results_of", survey, first.pk)
    assert one.context["review_url"] == reverse("assignments", args=[first.pk])
    two = page(researcher, "study_results_of", survey, f"{first.pk},{second.pk}")
    assert two.context["review_url"] == reverse("study_review", args=[survey.slug])
    beside(first, submitted(make_published()).hit.questionnaire.batch)
    two = page(researcher, "study_results_of", survey, f"{first.pk},{second.pk}")
    assert two.context["review_url"] == ""


def test_a_choice_of_batches_has_an_address(researcher: Client) -> None:
    survey, (first, second) = rated()
    answer = researcher.get(reverse("study_results", args=[survey.slug]), {"batch": [second.pk, first.pk]})
    assert answer["Location"] == reverse("study_results_of", args=[survey.slug, f"{second.pk},{first.pk}"])
    of_one = page(researcher, "study_results_of", survey, str(second.pk))
    assert of_one.context["scope"].batches == (second,)
    foreign = rated_batch(FIRST)
    for pks in (str(foreign.pk), "x", f"{first.pk},{first.pk}", "9" * 30):
        assert page(researcher, "study_results_of", survey, pks).status_code == 404


def test_what_another_version_asked_is_told_and_not_mixed_in(researcher: Client) -> None:
    survey, (first, second) = rated()
    Batch.objects.filter(pk=first.pk).update(snapshot=single(version=2).to_snapshot(), name="The older one")
    found = page(researcher, "study_results", survey)
    assert (found.context["scope"].batches, found.context["scope"].others) == ((second,), (first,))
    assert "Not in these numbers: The older one" in text_of(found)


def test_a_study_without_a_published_batch_leads_to_its_page(researcher: Client) -> None:
    survey = Survey.objects.create(name="New", slug="new", definition_key="evil-vqax", is_shared=True)
    assert page(researcher, "study_results", survey)["Location"] == reverse("study", args=["new"])
    assert [
        page(researcher, f"study_{one}", survey).status_code for one in ("people", "review", "files")
    ] == [
        200,
        200,
        200,
    ]


def test_review_lists_and_decides_over_batches(researcher: Client) -> None:
    done = two_published()
    survey = done[0].hit.questionnaire.batch.survey
    listed = page(researcher, "study_review", survey, status="Submitted")
    assert [one.pk for one in listed.context["page"]] == [one.pk for one in done]
    data = {"action": "approve", "selected": [one.pk for one in done]}
    decide = reverse("decide_many_of_study", args=[survey.slug])
    assert "Approve 2 assignments?" in text_of(researcher.post(decide, data))
    assert researcher.post(decide, {**data, "confirm": "yes"})["Location"] == reverse(
        "study_review", args=[survey.slug]
    )
    assert Decision.objects.filter(assignment__in=done, verdict="approve").count() == 2
    stranger = submitted(make_published())
    researcher.post(decide, {**data, "confirm": "yes", "selected": [stranger.pk]})
    assert not Decision.objects.filter(assignment=stranger).exists()


def test_people_stand_once_with_what_they_did_in_all_batches(researcher: Client) -> None:
    done = two_published()
    survey = done[0].hit.questionnaire.batch.survey
    submitted(make_published(), worker="AANN")  # of another study
    [row] = page(researcher, "study_people", survey).context["rows"]
    assert (row["n_batches"], row["n_given"], row["n_waiting"], row["n_rejected"]) == (2, 2, 2, 0)
    assert [
        page(researcher, "study_people", survey, q=q).context["page"].paginator.count for q in ("ANN", "zz")
    ] == [
        1,
        0,
    ]


def test_people_stand_by_how_few_are_right_and_by_what_rules_noticed(researcher: Client) -> None:
    survey = make_published().batch.survey
    for name, n_correct in (("AGOOD", 5), ("AMANY", 5), ("ABAD", 1)):
        batch = Batch.objects.get(survey=survey)
        done = submitted(batch.questionnaires.get(), worker=name, n_correct=n_correct)
        decisions.record_decision(done, batch=batch)
    found = {
        first: [
            row["worker"].worker_id
            for row in page(researcher, "study_people", survey, first=first).context["rows"]
        ]
        for first in ("", "fewest_right", "most_noticed", "nonsense")
    }
    assert found == {
        "": ["AGOOD", "AMANY", "ABAD"],
        "fewest_right": ["ABAD", "AGOOD", "AMANY"],
        "most_noticed": ["ABAD", "AGOOD", "AMANY"],
        "nonsense": ["AGOOD", "AMANY", "ABAD"],
    }
    one = page(researcher, "study_people", survey, q="ABAD", first="fewest_right").context
    [row] = one["rows"]
    assert (row["n_right"], row["n_graded"], row["n_noticed"]) == (1, 5, 1)
    assert one["query"] == "q=ABAD&first=fewest_right&"


def test_files_stand_by_batch_and_tabs_lead_to_the_whole_study(researcher: Client) -> None:
    done = two_published()
    survey = done[0].hit.questionnaire.batch.survey
    found = page(researcher, "study_files", survey)
    assert [batch.pk for batch, _ in found.context["files"]] == sorted(
        (one.hit.questionnaire.batch_id for one in done), reverse=True
    )
    tabs = {tab.label: tab.url for tab in found.context["study"].tabs}
    for name in ("people", "review", "results", "files"):
        assert tabs[name.title()] == reverse(f"study_{name}", args=[survey.slug])


def test_as_many_queries_however_many_batches_and_people(researcher: Client) -> None:
    done = two_published()
    survey = done[0].hit.questionnaire.batch.survey

    def queries(name: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            page(researcher, name, survey)
        return len(captured)

    names = ("study_review", "study_people")
    before = [queries(name) for name in names]
    for _ in range(3):
        more = submitted(make_published())
        beside(done[0].hit.questionnaire.batch, more.hit.questionnaire.batch)
        make_batch(survey)
    assert [queries(name) for name in names] == before


def test_simulated_people_are_counted_and_listed_apart(researcher: Client) -> None:
    survey = two_published()[0].hit.questionnaire.batch.survey
    practice = make_published(endpoint="link", takes_links=True, reward=0, is_simulated=True)
    Batch.objects.filter(pk=practice.batch_id).update(survey=survey)
    handed_in = {"status": "Submitted", "submitted_at": timezone.now(), "channel": "link"}
    make_assignment(practice.hit, worker=make_worker("ASIM"), **handed_in)
    for query, n, sentence in (
        ({}, ["AANN"], "1 worked on this study Not among them: 1 simulated person. Show simulated people"),
        ({"simulated": "1"}, ["ASIM"], "1 worked on this study Shown is 1 simulated person . Show people"),
    ):
        answer = page(researcher, "study_people", survey, **query)
        assert [row["worker"].worker_id for row in answer.context["rows"]] == n
        assert sentence in text_of(answer)
