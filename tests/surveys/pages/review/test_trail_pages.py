"""The audit trail of a batch: on a page and as a file, without worker ids."""

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotators.people.names import pseudonym
from surveys import audit
from surveys.models import AuditEntry, Questionnaire
from tests import factories
from tests.people import client_of
from tests.surveys.pages.pages import queries_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def assignment(questionnaire: Questionnaire):
    return factories.submitted(questionnaire, worker="A1WORKER")


def address(questionnaire: Questionnaire, name: str = "") -> str:
    return f"/batches/{questionnaire.batch_id}/audit/{name}"


def rows_of(client: Client, questionnaire: Questionnaire) -> list[list[str]]:
    response = client.get(address(questionnaire, "trail.csv"))
    text = b"".join(response.streaming_content).decode()
    return list(csv.reader(io.StringIO(text)))


def test_the_page_lists_what_was_decided_the_newest_first(researcher, questionnaire, assignment):
    audit.record(audit.Kind.PAYMENT, "approve", assignment=assignment)
    audit.record(audit.Kind.BUDGET, "200.00", batch=questionnaire.batch)
    audit.record(audit.Kind.PAYMENT, "approve", assignment=factories.submitted(factories.make_published()))
    page = researcher.get(address(questionnaire)).context["page"]
    assert [entry.outcome for entry in page] == ["200.00", "approve"]


def test_the_page_can_be_narrowed(researcher, questionnaire, assignment):
    audit.record(audit.Kind.PAYMENT, "approve", assignment=assignment)
    audit.record(audit.Kind.BUDGET, "200.00", batch=questionnaire.batch)
    page = researcher.get(address(questionnaire, "?kind=budget")).context["page"]
    assert [entry.kind for entry in page] == ["budget"]
    assert len(researcher.get(address(questionnaire, "?kind=nonsense")).context["page"].object_list) == 2


def test_workers_are_called_by_their_pseudonyms(researcher, questionnaire, assignment):
    audit.record(audit.Kind.PAYMENT, "reject", assignment=assignment, reason="A1WORKER was fast.")
    html = researcher.get(address(questionnaire)).content.decode()
    assert pseudonym("A1WORKER") in html
    assert "A1WORKER" not in html
    assert assignment.assignment_id not in html


def test_the_file_holds_the_whole_trail_the_oldest_first(researcher, questionnaire, assignment):
    carla = User.objects.create_user("carla")
    audit.record(
        audit.Kind.PAYMENT, "reject", assignment=assignment, by=carla, reason="=1+1", rule_version="1:ab"
    )
    audit.record(audit.Kind.BUDGET, "set", batch=questionnaire.batch, details={"to": "9", "from": "8"})
    header, first, second = rows_of(researcher, questionnaire)
    assert header == [
        "time",
        "about",
        "outcome",
        "by",
        "rule_version",
        "reason",
        "worker",
        "assignment",
        "details",
    ]
    assert first[1:] == [
        "payment",
        "reject",
        "carla",
        "1:ab",
        "'=1+1",
        pseudonym("A1WORKER"),
        str(assignment.pk),
        "",
    ]
    assert second[1:] == ["budget", "set", "this server", "", "", "", "", "from: 8; to: 9"]
    assert first[0] == AuditEntry.objects.get(kind="payment").at.isoformat(timespec="seconds")


def test_a_reason_written_before_is_sent_without_the_id_too(researcher, questionnaire, assignment):
    AuditEntry.objects.create(
        kind="payment",
        outcome="reject",
        reason="A1WORKER",
        batch=questionnaire.batch,
        worker=assignment.worker,
    )
    assert "A1WORKER" not in str(rows_of(researcher, questionnaire))


def test_what_a_worker_did_is_not_said_to_be_a_rules_doing(researcher, questionnaire, assignment):
    audit.record(audit.Kind.APPEAL, "made", assignment=assignment)
    assert rows_of(researcher, questionnaire)[1][1:4] == ["appeal", "made", "the worker"]


def test_an_empty_trail_is_a_page_and_a_header(researcher, questionnaire):
    assert "Nothing was decided yet." in text_of(researcher.get(address(questionnaire)))
    assert len(rows_of(researcher, questionnaire)) == 1


def test_the_page_opens_in_constant_queries(researcher, questionnaire, assignment):
    audit.record(audit.Kind.PAYMENT, "approve", assignment=assignment)
    n = queries_of(researcher, address(questionnaire))
    for _ in range(3):
        audit.record(audit.Kind.PAYMENT, "approve", assignment=factories.submitted(questionnaire))
    assert queries_of(researcher, address(questionnaire)) == n


@pytest.mark.parametrize("name", ["", "trail.csv"])
@pytest.mark.parametrize(("role", "status"), [("", 403), ("Assistant", 403), (None, 302)])
def test_only_researchers_read_it(questionnaire, name, role, status):
    client = Client() if role is None else client_of(role)
    assert client.get(address(questionnaire, name)).status_code == status


def test_there_is_no_trail_of_no_batch(researcher):
    assert researcher.get("/batches/999999/audit/").status_code == 404
    assert researcher.get("/batches/999999/audit/trail.csv").status_code == 404
