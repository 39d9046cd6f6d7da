"""What a pilot's interval comes to in the whole."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from surveys.results.statistics.inference import (
    Effect,
    Interval,
    Ratings,
    Support,
    mean_effect,
    unanimous_interval,
)
from surveys.results.statistics.planning import expected, reach_of

INTERVAL = Interval(3.0, 4.0, Support(items=10, workers=0))


def test_a_whole_as_large_as_its_pilot_is_as_wide():
    found = expected(INTERVAL, reach=0.5, growth=1)
    assert (found.pilot, found.whole) == (pytest.approx(0.5), pytest.approx(0.5))
    assert found.at_most == pytest.approx(0.5 * np.sqrt(9 / stats.chi2.ppf(0.2, 9)))


def test_four_times_the_items_halve_the_error_and_make_t_smaller():
    t_pilot, t_whole = stats.t.ppf(0.975, 9), stats.t.ppf(0.975, 39)
    assert expected(INTERVAL, reach=0.5, growth=4).whole == pytest.approx(0.5 / t_pilot / 2 * t_whole)


def test_an_interval_at_another_level_tells_the_same():
    wide = replace(INTERVAL, level=0.99)
    reach = 0.5 * stats.t.ppf(0.995, 9) / stats.t.ppf(0.975, 9)
    assert expected(wide, reach=reach, growth=3).whole == pytest.approx(
        expected(INTERVAL, reach=0.5, growth=3).whole
    )


def test_effective_workers_bound_what_is_known():
    of_people = replace(INTERVAL, support=Support(items=10, workers=4, effective=4.0))
    assert expected(of_people, reach=0.5, growth=2).whole == pytest.approx(
        0.5 / stats.t.ppf(0.975, 3) / np.sqrt(2) * stats.t.ppf(0.975, 7)
    )


def test_the_width_to_expect_is_the_width_there_is():
    draw = np.random.default_rng(3)

    def interval(n: int) -> Interval:
        effects = np.repeat(draw.normal(0, 1, n), 4)
        values = effects + draw.normal(0, 1, 4 * n)
        found = mean_effect(Ratings(values, np.repeat(np.arange(n), 4), None))
        assert found is not None
        return found.interval()

    pilots, wholes = [interval(20) for _ in range(300)], [interval(200) for _ in range(60)]
    widths = [expected(one, reach=(one.high - one.low) / 2, growth=10) for one in pilots]
    real = np.mean([(one.high - one.low) / 2 for one in wholes])
    assert np.mean([one.whole for one in widths]) == pytest.approx(real, rel=0.05)
    assert np.mean([one.at_most > real for one in widths]) == pytest.approx(0.8, abs=0.06)


@pytest.mark.parametrize(
    ("mean", "error", "people"), [(4.8, 0.15, 4), (4.9, 0.08, 6), (3.0, 0.5, 4), (1.2, 0.1, 30)]
)
def test_on_a_scale_the_reach_is_that_of_the_mean_s_own_error(mean, error, people):
    support = Support(items=200, workers=people, effective=float(people))
    effect = Effect(mean, error, people - 1.0, support)
    reach = reach_of(effect.interval_on(1.0, 5.0), mean, scale=(1.0, 2.0, 3.0, 4.0, 5.0))
    assert reach == pytest.approx(error * stats.t.ppf(0.975, people - 1))
    assert expected(effect.interval_on(1.0, 5.0), reach=reach, growth=1).whole == pytest.approx(reach)
    assert reach_of(effect.interval(), mean) == pytest.approx(reach)


@pytest.mark.parametrize("value", [5.0, 4.0])
def test_of_one_mind_the_reach_is_as_far_as_the_interval_goes(value):
    support = Support(items=200, workers=10, effective=10.0)
    found = unanimous_interval(value, support, low=1.0, high=5.0)
    assert reach_of(found, value) == value - found.low > found.high - value
