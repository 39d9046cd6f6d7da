"""A restore brings nobody back who was told that it can't be undone."""

import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotators.models import Assignment, Worker
from annotators.people.names import purged_name
from surveys.models import AuditEntry, Batch, Invitation
from surveys.operations import erased, own_data, purging
from surveys.operations.backups.making import backup
from tests.link_people import answered, invite_one, make_batch, take
from tests.surveys.operations.purge_study import ANN, a_finished_study, cells_with, name_everywhere

pytestmark = pytest.mark.django_db(transaction=True)
ADA = "Ada Quillfeather"
NO_LIST = "There is no list of who was deleted"


def restored(path: Path, capsys: Any, *arguments: str) -> tuple[str, str]:
    """What the command says, on both streams."""
    capsys.readouterr()
    call_command("restore", str(path), "--force", *arguments)
    said = capsys.readouterr()
    return said.out, said.err


def ada() -> Worker:
    """Somebody by link, with approved work and a remark."""
    batch = make_batch()
    worker = invite_one(batch, ADA, email="ada@quillfeather.example").invitation.worker
    work = answered(take(batch, worker))
    Assignment.objects.filter(pk=work.pk).update(
        status="Approved", approved_at=timezone.now(), comment=f"Yours, {ADA}"
    )
    return worker


def test_who_deleted_themselves_is_deleted_again(tmp_path: Path, capsys: Any) -> None:
    worker = ada()
    backup(tmp_path / "all.zip")
    assert own_data.forget(worker) == []
    out, err = restored(tmp_path / "all.zip", capsys)
    assert "1 person was deleted again" in out
    assert NO_LIST not in err
    invitation = Invitation.objects.get()
    assert invitation.email == ""
    assert invitation.revoked_at is not None
    assert Worker.objects.get(pk=worker.pk).worker_id.startswith("purged:")
    assert (cells_with("Quillfeather"), Assignment.objects.get().responses.count()) == ([], 1)
    assert AuditEntry.objects.get(kind="purge").outcome == "again"


@pytest.mark.parametrize("comments", [False, True])
def test_who_was_purged_is_purged_again_as_far(comments: bool, tmp_path: Path, capsys: Any) -> None:
    name_everywhere(a_finished_study())
    backup(tmp_path / "all.zip")
    purging.purge(timezone.now() - timedelta(days=1), comments=comments)
    out, _ = restored(tmp_path / "all.zip", capsys)
    assert "1 person was deleted again" in out
    assert (Worker.objects.get().worker_id, cells_with(ANN)) == (purged_name(ANN), [])
    assert (Assignment.objects.get().comment == "") == comments


def test_open_pay_in_the_old_books_keeps_nobody(tmp_path: Path, capsys: Any) -> None:
    """It was settled when they were deleted."""
    assignment = a_finished_study()
    Assignment.objects.update(status="Submitted", approved_at=None)
    Batch.objects.update(status="open")
    backup(tmp_path / "all.zip")
    Assignment.objects.update(status="Approved", approved_at=timezone.now())
    assert own_data.forget_for(assignment.worker) == []
    restored(tmp_path / "all.zip", capsys)
    assert cells_with(ANN) == []


def test_who_came_back_since_is_left_alone(tmp_path: Path, capsys: Any) -> None:
    """They are purged in the archive already, and have written anew."""
    assignment = a_finished_study()
    own_data.forget_for(assignment.worker)
    own_data.forget_for(Worker.objects.get())
    Assignment.objects.update(comment="Written since")
    backup(tmp_path / "all.zip")
    out, _ = restored(tmp_path / "all.zip", capsys)
    assert "deleted again" not in out
    assert Assignment.objects.get().comment == "Written since"


def test_the_list_names_nobody_and_is_ours_alone(tmp_path: Path) -> None:
    own_data.forget_for(a_finished_study().worker)
    own_data.forget(ada())
    text = erased.path().read_text()
    assert (text.count("\n"), ANN in text, ADA in text) == (2, False, False)
    assert purged_name(ANN).removeprefix("purged:") not in text
    assert stat.S_IMODE(erased.path().stat().st_mode) == 0o600


def test_without_a_list_it_is_said(tmp_path: Path, capsys: Any) -> None:
    a_finished_study()
    backup(tmp_path / "all.zip")
    _, err = restored(tmp_path / "all.zip", capsys)
    assert NO_LIST in err


def test_another_data_folders_list_is_taken_and_kept(tmp_path: Path, capsys: Any, settings: Any) -> None:
    a_finished_study()
    backup(tmp_path / "all.zip")
    purging.purge(timezone.now() - timedelta(days=1))
    former, settings.DATA_DIR = erased.path(), tmp_path / "another"
    settings.DATA_DIR.mkdir()
    out, _ = restored(tmp_path / "all.zip", capsys, "--erased", str(former))
    assert "1 person was deleted again" in out
    assert erased.path().read_text() == former.read_text()
    out, _ = restored(tmp_path / "all.zip", capsys)
    assert "1 person was deleted again" in out
    with pytest.raises(CommandError, match="can't be read"):
        call_command("restore", str(tmp_path / "all.zip"), "--force", "--erased", str(tmp_path / "none"))


def test_a_list_of_another_key_is_told_and_one_of_an_earlier_is_read(
    tmp_path: Path, capsys: Any, settings: Any
) -> None:
    a_finished_study()
    backup(tmp_path / "all.zip")
    purging.purge(timezone.now() - timedelta(days=1))
    former, settings.SECRET_KEY = settings.SECRET_KEY, "another"
    _, err = restored(tmp_path / "all.zip", capsys)
    assert "1 of 1 deletions were noted under another key" in err
    settings.SECRET_KEY_FALLBACKS = [former]
    out, _ = restored(tmp_path / "all.zip", capsys)
    assert "1 person was deleted again" in out


def test_half_a_line_is_none_and_spoils_no_other() -> None:
    worker = a_finished_study().worker
    own_data.forget_for(worker)
    whole = erased.path().read_text()
    for length in range(1, whole.index("+")):
        erased.path().write_text(whole + whole[:length])
        assert len(list(erased.lines(erased.path()))) == 1
    own_data.forget_for(worker)
    assert len(list(erased.lines(erased.path()))) == 2


def test_who_was_purged_first_and_deleted_later_is_deleted_again(tmp_path: Path, capsys: Any) -> None:
    name_everywhere(a_finished_study())
    backup(tmp_path / "all.zip")
    purging.purge(timezone.now() - timedelta(days=1))
    assert own_data.forget_for(Worker.objects.get()) == []
    restored(tmp_path / "all.zip", capsys)
    assert (cells_with(ANN), Assignment.objects.get().comment) == ([], "")


def test_no_time_leads_from_the_list_to_a_random_name() -> None:
    own_data.forget(ada())
    (line,) = erased.lines(erased.path())
    assert (line.deed, line.at) == (erased.Deed.UNTRACEABLE, erased.ALWAYS)


def test_a_file_that_is_no_list_restores_nothing(tmp_path: Path) -> None:
    a_finished_study()
    backup(tmp_path / "all.zip")
    (tmp_path / "wrong").write_text("name,email\n")
    with pytest.raises(CommandError, match="is no list of who was deleted"):
        call_command("restore", str(tmp_path / "all.zip"), "--force", "--erased", str(tmp_path / "wrong"))
