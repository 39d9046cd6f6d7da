"""A disk that takes nothing: it is said on pages, by the API, by commands, by /readyz and by `check --deploy`."""

import errno
import html
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.cache import caches
from django.db import OperationalError
from django.test import Client

from surveys import sync
from surveys.operations import disk
from surveys.operations.system_checks import check_folders
from tests.surveys.api.asking import person_of, token_of
from tests.surveys.pages.study.import_pages import researcher, upload

APP = {"host": "127.0.0.1"}
ENDED = {
    errno.ENOSPC: "The disk of this site is full",
    errno.EROFS: "This site can't read or write what lies in the folder of its data",
}
ENDED[errno.EDQUOT] = ENDED[errno.ENOSPC]


def refusing(number: int) -> Any:
    def refuse(*args: Any, **named: Any) -> None:
        raise OSError(number, os.strerror(number), "/somewhere")

    return refuse


def of_sqlite(script: str) -> Exception:
    """What SQLite itself raises, as Django hands it on."""
    database = sqlite3.connect(":memory:")
    database.execute("PRAGMA max_page_count = 1")
    with pytest.raises(sqlite3.Error) as caught:
        database.executescript(script)
    database.close()
    error = OperationalError(*caught.value.args)
    error.__cause__ = caught.value
    return error


@pytest.mark.parametrize("number", ENDED)
def test_the_error_of_a_disk_that_takes_nothing_is_known(number: int) -> None:
    error = OSError(number, os.strerror(number))
    assert str(disk.fault(error)).startswith(ENDED[number])
    later = ValueError("Nothing was read.")
    later.__context__ = error
    assert disk.fault(later) == disk.fault(error)


def test_so_are_the_databases() -> None:
    assert disk.fault(of_sqlite("CREATE TABLE a (b)")) == disk.FULL
    assert disk.fault(of_sqlite("PRAGMA query_only = 1; CREATE TABLE a (b)")) == disk.LOCKED
    no_log = sqlite3.OperationalError("disk I/O error")
    no_log.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    assert disk.fault(no_log) == disk.FULL
    full = OperationalError("could not extend file")
    full.__cause__ = type("DiskFull", (Exception,), {"pgcode": "53100"})()
    assert disk.fault(full) == disk.FULL


def test_others_are_not(own_folders: Path, settings: Any) -> None:
    denied = PermissionError(errno.EACCES, "Permission denied", "/etc/shadow")
    assert [disk.fault(error) for error in (None, ValueError(), OSError(), KeyError(1), denied)] == [""] * 5
    ours = PermissionError(errno.EACCES, "Permission denied", str(settings.DATA_DIR / "imports"))
    assert disk.fault(ours) == disk.LOCKED


@pytest.fixture
def own_folders(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    return tmp_path


@pytest.mark.django_db
@pytest.mark.parametrize("number", ENDED)
def test_a_page_says_it(number: int, own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = researcher()
    client.raise_request_exception = False
    monkeypatch.setattr(Path, "write_bytes", refusing(number))
    answer = upload(client, b"id,image\n1,1.png\n")
    page = html.unescape(answer.content.decode())
    assert (answer.status_code, ENDED[number] in page, "went wrong" in page) == (507, True, False)


@pytest.mark.django_db
def test_so_does_the_api(monkeypatch: pytest.MonkeyPatch) -> None:
    person = person_of("Researcher")
    monkeypatch.setattr("surveys.api.security.tokens.note_use", refusing(errno.ENOSPC))
    header = {"Authorization": f"Bearer {token_of(person)}"}
    answer = Client(raise_request_exception=False).get("/api/v1/studies", headers=header)
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (507, "urn:assent:problem:unavailable")
    assert problem["detail"].startswith(ENDED[errno.ENOSPC])


@pytest.mark.django_db
def test_ready_is_who_can_write(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "disk" not in Client().get("/readyz", headers=APP).json()["checks"]
    monkeypatch.setattr(tempfile, "TemporaryFile", refusing(errno.EROFS))
    answer = Client().get("/readyz", headers=APP)
    both = {"state": "unwritable", "folders": ["ASSENT_DATA_DIR", "ASSENT_MEDIA_DIR"]}
    assert (answer.status_code, answer.json()["checks"]["disk"]) == (503, both)


@pytest.fixture
def reached() -> Iterator[Path]:
    """A folder that every account can come to; pytest's own are closed."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def warned(settings: Any, folder: Path) -> list[str | None]:
    settings.DATA_DIR = settings.MEDIA_ROOT = folder
    return [warning.id for warning in check_folders(None)]


@pytest.mark.parametrize(("mode", "ids"), [(0o700, []), (0o750, []), (0o755, 2), (0o711, 2), (0o704, 2)])
def test_a_folder_that_others_can_read_is_a_warning(
    reached: Path, settings: Any, mode: int, ids: Any
) -> None:
    (reached / "var").mkdir()
    (reached / "var").chmod(mode)
    assert warned(settings, reached / "var") == ["surveys.W006"] * (ids or 0)
    reached.chmod(0o700)
    assert warned(settings, reached / "var") == []


def test_so_is_one_that_cannot_be_written(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", refusing(errno.EROFS))
    assert warned(settings, tmp_path / "media") == ["surveys.W007"] * 2


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "ASSENT_DATA_DIR": str(folder / "var"), "LOG_LEVEL": "ERROR"}
    environment["ASSENT_MEDIA_DIR"] = str(folder / "files")
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )


def test_what_is_made_is_for_its_account_alone(tmp_path: Path) -> None:
    script = "import sys, manage; sys.argv = ['manage.py', 'version']; manage.main()"
    assert run(script, tmp_path).returncode == 0
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("var", "files")] == [0o700, 0o700]


def test_a_command_ends_with_what_is_wrong(tmp_path: Path) -> None:
    script = (
        "import errno, sys, manage\n"
        "def run(): raise OSError(errno.ENOSPC, 'No space left on device', 'media/pictures')\n"
        "manage.run, sys.argv = run, ['manage.py', 'import_items']\n"
        "manage.main()\n"
    )
    done = run(script, tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert done.stderr.startswith(
        "[Errno 28] No space left on device: 'media/pictures'\nThe disk of this site is full"
    )


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "var").write_text("a file")
    done = run("import sys, manage; sys.argv = ['manage.py', 'check']; manage.main()", tmp_path)
    assert done.stderr == f"ASSENT_DATA_DIR: {tmp_path / 'var'} can't be made: File exists.\n"


@pytest.mark.django_db
def test_the_mail_names_folder_and_limit(
    settings: Any, own_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ALARM_RECIPIENTS, settings.DISK_FREE_PERCENT = ["lab@example.org"], 5
    monkeypatch.setattr(disk, "_free", lambda folder: 0.049 if folder == settings.MEDIA_ROOT else 0.5)
    caches["heartbeats"].delete("disk is low")
    sync.send_alarms()
    assert mail.outbox[0].body.startswith(
        f"4.9% of the disk of {settings.MEDIA_ROOT} is free, less than the 5% of ASSENT_DISK_FREE_PERCENT."
    )
