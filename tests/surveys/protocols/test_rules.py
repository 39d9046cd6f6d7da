"""Each rule by itself: what it notices, at which limit, and which parameters it refuses."""

from math import sqrt
from typing import Any

import pytest
from scipy import stats

from surveys.protocols.policy import parse, read_policy
from surveys.protocols.rules import Evidence, Flag, GradedAnswer, PolicyError, RatedAlike, Record
from tests.policy_data import THREE_OF_FIVE, policy_of


def flags(evidence: Evidence, kind: str, **parameters: Any) -> tuple[Flag, ...]:
    return read_policy(policy_of({"kind": kind, **parameters}), items_per_hit=5).judge(evidence).flags


def record(n_right: int, n_wrong: int, *, others: tuple[int, int] = (3, 4)) -> Record:
    """A worker on items that `others` (right, of) had right; all others' answers are 300 right of 400."""
    graded = [GradedAnswer(n < n_right, *others) for n in range(n_right + n_wrong)]
    return Record(answers=tuple(graded), n_others_graded=400, n_others_right=300)


# -- Difficulty


def test_z_by_hand() -> None:
    answers = (GradedAnswer(True, 4, 4), GradedAnswer(False, 1, 4), GradedAnswer(False, 3, 3))
    found = Record(answers=answers, n_others_graded=19, n_others_right=14)
    # The batch's share is (14 + .5) / (19 + 1) = .725, added to each item as one answer.
    p = [4.725 / 5, 1.725 / 5, 3.725 / 4]
    assert found.expected == pytest.approx(p)
    z = (1 - (0.945 + 0.345 + 0.93125)) / sqrt(0.945 * 0.055 + 0.345 * 0.655 + 0.93125 * 0.06875)
    assert found.z == pytest.approx(z)
    assert Record().z is None


def test_z_with_equal_items_is_that_of_the_binomial() -> None:
    found = record(8, 12)
    p = (3 + 300.5 / 401) / 5
    binomial = stats.binom(20, p)
    assert found.z == pytest.approx((8 - binomial.mean()) / binomial.std())


def test_who_has_fewer_right_than_others_is_noticed() -> None:
    flag = Flag(
        "difficulty_adjusted",
        "You answered 8 of 20 questions correctly in these HITs; "
        "other people have about 15 of the same questions right.",
    )
    assert flags(Evidence(worker=record(8, 12)), "difficulty_adjusted") == (flag,)
    assert flags(Evidence(worker=record(11, 9)), "difficulty_adjusted") == ()


def test_hard_items_are_not_held_against_anybody() -> None:
    hard = record(8, 12, others=(2, 5))
    assert flags(Evidence(worker=hard), "difficulty_adjusted") == ()


def test_few_answers_say_nothing() -> None:
    assert flags(Evidence(worker=record(0, 9)), "difficulty_adjusted") == ()
    assert len(flags(Evidence(worker=record(0, 10)), "difficulty_adjusted")) == 1


def test_many_answers_do_not_make_a_small_difference_large() -> None:
    nearly = record(280, 20, others=(99, 100))
    assert nearly.z == pytest.approx(-8.50, abs=0.005)
    assert flags(Evidence(worker=nearly), "difficulty_adjusted") == ()
    assert len(flags(Evidence(worker=nearly), "difficulty_adjusted", margin=0.0)) == 1


# -- Time


@pytest.mark.parametrize(("seconds", "n_flags"), [(None, 0), (43.9, 1), (44.0, 0), (0.5, 1)])
def test_reading_takes_its_time(seconds: float | None, n_flags: int) -> None:
    evidence = Evidence(seconds=seconds, n_words=150, n_pictures=5, n_inputs=14)  # 20 + 10 + 14 s
    assert len(flags(evidence, "too_fast")) == n_flags


def test_a_third_of_the_median_is_the_limit_where_it_is_longer() -> None:
    evidence = Evidence(seconds=99, n_words=150, n_pictures=5, n_inputs=14, median_seconds=300)
    sentence = "Your answers took 99 seconds; reading and answering this takes at least 100."
    assert flags(evidence, "too_fast") == (Flag("too_fast", sentence),)
    assert flags(evidence, "too_fast", divisor=4.0) == ()


# -- Ratings


@pytest.mark.parametrize(
    ("scores", "n_flags"), [((1.0,) * 8, 1), ((1.0,) * 7, 0), ((1.0,) * 9 + (0.0,), 0), ((), 0)]
)
def test_the_same_rating_everywhere(scores: tuple[float, ...], n_flags: int) -> None:
    assert len(flags(Evidence(scores=scores), "straight_lining")) == n_flags


OWN = (1.0, 0.0, 0.5, 1.0, 0.25, 0.75, 0.0, 1.0, 0.5, 0.5)
OTHERS = (0.2, 0.9, 0.5, 0.1, 0.6, 0.4, 0.8, 0.3, 0.5, 0.7)


def rated(own: tuple[float, ...], others: tuple[float, ...]) -> Record:
    return Record(ratings=tuple(map(RatedAlike, own, others)))


def test_correlation_is_that_of_scipy() -> None:
    found = rated(OWN, OTHERS).correlation
    assert found == pytest.approx(stats.pearsonr(OWN, OTHERS).statistic)


def test_ratings_unlike_everybody_elses() -> None:
    flag = Flag(
        "agreement",
        "Your 10 ratings have hardly anything in common with those that other people gave (correlation −0.94).",
    )
    assert flags(Evidence(worker=rated(OWN, OTHERS)), "agreement") == (flag,)
    assert flags(Evidence(worker=rated(OWN, OWN)), "agreement") == ()
    assert flags(Evidence(worker=rated(OWN[:9], OTHERS[:9])), "agreement") == ()


def test_ratings_that_do_not_vary_can_not_be_compared() -> None:
    same = (1.0,) * 10
    assert (rated(same, OTHERS).correlation, rated(OWN, same).correlation) == (None, None)
    assert flags(Evidence(worker=rated(same, OTHERS)), "agreement") == ()


# -- Share and checks


@pytest.mark.parametrize(
    ("n_before", "n_wanted", "share", "n_flags"),
    [(29, 300, 0.1, 0), (30, 300, 0.1, 1), (2, 30, 0.1, 0), (3, 30, 0.1, 1), (0, 5, 0.1, 0), (1, 5, 0.1, 1)],
)
def test_more_than_ones_share(n_before: int, n_wanted: int, share: float, n_flags: int) -> None:
    evidence = Evidence(n_before=n_before, n_wanted=n_wanted)
    assert len(flags(evidence, "worker_cap", share=share)) == n_flags


def test_people_with_a_personal_link_have_no_cap() -> None:
    assert flags(Evidence(n_before=9, n_wanted=10, is_named=True), "worker_cap") == ()


def test_a_share_is_no_part_of_what_rejects() -> None:
    data = policy_of({"kind": "worker_cap"}, {"kind": "straight_lining"})
    verdict = parse(data).judge(Evidence(n_before=9, n_wanted=10, scores=(1.0,) * 10))
    assert (verdict.verdict, len(verdict.flags)) == ("flag", 2)
    assert flags(Evidence(n_before=1, n_wanted=10), "worker_cap")[0].sentence == (
        "This is your assignment number 2 here; one person may do 10% of them."
    )


@pytest.mark.parametrize(
    ("checks", "failed", "hits"),
    [
        ((True, False), 2, []),
        ((False, True, False), 2, [True]),
        ((False, True), 1, [False]),
        ((False, False), 1, [True]),
        ((), 1, []),
    ],
)
def test_a_single_failed_check_counts_for_nothing(checks, failed, hits) -> None:
    noticed = flags(Evidence(worker=Record(checks=checks)), "planted_checks", failed=failed)
    assert [flag.is_hit for flag in noticed] == hits


# -- Together


def test_two_hits_propose_what_one_does_not() -> None:
    data = policy_of({"kind": "too_fast"}, {"kind": "straight_lining"})
    fast = Evidence(seconds=1, n_inputs=20)
    both = Evidence(seconds=1, n_inputs=20, scores=(1.0,) * 10)
    assert parse(data).judge(fast).verdict == "flag"
    verdict = parse(data).judge(both)
    assert verdict.verdict == "reject"
    assert verdict.reason == (
        "Your answers took 1 seconds; reading and answering this takes at least 20. "
        "You gave the same rating 10 times out of 10."
    )
    assert parse({**data, "reject_at": None}).judge(both).verdict == "flag"


def test_what_could_not_be_judged_is_no_hit() -> None:
    data = policy_of({**THREE_OF_FIVE["rules"][0], "rejects_alone": False}, {"kind": "straight_lining"})
    verdict = parse(data).judge(Evidence(is_correct=(None,) * 5, scores=(1.0,) * 10))
    assert (verdict.verdict, [flag.is_hit for flag in verdict.flags]) == ("flag", [False, True])


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (
            {"kind": "straight_lining", "rejects_alone": True},
            "The rule 'straight_lining': it can't reject alone; good outputs deserve the same rating.",
        ),
        (
            {"kind": "straight_lining", "at_least": 1},
            "The rule 'straight_lining': 'at_least' must be 2 or more ratings.",
        ),
        (
            {"kind": "worker_cap", "rejects_alone": True},
            "The rule 'worker_cap': it can't reject alone; it says nothing about the work.",
        ),
        ({"kind": "worker_cap", "share": 0}, "The rule 'worker_cap': 'share' is more than 0 and at most 1."),
        ({"kind": "worker_cap", "share": 1.1}, "The rule 'worker_cap': 'share' is more than 0 and at most 1."),
        ({"kind": "agreement", "below": 1}, "The rule 'agreement': 'below' is a correlation, from -1 to less than 1."),
        ({"kind": "agreement", "at_least": 9}, "The rule 'agreement': 'at_least' must be 10 outputs or more."),
        (
            {"kind": "difficulty_adjusted", "below": 0},
            "The rule 'difficulty_adjusted': 'below' must be less than 0, else half of all people are below it.",
        ),
        (
            {"kind": "difficulty_adjusted", "at_least": 0},
            "The rule 'difficulty_adjusted': 'at_least' must be 1 or more.",
        ),
        (
            {"kind": "difficulty_adjusted", "margin": 1},
            "The rule 'difficulty_adjusted': 'margin' is a share, from 0 to less than 1.",
        ),
        ({"kind": "too_fast", "words_per_minute": 0}, "The rule 'too_fast': nobody reads in less than no time."),
        (
            {"kind": "too_fast", "divisor": 1},
            "The rule 'too_fast': 'divisor' must be more than 1: half of all people are below the median.",
        ),
        ({"kind": "too_fast", "divisor": float("nan")}, "The rule 'too_fast': 'divisor' must be a number."),
        ({"kind": "planted_checks", "failed": 0}, "The rule 'planted_checks': 'failed' must be 1 or more."),
    ],
)  # fmt: skip
def test_parameters_that_cant_hold_are_refused(rule: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse(policy_of(rule))
    assert str(caught.value) == sentence
