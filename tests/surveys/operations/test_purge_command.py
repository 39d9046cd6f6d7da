"""The command that purges, and the task that does so by the calendar."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotators.models import Worker
from annotators.people.names import pseudonym
from surveys import sync
from surveys.models import AuditEntry, Batch
from tests.market_site import no_market
from tests.surveys.operations.purge_study import ANN, a_finished_study

__all__ = ["no_market"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_market")]


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("purge_workers", *arguments, stdout=out)
    return out.getvalue()


def today() -> str:
    return timezone.localdate().isoformat()


def test_it_says_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    a_finished_study()
    monkeypatch.setattr("getpass.getuser", lambda: "carla")
    assert run("--before", today()) == "purged: 1\nkept: 0\n"
    assert Worker.objects.get().worker_id == f"purged:{pseudonym(ANN)}"
    assert AuditEntry.objects.get().details["account"] == "carla"


def test_it_names_who_is_kept_and_why() -> None:
    worker = a_finished_study().worker
    Batch.objects.update(name="Study 9", status="open")
    assert run("--before", today(), "--dry-run") == (
        f"would be purged: 0\nkept: 1\n"
        f"  worker {worker.pk} ({pseudonym(ANN)}) has worked in Study 9, which is not finished\n"
    )


@pytest.mark.parametrize("date", ["last year", "2026-02-30", ""])
def test_what_is_no_date_is_refused(date: str) -> None:
    with pytest.raises(CommandError, match="is no date"):
        run("--before", date)


def test_a_day_to_come_is_refused() -> None:
    tomorrow = (timezone.localdate() + timedelta(days=1)).isoformat()
    with pytest.raises(CommandError, match="still to come"):
        run("--before", tomorrow)


@pytest.mark.parametrize(("days", "is_purged"), [(0, False), (-3, False), (400, False), (300, True)])
def test_the_task_keeps_ids_as_long_as_is_set(settings: Any, days: int, is_purged: bool) -> None:
    settings.KEEP_WORKER_IDS_DAYS = days
    a_finished_study()
    sync.purge_workers()
    assert (Worker.objects.get().purged_at is not None) == is_purged
