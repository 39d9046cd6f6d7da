"""Error profiles of systems, and how far people mark alike."""

import json
from collections import Counter
from typing import Any

import pandas as pd
import pytest
from scipy import stats

from surveys.protocols.documents import read
from surveys.results.files.frame_layouts import result_writers
from surveys.results.files.report import make_report
from surveys.results.frames.base import Frame, build_frame, column, score_maps, scored
from surveys.results.statistics.spans import error_profiles
from tests.surveys.protocols.test_spans import DOCUMENT

TEXT = "one two six ten"  # 15 characters, 4 words


def mark(words: str, severity: str, category: str = "grammar") -> dict[str, Any]:
    start = TEXT.index(words)
    return {
        "start": start,
        "end": start + len(words),
        "text": words,
        "severity": severity,
        "category": category,
    }


Row = tuple[str, str | None, list[dict[str, Any]]]


def frame(*rows: Row) -> Frame:
    """Return answers: the item, the worker, what they marked in its text."""
    n = len(rows)
    return build_frame(
        definition=read(DOCUMENT, name="marked.yaml"),
        systems=("m",),
        responses={
            "study": ["s"] * n, "batch": ["b"] * n, "hit_id": ["h"] * n, "position": [1] * n,
            "assignment_id": [f"a{k}" for k in range(n)], "worker": [worker for _, worker, _ in rows],
            "item_id": [item for item, _, _ in rows], "is_skipped": [False] * n, "status": ["Approved"] * n,
            "included": [True] * n, "is_repeat": [False] * n,
        },
        outputs={
            column("m", "text"): [TEXT] * n,
            column("m", "errors"): [json.dumps(marks) for _, _, marks in rows],
        },
    )  # fmt: skip


def test_a_mark_that_is_none_of_the_scale_is_no_blank() -> None:
    by = score_maps(read(DOCUMENT, name="marked.yaml"))["errors"]
    known = json.dumps([mark("one", "minor")])
    assert scored(pd.Series([known, None], dtype="str"), by=by).fillna(9).tolist() == [-1.0, 9.0]
    with pytest.raises(KeyError, match="critical"):
        scored(pd.Series([known, json.dumps([mark("two", "critical")])], dtype="str"), by=by)


def test_what_marks_cost_and_where_they_are() -> None:
    found = frame(
        ("i", "v", [mark("one", "minor"), mark("two", "major")]),
        ("i", "w", [mark("two", "major")]),
        ("j", "v", [mark("ten", "minor", "omission")]),
        ("j", "w", []),
    )
    (profile,) = error_profiles(found)
    assert (profile.answers, profile.marks, profile.cost, profile.cost_per_100) == (4, 4, 3.0, 75.0)
    assert [(k.category, k.severity, k.marks, k.per_answer) for k in profile.kinds] == [
        ("omission", "minor", 1, 0.25),
        ("grammar", "minor", 1, 0.25),
        ("grammar", "major", 2, 0.5),
    ]
    per_answer, per_100 = profile.interval, profile.interval_per_100
    assert per_answer is not None
    assert per_100 is not None
    # every text has 4 words, so that the ratio is 25 times the mean and its interval too
    assert (per_100.low, per_100.high) == pytest.approx((25 * per_answer.low, 25 * per_answer.high))


@pytest.mark.parametrize(
    ("ours", "theirs", "f1"),
    [
        ([], [], 1.0),
        ([mark("one", "minor")], [], 0.0),
        ([mark("one", "minor")], [mark("one", "minor", "omission")], 1.0),
        ([mark("one", "minor")], [mark("one", "major")], 0.5),
        ([mark("one two", "minor")], [mark("two", "minor")], 2 * 3 / (7 + 3)),
        ([mark("one two", "minor"), mark("two", "major")], [mark("two", "major")], 2 * 3 / (7 + 3)),
        ([{"severity": "major", "category": "grammar"}], [mark("ten", "major")], 2 * 3 / (15 + 3)),
    ],
)
def test_two_people_mark_so_far_alike(ours: Any, theirs: Any, f1: float) -> None:
    (profile,) = error_profiles(frame(("i", "v", ours), ("i", "w", theirs)))
    assert (profile.agreement.pairs, profile.agreement.f1) == (1, pytest.approx(f1))


def some_marked() -> list[Row]:
    """Four people, three of them on each of twelve items; the last marks one thing more than the others do."""
    words = ["one", "two", "six", "ten"]
    return [
        (item, worker, [mark(word, "minor") for word in words[: 1 + n % 3 + (k == 3)]])
        for n, item in enumerate("ijklmnopqrst")
        for k, worker in enumerate("uvwx")
        if k != n % 4
    ]


@pytest.mark.parametrize("unknown", ["", "uw"])
def test_the_interval_of_f1_leaves_out_each_item_each_person_and_each_on_an_item(unknown: str) -> None:
    """By hand, with everything computed anew: who is left out takes all the pairs they are in with them.

    Of whom nobody knows, all are one person, who is paired with themselves too.
    """
    rows: list[Row] = [
        (item, None if worker and worker in unknown else worker, marks)
        for item, worker, marks in some_marked()
    ]

    def f1(left_out: Any) -> float:
        (profile,) = error_profiles(frame(*(row for row in rows if not left_out(row))))
        assert profile.agreement.f1 is not None
        return profile.agreement.f1

    whole = f1(lambda row: False)
    variances = []
    for parts in (slice(0, 1), slice(1, 2), slice(0, 2)):
        units = {row[parts] for row in rows}
        shifts = [f1(lambda row, unit=unit, parts=parts: row[parts] == unit) - whole for unit in units]
        variances.append((len(units) - 1) / len(units) * sum(shift**2 for shift in shifts))
    items, people, both = variances
    answers = Counter(worker for _, worker, _ in rows).values()
    effective = sum(answers) ** 2 / sum(n**2 for n in answers)  # Kish's, of what each has marked
    reach = stats.t.ppf(0.975, effective - 1) * max(items, people, items + people - both) ** 0.5

    (profile,) = error_profiles(frame(*rows))
    interval = profile.agreement.f1_interval
    assert interval is not None
    assert interval.support.effective == pytest.approx(effective)
    assert (interval.low, interval.high) == pytest.approx((whole - reach, min(whole + reach, 1)))
    assert people > 2 * items
    assert interval.low > 0  # else nothing above would be told by it


def test_two_texts_are_enough_for_an_interval_of_f1_and_one_is_not() -> None:
    rows = [row for row in some_marked() if row[0] in "ij"]
    (two,), (one,) = error_profiles(frame(*rows)), error_profiles(frame(*rows[:3]))
    found = two.agreement.f1_interval
    assert (two.agreement.pairs, found and found.support.items) == (6, 2)
    assert (one.agreement.pairs, one.agreement.f1_interval) == (3, None)


def test_one_who_is_not_known_leaves_the_others_apart() -> None:
    """Whose marks nobody knows of are one more person's, and the interval is not that of items alone."""
    rows = some_marked()
    unknown: list[Any] = [(rows[0][0], None, rows[0][2]), *rows[1:]]
    nobody: list[Any] = [(item, None, marks) for item, _, marks in rows]
    known, some, none = (error_profiles(frame(*each))[0].agreement for each in (rows, unknown, nobody))
    assert known.f1 == some.f1 == none.f1
    workers = [one.f1_interval and one.f1_interval.support.workers for one in (known, some, none)]
    assert workers == [4, 5, 0]


def test_no_interval_holds_fewer_than_no_errors() -> None:
    rows = [("i", "v", [mark("two", "major")]), *((item, "w", []) for item in "ijkl"), ("j", "v", [])]
    (profile,) = error_profiles(frame(*rows))
    (kind,) = profile.kinds
    found = (profile.interval, profile.interval_per_100, kind.interval)
    assert [interval.low for interval in found if interval] == [0.0, 0.0, 0.0]
    assert (kind.category_label, kind.severity_label) == ("Fluency/Grammar", "Major")


def test_alpha_is_one_where_all_marked_the_same_and_less_than_chance_where_none_did() -> None:
    same = [mark("one", "minor"), mark("six", "major")]
    (alike,) = error_profiles(frame(("i", "v", same), ("i", "w", same)))
    (apart,) = error_profiles(frame(("i", "v", same[:1]), ("i", "w", same[1:])))
    assert alike.agreement.alpha == 1.0
    assert apart.agreement.alpha is not None
    assert apart.agreement.alpha < 0


def test_the_summary_and_the_table_have_them() -> None:
    found = frame(("i", "v", [mark("two", "major")]), ("i", "w", []), ("j", "v", []), ("j", "w", []))
    data = make_report(found).as_data()
    (errors,) = json.loads(json.dumps(data, allow_nan=False))["errors"]
    assert (errors["system"], errors["cost"], errors["agreement"]["pairs"]) == ("m", 1.25, 2)
    assert data["systems"]["m"]["criteria"]["errors"]["mean"] == -1.25
    assert "spans.csv" in result_writers(found)


def test_nothing_was_answered() -> None:
    (profile,) = error_profiles(frame())
    assert (profile.answers, profile.cost, profile.cost_per_100, profile.agreement.pairs) == (
        0,
        None,
        None,
        0,
    )
