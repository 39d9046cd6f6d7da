"""The share of right answers on the whole test set: entered, told in the trail, and in the numbers."""

import pytest
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.urls import reverse

from surveys.models import AuditEntry, Survey, TaskAccuracy
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from tests.factories import make_published, make_survey, submitted
from tests.people import client_of
from tests.surveys.pages.results.shown import results

pytestmark = pytest.mark.django_db
ADD = reverse("admin:surveys_taskaccuracy_add")


@pytest.fixture(autouse=True)
def empty_cache() -> None:
    cache.clear()


def sent(survey, **values):
    return {"survey": survey.pk, "system": "model", "accuracy": "0.752", "source": "Table 2", **values}


def evil(batch):
    found = next(b for b in results(batch).blocks if b.title == "e-ViL scores")
    return [row.cells[0] for row in found.rows]


def test_what_is_entered_is_the_task_score_and_stands_in_the_trail():
    questionnaire = make_published()
    submitted(questionnaire)
    batch = questionnaire.batch
    assert [cell.text for cell in evil(batch)][::2] == ["–", "–"]
    client = client_of("Researcher")

    assert client.post(ADD, sent(batch.survey)).status_code == 302

    task, explanation, overall = evil(batch)
    assert (task.text, task.note) == ("0.7520", "of the whole test set, as entered")
    mean = make_report(read_batch(batch)).summary.all.system("model").evil.explanation
    assert (explanation.text, overall.text) == (f"{mean:.4f}", f"{0.752 * mean:.4f}")
    (entry,) = AuditEntry.objects.filter(kind="results")
    assert (entry.batch, entry.outcome, entry.by_whom) == (batch, "accuracy", "researcher")
    assert entry.details == {"system": "model", "accuracy": "0.752", "source": "Table 2"}


def test_the_newest_counts_and_none_is_changed():
    questionnaire = make_published()
    submitted(questionnaire)
    client = client_of("Researcher")
    for accuracy in ("0.7", "0.8"):
        assert client.post(ADD, sent(questionnaire.batch.survey, accuracy=accuracy)).status_code == 302

    assert evil(questionnaire.batch)[0].text == "0.8000"
    first = TaskAccuracy.objects.earliest("pk")
    change = reverse("admin:surveys_taskaccuracy_change", args=[first.pk])
    assert client.post(change, sent(questionnaire.batch.survey)).status_code == 403
    assert client.post(reverse("admin:surveys_taskaccuracy_delete", args=[first.pk])).status_code == 403


@pytest.mark.parametrize(
    "values",
    [
        {"accuracy": "75.2"},
        {"accuracy": "-0.1"},
        {"system": "ground_truth"},
        {"system": "gpt"},
        {"source": ""},
    ],
)
def test_what_is_no_share_of_a_model_here_is_refused(values):
    survey = make_survey(n_items=1)

    assert client_of("Researcher").post(ADD, sent(survey, **values)).status_code == 200
    assert not TaskAccuracy.objects.exists()


def test_of_a_survey_that_is_hidden_nothing_is_entered():
    survey = make_survey(n_items=1)
    Survey.objects.update(is_shared=False)

    assert client_of("Researcher").post(ADD, sent(survey)).status_code == 200
    assert not TaskAccuracy.objects.exists()


def test_an_assistant_enters_nothing():
    assert client_of("Assistant").post(ADD, sent(make_survey(n_items=1))).status_code == 403


@pytest.mark.parametrize("values", [{"accuracy": "1.01"}, {"source": ""}])
def test_the_database_refuses_it_too(values):
    row = {"survey": make_survey(), "system": "model", "accuracy": "0.5", "source": "Table 2", **values}
    with pytest.raises(IntegrityError), transaction.atomic():
        TaskAccuracy.objects.create(**row)
