"""The file of a panel's people: with its ids for those who may have them, under pseudonyms else."""

import csv
import io

import pytest
from django.urls import reverse

from annotators.crowds.links import work
from annotators.people.names import MARK, pseudonym
from surveys.answering.admissions import admit_panel
from surveys.models import AuditEntry, Batch
from surveys.results.files.layouts import layouts_for
from surveys.results.files.panel import panel_lines
from surveys.review.panels import completion
from tests.link_people import answered, from_prolific, make_batch, make_panel, take
from tests.people import client_of

pytestmark = pytest.mark.django_db


def a_study() -> Batch:
    """One is done and approved, one has begun, and one came for nothing."""
    batch = make_batch(n_items=1, copies=2)
    panel = make_panel(batch)
    panel.codes.create(outcome="nothing_left", code="=1+1")
    done = admit_panel(panel.code, from_prolific("aa", SESSION_ID="s1"))
    work.approve(answered(take(batch, done.worker, channel="panel")), feedback="")
    completion(done)
    begun = admit_panel(panel.code, from_prolific("bb", SESSION_ID="s2"))
    take(batch, begun.worker, channel="panel")
    return batch


def rows(batch: Batch, *, worker_ids: bool) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(panel_lines(batch, worker_ids=worker_ids)))))


def test_each_person_is_a_line_with_outcome_and_decision() -> None:
    one, other = rows(a_study(), worker_ids=True)
    names = ("panel", "person", "study", "session", "outcome", "code", "begun", "approved", "for_panel")
    wanted = [
        ("prolific", "aa", "study1", "s1", "completed", "C1A2B3", "0", "1", "approve"),
        ("prolific", "bb", "study1", "s2", "", "", "1", "0", "wait"),
    ]
    assert [tuple(row[name] for name in names) for row in (one, other)] == wanted


def test_without_ids_nothing_of_the_panels_own_is_in_it() -> None:
    [row, _] = rows(a_study(), worker_ids=False)
    assert (row["person"], row["study"], row["session"]) == (MARK + pseudonym("prolific:aa"), "", "")


def test_a_batch_without_a_panel_has_no_such_file() -> None:
    assert "panel" not in layouts_for(make_batch(n_items=1))
    assert "panel" in layouts_for(a_study())


def test_its_ids_take_a_permission_and_a_reason() -> None:
    batch = a_study()
    address = reverse("batch_download_ids", args=[batch.pk, "panel"])
    assert client_of("Read-only").post(address, {"reason": "To pay."}).status_code == 403
    researcher = client_of("Researcher")
    assert researcher.post(address, {"reason": ""}).status_code == 422
    assert AuditEntry.objects.count() == 0
    sent = b"".join(researcher.post(address, {"reason": "To pay."}).streaming_content)
    assert b",aa,study1,s1," in sent
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.reason, entry.details) == (
        "download",
        "To pay.",
        {"file": "panel.csv", "rows": 2},
    )
