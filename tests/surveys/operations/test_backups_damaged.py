from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from surveys.models import Batch
from surveys.operations.backups import archive
from surveys.operations.backups.archive import BackupError
from surveys.operations.backups.restoring import restore
from tests.surveys.operations.backup_state import everything, refused, remade, vouched, without_hold

pytestmark = pytest.mark.django_db(transaction=True)
SURVEYS = "database/surveys_survey.jsonl"
ELSEWHERE = [
    "media/../../escaped",
    "/media/absolute",
    "media//double",
    "media/C:evil",
    "media/..\\evil",
    "elsewhere/file",
    "media",
    "media/./here",
]


def test_unchanged_members_are_taken(made: Path) -> None:
    before = without_hold(everything())
    restore(remade(made, change=lambda members, manifest: None), force=True)
    assert without_hold(everything()) == before


def test_no_file(batch: Batch, tmp_path: Path) -> None:
    assert refused(tmp_path / "none.zip") == f"There is no file {tmp_path / 'none.zip'}."


def test_another_file(batch: Batch, tmp_path: Path) -> None:
    for content in (b"", b"not a backup", b"PK\x05\x06" + b"\0" * 18):
        (tmp_path / "all.zip").write_bytes(content)
        assert "not a backup" in refused(tmp_path / "all.zip")


def test_truncated(an_archive: Path) -> None:
    whole = an_archive.read_bytes()
    for share in (0.1, 0.5, 0.9, 0.999):
        an_archive.write_bytes(whole[: int(len(whole) * share)])
        assert refused(an_archive).startswith("all.zip is not a backup, or not all of one: ")


def test_a_flipped_byte_is_found_wherever_it_matters(made: Path) -> None:
    """Some bytes of a ZIP say nothing (a date); then the contents must come back as they were."""
    before, whole = without_hold(everything()), made.read_bytes()
    for n in range(12):
        place = (len(whole) - 1) * n // 11
        made.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        with suppress(BackupError):
            restore(made, force=True)
        assert without_hold(everything()) == before


def test_other_rows_than_were_written(an_archive: Path) -> None:
    changed = remade(
        an_archive, change=lambda members, _: members.update({SURVEYS: members[SURVEYS].swapcase()})
    )
    assert refused(changed) == f"The archive is damaged: {SURVEYS} is not what was written (SHA-256)."


def test_longer_than_was_written(an_archive: Path) -> None:
    changed = remade(an_archive, change=lambda members, _: members.update({SURVEYS: members[SURVEYS] * 2}))
    assert refused(changed) == f"The archive is damaged: {SURVEYS!r} has not the size that was written."


@pytest.mark.parametrize(
    "change", [lambda members, _: members.pop(SURVEYS), lambda members, _: members.update(extra=b"x")]
)
def test_a_member_too_few_or_too_many(an_archive: Path, change: Any) -> None:
    assert "members are not those of its manifest" in refused(remade(an_archive, change=change))


@pytest.mark.parametrize(
    "change", [lambda m: m.pop("columns"), lambda m: m.pop("members"), lambda m: m.clear()]
)
def test_half_a_manifest(an_archive: Path, change: Any) -> None:
    assert refused(remade(an_archive, change=lambda _, manifest: change(manifest))).startswith("The archive ")


def test_another_format(an_archive: Path) -> None:
    changed = remade(an_archive, change=lambda _, manifest: manifest.update(format=2))
    assert refused(changed) == "The archive has format 2; this version reads format 1."


def test_other_columns(an_archive: Path) -> None:
    changed = remade(an_archive, change=lambda _, manifest: manifest["columns"]["surveys_survey"].pop())
    assert refused(changed) == (
        "The archive is not sound: its tables or their columns are not those of its migrations."
    )


def test_fewer_rows_than_the_manifest_says(an_archive: Path) -> None:
    changed = remade(an_archive, change=lambda _, manifest: manifest["tables"].update(surveys_survey=2))
    assert refused(changed) == (
        "The archive is not sound: surveys_survey has 1 rows, and its manifest says otherwise."
    )


@pytest.mark.parametrize("data", [b"[1]\n", b"{}\n", b"nonsense\n", b"\xff\n"])
def test_rows_that_are_none(an_archive: Path, data: bytes) -> None:
    changed = remade(an_archive, change=lambda *archive: vouched(*archive, name=SURVEYS, data=data))
    assert refused(changed).startswith("The archive can't be restored, and nothing was changed: ")


def test_rows_that_refer_to_nothing(an_archive: Path) -> None:
    changed = remade(an_archive, change=lambda *archive: vouched(*archive, name=SURVEYS, data=b""))
    assert "not sound" in refused(changed)


def test_a_name_that_leads_elsewhere(an_archive: Path) -> None:
    for name in ELSEWHERE:
        changed = remade(
            an_archive, change=lambda *archive, name=name: vouched(*archive, name=name, data=b"evil")
        )
        assert refused(changed) == f"The archive is not sound: {name!r} is no name for a member."


def test_more_than_there_is_room_for(an_archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = remade(
        an_archive, change=lambda *archive: vouched(*archive, name="media/bomb", data=b"\0" * 10**6)
    )
    usage = archive.shutil.disk_usage(an_archive)._replace(free=1000)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    assert refused(changed).endswith("there is room for 1000.")


def test_a_row_without_end(an_archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LONGEST_LINE", 10)
    assert "has no end" in refused(an_archive)
