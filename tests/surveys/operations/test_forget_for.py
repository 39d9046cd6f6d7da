"""Somebody asks a researcher for their data, or for its end: the two commands."""

import io
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotators.crowds.mturk.mirror import mirror_assignment
from annotators.models import Assignment, Worker
from annotators.people.names import pseudonym
from surveys.models import AuditEntry, Batch
from surveys.operations import own_data
from tests.annotators.crowds.test_mirror import record
from tests.link_people import from_prolific, make_batch, make_panel
from tests.market_site import no_market
from tests.surveys.operations.purge_study import ANN, a_finished_study, cells_with, name_everywhere

__all__ = ["no_market"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_market")]


def name() -> str:
    return pseudonym(ANN)


def run(command: str, *arguments: str) -> str:
    out = io.StringIO()
    call_command(command, *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("named", [name, lambda: name().upper(), lambda: ANN])
def test_one_person_is_deleted_by_pseudonym_or_id(
    named: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment = a_finished_study()
    name_everywhere(assignment)
    monkeypatch.setattr("getpass.getuser", lambda: "carla")
    text = run("purge_workers", "--worker", named())
    assert text == f"worker {assignment.worker_id} ({name()}) is deleted; their answers stay.\n"
    assert cells_with(ANN) == []
    assignment.refresh_from_db()
    assert (assignment.comment, assignment.responses.count()) == ("", 5)
    entry = AuditEntry.objects.get(kind="purge")
    assert (entry.outcome, entry.details) == ("forget_for", {"account": "carla"})


def test_a_dry_run_deletes_nobody() -> None:
    worker = a_finished_study().worker
    said = run("purge_workers", "--worker", name(), "--dry-run")
    assert said == f"worker {worker.pk} ({name()}) would be deleted; their answers stay.\n"
    assert Worker.objects.get().worker_id == ANN


@pytest.mark.parametrize("arguments", [(), ("--dry-run",)])
def test_whose_pay_is_undecided_stays_and_it_is_said_why(arguments: tuple[str, ...]) -> None:
    a_finished_study()
    Assignment.objects.update(status="Submitted", approved_at=None)
    Batch.objects.update(name="Study 9")
    with pytest.raises(CommandError, match="has work in Study 9 that nobody has decided on"):
        run("purge_workers", "--worker", name(), *arguments)
    assert (Worker.objects.get().worker_id, AuditEntry.objects.count()) == (ANN, 0)


def test_a_pseudonym_is_to_be_whole() -> None:
    a_finished_study()
    with pytest.raises(CommandError, match="Nobody has the pseudonym or id"):
        run("purge_workers", "--worker", name()[:11])


def test_one_of_two_with_the_same_id_is_named_by_the_crowd() -> None:
    a_finished_study()
    other = Worker.objects.create(worker_id=ANN, source="sandbox")
    with pytest.raises(CommandError, match=r"Several have it; .* --source: embedded, sandbox\."):
        run("purge_workers", "--worker", name())
    run("purge_workers", "--worker", name(), "--source", "sandbox")
    assert list(Worker.objects.filter(worker_id=ANN).values_list("source", flat=True)) == ["embedded"]
    assert Worker.objects.get(pk=other.pk).worker_id == f"purged:{name()}"


def test_a_marketplace_that_names_them_again_brings_no_id_back() -> None:
    assignment = a_finished_study()
    assert own_data.forget_for(assignment.worker) == []
    again = record(worker_id=ANN, assignment_id=assignment.assignment_id, answer_xml=f"<a>{ANN}</a>")
    assert mirror_assignment(assignment.hit, again).pk == assignment.pk
    assert (cells_with(ANN), Worker.objects.count()) == ([], 1)


def test_what_is_kept_is_written_for_them(tmp_path: Path) -> None:
    worker, path = a_finished_study().worker, tmp_path / "theirs.json"
    said = run("own_data", name(), str(path))
    assert said == f"{path}: what is kept about worker {worker.pk}.\n"
    kept = json.loads(path.read_text())
    assert (kept["person"]["id"], len(kept["annotations"])) == (ANN, 1)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert AuditEntry.objects.get().outcome == "own_data"
    with pytest.raises(CommandError, match="File exists"):
        run("own_data", name(), str(path))


def test_a_panels_ids_are_part_of_what_is_kept(client: Client) -> None:
    panel = make_panel(make_batch())
    client.get(reverse("panel", args=[panel.code]), from_prolific())
    (visit,) = own_data.own_data(Worker.objects.get())["panel_visits"]
    assert (visit["panel__provider"], visit["study"], visit["session"]) == ("prolific", "study1", "session1")
