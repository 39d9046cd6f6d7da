"""Where there is little or nothing to compute: the numbers at the edges, worked by hand."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from surveys.protocols.criteria import Choice, Spans
from surveys.protocols.preferences import WAYS
from surveys.protocols.spans import Mark
from surveys.results.statistics import (
    comparison,
    correlation,
    davidson,
    inference,
    numbers,
    planning,
    spans,
    strengths,
    summary,
    worker_quality,
)
from surveys.results.statistics.agreement import (
    _ac2,
    _alpha,
    _bounded,
    _sums_of,
    agreement,
    count_table,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
    within_raters,
)
from surveys.results.statistics.choices import _of_pair
from surveys.results.statistics.comparison import CLUSTERED, POOLED, _counted, _mean, _spread, corrected
from surveys.results.statistics.correlation import (
    _coefficient,
    _drawn,
    _ratio,
    _signs,
    _Systems,
    _weighted_ranks,
)
from surveys.results.statistics.criteria import _good, _score, coded, interval_of
from surveys.results.statistics.inference import (
    Effect,
    Interval,
    Ratings,
    Support,
    _jackknife,
    _welch,
    effect_of,
    freedom_of,
    level_of,
    mean_effect,
    support_of,
    unanimous_interval,
)
from surveys.results.statistics.metrics import MetricMean, _means
from surveys.results.statistics.numbers import Minutes, PairedDifference, Share, TaskScores
from surveys.results.statistics.spans import _agreement, _f1, _levels
from surveys.results.statistics.strengths import WinRate, _can_part, _of_winners, _ranks, _turned
from surveys.results.statistics.summary import (
    _counts,
    _difference,
    _minutes,
    _reasons,
    _stratum,
    _task_scores,
)

SURE = Support(items=10, workers=4, effective=3.0, busiest=0.9)


@pytest.mark.parametrize(
    ("whole", "task", "right", "s_t"),
    [
        (0.7, 0.5, 1, 0.7),
        (0.7, 1.0, 2, 0.7),
        (0.0, 0.5, 1, 0.0),
        (None, 0.5, 1, 0.5),
        (None, 1.0, 2, None),
        (None, None, 0, None),
    ],
)
def test_the_task_score_is_what_was_entered_else_what_the_items_can_tell(whole, task, right, s_t) -> None:
    found = TaskScores(task=task, items_right=right, items=2, explanation=0.8, whole=whole)
    assert (found.s_t, found.s_o) == (s_t, None if s_t is None else s_t * 0.8)
    assert found.overall == (None if task is None else task * 0.8)
    assert found.is_by_construction == (right == 2)


def test_scores_of_no_items_and_of_no_explanation_are_none() -> None:
    nothing = TaskScores(task=None, items_right=0, items=0, explanation=0.8)
    assert (nothing.is_by_construction, nothing.overall, nothing.s_o) == (False, None, None)
    silent = TaskScores(task=0.5, items_right=1, items=2, explanation=None)
    assert (silent.overall, silent.s_t, silent.s_o) == (None, 0.5, None)


def test_a_share_of_nothing_is_none_and_of_one_is_whole() -> None:
    assert [Share("a", "A", n, total).share for n, total in ((0, 0), (0, 1), (1, 1), (1, 4))] == [
        None,
        0.0,
        1.0,
        0.25,
    ]


def rows(*of_assignments: tuple[str, bool, str, int, bool, float | None]) -> pd.DataFrame:
    """One row an item: assignment, whether included, status, how many items, whether skipped, seconds."""
    return pd.DataFrame(
        [
            {
                "assignment_id": name,
                "worker": f"w{name}",
                "included": included,
                "status": status,
                "hit_id": "h",
                "item_id": f"i{n}",
                "is_skipped": skipped,
                "work_seconds": seconds,
            }
            for name, included, status, n_items, skipped, seconds in of_assignments
            for n in range(n_items)
        ]
    )


def test_what_was_neither_kept_nor_rejected_was_left_out() -> None:
    found = _counts(
        rows(
            ("a", True, "Approved", 3, False, 60.0),
            ("b", True, "Submitted", 3, True, 60.0),
            ("c", False, "Rejected", 2, False, 60.0),
            ("d", False, "Approved", 1, False, 60.0),
        )
    )
    assert found == numbers.Counts(
        assignments=4, kept=2, rejected=1, hits=1, items=3, workers=4, responses=9, skipped=3, left_out=1
    )


def test_minutes_are_those_of_assignments_that_were_measured() -> None:
    measured = rows(
        ("a", True, "Approved", 3, False, 60.0),
        ("b", True, "Approved", 1, False, 120.0),
        ("c", True, "Approved", 1, False, 600.0),
        ("d", True, "Approved", 1, False, None),
    )
    assert _minutes(measured) == Minutes(13 / 3, 2.0, 3)
    assert _minutes(measured[measured["assignment_id"] == "d"]) == Minutes(None, None, 0)


def test_a_mean_by_rating_and_by_item() -> None:
    scores, items = pd.Series([1.0, 2.0, 6.0, None]), pd.Series(["a", "a", "b", "b"])
    found = _score(scores, items)
    assert (found.rating_mean, found.item_mean, found.ratings, found.items, found.blanks) == (
        3,
        3.75,
        3,
        2,
        1,
    )
    assert found.sd == pytest.approx(math.sqrt(7))
    one = _score(scores[:1], items[:1])
    assert (one.rating_mean, one.sd, one.ratings) == (1.0, None, 1)
    none = _score(scores[3:], items[3:])
    assert (none.rating_mean, none.item_mean, none.sd, none.ratings, none.items, none.blanks) == (
        None,
        None,
        None,
        0,
        0,
        1,
    )


def test_good_is_from_the_limit_on() -> None:
    scores = pd.Series([3.0, 3.9, 4.0, 4.1, None])
    assert _good(scores, at_least=4.0) == Share("good", "4 or more", 2, 4)
    assert _good(scores, at_least=None) is None


def test_degrees_of_freedom_are_those_of_the_fewer_and_one_at_least() -> None:
    found = [
        freedom_of(Support(items, workers, effective))
        for items, workers, effective in ((10, 4, 3.0), (3, 9, 8.5), (9, 0, None), (2, 2, 1.2), (1, 0, None))
    ]
    assert found == [2.0, 2.0, 8.0, 1.0, 1.0]


def test_few_workers_are_below_ten_as_it_is_printed() -> None:
    found = [Support(50, 20, effective).has_few_workers for effective in (9.94, 9.96, 10.0, None)]
    assert found == [True, False, False, False]
    assert Support(50, 12, 9.94).warning == "few workers: 12, as good as 9.9"
    assert Support(50, 12, 10.0).warning == ""


def test_what_ratings_rest_on() -> None:
    assert support_of(7, None) == Support(7, 0)
    codes = np.array([0] * 4 + [1] * 3 + [3] * 2 + [5])
    assert support_of(7, codes) == Support(7, 4, 100 / 30, 0.9)


def test_welchs_degrees_of_freedom() -> None:
    assert _welch([1.0, 1.0], [3, 5]) == pytest.approx(4 / (1 / 2 + 1 / 4))
    assert _welch([0.0, 0.0], [3, 5]) == 2.0
    assert _welch([0.0, 0.0], [5, 4]) == 3.0


def test_the_jackknife_by_hand() -> None:
    assert _jackknife(np.array([1.0, -1.0, 2.0])) == pytest.approx(2 / 3 * 6)
    assert _jackknife(np.array([])) == 0.0


def test_an_effect_is_as_sure_as_its_items_workers_and_cells() -> None:
    shifts = [np.array([1.0, -1.0]), np.array([2.0, -2.0]), np.array([0.5, -0.5])]
    assert effect_of(3.0, shifts, SURE).error == pytest.approx(math.sqrt(1 + 4 - 0.25))
    never_less = [np.array([1.0, -1.0]), np.array([0.1, -0.1]), np.array([3.0, -3.0])]
    assert effect_of(3.0, never_less, SURE).error == 1.0
    assert effect_of(3.0, [never_less[1], never_less[0], never_less[2]], SURE).error == 1.0
    assert effect_of(3.0, [np.array([math.inf, 1.0])], SURE).error is None
    assert effect_of(3.0, [np.array([0.0, 0.0])], SURE).error is None
    assert effect_of(3.0, [np.array([1.0, -1.0])], SURE).error == 1.0


def test_the_level_of_a_step_of_holms() -> None:
    assert (level_of(0.01, 0.04), level_of(0.0, 0.0)) == (0.0125, 0.05)


def test_an_interval_is_cut_and_divided() -> None:
    found = Interval(-0.5, 1.5, SURE, level=0.9)
    assert found.within(0.0, 1.0) == Interval(0.0, 1.0, SURE, level=0.9)
    assert found.within(-1.0, 2.0) == found
    assert found.divided(2.0) == Interval(-0.25, 0.75, SURE, level=0.9)


def test_agreement_of_nothing_and_of_a_few() -> None:
    two_of_three = np.array([[2.0, 1.0], [0.0, 2.0], [1.0, 0.0]])
    assert percent_agreement(two_of_three) == pytest.approx((1 / 3 + 1) / 2)
    assert percent_agreement(np.array([[1.0, 0.0]])) is None
    assert krippendorff_alpha(np.array([[1.0, 0.0], [0.0, 1.0]])) is None
    assert krippendorff_alpha(np.array([[2.0, 0.0], [2.0, 0.0]])) is None
    assert krippendorff_alpha(np.array([[2.0, 0.0], [0.0, 2.0]])) == 1.0
    assert gwet_ac2(np.array([[1.0, 0.0]])) is None
    assert gwet_ac2(np.array([[2.0, 0.0], [0.0, 2.0]])) == 1.0


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_two_values_are_as_far_apart_at_every_level(level) -> None:
    """Krippendorff's (2011) formula for binary data, 1 - (n - 1) o_01 / (n_0 n_1)."""
    counts = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0], [2.0, 0.0]])
    assert krippendorff_alpha(counts, level=level) == pytest.approx(1 - 7 * 1 / (5 * 3))


def test_ranks_in_the_middle_of_equals() -> None:
    weights = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 2.0, 1.0, 1.0]])
    assert _weighted_ranks(np.array([3.0, 1.0, 1.0, 2.0]), weights).tolist() == [
        [4.0, 1.5, 1.5, 3.0],
        [4.5, 2.0, 2.0, 4.0],
    ]


def test_signs_and_ratios() -> None:
    assert _signs(np.array([1.0, 3.0])).tolist() == [[0.0, -1.0], [1.0, 0.0]]
    found = _ratio(np.array([1.0, 1.0, 0.0]), np.array([4.0, 0.0, 1e-18]))
    assert found[0] == 0.5
    assert np.isnan(found[1:]).all()


def test_bounds_need_nearly_all_resamples() -> None:
    known = np.linspace(0.0, 1.0, 95)
    found = _coefficient(0.5, np.concatenate([known, [math.nan] * 5]))
    assert (found.low, found.high) == pytest.approx((0.025, 0.975))
    open_ones = _coefficient(0.5, np.concatenate([known[1:], [math.nan] * 6]))
    assert (open_ones.value, open_ones.low, open_ones.high) == (0.5, None, None)


def test_skips_count_for_the_authors_alone() -> None:
    scores = pd.Series([3.0, None, 1.0])
    assert _counted(scores, method=POOLED).tolist() == [-1.0, 1.0, 3.0]
    assert _counted(scores, method=CLUSTERED).tolist() == [1.0, 3.0]


def test_on_one_shared_item_only_the_difference_is_told() -> None:
    ours = Ratings(np.array([4.0, 2.0, 9.0]), np.array([1, 1, 2]), None)
    theirs = Ratings(np.array([1.0, 6.0]), np.array([1, 3]), None)
    assert _mean(ours, theirs, np.array([1])) == 2.0
    assert (_mean(ours, theirs, np.array([])), _mean(ours, theirs, np.array([1, 2]))) == (None, None)
    assert _spread(ours, theirs, np.array([1])) == pytest.approx(math.sqrt(2))
    assert _spread(theirs, theirs, np.array([1])) is None
    assert _spread(Ratings(np.ones(3), np.ones(3), None), theirs, np.array([1])) is None


def test_two_marked_so_far_alike() -> None:
    found = [
        _f1(np.array(ours), np.array(theirs))
        for ours, theirs in (([0, 0], [0, 0]), ([1, 1], [1, 2]), ([1, 0], [0, 1]), ([1, 1], [1, 0]))
    ]
    assert found == [1.0, 0.75, 0.0, pytest.approx(2 / 3)]


def test_means_of_a_metric_say_what_has_none() -> None:
    table = pd.DataFrame(
        [("a", "f1", 1.0, "2"), ("a", "f1", 0.5, "1"), ("a", "f1", None, "1"), ("b", "f1", None, "1")],
        columns=["system", "metric", "value", "version"],
    )
    assert _means(table) == [
        MetricMean("a", "f1", 0.75, 2, 1, "1, 2"),
        MetricMean("b", "f1", None, 0, 1, "1"),
    ]


def test_a_pair_seen_from_its_other_side() -> None:
    one = WinRate("a", "b", 3, 2, 1, Interval(0.25, 0.875, SURE), expected=0.625, corrected=0.01)
    assert _turned(one) == WinRate("b", "a", 1, 2, 3, Interval(0.125, 0.75, SURE), 0.375, 0.01)
    assert _turned(WinRate("a", "b", 0, 0, 0)) == WinRate("b", "a", 0, 0, 0)
    assert (one.n, one.rate, WinRate("a", "b", 0, 0, 0).rate) == (6, 4 / 6, None)


@pytest.mark.parametrize(
    ("rates", "systems", "words"),
    [
        ([WinRate("a", "b", 2, 0, 0)], "ab", "a was"),
        ([WinRate("a", "b", 0, 0, 2)], "ab", "b was"),
        (
            [WinRate("a", "b", 1, 0, 1), WinRate("a", "c", 1, 0, 0), WinRate("b", "c", 1, 0, 0)],
            "abc",
            "a, b were",
        ),
    ],
)
def test_who_was_never_beaten_by_the_others(rates, systems, words) -> None:
    told = f"No finite strengths: {words} preferred in every comparison with the others."
    assert _of_winners(rates, systems) == told


def test_heights_that_can_be_apart() -> None:
    assert _can_part([("a", "b", 1), ("b", "c", 1)], "abc")
    assert not _can_part([("a", "b", 1), ("b", "a", 1)], "ab")
    assert not _can_part([("a", "b", 1), ("b", "a", 0)], "ab")
    assert _can_part([("a", "b", 1), ("b", "a", -1)], "ab")


def test_one_step_of_a_maximum() -> None:
    """Two systems, three wins of four: the logarithm of odds is log 3."""
    one = np.zeros(4, "intp")
    found = davidson.Compared(one, one + 1, np.array([1.0, 1.0, 1.0, 0.0]), np.arange(4), None)
    likelihood = davidson.Likelihood(found, 2)
    assert davidson.estimate(likelihood) == pytest.approx([math.log(3)])
    assert likelihood.log(np.array([0.0])) == pytest.approx(4 * math.log(0.5))
    assert strengths._centred(2).tolist() == [[0.5], [-0.5]]


def test_shares_of_candidates_add_up_item_by_item() -> None:
    found = worker_quality._of_candidates(np.log([1.0, 3.0, 5.0, 5.0]), np.array([0, 0, 1, 1]))
    assert found == pytest.approx([0.25, 0.75, 0.5, 0.5])
    assert worker_quality._normalised(np.log([[1.0, 3.0]])).tolist() == [pytest.approx([0.25, 0.75])]


def test_as_many_steps_as_ratings_leave_time_for() -> None:
    assert [worker_quality._steps(n) for n in (1, 4_000, 5_000, 100_000, 1_000_000)] == [
        500,
        500,
        400,
        20,
        20,
    ]


def test_who_is_always_right_outweighs_who_never_is() -> None:
    """The skill of each comes to its end of the scale, whose logarithms have to stay finite."""
    items, workers = np.repeat(np.arange(6), 3), np.tile([0, 1, 2], 6)
    labels = np.tile([0, 0, 1], 6)
    with np.errstate(all="raise"):
        assert worker_quality.one_coin(items, workers, labels).tolist() == [0] * 6


def test_a_step_too_far_is_halved_until_it_leads_up() -> None:
    one = np.zeros(4, "intp")
    found = davidson.Compared(one, one + 1, np.array([1.0, 1.0, 1.0, 0.0]), np.arange(4), None)
    likelihood = davidson.Likelihood(found, 2)
    far = davidson._halved(np.array([16.0]), np.array([0.0]), likelihood)
    assert far.tolist() == [2.0]
    assert davidson._halved(np.array([2.0]), np.array([0.0]), likelihood).tolist() == [2.0]


def test_ranks_that_no_test_rules_out() -> None:
    pairs = {("a", "b"): 0.1, ("a", "c"): 0.2, ("b", "c"): -0.1}
    effects = {pair: Effect(value, 0.1, 9.0, SURE) for pair, value in pairs.items()}
    adjusted = {("a", "b"): 0.05, ("a", "c"): 0.049, ("b", "c"): 0.01}
    assert _ranks("abc", effects, adjusted) == {"a": (1, 2), "b": (2, 3), "c": (2, 2)}
    assert _ranks("abc", effects, {**adjusted, ("a", "b"): 0.051}) == _ranks("abc", effects, adjusted)
    nothing = dict.fromkeys(pairs)
    assert _ranks("abc", nothing, nothing) == dict.fromkeys("abc", (1, 3))


def test_scores_that_differ_have_the_interval_of_their_mean_within_the_scale() -> None:
    names = coded(pd.DataFrame({"item_id": list("aabbcc"), "worker": list("xyxyxy")}))
    mixed, same = pd.Series([0.0, 1.0, 1.0, 1.0, 0.0, 1.0]), pd.Series([1.0] * 6)
    ratings = Ratings(mixed.to_numpy(), names["item_id"].to_numpy(), names["worker"].to_numpy())
    effect = mean_effect(ratings)
    whole = effect.interval()
    assert interval_of(mixed, names) == whole
    assert interval_of(mixed, names, scale=(0.0, 1.0)) == effect.interval_on(0.0, 1.0)
    assert interval_of(same, names) is None
    alike = unanimous_interval(1.0, whole.support, low=0.0, high=1.0)
    assert interval_of(same, names, scale=(0.0, 1.0)) == alike
    assert (alike.low, alike.high) == pytest.approx((0.05 ** (1 / 2), 1.0))


def test_a_pair_is_decided_by_those_who_preferred_one_of_the_two() -> None:
    names = coded(pd.DataFrame({"item_id": list("aabbccdd"), "worker": list("xyxyxyxy")}))
    net = pd.Series([1.0, 0.0, 1.0, -1.0, -1.0, 1.0, 0.0, 1.0])
    ratings = Ratings(net.to_numpy(), names["item_id"].to_numpy(), names["worker"].to_numpy())
    effect = mean_effect(ratings)
    found = _of_pair(("s", "k", "t"), net, names, effect, 0.5)
    assert (found.wins, found.ties, found.losses, found.n) == (4, 2, 2, 8)
    assert (found.net, found.rate, found.decided) == (0.25, 0.625, 4 / 6)
    won = net[net != 0].map({1.0: 1.0, -1.0: 0.0})
    of_won = names.loc[won.index]
    decided = mean_effect(Ratings(won.to_numpy(), of_won["item_id"].to_numpy(), of_won["worker"].to_numpy()))
    level = 1 - found.interval.level
    assert found.decided_interval == decided.interval_on(0.0, 1.0, alpha=level)
    assert found.rate_interval.low == (1 + found.interval.low) / 2
    assert (found.dagger, found.support) == (False, found.interval.support)
    nobody = _of_pair(("s", "k", "t"), net[net == 0][:0], names, None, None)
    assert (nobody.n, nobody.net, nobody.rate, nobody.decided, nobody.rate_interval) == (
        0,
        None,
        None,
        None,
        None,
    )


def test_a_value_that_is_not_on_the_scale_is_counted_nowhere() -> None:
    given = pd.DataFrame({"item_id": ["a", "a", "b", "c"], "x": ["1", "2", "9", None]})
    assert count_table(given, name="x", values=["1", "2"]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert count_table(given[3:], name="x", values=["1", "2"]).shape == (0, 2)


def test_a_system_is_the_mean_of_its_outputs() -> None:
    table = pd.DataFrame(
        [("b", 1.0, 5.0), ("a", 2.0, 1.0), ("b", 4.0, 2.0), ("b", 4.0, 2.0)],
        columns=["system", "value", "rating"],
    )
    found = _Systems.of(table)
    assert (found.systems, found.x.tolist(), found.y.tolist()) == (["a", "b"], [2.0, 3.0], [1.0, 3.0])
    drawn = found.resampled(np.array([[0.0, 2.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0], [3.0, 1.0, 0.0, 0.0]]))
    assert np.isnan([drawn[name][0] for name in drawn]).all()
    assert [drawn[name][1:].tolist() for name in ("pearson", "spearman", "kendall")] == [
        [pytest.approx(1.0), pytest.approx(-1.0)]
    ] * 3


@pytest.mark.parametrize(
    ("preference", "has_strengths", "systems"),
    [(None, True, "ab"), (object(), False, "ab"), (object(), True, "a")],
)
def test_strengths_are_of_two_systems_that_were_ranked(preference, has_strengths, systems) -> None:
    definition = SimpleNamespace(preference=preference, has_strengths=has_strengths)
    frame = SimpleNamespace(definition=definition, systems=tuple(systems), kept=None)
    assert strengths.strengths(frame) is None


def test_two_systems_that_were_ranked_have_strengths() -> None:
    preference = SimpleNamespace(by="ranking", key="place")
    definition = SimpleNamespace(preference=preference, has_strengths=True)
    given = pd.DataFrame(
        {
            "item_id": list("abc"),
            "worker": list("xyz"),
            "is_skipped": [False] * 3,
            "s.place": ["1", "1", "2"],
            "t.place": ["2", "2", "1"],
        }
    )
    frame = SimpleNamespace(definition=definition, systems=("s", "t"), kept=given)
    found = strengths.strengths(frame)
    assert (found.rate("s", "t").wins, found.rate("s", "t").losses) == (2, 1)
    assert found.counts == {"s": {"shown": 3, "mean_rank": 4 / 3}, "t": {"shown": 3, "mean_rank": 5 / 3}}


def test_a_character_is_as_grave_as_its_gravest_mark() -> None:
    spans = Spans(
        (Choice("major", "Major", 5.0), Choice("trivial", "Trivial", 0.5), Choice("none", "Neutral"))
    )
    marks = (
        Mark("none", start=0, end=4),
        Mark("major", start=1, end=2),
        Mark("trivial", start=1, end=3),
        Mark("major", column="context", start=0, end=5),
    )
    assert _levels(marks, 5, spans).tolist() == [1, 3, 2, 1, 0]
    assert _levels((Mark("trivial"),), 3, spans).tolist() == [2, 2, 2]


def test_probabilities_of_very_small_logarithms() -> None:
    found = worker_quality._normalised(np.array([[-2000.0, -2000.0 - math.log(3)]]))
    assert found.tolist() == [pytest.approx([0.75, 0.25])]
    candidates = worker_quality._of_candidates(np.array([-2000.0, -2000.0 - math.log(3)]), np.array([0, 0]))
    assert candidates.tolist() == pytest.approx([0.75, 0.25])


def test_how_far_somebody_agrees_with_themselves_over_three_times() -> None:
    given = pd.DataFrame(
        {
            "item_id": ["a"] * 3 + ["b"] * 2 + ["c", "d", "d"],
            "worker": ["x"] * 5 + ["x", "y", None],
            "q": ["1", "1", "2", "1", "1", "2", "1", "1"],
        }
    )
    found = within_raters(given, name="q", values=["1", "2"])
    assert (found.percent, found.repeats, found.workers) == (pytest.approx((1 / 3 + 1) / 2), 2, 1)
    assert within_raters(given[5:], name="q", values=["1", "2"]) is None


def test_an_interval_stands_at_the_level_at_which_its_difference_was_tested() -> None:
    workers = np.tile(["x", "y", "z"], 4)
    items = np.repeat(list("abcd"), 3)
    ours = Ratings(np.array([3.0, 4, 5, 4, 4, 5, 2, 3, 5, 4, 3, 4]), items, workers)
    near = Ratings(np.array([3.0, 3, 4, 4, 3, 5, 2, 2, 4, 3, 3, 4]), items, workers)
    far = Ratings(np.array([1.0, 2, 2, 1, 1, 2, 1, 1, 2, 2, 1, 1]), items, workers)
    of_near, of_far = corrected({("s", "near"): (ours, near), ("s", "far"): (ours, far)})
    assert (of_near.corrected, of_far.corrected) == (of_near.p, 2 * of_far.p)
    for found in (of_near, of_far):
        assert found.interval.level == pytest.approx(1 - 0.05 * found.p / found.corrected)
        assert found.superiority_interval.level == found.interval.level
        assert (found.interval.low > 0) == found.dagger


def test_a_coefficient_is_between_minus_one_and_one() -> None:
    wide, negative = Effect(0.2, 0.9, 9.0, SURE), Effect(-0.5, 0.1, 9.0, SURE)
    assert _bounded(wide) == Interval(-1.0, 1.0, SURE)
    assert _bounded(negative) == negative.interval()
    assert _bounded(Effect(0.2, None, 9.0, SURE)) is None
    assert _bounded(None) is None


def test_a_thousand_resamples_are_drawn_one_at_a_time_at_least(monkeypatch) -> None:
    table = pd.DataFrame({"item_id": ["a", "a", "b"]})
    (whole,) = _drawn(table)
    assert whole.shape == (1000, 3)
    monkeypatch.setattr(correlation, "CELLS_AT_ONCE", 2)
    parts = list(_drawn(table))
    assert [len(part) for part in parts] == [1] * 1000
    assert {tuple(row) for part in parts for row in part} == {
        (2.0, 2.0, 0.0),
        (1.0, 1.0, 1.0),
        (0.0, 0.0, 2.0),
    }


@pytest.mark.parametrize(("models", "is_graded"), [((), True), (("a",), False)])
def test_only_models_whose_answers_are_graded_have_task_scores(models, is_graded) -> None:
    frame = SimpleNamespace(models=models, is_graded=is_graded)
    assert _task_scores(frame, pd.DataFrame(), system="a") is None


def test_a_system_of_which_nothing_was_drawn_is_left_out_of_the_others() -> None:
    table = pd.DataFrame({"system": list("abc"), "value": [1.0, 2.0, 9.0], "rating": [2.0, 4.0, 1.0]})
    drawn = _Systems.of(table).resampled(np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]]))
    found = [drawn[name].tolist() for name in ("pearson", "spearman", "kendall")]
    assert found == [[pytest.approx(1.0), pytest.approx(-1.0)]] * 3


def test_comparisons_go_together_by_item_by_worker_and_by_both() -> None:
    one = np.zeros(4, "intp")
    items, workers = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    found = davidson.Compared(one, one + 1, np.ones(4), items, workers)
    assert [codes.tolist() for codes in strengths._clusterings(found)] == [
        [0, 0, 1, 1],
        [0, 1, 0, 1],
        [0, 1, 2, 3],
    ]
    alone = davidson.Compared(one, one + 1, np.ones(4), items, None)
    assert [codes.tolist() for codes in strengths._clusterings(alone)] == [[0, 0, 1, 1]]


def test_means_by_quality_are_told_to_six_digits_of_each_system_that_was_rated(monkeypatch) -> None:
    monkeypatch.setattr(worker_quality, "score_maps", lambda _: {"k": {"no": 0.0, "yes": 1.0}})
    frame = SimpleNamespace(systems=("t", "s", "silent"), definition=None)
    given = pd.DataFrame(
        {
            "item_id": [0, 1, 2] * 2,
            "worker": [0, 0, 0, 1, 1, 1],
            "s.k": ["yes", "no", "no"] * 2,
            "t.k": ["yes", None, "yes", "yes", "no", "yes"],
            "silent.k": [None] * 6,
        }
    )
    assert worker_quality._means(frame, given, key="k") == {"s": 0.333333, "t": 0.666667}
    assert worker_quality._means(frame, given.assign(**{"s.k": None, "t.k": None}), key="k") == {}


def test_answers_are_right_where_one_was_given_and_one_is_known() -> None:
    given = pd.DataFrame(
        [("a", "x", "1", "1"), ("a", "y", None, "1"), ("b", "x", "2", "1"), ("c", "x", "1", None)],
        columns=["item_id", "worker", "answer", "gold"],
    )
    for choices in (("1", "2"), ()):
        frame = SimpleNamespace(definition=SimpleNamespace(answer=SimpleNamespace(choices=choices)))
        assert worker_quality._correct(frame, given) == Share("correct", "Answer right", 1, 2)
        assert worker_quality._correct(frame, given[1:2]) is None
        assert worker_quality._correct(frame, given[3:]) is None


@pytest.mark.parametrize(("choices", "way"), [(("1", "2"), "dawid_skene"), ((), "one_coin")])
def test_only_choices_are_confused_with_one_another(monkeypatch, choices, way) -> None:
    """Of numbers and texts each may be an answer of its own: what is taken for what can't be told of them."""
    used = []
    for name in ("dawid_skene", "one_coin"):
        step = getattr(worker_quality, name)
        noted = lambda *args, name=name, step=step, **how: used.append(name) or step(*args, **how)  # noqa: E731
        monkeypatch.setattr(worker_quality, name, noted)
    frame = SimpleNamespace(definition=SimpleNamespace(answer=SimpleNamespace(choices=choices)))
    given = pd.DataFrame(
        {"item_id": ["a", "a"], "worker": ["x", "y"], "answer": ["1", "2"], "gold": ["1", "1"]}
    )
    worker_quality._correct(frame, given)
    assert used == [way]


def test_it_ends_with_the_first_step_that_moves_nothing(monkeypatch) -> None:
    steps = []
    for name in ("_normalised", "_of_candidates"):
        step = getattr(worker_quality, name)
        counted = lambda *args, name=name, step=step: steps.append(name) or step(*args)  # noqa: E731
        monkeypatch.setattr(worker_quality, name, counted)
    items, workers, labels = np.repeat([0, 1], 3), np.tile([0, 1, 2], 2), np.repeat([0, 1], 3)
    worker_quality.dawid_skene(items, workers, labels, n_labels=2)
    worker_quality.one_coin(items, workers, labels)
    assert steps == ["_normalised", "_of_candidates"]


def agreement_of(*ratings: str):
    """Of items that x, y and z have rated so; a dash is no rating."""
    choices = [SimpleNamespace(value=value, score=float(value)) for value in "321"]
    given = [
        {"item_id": str(item), "worker": worker, "s.k": None if value == "-" else value}
        for item, of_item in enumerate(ratings)
        for worker, value in zip("xyz", of_item, strict=True)
    ]
    criterion = SimpleNamespace(key="k", choices=choices, values=list("321"))
    return agreement(pd.DataFrame(given), system="s", criterion=criterion)


def test_agreement_is_of_items_that_two_have_rated() -> None:
    two = agreement_of("112", "333", "1--", "---")
    assert (two.items, two.ratings, two.percent) == (2, 6, pytest.approx((1 / 3 + 1) / 2))
    assert two.alpha == pytest.approx(1 - 5 * (2 * 1.5**2) / (2 * (2 * 1.5**2 + 6 * 3.5**2 + 3 * 2**2)))
    assert two.ac2_interval == Interval(-1.0, 1.0, Support(2, 3, 3.0, 1.0))
    one = agreement_of("12-", "3--", "1--")
    assert (one.items, one.ratings, one.percent) == (1, 2, 0)
    assert (one.alpha_interval, one.ac2_interval) == (None, None)
    none = agreement_of("1--", "---")
    assert (none.items, none.ratings, none.alpha, none.ac2, none.percent) == (0, 0, None, None, None)


@pytest.mark.parametrize(
    ("system", "systems", "found"),
    [
        ("s", ("s", "truth"), PairedDifference(-0.5, 2)),
        ("t", ("t", "truth"), PairedDifference(None, 0)),
        ("truth", ("s", "truth"), None),
        ("s", ("s",), None),
    ],
)
def test_a_difference_is_to_the_reference_where_both_were_rated(monkeypatch, system, systems, found) -> None:
    monkeypatch.setattr(summary, "scores_of", lambda frame, rows, *, system: rows[system])
    frame = SimpleNamespace(systems=systems, definition=SimpleNamespace(reference_system="truth"))
    given = pd.DataFrame(
        {"s": [1.0, 3.0, 5.0, None], "truth": [3.0, 2.0, None, 2.0], "t": [None, None, 2.0, None]}
    )
    assert _difference(frame, given, system=system) == found


def test_reasons_that_are_not_listed_come_last() -> None:
    frame = SimpleNamespace(definition=SimpleNamespace(skip_reasons=(Choice("blank", "Nothing there"),)))
    skipped = pd.DataFrame({"skip_reason": ["odd", "odd", "blank"]})
    assert _reasons(frame, skipped) == (Share("blank", "Nothing there", 1, 3), Share("odd", "odd", 2, 3))
    assert _reasons(frame, skipped[:2])[0] == Share("blank", "Nothing there", 0, 2)


def test_models_are_right_or_wrong_or_nobody_knows() -> None:
    assert _stratum(pd.Series([True, False, None], dtype="boolean")).tolist() == ["true", "false", "unknown"]


def test_an_explanation_is_scored_where_its_answer_is_right(monkeypatch) -> None:
    monkeypatch.setattr(summary, "scores_of", lambda frame, rows, *, system: rows["score"])
    given = pd.DataFrame(
        [
            ("a", "yes", "yes", 1.0),
            ("a", "yes", "yes", 0.5),
            ("b", "no", "yes", 0.0),
            ("c", "", "yes", 0.0),
            ("d", "yes", None, 0.0),
            ("e", "no", "no", None),
        ],
        columns=["item_id", "s.answer", "gold", "score"],
    )
    frame = SimpleNamespace(models=("s",), is_graded=True, accuracies={"s": 0.7})
    assert _task_scores(frame, given, system="s") == TaskScores(2 / 3, 2, 3, 0.75, 0.7)
    assert _task_scores(frame, given[2:3], system="s") == TaskScores(0.0, 0, 1, None, 0.7)
    assert _task_scores(frame, given[3:5], system="s") == TaskScores(None, 0, 0, None, 0.7)


@pytest.mark.parametrize(
    ("by", "first", "second", "won", "workers"),
    [("best_worst", [0], [1], [1.0], None), ("ranking", [0, 0], [1, 1], [1.0, 0.5], [1, 0])],
)
def test_outputs_are_compared_where_both_were_judged(by, first, second, won, workers) -> None:
    """Neither best nor worst is no tie; of a ranking the same place is one."""
    levels = [np.array([1.0, 0.0, math.nan]), np.array([-1.0, 0.0, 1.0])]
    names = coded(pd.DataFrame({"item_id": list("aab"), "worker": list("xyx")}))
    found = strengths._compared(levels, names, WAYS[by])
    assert (found.first.tolist(), found.second.tolist(), found.won.tolist()) == (first, second, won)
    assert (found.items.tolist(), found.workers.tolist()) == ([0] * len(won), list(range(len(won))))
    one_unknown = strengths._compared(levels, names.assign(worker=[-1, 0, 1]), WAYS[by])
    assert (None if one_unknown.workers is None else one_unknown.workers.tolist()) == workers
    assert strengths._compared(levels, names.assign(worker=-1), WAYS[by]).workers is None


def test_an_interval_of_preferences_is_between_minus_one_and_one() -> None:
    names = coded(pd.DataFrame({"item_id": list("abcd"), "worker": list("xyxy")}))
    net = pd.Series([1.0, 1.0, 1.0, -1.0])
    ratings = Ratings(net.to_numpy(), names["item_id"].to_numpy(), names["worker"].to_numpy())
    found = _of_pair(("s", "k", "t"), net, names, mean_effect(ratings), 0.5)
    assert (found.interval.high, found.decided_interval.high) == (1.0, pytest.approx(0.998848, abs=1e-6))
    lost = _of_pair(("s", "k", "t"), -net, names, mean_effect(replace(ratings, values=-ratings.values)), 0.5)
    assert (lost.interval.low, lost.decided_interval.low) == (-1.0, pytest.approx(0.001152, abs=1e-6))


def test_a_value_stands_in_the_middle_of_those_that_are_as_high() -> None:
    """Leaving nothing out, the coefficient in parts is the coefficient."""
    counts = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 3.0], [1.0, 0.0, 1.0]])
    assert float(_alpha(_sums_of(counts))) == pytest.approx(krippendorff_alpha(counts, level="ordinal"))
    assert float(_ac2(_sums_of(counts))) == gwet_ac2(counts)


def test_marks_of_one_person_alone_agree_with_nobodys() -> None:
    spans = Spans((Choice("minor", "Minor", 1.0),))
    mark = Mark("minor", start=0, end=1)

    def of(*given: tuple[str, str, tuple[Mark, ...]]):
        items, texts, marks = (pd.Series(column, dtype=object) for column in zip(*given, strict=True))
        return _agreement(marks, texts, coded(pd.DataFrame({"item_id": items, "worker": None})), spans)

    pair = [("a", "ab", (mark,)), ("a", "ab", (mark,))]
    both = of(*pair)
    assert (both.pairs, both.f1, both.alpha) == (1, 1.0, 1.0)
    assert of(*pair, ("b", "abc", (mark,)), ("c", "", ()), ("c", "", ())).alpha == 1.0
    assert of(*pair, ("b", "abc", (mark,))) == both
    assert of(("b", "abc", (mark,))).pairs == 0
    nothing = of(("c", "", ()), ("c", "", ()))
    assert (nothing.pairs, nothing.f1, nothing.alpha) == (1, 1.0, None)


def test_numbers_that_results_depend_on_are_those_that_are_published() -> None:
    """Whoever works a published interval out again needs the same resamples, levels and bounds."""
    assert (correlation.RESAMPLES, correlation.RESAMPLES_OF_MANY, correlation.SEED) == (1000, 200, 1945)
    assert (correlation.LEVEL, correlation.FEWEST_OUTPUTS, correlation.FEWEST_SYSTEMS) == (0.95, 10, 3)
    assert (correlation.PAIRWISE_UP_TO, correlation.CELLS_AT_ONCE) == (1500, 2_000_000)
    assert (inference.LEVEL, inference.ALPHA, inference.FEW_WORKERS, inference.BUSIEST) == (0.95, 0.05, 10, 3)
    assert (inference.NOTHING, davidson.NEAR, davidson.CLOSE, davidson.STEPS) == (1e-24, 1e-10, 1e-13, 200)
    assert (worker_quality.STEPS, worker_quality.FEWEST_STEPS, worker_quality.AT_MOST) == (500, 20, 2_000_000)
    assert (worker_quality.CLOSE, worker_quality.SMALLEST, worker_quality.DIGITS) == (1e-6, 1e-10, 6)
    assert (comparison.SKIP_SCORE, spans.OTHER_SEVERITY, planning.SURE) == (-1, 0.5, 0.8)


def test_metrics_are_correlated_in_the_order_in_which_they_are_scored() -> None:
    """Of each criterion; an output without a rating or a score is no point."""
    ratings = pd.DataFrame(
        [
            ("s", "i", "worth", 1.0),
            ("s", "j", "worth", None),
            ("s", "i", "clarity", 2.0),
            ("s", "i", "clarity", 3.0),
        ],
        columns=["system", "item_id", "criterion", "score"],
    )
    scores = pd.DataFrame(
        [
            ("s", "i", "rouge", 0.5),
            ("s", "i", "bleu", 0.25),
            ("s", "j", "bleu", 0.5),
            ("s", "i", "ter", None),
        ],
        columns=["system", "item_id", "metric", "value"],
    )
    found = correlation.correlations(ratings, scores)
    assert [(one.criterion, one.metric, one.level, one.points) for one in found] == [
        (criterion, metric, level, (("s", value, rating),))
        for criterion, rating in (("clarity", 2.5), ("worth", 1.0))
        for metric, value in (("rouge", 0.5), ("bleu", 0.25))
        for level in ("item", "system")
    ]
    assert {one.why_not for one in found} == {"Only 1 output; it takes 10.", "Only 1 system; it takes 3."}
