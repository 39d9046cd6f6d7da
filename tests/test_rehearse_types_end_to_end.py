"""The other survey types with every process that a real study has: XAI on the marketplace, VTT by personal link."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

pytestmark = pytest.mark.processes

DEMO = settings.BASE_DIR / "fixtures" / "demo"
STUDIES = {
    "xai": [f"--items={DEMO / 'xai' / 'items.csv'}", f"--images={DEMO / 'xai' / 'pictures'}"],
    "vtt": [f"--items={DEMO / 'vtt' / 'items.jsonl'}", f"--images={DEMO / 'vtt' / 'pictures'}", "--by-link"],
}


@pytest.fixture(scope="module", params=STUDIES)
def rehearsal(request: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any], Path]:
    """Return the survey type, the report and the folder of results."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "consent.md").write_text("I am of age.")
    options = [f"--consent={folder / 'consent.md'}"]
    options += [
        "--workers=8",
        "--seed=8",
        "--timeout=150",
        f"--out={folder}",
        f"--report={folder / 'r.json'}",
    ]
    done = subprocess.run(
        [
            sys.executable,
            str(settings.BASE_DIR / "manage.py"),
            "rehearse",
            f"--survey={request.param}",
            *STUDIES[request.param],
            *options,
        ],
        env={**os.environ, "ASSENT_DATA_DIR": str(folder / "untouched")},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return request.param, json.loads((folder / "r.json").read_text()), folder


def test_every_questionnaire_has_five_answers_that_count(rehearsal: tuple[str, dict[str, Any], Path]) -> None:
    survey, report, _ = rehearsal
    assert report["hits"] == {"xai": 3, "vtt": 12}[survey]
    assert (report["kept_per_hit_min"], report["kept_per_hit_max"]) == (5, 5)
    assert report["replaced"] == report["skipped"] == report["assignments"] - 5 * report["hits"]
    assert (report["rejected"], report["missing_pictures"], report["problems"]) == (0, 0, [])


def test_everybody_agreed_once_before_they_worked(rehearsal: tuple[str, dict[str, Any], Path]) -> None:
    _, report, folder = rehearsal
    with (folder / "consents.csv").open(newline="") as file:
        agreed = [row["worker"] for row in csv.DictReader(file)]
    assert len(agreed) == len(set(agreed)) > 0
    assert report["problems"] == []


def test_the_marketplace_is_paid_and_nobody_else(rehearsal: tuple[str, dict[str, Any], Path]) -> None:
    survey, report, _ = rehearsal
    paid = round(0.46 * report["assignments"], 2) if survey == "xai" else 0
    assert report["cost"] == report["marketplace_cost"] == paid


def test_skips_are_in_the_files_and_not_in_the_numbers(rehearsal: tuple[str, dict[str, Any], Path]) -> None:
    survey, report, folder = rehearsal
    with (folder / "responses.csv").open(encoding="utf-8", newline="") as stream:
        responses = list(csv.DictReader(stream))
    assert sum(bool(row["skip_reason"]) for row in responses) == report["skipped"]
    with (folder / "tidy.csv").open(encoding="utf-8", newline="") as stream:
        ratings = list(csv.DictReader(stream))
    skips = [(row["criterion"], row["score"]) for row in ratings if row["is_skipped"] == "True"]
    assert skips == [("skip", "")] * report["skipped"]
    n_outputs, n_criteria = 12, {"xai": 5, "vtt": 3}[survey]
    assert len(ratings) - len(skips) == 5 * n_outputs * n_criteria


def test_the_raw_file_gives_the_same_table_again(
    rehearsal: tuple[str, dict[str, Any], Path], tmp_path: Path
) -> None:
    survey, _, folder = rehearsal
    raw = folder / {"xai": "responses.csv", "vtt": "annotations.jsonl"}[survey]
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "evaluate_results", str(raw)]
    subprocess.run(
        [*command, "--out", str(tmp_path), f"--definition={survey}"], check=True, capture_output=True
    )
    again, table = ((place / "table.csv").read_text().splitlines() for place in (tmp_path, folder))
    assert (again[0], sorted(again)) == (table[0], sorted(table))
