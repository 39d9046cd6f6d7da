"""A worker's standing: changed once, by somebody, for a reason."""

import pytest
from django.contrib.auth.models import User

from annotators.models import Worker
from surveys.models import AuditEntry
from surveys.review import standing
from surveys.review.standing import change_standing
from tests import factories

pytestmark = pytest.mark.django_db


def change(worker: Worker, **values) -> bool:
    carla, _ = User.objects.get_or_create(username="carla")
    return change_standing(worker, **{"to": "watch", "was": "ok", "reason": "Fast.", "by": carla, **values})


def test_a_change_is_written_down_with_who_and_why():
    worker = factories.make_worker("A1WORKER")
    assert change(worker, reason="A1WORKER answers fast.") is True
    assert (worker.standing, Worker.objects.get().standing) == ("watch", "watch")
    entry = AuditEntry.objects.get()
    assert (entry.kind, entry.outcome, entry.worker, entry.actor.username, entry.details) == (
        "standing",
        "watch",
        worker,
        "carla",
        {"was": "ok"},
    )
    assert "A1WORKER" not in entry.reason


def test_what_somebody_else_changed_meanwhile_stays():
    worker = factories.make_worker()
    Worker.objects.update(standing="excluded")
    assert change(worker) is False
    assert worker.standing == "excluded"
    assert not AuditEntry.objects.exists()


def test_no_change_is_no_entry():
    worker = factories.make_worker()
    assert change(worker, to="ok") is True
    assert not AuditEntry.objects.exists()


def test_nobodys_standing_changes_without_a_record(monkeypatch):
    worker = factories.make_worker()

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("The disk is full.")

    monkeypatch.setattr(standing.audit, "record", fail)
    with pytest.raises(RuntimeError):
        change(worker)
    assert Worker.objects.get().standing == "ok"
