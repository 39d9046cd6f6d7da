"""Once a day everything that was kept for a day goes, though nobody uploads, draws or prepares anything."""

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from surveys import sync
from surveys.models import KeptReport
from surveys.operations import tidying
from surveys.operations.backups.archive import OWN
from surveys.results.files import prepared
from surveys.results.reports import UPLOAD
from surveys.studies.importing import staging

pytestmark = pytest.mark.django_db
A_DAY_AGO = time.time() - 25 * 3600


@pytest.mark.parametrize("kind", ["imports", "samples", "prepared"])
def test_what_is_a_day_old_goes_and_the_rest_stays(kind: str, settings: Any) -> None:
    root = Path(settings.DATA_DIR) / kind
    for name in ("old", "new"):
        (root / name).mkdir(parents=True)
        (root / name / "items").write_text("somebody's")
    os.utime(root / "old", (A_DAY_AGO, A_DAY_AGO))
    for _ in range(2):
        sync.tidy()
        assert [path.name for path in root.iterdir()] == ["new"]


def test_expired_sessions_go() -> None:
    for name, days in (("over", -1), ("open", 1)):
        until = timezone.now() + timedelta(days=days)
        Session.objects.create(session_key=name, session_data="", expire_date=until)
    sync.tidy()
    assert [row.session_key for row in Session.objects.all()] == ["open"]


def test_what_was_seen_in_an_upload_goes_with_it() -> None:
    for n, days in ((1, 3), (2, 0)):
        at = timezone.now() - timedelta(days=days)
        KeptReport.objects.create(key=f"{UPLOAD}:{n}", content="{}", version="1", made_at=at)
    sync.tidy()
    assert [row.key for row in KeptReport.objects.all()] == [f"{UPLOAD}:2"]


def test_a_copy_that_a_killed_restore_left_goes(settings: Any) -> None:
    left = Path(settings.MEDIA_ROOT) / f"{OWN}abcdefgh"
    left.mkdir()
    sync.tidy()
    assert not left.exists()


def test_a_file_that_can_t_be_removed_keeps_nothing_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise PermissionError("root's")

    done: list[str] = []
    monkeypatch.setattr(staging, "discard_old", refuse)
    monkeypatch.setattr(prepared, "discard_old", lambda: done.append("prepared"))
    tidying.tidy()
    assert done == ["prepared"]
