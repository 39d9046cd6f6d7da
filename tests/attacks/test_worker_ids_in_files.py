"""No file anybody can take away names a worker as the marketplace does, unless ids were asked for."""

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Worker
from surveys import audit
from surveys.models import AuditEntry, Batch, Decision, MetricScore, QuizAttempt
from surveys.protocols.registry import get_definition
from surveys.results.files.layouts import LAYOUTS, layouts_for
from tests.factories import make_published, make_worker, submitted
from tests.link_people import make_panel, take
from tests.link_study import make_link_batch
from tests.surveys.results.published import load_published

pytestmark = pytest.mark.django_db
PANEL_ID = "5f2a0000aa11bb22cc33dd44"


def downloads(client: Client, batch: Batch) -> dict[str, bytes]:
    found = {}
    for name in layouts_for(batch):
        answer = client.get(reverse("batch_download", args=[batch.pk, name]))
        found[name] = b"".join(answer.streaming_content)
    trail = client.get(reverse("batch_trail_csv", args=[batch.pk]))
    return found | {"trail": b"".join(trail.streaming_content)}


def naming(files: dict[str, bytes], ids: list[str]) -> list[tuple[str, str]]:
    return [(name, worker) for name, data in files.items() for worker in ids if worker.encode() in data]


def busy(batch: Batch) -> None:
    """Decisions, an entry of every kind and a quiz: whatever else could carry an id into a file."""
    for assignment in Assignment.objects.filter(hit__questionnaire__batch=batch).select_related("worker"):
        Decision.objects.get_or_create(
            assignment=assignment, defaults={"verdict": "approve", "decided_at": timezone.now()}
        )
        audit.record(audit.Kind.BONUS, "paid", assignment=assignment, reason=f"For {assignment.worker}.")
    worker = Assignment.objects.filter(hit__questionnaire__batch=batch)[0].worker
    QuizAttempt.objects.create(batch=batch, worker=worker, number=1, answers=[], n_right=0, is_passed=True)


def test_a_published_study(shared, researcher: Client) -> None:
    path = shared / "data/ofax/esnlive_unifiedresults_raw.csv"
    batch = load_published(path, definition=get_definition("evil-esnlive"), n=20)
    busy(batch)
    ids = list(Worker.objects.values_list("worker_id", flat=True))
    files = downloads(researcher, batch)
    assert len(ids) > 5
    assert set(layouts_for(batch)) <= set(files)
    assert naming(files, ids) == []


def test_a_study_of_our_own_with_scores(researcher: Client) -> None:
    questionnaire = make_published()
    for n in range(3):
        submitted(questionnaire, worker=f"A1SECRETWORKER{n}")
    batch = questionnaire.batch
    for output in questionnaire.items.first().outputs.all():
        MetricScore.objects.create(
            output=output, metric="text_f1", value=0.5, version="1", scored_at=timezone.now()
        )
    busy(batch)
    files = downloads(researcher, batch)
    assert {"metrics", "correlations", "raw", "trail"} <= set(files)
    assert naming(files, ["A1SECRETWORKER"]) == []


def test_a_study_by_link_and_panel(researcher: Client, own_folders) -> None:
    batch = make_link_batch(assignments=2)
    panel = make_panel(batch)
    from surveys.answering.collection import ItemAnswer, save_answers

    worker = make_worker(f"{panel.provider}:{PANEL_ID}", source="panel")
    assignment = take(batch, worker, channel="panel")
    skip = ItemAnswer(1, skip_reason=batch.definition.skip_reasons[0].value)
    save_answers(assignment, answers=[skip])
    Assignment.objects.filter(pk=assignment.pk).update(status="Submitted", submitted_at=timezone.now())
    busy(batch)
    files = downloads(researcher, batch)
    files["links"] = researcher.get(reverse("links_csv", args=[batch.pk])).content
    assert {"annotations", "responses", "links"} <= set(files)
    assert naming(files, [PANEL_ID]) == []


def test_the_command_line(tmp_path) -> None:
    questionnaire = make_published()
    submitted(questionnaire, worker="A1SECRETWORKER")
    call_command("export_batch", str(questionnaire.batch.pk), out=tmp_path)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(files) == 8
    assert naming(files, ["A1SECRETWORKER"]) == []
    assert AuditEntry.objects.count() == 0


def test_every_layout_with_ids_is_one_that_asks() -> None:
    assert [name for name, layout in LAYOUTS.items() if layout.is_raw] == [
        "raw",
        "responses",
        "annotations",
        "panel",
    ]
