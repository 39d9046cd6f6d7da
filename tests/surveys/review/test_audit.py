"""The audit trail: what it records, and that nothing in it can be changed."""

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction

from surveys import audit
from surveys.models import AuditEntry
from tests import builders, factories

pytestmark = pytest.mark.django_db


def an_assignment():
    questionnaire = builders.make_questionnaire()
    return factories.make_assignment(questionnaire.hit)


def test_an_entry_about_an_assignment_is_about_its_worker_and_batch_too():
    assignment, person = an_assignment(), User.objects.create_user("carla")
    entry = audit.record(
        audit.Kind.PAYMENT,
        "reject",
        assignment=assignment,
        by=person,
        reason="2 of 5",
        rule_version="1:ab",
    )
    entry.refresh_from_db()
    assert (entry.worker, entry.batch) == (assignment.worker, assignment.hit.questionnaire.batch)
    assert (entry.actor, entry.reason, entry.rule_version) == (person, "2 of 5", "1:ab")


def test_an_entry_by_rule_has_no_actor():
    assert audit.record(audit.Kind.PAYMENT, "approve", assignment=an_assignment()).actor is None


def test_our_own_code_refuses_to_change_or_delete_an_entry():
    entry = audit.record(audit.Kind.STANDING, "watch", worker=an_assignment().worker)
    with pytest.raises(TypeError):
        entry.save()
    with pytest.raises(TypeError):
        entry.delete()


def test_the_database_refuses_to_change_an_entry():
    audit.record(audit.Kind.STANDING, "watch", worker=an_assignment().worker)
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        AuditEntry.objects.update(reason="something else")
    assert AuditEntry.objects.get().reason == ""


def test_the_database_refuses_to_delete_an_entry():
    if connection.vendor == "sqlite":
        pytest.skip("SQLite empties tables by DELETE, which tests and a restore need.")
    audit.record(audit.Kind.STANDING, "watch", worker=an_assignment().worker)
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        AuditEntry.objects.all().delete()
    assert AuditEntry.objects.count() == 1


def test_an_entry_is_about_something():
    with pytest.raises(DatabaseError), transaction.atomic():
        audit.record(audit.Kind.PURGE, "purge")


@pytest.mark.parametrize(
    ("kind", "outcome", "details", "by_whom"),
    [
        ("payment", "approve", {}, "the batch's rule"),
        ("payment", "approve", {"is_auto_approved": True}, "the marketplace"),
        ("payment", "approve", {"is_auto_approved": False}, "the batch's rule"),
        ("inclusion", "exclude", {}, "the batch's rule"),
        ("appeal", "made", {}, "the worker"),
        ("download", "raw", {"account": "root"}, "root, on the command line"),
        ("purge", "purge", {"account": "ops"}, "ops, on the command line"),
        ("download", "raw", {}, "this server"),
        ("purge", "purge", {}, "this server"),
        ("publishing", "publish", {}, "this server"),
    ],
)
def test_an_entry_without_an_actor_says_who_it_was_all_the_same(kind, outcome, details, by_whom):
    entry = audit.record(audit.Kind(kind), outcome, assignment=an_assignment(), details=details)
    assert entry.by_whom == by_whom
