"""A restored backup brings back accounts whose owners have deleted them."""

import io
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from marketplace import tasks
from marketplace.accounts import erased, keys
from marketplace.engine import forgetting
from marketplace.models import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def back(settings: Any, tmp_path: Path) -> Worker:
    """An account that was deleted, as the rows of a backup have it."""
    settings.DATA_DIR = tmp_path
    worker, _ = keys.create_worker()
    rows = Worker.objects.filter(pk=worker.pk)
    (kept,) = rows.values()
    assert forgetting.erase(worker, now=timezone.now()) == []
    rows.update(**kept)
    return rows.get()


def again() -> str:
    out = io.StringIO()
    call_command("marketplace_purge", "--again", stdout=out)
    return out.getvalue()


def test_it_is_erased_again_by_the_daily_run(back: Worker) -> None:
    keys.create_worker()
    for _ in range(2):
        tasks.forget_unused()
        names = list(Worker.objects.order_by("pk").values_list("worker_id", flat=True))
        assert [name.startswith("ADELETED") for name in names] == [True, False]


def test_the_command_does_it_at_once_under_a_new_key_too(back: Worker, settings: Any) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another"
    assert (again(), again()) == ("accounts erased: 1\n", "accounts erased: 0\n")


def test_one_that_was_made_since_under_the_same_id_stays(back: Worker) -> None:
    Worker.objects.update(created_at=timezone.now())
    assert again() == "accounts erased: 0\n"


def test_the_list_names_nobody_and_is_ours_alone(back: Worker, tmp_path: Path) -> None:
    path = tmp_path / "erased-accounts"
    assert (back.worker_id in path.read_text(), stat.S_IMODE(path.stat().st_mode)) == (False, 0o600)


def test_whoever_still_has_something_to_settle_is_left_by_the_daily_run(
    back: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their erasure may have been written down and failed, and they have worked on."""
    monkeypatch.setattr(forgetting, "holding", lambda worker, *, now: ["1 HIT in the queue."])
    tasks.forget_unused()
    assert Worker.objects.get().worker_id == back.worker_id
    assert again() == "accounts erased: 1\n"


@pytest.mark.parametrize("option", [["--dry-run"], ["--spare", "A1"]])
def test_again_goes_with_nothing_else(back: Worker, option: list[str]) -> None:
    with pytest.raises(CommandError, match="goes with nothing else"):
        call_command("marketplace_purge", "--again", *option)
    assert Worker.objects.get().worker_id == back.worker_id


def test_half_a_line_is_none(back: Worker, tmp_path: Path) -> None:
    path = tmp_path / "erased-accounts"
    whole = path.read_text().rstrip("\n")
    for length in range(1, whole.index("+")):
        path.write_text(whole[:length])
        assert erased.noted() == erased.Noted({})


def test_a_list_that_is_gone_or_unreadable_is_told_of(back: Worker, settings: Any, tmp_path: Path) -> None:
    former, settings.SECRET_KEY = settings.SECRET_KEY, "another"
    err = io.StringIO()
    call_command("marketplace_purge", "--again", stdout=io.StringIO(), stderr=err)
    assert "1 of its lines were written under another key" in err.getvalue()
    settings.SECRET_KEY_FALLBACKS = [former]
    (tmp_path / "erased-accounts").rename(tmp_path / "elsewhere")
    call_command("marketplace_purge", "--again", stdout=io.StringIO(), stderr=err)
    assert "There is no list of whose account was erased" in err.getvalue()
    (tmp_path / "elsewhere").rename(tmp_path / "erased-accounts")
    assert again() == "accounts erased: 1\n"
