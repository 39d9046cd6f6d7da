"""What was ticked and preferred: counts, intervals and tests of published studies and small ones."""

import csv
import io

import numpy as np
import pytest
from scipy import stats

from surveys.protocols.documents import read as document
from surveys.protocols.preferences import OTHER, PREFERRED
from surveys.results.files.report import make_report
from surveys.results.files.report_text import report_text
from surveys.results.files.table import write_table
from surveys.results.frames.base import build_frame
from surveys.results.frames.mturk_csv import read_mturk_csv
from surveys.results.statistics.choices import FAMILIES, Choices, choices
from surveys.results.statistics.inference import holm
from tests.protocols import VQAX
from tests.surveys.results.raw_files import raw_file, read, row, task

OPTIONS = ["incorrect_description", "insufficient_justification", "confusing_sentence", "nothing"]


@pytest.fixture(scope="module")
def frame(shared):
    return read_mturk_csv(shared / "data" / "ofax" / "esnlive_unifiedresults_raw.csv")


@pytest.fixture(scope="module")
def found(frame):
    return choices(frame, against="ground_truth")


def shares(frame, selection):
    return {share.key: share for share in getattr(make_report(frame).summary, selection).preference}


@pytest.mark.parametrize(("name", "selection"), [("preferred", "kept"), ("preferred_filtered", "filtered")])
def test_what_was_preferred_is_what_is_counted(frame, found, name, selection):
    (one,) = getattr(found, name)
    counted = shares(frame, selection)
    assert (one.wins, one.losses, one.ties) == tuple(
        counted[key].count for key in ("model", "ground_truth", "no_preference")
    )
    assert one.net == (one.wins - one.losses) / one.n
    assert one.rate == pytest.approx((one.wins + one.ties / 2) / one.n, rel=1e-12)
    assert one.decided == one.wins / (one.wins + one.losses)


def test_a_preference_is_tested_by_its_net_two_way():
    """Six workers, each on all of five items: every item, worker and cell left out in turn, by hand."""
    tasks = {
        (w, n): ["expl_1", "expl_2", "no_preference"][(w * 2 + n * n + w * n) % 3]
        for w in range(6)
        for n in range(1, 6)
    }
    frame = study(tasks)
    (one,) = choices(frame, against="ground_truth").preferred

    values = np.array(
        [
            [{"expl_1": 1, "expl_2": -1, "no_preference": 0}[tasks[w, n]] for n in range(1, 6)]
            for w in range(6)
        ]
    )
    mean = values.mean()
    variances = [
        (len(left) - 1) / len(left) * np.sum((np.array(left) - mean) ** 2)
        for left in (
            [np.delete(values, n, axis=1).mean() for n in range(5)],
            [np.delete(values, w, axis=0).mean() for w in range(6)],
            [np.delete(values.ravel(), k).mean() for k in range(30)],
        )
    ]
    error = np.sqrt(max(variances[0], variances[1], variances[0] + variances[1] - variances[2]))
    assert one.net == pytest.approx(mean)
    assert one.p == pytest.approx(2 * stats.t.sf(abs(mean) / error, 4))
    assert one.corrected == one.p  # a family of one
    reach = stats.t.ppf(0.975, 4) * error
    assert (one.interval.low, one.interval.high) == pytest.approx((max(mean - reach, -1), mean + reach))
    assert one.rate_interval.high == pytest.approx((1 + mean + reach) / 2)


def study(tasks):
    rows = [
        row(
            [task(n, prefer=tasks[w, n]) for n in range(1, 6)],
            assignment=f"A{w}",
            worker=f"W{w}",
        )
        for w in range(6)
    ]
    return read(raw_file(rows), definition=VQAX)


def test_all_of_one_mind_are_not_tested():
    all_ours = dict.fromkeys(((w, n) for w in range(6) for n in range(1, 6)), "expl_1")
    (one,) = choices(study(all_ours), against="ground_truth").preferred
    assert (one.wins, one.net, one.p, one.interval, one.dagger) == (30, 1.0, None, None, False)
    assert one.untested == "not tested: all items say the same"
    text = report_text(make_report(study(all_ours)))
    assert "preference not tested: all items say the same (30 won, 0 tied, 0 lost)" in text


def test_of_one_person_it_says_that_nothing_can_be_told():
    alone = choices(
        read(raw_file([row([task(n) for n in range(1, 6)])]), definition=VQAX), against="ground_truth"
    )
    assert {one.untested for one in alone.ticked} == {"not tested, 5 shared items: it rests on one person"}
    assert [one.untested for one in alone.preferred] == ["not tested: it rests on one person"]


def test_what_a_third_wins_is_no_tie_of_the_others():
    """Of six choices among three outputs two say nothing of `a` and `b`: `c` is preferred to both."""
    said = ["a", "a", "b", "c", "c", "no_preference"]
    outputs = {
        f"{system}.pick": [
            one if one == "no_preference" else PREFERRED if one == system else OTHER for one in said
        ]
        for system in "abc"
    }
    definition = document(AMONG_THREE, name="three.yaml")
    found = choices(
        build_frame(definition=definition, systems="abc", responses=answers(6), outputs=outputs), against="b"
    )
    assert [(one.system, one.wins, one.ties, one.losses) for one in found.preferred] == [
        ("a", 2, 1, 1),
        ("c", 2, 1, 1),
    ]
    assert found.preferred[0].rate == 2.5 / 4


AMONG_THREE = b"""
protocol: three
name: Three answers
version: 1
title: Which answer is best?
question_label: Request
output_label: Answer {n}
outputs_per_item: 3
pictures: none
criteria: [{key: good, label: Good?, choices: [{value: 1, label: "No", score: 1}, {value: 2, label: "Yes", score: 2}]}]
preference: {key: pick, label: Which is best?, output_label: "Answer {n}", none_label: No preference}
headline: good
instructions: {summary: Choose., steps: [Read.]}
"""


def answers(n):
    """Columns of n answers, two people on an item."""
    return {
        "study": ["s"] * n, "batch": ["b"] * n, "hit_id": ["h"] * n, "position": [1] * n, "status": ["Approved"] * n,
        "assignment_id": [f"a{k}" for k in range(n)], "worker": [f"w{k % 2}" for k in range(n)],
        "item_id": [f"i{k // 2}" for k in range(n)], "is_skipped": [False] * n, "included": [True] * n,
        "is_repeat": [False] * n,
    }  # fmt: skip


def test_options_are_corrected_for_each_other_and_agree_with_their_intervals(found):
    for ticked in (found.ticked, found.ticked_filtered):
        assert [d.criterion for d in ticked] == [f"shortcomings.{name}" for name in OPTIONS]
        adjusted = holm({(d.system, d.criterion): d.p for d in ticked})
        assert [d.corrected for d in ticked] == list(adjusted.values())
        for d in ticked:
            assert d.dagger == (not d.interval.low <= 0 <= d.interval.high)
            assert d.support.has_few_workers


def test_a_difference_of_shares_is_that_of_item_means(frame, found):
    kept = frame.kept
    for option in OPTIONS[:3]:
        means = [
            (kept[f"{system}.shortcomings.{option}"] == "selected").groupby(kept["item_id"]).mean()
            for system in ("model", "ground_truth")
        ]
        assert found.difference("model", f"shortcomings.{option}").mean == pytest.approx(
            (means[0] - means[1]).mean()
        )


def test_a_share_has_the_interval_of_its_mean(frame):
    (criterion,) = [c for c in make_report(frame).summary.kept.system("model").criteria if c.is_checklist]
    for share in criterion.shares:
        assert share.interval.low < share.share < share.interval.high
        assert share.interval.low >= 0


def test_the_report_tells_counts_tests_and_the_family(frame):
    report = make_report(frame)
    told = report.as_data()["choices"]
    assert told["family"] == FAMILIES
    kept = told["kept"]["preferred"]["model"]
    assert (kept["wins"], kept["ties"], kept["losses"], kept["dagger"]) == (164, 134, 195, False)
    assert kept["interval"]["few_workers"] is True
    assert list(told["filtered"]["ticked"]["model"]) == [f"shortcomings.{name}" for name in OPTIONS]
    text = report_text(report)
    assert "164 won, 134 tied, 195 lost; win rate 46.9% with ties half, 45.7% without (95 %: " in text
    assert FAMILIES in text


def test_the_table_has_a_line_for_each_option_and_preference(frame):
    stream = io.StringIO(newline="")
    write_table(frame, stream)
    lines = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert [line["criterion"] for line in lines] == [
        "justifies", "justifies", *[f"shortcomings.{name}" for name in OPTIONS] * 2, "preference",
    ]  # fmt: skip
    assert {key: lines[-1][key] for key in ("n", "n_won", "n_tied", "n_lost", "workers", "few_workers")} == {
        "n": "493", "n_won": "164", "n_tied": "134", "n_lost": "195", "workers": "14", "few_workers": "True",
    }  # fmt: skip
    assert lines[0]["n_yes"] == "347"


def test_where_nothing_is_ticked_or_preferred_nothing_is_told(frame):
    assert choices(frame, against="") == Choices()
