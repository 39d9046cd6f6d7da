"""Systems beside each other: the VTT authors' table, and tests paired by item."""

import itertools
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from surveys.protocols.definition import FILE_GONE
from surveys.protocols.registry import get_definition
from surveys.results.files.report import make_report
from surveys.results.files.report_text import report_text
from surveys.results.files.table import results_table
from surveys.results.frames.annotations import read_annotations
from surveys.results.frames.base import column
from surveys.results.frames.sources import read_results
from surveys.results.statistics.comparison import (
    CLUSTERED,
    POOLED,
    UnknownSystemError,
    compare,
    corrected,
    pooled_p,
)
from surveys.results.statistics.inference import Ratings, holm
from tests.protocols import VQAX
from tests.surveys.results.raw_files import raw_file, read, row, task
from tests.surveys.results.score_lines import line, write_lines

VTT = get_definition("vtt")
SYSTEMS = ("cst", "ttnet_base", "ttnet")
KEYS = {"fluency": "fluency", "relevance": "relevance", "logical_consistency": "logical_soundness"}


@pytest.fixture(scope="module")
def files(shared):
    return [shared / "data" / "vtt" / f"{system}.jsonl" for system in SYSTEMS]


@pytest.fixture(scope="module")
def frame(files):
    return read_annotations(files, definition=VTT)


@pytest.fixture(scope="module")
def published(files):
    """The files once more, by pandas alone."""
    lines = [json.loads(text) for path in files for text in path.read_text().splitlines()]
    return pd.DataFrame(lines)


def study(tmp_path, lines):
    return read_annotations([write_lines(tmp_path / "study.jsonl", lines)], definition=VTT)


def shown(comparison):
    return {
        system: " ".join(f"{e.mean:.2f}{'†' if e.dagger else ''}" for e in of.values())
        for system, of in comparison.estimates.items()
    }


def test_the_authors_table(frame):
    comparison = compare(frame, method=POOLED)

    assert comparison.against == "ttnet"
    assert shown(comparison) == {
        "cst": "2.04† 3.16† 2.96†",
        "ttnet_base": "4.79 4.04 3.95†",
        "ttnet": "4.78 4.10 4.11",
    }
    assert {e.n for of in comparison.estimates.values() for e in of.values()} == {392}
    assert round(comparison.estimates["ttnet_base"]["logical_consistency"].p, 4) == 0.0462
    assert [e.p for e in comparison.estimates["ttnet"].values()] == [None] * 3


def test_the_authors_table_recomputed(frame, published):
    comparison = compare(frame, method=POOLED)

    best = published[published["exp"] == "ttnet"]
    for system in SYSTEMS:
        rows = published[published["exp"] == system]
        for key, name in KEYS.items():
            found = comparison.estimates[system][key]
            assert found.mean == pytest.approx(rows[name].mean(), abs=1e-12)
            assert found.sd == pytest.approx(rows[name].std(), abs=1e-12)
            if system != "ttnet":
                assert found.p == pytest.approx(stats.ttest_ind(best[name], rows[name]).pvalue, rel=1e-9)


def test_tests_by_item_recomputed(frame, published):
    comparison = compare(frame)

    means = published.pivot_table(index="index", columns="exp", values=list(KEYS.values()))
    p = {
        (system, key): stats.ttest_rel(means[name][system], means[name]["ttnet"]).pvalue
        for system in ("cst", "ttnet_base")
        for key, name in KEYS.items()
    }
    assert comparison.method is CLUSTERED
    assert {(d.system, d.criterion): d.items for d in comparison.differences} == dict.fromkeys(p, 196)
    assert {(d.system, d.criterion): d.p for d in comparison.differences} == pytest.approx(p, rel=1e-9)
    ordered = sorted(p.values())
    assert comparison.estimates["ttnet_base"]["logical_consistency"].p == pytest.approx(ordered[3] * 3)
    assert shown(comparison)["ttnet_base"] == "4.79 4.04 3.95"
    assert shown(comparison)["cst"] == "2.04† 3.16† 2.96†"


def test_a_skip_is_a_missing_value_and_minus_one_only_for_the_authors(tmp_path):
    frame = study(tmp_path, [line(1, "a", (5, 4, 3)), line(2, "a", (3, 4, 5)), line(3, "a", None)])

    ours, theirs = (compare(frame, method=m).estimates["a"]["fluency"] for m in (CLUSTERED, POOLED))
    assert (ours.mean, ours.n, ours.skipped) == (4.0, 2, 1)
    assert ours.sd == math.sqrt(2)
    assert (theirs.mean, theirs.n, theirs.skipped) == (7 / 3, 3, 1)


def test_what_could_not_be_seen_is_no_skip_of_the_authors(tmp_path):
    """Their -1 is for reasons of their own; a file that was gone is nobody's judgement."""
    frame = study(
        tmp_path, [line(1, "a", (5, 4, 3)), line(2, "a", None), line(3, "a", None, skip_reason=FILE_GONE)]
    )
    found = compare(frame, method=POOLED).estimates["a"]["fluency"]
    assert (found.mean, found.n, found.skipped) == ((5 - 1) / 2, 2, 1)


def test_only_items_both_were_rated_on_are_paired(tmp_path):
    lines = [line(n, "a", (5, 5, 5)) for n in (1, 2, 3)]
    lines += [
        line(1, "b", (4, 4, 4)),
        line(1, "b", (2, 4, 4)),
        line(2, "b", (3, 5, 5)),
        line(4, "b", (1, 1, 1)),
    ]
    lines += [line(3, "b", None)]

    comparison = compare(study(tmp_path, lines))
    (fluency, relevance, _) = comparison.differences
    assert comparison.against == "a"
    assert (fluency.system, fluency.mean, fluency.items) == ("b", -2.0, 2)
    assert (relevance.mean, relevance.items) == (-0.5, 2)


def test_differences_that_are_all_the_same_tell_nothing_of_their_spread(tmp_path):
    lines = [line(n, s, (x, x, 3 + n % 2)) for n in (1, 2, 3) for s, x in (("a", 5), ("b", 4))]

    comparison = compare(study(tmp_path, lines))
    assert [(d.mean, d.p) for d in comparison.differences] == [(-1.0, None), (-1.0, None), (0.0, None)]
    assert [d.interval for d in comparison.differences] == [None] * 3
    assert {d.untested for d in comparison.differences} == {
        "not tested, 3 shared items: all items say the same"
    }
    assert not any(e.dagger for e in comparison.estimates["b"].values())


def test_of_one_worker_nothing_is_said_but_the_difference_on_a_single_item():
    def side(values):
        return Ratings(np.array(values), np.arange(len(values)), np.zeros(len(values), "intp"))

    found = {
        n: corrected({("b", "fluency"): (side([5.0, 1.0][:n]), side([2.0, 2.0][:n]))})[0] for n in (1, 2)
    }
    assert [(found[n].mean, found[n].items, found[n].p) for n in (1, 2)] == [(3.0, 1, None), (None, 2, None)]
    assert found[1].untested == "not tested, 1 shared item"
    assert found[2].untested == "not tested, 2 shared items: it rests on one person"
    two = Ratings(np.array([5.0, 4.0, 1.0]), np.array([0, 1, 1]), np.array([0, 0, 1]))
    (rests,) = corrected({("b", "fluency"): (two, side([1.0, 2.0]))})
    assert (rests.p, rests.untested) == (None, "not tested, 2 shared items: it rests on one person")


def test_the_probability_to_be_rated_higher_stays_one():
    """Five items of six are one way round: the plain interval would go beyond 1."""
    ours, theirs = np.array([5.0, 5.0, 5.0, 5.0, 5.0, 2.0]), np.array([1.0, 2.0, 1.0, 3.0, 1.0, 3.0])
    sides = [Ratings(side, np.arange(6), None) for side in (ours, theirs)]
    (found,) = corrected({("b", "fluency"): (sides[0], sides[1])})
    assert found.superiority == pytest.approx(5 / 6)
    assert 0 < found.superiority_interval.low < 5 / 6 < found.superiority_interval.high < 1


def test_systems_without_items_in_common_are_not_tested(tmp_path):
    lines = [line(n, "a", (5, 5, 5)) for n in (1, 2)] + [line(n, "b", (1, 2, 3)) for n in (3, 4)]

    comparison = compare(study(tmp_path, lines))
    assert [(d.mean, d.items, d.p, d.interval) for d in comparison.differences] == [(None, 0, None, None)] * 3
    assert not any(e.dagger for of in comparison.estimates.values() for e in of.values())


def test_systems_without_items_in_common_are_loudly_not_comparable(tmp_path):
    """`id` here, `index` there, as in published files: the truths are equal, the names of the items are not."""
    truths = [["boil water", f"cook {n}"] for n in range(5)]
    lines = [line(n, "a", (5, 5 - n % 2, 5), label=truths[n]) for n in range(5)]
    lines += [line(n + 100, "b", (1 + n % 2, 4, 3), label=truths[n]) for n in range(1, 5)]

    frame = study(tmp_path, lines)
    (found,) = compare(frame).strangers
    assert (found.system, found.against, found.items, found.items_against, found.equal_texts) == (
        "b",
        "a",
        4,
        5,
        4,
    )
    assert found.reason.startswith(
        "Not comparable item by item: b has 4 items, a 5, and they share none. 4 texts are"
    )
    unpaired = compare(frame).difference("b", "relevance").unpaired
    assert unpaired.p == stats.ttest_ind([4] * 4, [5, 4, 5, 4, 5], equal_var=False).pvalue
    text = report_text(make_report(frame))
    assert f"!! {found.reason}" in text
    assert "relevance not tested, 0 shared items; as two samples, not corrected: -0.6 (" in text
    assert make_report(frame).as_data()["comparison"]["not_comparable"][0]["equal_texts"] == 4


def test_systems_that_share_items_are_no_strangers(frame):
    assert compare(frame).strangers == ()


def test_the_best_leads_on_most_criteria_and_the_headline_decides_between_equals(tmp_path):
    assert VTT.headline == "relevance"
    two_of_three = [line(1, "a", (5, 1, 1)), line(1, "b", (4, 2, 2))]
    one_each = [line(1, "a", (5, 1, 3)), line(1, "b", (4, 2, 3))]

    assert compare(study(tmp_path, two_of_three)).against == "b"
    assert compare(study(tmp_path, one_each)).against == "b"


XAI_KEYS = ("fluency", "clarity", "convincing", "reflecting_decision_process", "overall_quality")


def busy(tmp_path, *, workers):
    """A study in which 'good' is well above 'bad' on 40 items, each rated by two of `workers`."""
    rows = [",".join(("assignment_id", "worker_id", "item_id", "system", *XAI_KEYS))]
    for n, system in itertools.product(range(80), ("good", "bad")):
        score = (4 + n % 2 if system == "good" else 1 + (n + n // 7) % 3) if n % 9 else 3
        rows.append(f"{n}{system},w{n % workers},i{n // 2},{system}" + f",{score}" * 5)
    path = tmp_path / "study.csv"
    path.write_text("\n".join(rows) + "\n")
    return read_results([path], definition=get_definition("xai"))


def test_a_dagger_that_rests_on_few_workers_says_so_beside_it(tmp_path):
    frame = busy(tmp_path, workers=8)
    warning = "few workers: 8, as good as 8.0"

    text = report_text(make_report(frame)).splitlines()
    (line,) = [line for line in text if line.startswith("  bad") and " fluency " in line]
    assert "†" in line
    assert line.endswith(warning)
    (row,) = [line for line in text if line.startswith("bad ")]
    assert row.count("†") == row.count(warning) == 5
    table = results_table(frame)
    assert (
        table.loc[table["system"] == "bad", ["workers", "effective_workers", "few_workers"]]
        .to_numpy()
        .tolist()
        == [[8, 8.0, True]] * 5
    )
    assert "few workers" not in report_text(make_report(busy(tmp_path, workers=12)))


def test_the_text_tells_the_weakest_of_what_was_tested(tmp_path):
    """One criterion is rated by everybody, another by three people: the warning is for those."""
    frame = busy(tmp_path, workers=20)
    rows = frame.responses
    is_busy = rows["worker"].isin(sorted(rows["worker"].unique())[:3])
    for system in frame.systems:
        name = column(system, "overall_quality")
        rows[name] = rows[name].where(is_busy)

    last = report_text(make_report(frame)).split("How often one was rated higher is not tested.\n")[1]
    assert last.startswith(
        "The thinnest side of a comparison has 3 workers, as good as 3.0 equally busy ones;"
    )


def test_the_best_chosen_after_looking_is_told_from_one_that_was_planned(frame):
    after, planned = compare(frame), compare(frame, against="ttnet")
    assert (after.against, after.is_chosen, planned.is_chosen) == ("ttnet", True, False)
    assert after.caution.startswith("ttnet was chosen after looking, as the best: no planned comparison")
    assert planned.caution == ""
    assert after.caution in report_text(make_report(frame))
    assert make_report(frame).as_data()["comparison"]["chosen"] is True


def test_another_system_can_be_named(frame):
    comparison = compare(frame, against="cst", method=POOLED)

    assert comparison.against == "cst"
    assert comparison.estimates["cst"]["fluency"].p is None
    assert comparison.estimates["ttnet"]["fluency"].dagger is True


def test_a_system_nobody_rated(frame):
    with pytest.raises(UnknownSystemError) as caught:
        compare(frame, against="gpt")

    assert str(caught.value) == "There is no system 'gpt'; there is cst, ttnet_base, ttnet."


def test_a_reference_is_what_others_are_compared_with():
    comparison = compare(read(raw_file([row([task(1, ours="yes", gt="no")])]), definition=VQAX))

    assert comparison.against == "ground_truth"
    assert [(d.system, d.criterion, d.mean) for d in comparison.differences] == [("model", "justifies", 1.0)]


def test_holm():
    """Worked by hand: 4 * .01, then 3 * .02, then 2 * .02 held up by the one before, then .5."""
    given = {("a", "x"): 0.5, ("a", "y"): 0.02, ("b", "x"): 0.01, ("b", "y"): 0.02, ("c", "x"): None}

    assert holm(given) == {
        ("a", "x"): 0.5, ("a", "y"): 0.06, ("b", "x"): 0.04, ("b", "y"): 0.06, ("c", "x"): None,
    }  # fmt: skip
    assert holm({("a", "x"): 0.9, ("a", "y"): 0.8}) == {("a", "x"): 1.0, ("a", "y"): 1.0}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [([1, 2, 3], [2, 4, 6, 8]), ([5, 5, 5, 4], [1, 1, 2]), ([1, 1], [1, 1]), ([2, 2], [1, 1]), ([1], [1, 2])],
)
def test_student_beside_scipy(ours, theirs):
    ours, theirs = pd.Series(ours, dtype="float64"), pd.Series(theirs, dtype="float64")

    expected = stats.ttest_ind(ours, theirs).pvalue
    assert pooled_p(ours, theirs) == (None if math.isnan(expected) else pytest.approx(expected, rel=1e-9))
