"""An archive that somebody has made or changed to do harm: refused with a sentence, and nothing anywhere is touched."""

import json
import shutil
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.factories import make_draft, make_survey
from tests.surveys.operations.archive_once import back_up_once
from tests.surveys.operations.backup_state import Members, refused, remade, vouched

__all__ = ["back_up_once"]
pytestmark = pytest.mark.django_db(transaction=True)
SURVEYS = "database/surveys_survey.jsonl"
CANARY = "canary"
Manifest = dict[str, Any]
DEEP = b"[" * 100_000 + b"]" * 100_000 + b"\n"


@pytest.fixture
def made(transactional_db: None, own_folders: Path, back_up_once: Callable[[Path], Path]) -> Path:
    """An archive of such a study, made once: what is refused need not be of the very rows that are there."""
    settings.MEDIA_ROOT.mkdir()
    (settings.MEDIA_ROOT / "kept.png").write_bytes(b"a picture")
    make_draft(make_survey(n_items=2))
    return back_up_once(own_folders / "all.zip")


@pytest.fixture(autouse=True)
def surroundings(own_folders: Path) -> Iterator[None]:
    """Beside the media folder nothing is written, changed or left behind, and in it no folder of a restore."""
    (own_folders / CANARY).write_text("as it was")
    yield
    assert (own_folders / CANARY).read_text() == "as it was"
    known = {CANARY, "all.zip", "changed.zip", "last_backup", "media"}
    assert {path.name for path in own_folders.iterdir()} <= known
    assert [path.name for path in (own_folders / "media").iterdir()] == ["kept.png"]


def with_entry(path: Path, entry: zipfile.ZipInfo, data: bytes) -> Path:
    """The archive with one more member whose head says what it likes, and a manifest that vouches for it."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    manifest["members"][entry.filename] = {"size": len(data), "sha256": sha256(data).hexdigest()}
    changed = path.with_name("changed.zip")
    with zipfile.ZipFile(changed, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
        new.writestr(entry, data)
        new.writestr("manifest.json", json.dumps(manifest))
    return changed


# -- Paths -------------------------------------------------------------------------------------------------------


ELSEWHERE = [
    "/etc/cron.d/evil",
    "media//etc/evil",
    f"media/../{CANARY}",
    f"media/../../{CANARY}",
    f"database/../{CANARY}",
    f"media/new/../../{CANARY}",
    "media/..\\evil",
    "media/C:evil",
    "media/.",
    "media/.restore-evil/old/file",
    f"../{CANARY}",
    CANARY,
]


def test_a_path_that_leads_elsewhere(made: Path) -> None:
    for name in ELSEWHERE:
        changed = remade(made, change=lambda *archive, name=name: vouched(*archive, name=name, data=b"evil"))
        assert refused(changed) == f"The archive is not sound: {name!r} is no name for a member."


@pytest.mark.parametrize(
    "names",
    [("media/a", "media/a/b"), ("media/a/b", "media/a"), ("media/" + "n" * 300,), ("media/kept.png/x",)],
)
def test_paths_that_no_file_system_holds(made: Path, names: tuple[str, ...]) -> None:
    """The last of them collides with a file that is there in the archive."""

    def change(members: Members, manifest: Manifest) -> None:
        for name in names:
            vouched(members, manifest, name=name, data=b"evil")

    answer = refused(remade(made, change=change))
    assert answer.startswith("The archive can't be restored, and nothing was changed: ")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["manifest.json", SURVEYS, "media/kept.png"])
def test_a_member_that_is_there_twice(made: Path, name: str) -> None:
    with zipfile.ZipFile(made, "a") as file:
        file.writestr(name, b'{"format": 1, "members": {}}')
    assert refused(made).startswith("The archive ")


# -- Types -------------------------------------------------------------------------------------------------------


KINDS = (stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFDIR)


def test_what_is_no_plain_file(made: Path) -> None:
    for kind in KINDS:
        entry = zipfile.ZipInfo("media/link")
        entry.create_system, entry.external_attr = 3, (kind | 0o777) << 16  # 3: Unix, PKWARE APPNOTE 4.4.2
        changed = with_entry(made, entry, b"/etc/passwd")
        assert refused(changed) == "The archive is not sound: 'media/link' is no plain file."


@pytest.mark.parametrize("packed", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_is_packed_as_nothing_of_ours(made: Path, packed: int) -> None:
    entry = zipfile.ZipInfo("media/packed")
    entry.compress_type = packed
    changed = with_entry(made, entry, b"\0" * 10**6)
    assert refused(changed) == "The archive is not sound: 'media/packed' is packed in another way."


def test_a_link_in_the_media_folder_is_not_followed(made: Path, own_folders: Path) -> None:
    """Somebody with the folder's rights has put it there; the archive names a file behind it."""
    outside = own_folders / CANARY
    (settings.MEDIA_ROOT / "pictures").symlink_to(own_folders)
    changed = remade(
        made, change=lambda *archive: vouched(*archive, name=f"media/pictures/{CANARY}", data=b"evil")
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("surveys.operations.backups.media.swap", _no_disk)
        assert refused(changed).endswith("No space left on device")
    assert outside.read_text() == "as it was"
    (settings.MEDIA_ROOT / "pictures").unlink()


def _no_disk(*arguments: Any, **named: Any) -> None:
    raise OSError("No space left on device")


# -- Sizes -------------------------------------------------------------------------------------------------------


def test_another_size_than_the_members(made: Path) -> None:
    name = "media/kept.png"
    for size in (0, 1, 10**15, -1, -(10**15), 1e400, "9", None, True, [9]):
        changed = remade(
            made, change=lambda _, manifest, size=size: manifest["members"][name].update(size=size)
        )
        assert (
            refused(changed) == "The archive is damaged: 'media/kept.png' has not the size that was written."
        )


def test_a_bomb_is_not_unpacked(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred megabytes of nothing take a hundred kilobytes; what counts is the room they would need."""
    changed = remade(made, change=lambda *archive: vouched(*archive, name="media/bomb", data=b"\0" * 10**8))
    assert changed.stat().st_size < 10**6
    usage = shutil.disk_usage(made)._replace(free=10**7)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    monkeypatch.setattr(zipfile.ZipFile, "open", _only_manifest(zipfile.ZipFile.open))
    assert refused(changed).endswith("there is room for 10000000.")


def _only_manifest(opened: Callable[..., Any]) -> Callable[..., Any]:
    def limited(file: zipfile.ZipFile, name: Any, *arguments: Any, **named: Any) -> Any:
        assert str(name) == "manifest.json", "Something was unpacked before its size was judged."
        return opened(file, name, *arguments, **named)

    return limited


def test_a_head_that_declares_less_than_is_there(made: Path) -> None:
    """The sizes of a member are in the ZIP's directory: made smaller there and in the manifest alike."""
    data = b"x" * 5000
    changed = with_entry(made, zipfile.ZipInfo("media/liar"), data)
    whole = changed.read_bytes()
    place = whole.rindex(b"media/liar") - 46 + 24  # in the directory's head: PKWARE APPNOTE 4.3.12
    assert struct.unpack_from("<I", whole, place) == (5000,)
    changed.write_bytes(whole[:place] + struct.pack("<I", 9) + whole[place + 4 :])
    assert refused(changed) == "The archive is damaged: 'media/liar' has not the size that was written."


# -- Checksums and the manifest ----------------------------------------------------------------------------------


def test_another_checksum(made: Path) -> None:
    name = "media/kept.png"
    for digest in ("0" * 64, "", None, 5, [], "not one"):
        changed = remade(
            made, change=lambda _, manifest, digest=digest: manifest["members"][name].update(sha256=digest)
        )
        assert refused(changed) == f"The archive is damaged: {name} is not what was written (SHA-256)."


def test_no_manifest(made: Path) -> None:
    changed = made.with_name("changed.zip")
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            if name != "manifest.json":
                new.writestr(name, old.read(name))
    assert refused(changed) == "The archive has no manifest: it is not a backup."


OTHER_TYPES: dict[str, list[Any]] = {
    "members": [None, 5, "text", [5], {"a": 5}, {"a": None}],
    "migrations": [None, 5, "text", [5], {"a": 5}, [[]]],
    "columns": [None, 5, "text", [5], {"a": 5}, {"a": None}],
    "tables": [None, 5, "text", [5], {"a": 5}, {"a": None}],
    "missing": [None, 5],
    "versions": [None, 5, "text", [5], {"assent": 5}],
}


@pytest.mark.parametrize("key", OTHER_TYPES)
def test_a_manifest_of_other_types(made: Path, key: str) -> None:
    for value in OTHER_TYPES[key]:
        changed = remade(made, change=lambda _, manifest, value=value: manifest.update({key: value}))
        assert refused(changed)


def test_a_manifest_too_deep_to_be_read(made: Path) -> None:
    changed = made.with_name("changed.zip")
    with zipfile.ZipFile(changed, "w") as file:
        file.writestr("manifest.json", DEEP)
    assert refused(changed).startswith("changed.zip is damaged: ")


ROWS = [DEEP, b"[" + b"9" * 400 + b"]\n", b"[1e999]\n", b"null\n", b'"text"\n', b"[[]]\n", b'["\\ud800"]\n']
VALUES = [10**400, float("inf"), float("nan"), "\ud800", [], {}, "text", None, "\0"]


def test_rows_that_no_table_takes(made: Path) -> None:
    for row in ROWS:
        changed = remade(made, change=lambda *archive, row=row: vouched(*archive, name=SURVEYS, data=row))
        assert refused(changed).startswith("The archive can't be restored, and nothing was changed: ")


def test_keys_that_no_table_takes(made: Path) -> None:
    for value in VALUES:

        def change(members: Members, manifest: Manifest, value: Any = value) -> None:
            (row,) = [json.loads(line) for line in members[SURVEYS].splitlines()]
            data = json.dumps([value, *row[1:]]).encode()
            vouched(members, manifest, name=SURVEYS, data=data + b"\n")

        assert refused(remade(made, change=change))
