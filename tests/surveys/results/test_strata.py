"""Criteria by themselves: their spread, their good share, and both by whether the model was right."""

import csv
import io
import json

import pytest

from surveys.protocols.registry import get_definition
from surveys.results.files.frame_layouts import FRAME_LAYOUTS
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from surveys.results.statistics.numbers import Share
from surveys.results.statistics.summary import summarise
from tests.surveys.results.rated import Rated, rated_batch

pytestmark = pytest.mark.django_db

KEYS = ("fluency", "clarity", "convincing", "reflecting_decision_process", "overall_quality")


def xai(subject, system, worker, values, **fields):
    return Rated(subject, system, worker, dict(zip(KEYS, values, strict=True)), **fields)


def study():
    """Two systems; `a` is right on i1 and wrong on i2, of `b` nobody knows about i1. One rating was rejected."""
    rows = [
        xai("i1", "a", "ann", "54211"),
        xai("i1", "a", "bob", "54213"),
        xai("i2", "a", "ann", "44211"),
        xai("i1", "b", "ann", "11111"),
        xai("i2", "b", "bob", "55555"),
        xai("i3", "b", "bob", "55555", status="Rejected"),
    ]
    right = {"i1/a": True, "i2/a": False, "i1/b": None, "i2/b": True, "i3/b": True}
    return read_batch(rated_batch(rows, definition=get_definition("xai"), model_correct=right))


def means(selection, key):
    return {system.system: system.criterion(key).score.rating_mean for system in selection.systems}


def test_each_stratum_holds_each_systems_own_outputs():
    true, false, unknown = summarise(study()).strata

    assert [s.name for s in (true, false, unknown)] == ["true", "false", "unknown"]
    assert [s.responses for s in (true, false, unknown)] == [3, 1, 1]
    assert means(true, "fluency") == {"a": 5.0, "b": 5.0}
    assert means(false, "fluency") == {"a": 4.0, "b": None}
    assert means(unknown, "fluency") == {"a": None, "b": 1.0}
    assert means(true, "overall_quality") == {"a": 2.0, "b": 5.0}


def test_a_criterion_has_its_spread_and_its_good_share():
    found = summarise(study()).kept.system("a").criterion("fluency")

    assert {share.key: share.count for share in found.shares} == {
        "1": 0, "2": 0, "3": 0, "4": 1, "5": 2, "blank": 0,
    }  # fmt: skip
    assert found.good == Share("good", "4 or more", 3, 3)
    assert found.score.sd == pytest.approx(0.5773502691896257)
    # Two workers: nearly anything on the scale.
    assert (found.interval.low, found.interval.high) == (
        pytest.approx(1.0892, abs=1e-4),
        pytest.approx(4.9992, abs=1e-4),
    )


def test_strata_in_the_summary_have_all_beside_them():
    data = make_report(study()).as_data()

    assert list(data["strata"]) == ["all", "true", "false", "unknown"]
    assert data["strata"]["all"]["systems"] == data["selections"]["kept"]["systems"]


def test_where_nobody_knows_there_are_no_strata():
    rows = [xai("i1", "a", "ann", "54211")]
    frame = read_batch(rated_batch(rows, definition=get_definition("xai")))

    assert summarise(frame).strata == ()
    assert make_report(frame).as_data()["strata"] == {}


def table(frame):
    stream = io.StringIO(newline="")
    FRAME_LAYOUTS["table"].write(frame, stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue())))


def test_the_table_has_a_line_per_system_criterion_and_stratum():
    """Three fours, two of them by one person: 9/5 effective workers, and others may be 1 - .05^(5/9) = .8107."""
    lines = table(study())

    assert len(lines) == 2 * 5 * 4
    assert {line["criterion"] for line in lines} == set(KEYS)
    (line,) = [
        x for x in lines if (x["system"], x["criterion"], x["model_correct"]) == ("a", "clarity", "all")
    ]
    assert (float(line["low"]), float(line["high"])) == pytest.approx((4 - 3 * 0.8107, 4 + 0.8107), abs=1e-4)
    assert line == {
        "system": "a", "criterion": "clarity", "model_correct": "all", "n": "3", "skipped": "0", "mean": "4.0",
        "sd": "0.0", "low": line["low"], "high": line["high"], "good": "3", "good_share": "1.0", "against": "b",
        "p": "", "dagger": "False", "shared_items": "2", "level": "", "difference": "1.0", "difference_low": "",
        "difference_high": "", "standardised": "0.6123724356957945", "standardised_low": "", "standardised_high": "",
        "superiority": "0.5", "superiority_low": "", "superiority_high": "",
        "workers": "", "effective_workers": "", "busiest_three": "", "few_workers": "",
        "n_1": "0", "n_2": "0", "n_3": "0", "n_4": "3", "n_5": "0",
    }  # fmt: skip


def numbers_in(data):
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return [number for part in data for number in numbers_in(part)]
    return [data] if isinstance(data, float) else []


def test_nowhere_is_an_average_over_the_criteria():
    """The five means of `a` are 14/3, 4, 2, 1 and 5/3; their mean is 8/3, their sum 40/3."""
    rows = [xai("i1", "a", "ann", "54211"), xai("i1", "a", "bob", "54213"), xai("i2", "a", "ann", "44211")]
    frame = read_batch(rated_batch(rows, definition=get_definition("xai")))
    summary = make_report(frame).as_data()

    forbidden = {round(8 / 3, 9), round(40 / 3, 9)}
    found = numbers_in(json.loads(json.dumps(summary)))
    assert round(14 / 3, 9) in {round(number, 9) for number in found}
    assert forbidden.isdisjoint(round(number, 9) for number in found)
    cells = [cell for line in table(frame) for cell in line.values()]
    assert forbidden.isdisjoint(round(float(cell), 9) for cell in cells if cell.replace(".", "", 1).isdigit())
    assert set(summary["systems"]["a"]) == {"role", "criteria"}
    assert set(summary["systems"]["a"]["criteria"]) == set(KEYS)


def test_agreement_is_told_criterion_by_criterion():
    agreement = make_report(study()).as_data()["agreement"]["a"]

    assert set(agreement) == set(KEYS)
    assert {key: (x["percent"], x["items"], x["ratings"]) for key, x in agreement.items()} == {
        **dict.fromkeys(KEYS, (1.0, 1, 2)),
        "overall_quality": (0.0, 1, 2),
    }


def test_a_reason_the_survey_type_does_not_list_comes_last_by_itself() -> None:
    reasons = ["blurred", "other", "blurred"]
    rows = [Rated(f"s{n}", "a", f"w{n}", {}, skip_reason=reason) for n, reason in enumerate(reasons)]
    rows += [Rated("s3", "a", "w3", {"clarity": "5", "trust": "5"})]
    (found,) = summarise(read_batch(rated_batch(rows))).kept.systems
    assert found.reasons == (
        Share("too_dark", "Too dark", 0, 3),
        Share("other", "Other", 1, 3),
        Share("blurred", "blurred", 2, 3),
    )
