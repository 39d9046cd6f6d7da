import dataclasses
import json
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from surveys.rehearsal.report import Course, Report, Tally

TALLY = Tally(
    hits=2,
    sibling_hits=1,
    assignments=12,
    rejected=2,
    skipped=0,
    replaced=2,
    wanted_per_hit=5,
    kept_per_hit=(5, 5),
    below_threshold_kept=0,
    cost=Decimal("4.60"),
    scores={"kept": {"model": 0.5, "ground_truth": None}},
)
COURSE = Course(
    workers=9,
    stand_ins=1,
    rounds=2,
    submitted=12,
    skipped=0,
    expected_rejections=2,
    abandoned=1,
    double_submissions=3,
    missing_pictures=0,
)
REPORT = Report("evil-vqax", 7, TALLY, COURSE, Decimal("4.60"), [Path("out/raw.csv")], {"work": 3.0})
ASKED_FOR = {
    "hits": 2,
    "assignments": 12,
    "rejected": 2,
    "skipped": 0,
    "replaced": 2,
    "kept_per_hit_min": 5,
    "kept_per_hit_max": 5,
    "below_threshold_kept": 0,
    "cost": 4.6,
    "marketplace_cost": 4.6,
    "files": ["out/raw.csv"],
}


def test_the_file_has_the_figures_asked_for(tmp_path):
    REPORT.write(tmp_path / "report.json")
    data = json.loads((tmp_path / "report.json").read_text())
    assert {name: data[name] for name in ASKED_FOR} == ASKED_FOR
    assert data["problems"] == []


def test_the_page_shows_them_too():
    text = REPORT.text()
    assert "HITs                 2 and 1 sibling for replacements" in text
    assert "Cost                 $4.60 by our ledger, $4.60 by the marketplace's" in text
    assert "kept                         0.5000              -" in text
    assert "  out/raw.csv" in text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kept_per_hit": (5, 4)}, "1 HITs have not exactly 5 kept assignments, but 4 to 4."),
        ({"kept_per_hit": (6, 4)}, "2 HITs have not exactly 5 kept assignments, but 4 to 6."),
        ({"below_threshold_kept": 1}, "1 kept assignments have fewer right answers than the rule asks for."),
        ({"replaced": 1}, "2 assignments were rejected and 0 skipped, but 1 replaced."),
        ({"skipped": 1, "replaced": 3}, "0 items were skipped, but 1 skips are in the database."),
        (
            {"rejected": 3, "replaced": 3},
            "3 assignments were rejected; by the item file it should be 2.",
        ),
        ({"assignments": 11}, "12 assignments were submitted, but 11 are in the database."),
        ({"cost": Decimal("4.61")}, "Our ledger says $4.61 was charged, the marketplace's $4.60."),
    ],
)
def test_each_broken_invariant_is_one_sentence(changes, sentence):
    report = dataclasses.replace(REPORT, tally=dataclasses.replace(TALLY, **changes))
    assert report.problems == [sentence]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": "nowhere.csv"}, "There is no file nowhere.csv."),
        ({"survey": "evil"}, "There is no file evil, and no survey type of that name: evil-vqax, "),
        ({"survey": __file__}, "test_report.py, line 22: This is not YAML"),
        ({"workers": 0}, "--workers must be at least 1"),
        ({"seed": -1}, "and --seed not negative"),
        ({"report": "no/such/folder/report.json"}, "There is no folder for no/such/folder/report.json."),
    ],
)
def test_what_must_fail_fails_at_once(options, message):
    given = {
        "survey": "evil-vqax",
        "items": __file__,
        "workers": 1,
        "seed": 0,
        "report": "report.json",
    } | options
    arguments = [f"--{name}={value}" for name, value in given.items()]
    with pytest.raises(CommandError, match=message):
        call_command("rehearse", *arguments)
