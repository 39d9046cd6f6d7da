import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from annotators.models import Call, Worker
from marketplace import models as marketplace
from marketplace.money import audit, ledger
from surveys.models import Batch, Protocol, ProtocolPicture, Survey
from surveys.operations.backups import rows
from surveys.operations.backups.archive import BackupError
from surveys.operations.backups.making import backup
from surveys.operations.backups.restoring import restore
from tests.factories import make_survey
from tests.surveys.operations.backup_state import destroy, everything, without_hold

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_was_destroyed_is_restored_to_the_last_bit(batch: Batch, tmp_path: Path) -> None:
    before = everything()
    made = backup(tmp_path / "all.zip")
    destroy()
    assert restore(tmp_path / "all.zip") == made
    assert without_hold(everything()) == without_hold(before)
    assert (made.files, made.missing, made.is_another_key) == (1, (), False)
    assert made.rows == sum(len(table) for table in before[0].values())


@pytest.mark.parametrize("arguments", [{}, {"n": None}, {"t": "a\u2028b \\ ' %s", "f": 1e-9, "deep": [[1]]}])
def test_json_comes_back_as_it_was(batch: Batch, tmp_path: Path, arguments: Any) -> None:
    Call.objects.create(token="t", operation="ApproveAssignment", endpoint="embedded", arguments=arguments)
    backup(tmp_path / "all.zip")
    restore(tmp_path / "all.zip", force=True)
    assert Call.objects.get().arguments == arguments


def test_null_in_a_json_column_without_null(batch: Batch, tmp_path: Path) -> None:
    Call.objects.create(token="t", operation="ApproveAssignment", endpoint="embedded")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE annotators_call SET arguments = 'null'")
    backup(tmp_path / "all.zip")
    restore(tmp_path / "all.zip", force=True)
    assert Call.objects.get().arguments is None


def test_bytes_come_back_as_they_were(batch: Batch, tmp_path: Path) -> None:
    protocol = Protocol.objects.create(key="own", version=1, name="Own", document="protocol: own")
    protocol.pictures.create(name="a.png", code="a.png", content_type="image/png", data=bytes(range(256)))
    backup(tmp_path / "all.zip")
    restore(tmp_path / "all.zip", force=True)
    picture = ProtocolPicture.objects.get()
    assert (bytes(picture.data), bytes(picture.original)) == (bytes(range(256)), b"")


def test_every_table_is_in_it(transactional_db: None) -> None:
    tables = set(connection.introspection.table_names())
    assert {model._meta.db_table for model in rows.models()} == tables - {"django_migrations"}


def test_more_rows_than_one_statement_takes(transactional_db: None, tmp_path: Path) -> None:
    Worker.objects.bulk_create(Worker(worker_id=f"A{n}", source="link") for n in range(1203))
    backup(tmp_path / "all.zip")
    destroy()
    restore(tmp_path / "all.zip")
    assert Worker.objects.count() == 1203


def test_new_keys_begin_after_the_restored(batch: Batch, tmp_path: Path) -> None:
    backup(tmp_path / "all.zip")
    destroy()
    restore(tmp_path / "all.zip")
    assert make_survey().pk == batch.survey.pk + 1


def test_another_secret_key_is_noticed(batch: Batch, tmp_path: Path, settings: Any, capsys: Any) -> None:
    backup(tmp_path / "all.zip")
    settings.SECRET_KEY = "another"
    call_command("restore", str(tmp_path / "all.zip"), "--force")
    assert "another SECRET_KEY" in capsys.readouterr().err


def test_rows_stop_a_restore_without_force(batch: Batch, tmp_path: Path, media: Path) -> None:
    backup(tmp_path / "all.zip")
    for path in (media / "pictures").iterdir():
        path.unlink()
    (media / "pictures").rmdir()
    before = everything()
    with pytest.raises(
        BackupError, match=r"^There are rows or media files here already; --force replaces them\.$"
    ):
        restore(tmp_path / "all.zip")
    assert everything() == before


def test_a_media_file_stops_a_restore_without_force(batch: Batch, tmp_path: Path, media: Path) -> None:
    backup(tmp_path / "all.zip")
    destroy()
    media.mkdir()
    (media / "mine").write_bytes(b"mine")
    with pytest.raises(BackupError, match="--force"):
        restore(tmp_path / "all.zip")
    assert (Survey.objects.count(), [path.name for path in media.iterdir()]) == (0, ["mine"])


def test_force_replaces_what_is_there(batch: Batch, tmp_path: Path, media: Path) -> None:
    before = everything()
    backup(tmp_path / "all.zip")
    make_survey()
    (media / "pictures/new.png").write_bytes(b"new")
    restore(tmp_path / "all.zip", force=True)
    assert without_hold(everything()) == without_hold(before)
    assert [path.name for path in media.iterdir()] == ["pictures"]


def test_a_file_that_cannot_be_put_in_place_undoes_everything(
    batch: Batch, tmp_path: Path, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup(tmp_path / "all.zip")
    make_survey()
    (media / "later").write_bytes(b"later")
    before = everything()
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self.parent.name == "new":
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(BackupError, match="nothing was changed"):
        restore(tmp_path / "all.zip", force=True)
    monkeypatch.undo()
    assert everything() == before


def test_a_commit_that_fails_undoes_everything(
    batch: Batch, tmp_path: Path, media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backup(tmp_path / "all.zip")
    make_survey()
    (media / "later").write_bytes(b"later")
    before = everything()

    def fail() -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(connection, "commit", fail)
    with pytest.raises(BackupError, match="nothing was changed: gone"):
        restore(tmp_path / "all.zip", force=True)
    monkeypatch.undo()
    assert everything() == before


def test_it_is_one_moment_while_others_write(
    transactional_db: None, tmp_path: Path, in_parallel: Any
) -> None:
    requester = marketplace.Requester.objects.create(name="Vision Lab")

    def deposit() -> None:
        for _ in range(60):
            with transaction.atomic():
                ledger.deposit(requester, cents=100, now=timezone.now())

    def make_backups() -> None:
        for n in range(4):
            backup(tmp_path / f"{n}.zip")

    assert in_parallel(deposit, make_backups) == [None, None]
    for n in range(4):
        restore(tmp_path / f"{n}.zip", force=True)
        assert [row["problems"] for row in audit.report()["requesters"]] == [[]]


def test_the_file_is_ours_alone_and_nothing_lies_beside_it(batch: Batch, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    call_command("backup", str(folder / "all.zip"))
    assert [path.name for path in folder.iterdir()] == ["all.zip"]
    assert stat.S_IMODE((folder / "all.zip").stat().st_mode) == 0o600


def test_a_backup_overwrites_nothing(batch: Batch, tmp_path: Path) -> None:
    (tmp_path / "all.zip").write_bytes(b"precious")
    with pytest.raises(CommandError, match="is there already; a backup overwrites nothing"):
        call_command("backup", str(tmp_path / "all.zip"))
    assert (tmp_path / "all.zip").read_bytes() == b"precious"


def test_a_folder_that_is_not_there(batch: Batch, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="can't be written: No such file or directory"):
        call_command("backup", str(tmp_path / "nowhere/all.zip"))


def test_a_database_that_cannot_be_read(batch: Batch, tmp_path: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE surveys_metricscore RENAME TO elsewhere")
    try:
        with pytest.raises(CommandError, match=r"^The database can't be read: .*surveys_metricscore"):
            call_command("backup", str(tmp_path / "all.zip"))
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE elsewhere RENAME TO surveys_metricscore")
    assert not (tmp_path / "all.zip").exists()


def test_a_backup_does_not_hold_itself(batch: Batch, media: Path) -> None:
    with pytest.raises(CommandError, match="can't lie in the media folder"):
        call_command("backup", str(media / "all.zip"))


def test_a_link_among_the_media_files_is_refused(batch: Batch, tmp_path: Path, media: Path) -> None:
    (media / "link").symlink_to(tmp_path)
    with pytest.raises(CommandError, match="is a link"):
        call_command("backup", str(tmp_path / "all.zip"))
    assert not (tmp_path / "all.zip").exists()


def test_a_row_without_its_file_is_told(batch: Batch, tmp_path: Path, media: Path, capsys: Any) -> None:
    for path in (media / "pictures").iterdir():
        path.unlink()
    call_command("backup", str(tmp_path / "all.zip"))
    assert "which is not in the media folder" in capsys.readouterr().err
