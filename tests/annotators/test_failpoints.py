"""Failpoints are nothing in production, and kill exactly one process in a test."""

import multiprocessing
import signal
import threading
from pathlib import Path

import pytest
from django.core.checks import run_checks

from annotators import failpoints
from annotators.failpoints import reach

fork = multiprocessing.get_context("fork")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(failpoints, "FOLDER", str(tmp_path))
    return tmp_path


def exit_codes(*, n: int, name: str, of: str = "") -> list[int | None]:
    processes = [fork.Process(target=reach, args=(name,), kwargs={"of": of}) for _ in range(n)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(20)
    return sorted(process.exitcode for process in processes)


def test_nothing_happens_where_no_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "place.armed").touch()
    assert failpoints.FOLDER == ""
    reach("place")
    assert (tmp_path / "place.armed").exists()


def test_a_place_that_is_not_armed_is_passed(folder):
    (folder / "other.armed").touch()
    reach("place")
    assert [path.name for path in folder.iterdir()] == ["other.armed"]


def test_exactly_one_process_dies_and_the_file_proves_it(folder):
    (folder / "place.armed").touch()
    assert exit_codes(n=4, name="place") == [-signal.SIGKILL, 0, 0, 0]
    assert [path.name for path in folder.iterdir()] == ["place.fired"]


def test_a_variant_has_a_name_of_its_own(folder):
    (folder / "place.Reject.armed").touch()
    assert exit_codes(n=1, name="place", of="Approve") == [0]
    assert exit_codes(n=1, name="place", of="Reject") == [-signal.SIGKILL]


def test_a_held_process_goes_on_once_the_file_is_gone(folder):
    (folder / "place.armed").write_text(failpoints.HOLD)
    held = threading.Thread(target=reach, args=("place",), daemon=True)
    held.start()
    while not (folder / "place.fired").exists():
        held.join(0.01)
    assert held.is_alive()
    (folder / "place.fired").unlink()
    held.join(20)
    assert not held.is_alive()


def ids() -> set[str | None]:
    return {message.id for message in run_checks(include_deployment_checks=True)}


def test_a_deployment_with_failpoints_is_warned(folder):
    assert "surveys.W001" in ids()


def test_a_deployment_without_is_not(monkeypatch):
    monkeypatch.setattr(failpoints, "FOLDER", "")
    assert "surveys.W001" not in ids()
