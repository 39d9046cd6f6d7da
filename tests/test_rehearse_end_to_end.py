"""A small study with every process that a real one has, from the item file to the numbers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

from surveys.results.files.report import make_report
from surveys.results.frames.mturk_csv import read_mturk_csv
from tests.protocols import VQAX

pytestmark = pytest.mark.processes

DEMO = settings.BASE_DIR / "fixtures" / "demo"
N_HITS = 3


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, object], Path, str]:
    """Return the report, the folder of results and what was printed."""
    folder = tmp_path_factory.mktemp("rehearsal")
    done = subprocess.run(
        [
            sys.executable,
            str(settings.BASE_DIR / "manage.py"),
            "rehearse",
            "--survey=evil-vqax",
            f"--items={DEMO / 'items.csv'}",
            f"--images={DEMO / 'pictures'}",
            "--workers=8",
            "--seed=7",
            f"--out={folder / 'out'}",
            f"--report={folder / 'report.json'}",
            "--timeout=100",
        ],
        env={**os.environ, "ASSENT_DATA_DIR": str(folder / "untouched")},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "report.json").read_text()), folder, done.stdout


def test_every_hit_ends_with_five_kept_assignments(rehearsal):
    report, _, _ = rehearsal
    assert (report["hits"], report["kept_per_hit_min"], report["kept_per_hit_max"]) == (N_HITS, 5, 5)


def test_bad_work_is_rejected_and_replaced_exactly_once(rehearsal):
    report, _, _ = rehearsal
    assert report["rejected"] > 0
    assert report["replaced"] == report["rejected"] == report["assignments"] - 5 * N_HITS
    assert report["below_threshold_kept"] == 0


def test_abandoned_and_doubled_work_was_part_of_it(rehearsal):
    report, _, _ = rehearsal
    assert report["abandoned"] > 0
    assert report["double_submissions"] > 0


def test_both_ledgers_say_what_the_kept_work_costs(rehearsal):
    report, _, _ = rehearsal
    assert report["cost"] == report["marketplace_cost"] == round(5 * N_HITS * 0.46, 2)


def test_the_result_files_are_there(rehearsal):
    report, folder, _ = rehearsal
    names = {Path(path).name for path in report["files"]}
    assert {"raw.csv", "processed.csv", "processed_filtered.csv", "tidy.csv", "summary.json"} <= names
    assert all((folder / "out" / name).stat().st_size for name in names)


def test_the_raw_file_gives_the_scores_of_the_database(rehearsal):
    report, folder, _ = rehearsal
    again = make_report(read_mturk_csv(folder / "out" / "raw.csv", definition=VQAX)).as_data()
    scores = {
        name: {
            system: found["criteria"]["justifies"]["score"]["rating_mean"]
            for system, found in selection["systems"].items()
        }
        for name, selection in again["selections"].items()
    }
    assert scores == report["scores"]


def test_the_summary_is_printed_and_nothing_was_left_behind(rehearsal):
    _, folder, printed = rehearsal
    assert f"HITs                 {N_HITS}" in printed
    assert not (folder / "untouched" / "db.sqlite3").exists()
