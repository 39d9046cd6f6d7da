"""How wide an interval will be in the whole study, by what its pilot has told."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from surveys.results.statistics.inference import LEVEL, Interval, freedom_of

SURE = 0.8


@dataclass(frozen=True, slots=True)
class Expected:
    """Half the width of a 95 % interval: in the pilot, as is to be expected in the whole, and at most, 80 % sure."""

    pilot: float
    whole: float
    at_most: float


def reach_of(interval: Interval, value: float, *, scale: Sequence[float] = ()) -> float:
    """Return how far Student's t reaches from a mean, by its interval: on a `scale` that is Wilson's.

    Without one it is as far as the interval goes, and where all said the same, as there is no t then: give none.
    """
    if not scale or not min(scale) < interval.low <= value <= interval.high < max(scale):
        return max(value - interval.low, interval.high - value)
    nearer, farther = sorted((min(scale), max(scale)), key=lambda end: abs(value - end))
    place, *ends = ((point - farther) / (nearer - farther) for point in (value, interval.low, interval.high))
    doubt = place**2 / (ends[0] * ends[1]) - 1
    return abs(nearer - farther) * math.sqrt(doubt * place * (1 - place))


def expected(interval: Interval, *, reach: float, growth: float) -> Expected:
    """Return what an interval of a pilot comes to in a study of `growth` times as many items.

    `reach` is how far the number's own Student's t reaches at the interval's level (`reach_of`), so the standard error
    of the pilot is s = reach / t(d), t Student's quantile and d the degrees of freedom. Where each item gets as many
    ratings as in the pilot and each person rates as many items, the items and the people grow alike, and with them all
    parts of the variance of a mean shrink (items, workers and cells are clusters): s' = s / sqrt(growth), d' by the
    larger numbers, and half the width is t(d') s'. If the same few people rate everything, their part does not shrink
    and it is wider.

    A pilot knows its own variance badly: with d degrees of freedom d s^2 / chi2(1 - 0.8, d), chi2 the lower quantile,
    is above the true variance in 80 % of all pilots, and `at_most` is made with it. Source: R. H. Browne, "On the use
    of a pilot sample for sample size determination", Statistics in Medicine 14 (1995), 1933-1940.
    """
    from scipy.special import chdtri, stdtrit  # not scipy.stats, which takes a second to import

    support = interval.support
    effective = None if support.effective is None else support.effective * growth
    larger = replace(support, items=round(support.items * growth), effective=effective)
    freedom, in_whole = freedom_of(support), freedom_of(larger)
    error = reach / float(stdtrit(freedom, (1 + interval.level) / 2))
    whole = float(stdtrit(in_whole, (1 + LEVEL) / 2)) * error / math.sqrt(growth)
    doubt = math.sqrt(freedom / float(chdtri(freedom, SURE)))
    return Expected(float(stdtrit(freedom, (1 + LEVEL) / 2)) * error, whole, whole * doubt)
