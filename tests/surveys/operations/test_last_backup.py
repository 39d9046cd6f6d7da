"""The age of the last backup, the mail about it, and an archive that is only looked at."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.cache import caches
from django.core.management import CommandError, call_command

from surveys import sync
from surveys.models import Batch
from surveys.operations import gauges
from surveys.operations.backups import recency
from surveys.operations.backups.making import backup
from tests.surveys.operations.backup_state import everything, remade


def gauge() -> list[str]:
    return [line for line in gauges.measure().decode().splitlines() if line.startswith("assent_backup_age")]


def make_old(settings: Any, *, hours: int) -> None:
    then = time.time() - hours * 3600
    os.utime(Path(settings.DATA_DIR) / "last_backup", (then, then))


@pytest.fixture
def told(settings: Any) -> None:
    caches["heartbeats"].clear()
    settings.ALARM_RECIPIENTS, settings.BACKUP_ALARM_HOURS = ["ada@lab.example"], 26


@pytest.mark.django_db(transaction=True)
def test_the_gauge_tells_how_old_the_last_backup_is(batch: Batch, tmp_path: Path, settings: Any) -> None:
    assert gauge() == []
    backup(tmp_path / "all.zip")
    make_old(settings, hours=10)
    (line,) = gauge()
    assert 36_000 <= float(line.split()[1]) < 36_060


@pytest.mark.django_db(transaction=True)
def test_one_mail_a_day_while_it_is_too_old(batch: Batch, tmp_path: Path, settings: Any, told: None) -> None:
    backup(tmp_path / "all.zip")
    sync.send_alarms()
    assert mail.outbox == []
    make_old(settings, hours=27)
    sync.send_alarms()
    sync.send_alarms()
    assert [one.subject for one in mail.outbox] == ["[Assent] The last backup is too old"]
    assert mail.outbox[0].body.startswith("It is 27 hours old. One is to be made every 26 hours")


@pytest.mark.django_db
def test_a_server_that_never_made_one_is_told_of_only_if_that_is_set(settings: Any, told: None) -> None:
    settings.BACKUP_ALARM_HOURS = 0
    sync.send_alarms()
    assert mail.outbox == []
    settings.BACKUP_ALARM_HOURS = 26
    sync.send_alarms()
    assert mail.outbox[0].body.startswith("No backup was ever made here.")


@pytest.mark.django_db(transaction=True)
def test_an_archive_is_looked_at_and_nothing_changed(made: Path, capsys: Any) -> None:
    before = everything()
    call_command("backup", "--verify", str(made))
    said = capsys.readouterr()
    assert "is sound, and this version can restore it" in said.out
    assert (said.err, everything() == before) == ("", True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda members, manifest: members.update({"media/pictures/cat.png": b"?"}), "damaged"),
        (lambda members, manifest: manifest["versions"].update(assent="99.0.0"), "made by Assent 99.0.0"),
        (
            lambda members, manifest: manifest["migrations"].append("surveys.9999_new"),
            "made by a newer version",
        ),
        (lambda members, manifest: manifest["tables"].pop("surveys_batch"), "not those of its manifest"),
    ],
)
def test_what_a_restore_would_refuse_is_refused(made: Path, change: Any, says: str) -> None:
    with pytest.raises(CommandError, match=says):
        call_command("backup", "--verify", str(remade(made, change=change)))


def test_an_archive_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no file"):
        call_command("backup", "--verify", str(tmp_path / "none.zip"))


def test_a_backup_whose_time_can_t_be_kept_is_a_backup(
    batch: Batch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    monkeypatch.setattr(recency, "_path", lambda: tmp_path / "none" / "last_backup")
    assert backup(tmp_path / "all.zip").rows > 0
    assert "can't be written down" in caplog.text
