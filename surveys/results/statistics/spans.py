"""Error profiles: what was marked in each system's outputs, what that costs, and how far people mark alike.

What the marks of an answer cost, on average and per 100 words, follows MQM's score (Lommel et al. 2014; Freitag et al.,
TACL 2021). F1 counts characters that two people marked of the same output, one of another severity half, as the WMT
shared task on quality estimation counts those of a system against a person's (Blain et al., WMT 2023); two who both
marked nothing agree. Alpha is Krippendorff's over characters, from unmarked to the gravest severity, an ordinal scale.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from surveys.protocols.criteria import Choice, Criterion, Spans
from surveys.protocols.spans import Mark, read
from surveys.results.frames.base import Frame, column
from surveys.results.statistics.agreement import krippendorff_alpha
from surveys.results.statistics.criteria import coded, interval_of, values_of
from surveys.results.statistics.inference import Effect, Interval, effect_of, support_of
from surveys.results.statistics.numbering import Codes, known_people, numbered

Floats = npt.NDArray[np.float64]
Levels = npt.NDArray[np.intp]
OTHER_SEVERITY = 0.5  # of a character, where two marked it with different severities


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """How often outputs have errors of a category and a severity: marks in all, and marks per answer."""

    category: str
    severity: str
    marks: int
    per_answer: float
    interval: Interval | None
    category_label: str = ""
    severity_label: str = ""


@dataclass(frozen=True, slots=True)
class SpanAgreement:
    """How far people mark alike: F1 over `pairs` of answers on one output, and alpha over its characters."""

    pairs: int
    f1: float | None = None
    f1_interval: Interval | None = None
    alpha: float | None = None


@dataclass(frozen=True, slots=True)
class ErrorProfile:
    """What was marked about a system by one question; `cost` is per answer, `cost_per_100` per 100 words judged."""

    system: str
    criterion: str
    label: str
    answers: int
    marks: int
    cost: float | None
    interval: Interval | None
    cost_per_100: float | None
    interval_per_100: Interval | None
    kinds: tuple[ErrorKind, ...]
    agreement: SpanAgreement


def error_profiles(frame: Frame) -> tuple[ErrorProfile, ...]:
    """Return a profile for each system and question that marks its outputs, of the kept rows."""
    asked = [(one, one.spans) for one in frame.definition.output_criteria if one.spans]
    return tuple(
        _profile(frame, system, one, spans) for one, spans in asked if spans for system in frame.systems
    )


def _profile(frame: Frame, system: str, criterion: Criterion, spans: Spans) -> ErrorProfile:
    kept = frame.about(frame.kept, system=system)
    values = values_of(kept, column(system, criterion.key)).dropna()
    rows, names = kept.loc[values.index], coded(kept.loc[values.index])
    texts, marks = rows[column(system, "text")], values.map(read)
    costs = values.map(spans.cost).astype("float64")
    words = texts.map(lambda text: len(text.split())).astype("float64")
    per_100, interval_per_100 = _per_100(costs, words, names)
    return ErrorProfile(
        system=system,
        criterion=criterion.key,
        label=criterion.label,
        answers=len(values),
        marks=sum(len(of_one) for of_one in marks),
        cost=float(costs.sort_values().mean()) if len(costs) else None,
        interval=_from_0(interval_of(costs, names)),
        cost_per_100=per_100,
        interval_per_100=interval_per_100,
        kinds=tuple(_kinds(marks, names, spans)),
        agreement=_agreement(marks, texts, names, spans),
    )


def _per_100(
    costs: "pd.Series[float]", words: "pd.Series[float]", names: pd.DataFrame
) -> tuple[float | None, Interval | None]:
    """Return cost per 100 words and its interval, that of a ratio's linear part (its residuals over mean words)."""
    total = float(words.sum())
    if not total:
        return None, None
    rate = float(costs.sort_values().sum()) / total
    linear = rate + (costs - rate * words) / (total / len(words))
    return 100 * rate, _from_0(interval_of(100 * linear, names))


def _from_0(interval: Interval | None) -> Interval | None:
    """Return the part of an interval that is possible: nothing costs, or is there, less than 0 times."""
    return interval and interval.within(0.0, math.inf)


def _kinds(marks: "pd.Series[Any]", names: pd.DataFrame, spans: Spans) -> Iterator[ErrorKind]:
    """Yield every category and severity that was marked, as the protocol lists them."""
    nothing = Choice("", "")
    for category, severity in product(spans.categories or (nothing,), spans.severities):
        kind = (category.value, severity.value)
        counts = marks.map(lambda of_one, kind=kind: _count(of_one, *kind)).astype("float64")
        if counts.sum():
            mean, interval = float(counts.sort_values().mean()), _from_0(interval_of(counts, names))
            labels = (category.label, severity.label)
            yield ErrorKind(*kind, int(counts.sum()), mean, interval, *labels)


def _count(marks: tuple[Mark, ...], category: str, severity: str) -> int:
    return sum((mark.category, mark.severity) == (category, severity) for mark in marks)


def _agreement(
    marks: "pd.Series[Any]", texts: "pd.Series[str]", names: pd.DataFrame, spans: Spans
) -> SpanAgreement:
    """Return how far people mark alike; `names` are `coded`."""
    scores, met, counts = list[float](), list[tuple[int, int]](), list[Floats]()
    n_levels = len(spans.severities) + 1
    for _, places in sorted(names.groupby("item_id").indices.items()):
        levels = [_levels(marks.iloc[k], len(texts.iloc[k]), spans) for k in places]
        scores += [_f1(ours, theirs) for ours, theirs in combinations(levels, 2)]
        met += combinations(map(int, places), 2)
        stacked = np.stack(levels)
        counts.append(
            np.stack([(stacked == n).sum(axis=0) for n in range(n_levels)], axis=1).astype("float64")
        )
    if not scores:
        return SpanAgreement(0)
    pairs = np.asarray(met, "intp")
    people = known_people(names["worker"].to_numpy(), unknown=len(names))
    effect = _mean_of_pairs(
        np.asarray(scores),
        names["item_id"].to_numpy()[pairs[:, 0]],
        None if people is None else people[pairs],
    )
    interval = effect.interval() if effect else None
    return SpanAgreement(
        pairs=len(scores),
        f1=float(np.sort(scores).mean()),
        f1_interval=interval and interval.within(0.0, 1.0),
        alpha=krippendorff_alpha(np.concatenate(counts)),
    )


def _mean_of_pairs(scores: Floats, items: Codes, people: Codes | None) -> Effect | None:
    """Return the mean of scores of pairs, shape (n,), each of two `people`, shape (n, 2), on one item.

    Somebody is left out with all the pairs they are in. None with fewer than two items.
    """
    order = np.argsort(scores, kind="stable")
    scores, items = scores[order], items[order, None]
    groups = [items]
    if people is not None:
        people = people[order]
        groups += [people, items * (int(people.max()) + 1) + people]
    n_items = len(np.unique(items))
    if n_items < 2:
        return None
    shifts = [_shifts(scores, numbered(codes.ravel())[1].reshape(codes.shape)) for codes in groups]
    support = support_of(n_items, None if people is None else numbered(people.ravel())[1])
    return effect_of(float(scores.mean()), shifts, support)


def _shifts(scores: Floats, codes: Codes) -> Floats:
    """Return how the mean moves when all scores of one code are left out; a score has one code or two, shape (n, k)."""
    times = np.ones(codes.shape)
    times[:, 1:] = codes[:, 1:] != codes[:, :1]  # a pair of one and the same goes once
    sizes = np.bincount(codes.ravel(), weights=times.ravel())
    sums = np.bincount(codes.ravel(), weights=(scores[:, None] * times).ravel())
    with np.errstate(all="ignore"):
        return np.asarray((scores.sum() - sums) / (len(scores) - sizes) - scores.mean(), dtype="float64")


def _levels(marks: tuple[Mark, ...], length: int, spans: Spans) -> Levels:
    """Return of each character of a text how grave its gravest mark is, from 1 on; 0 where there is none."""
    graded = sorted(spans.severities, key=lambda one: one.score or 0.0)
    rank = {one.value: n for n, one in enumerate(graded, 1)}
    levels = np.zeros(length, "intp")
    for mark in marks:
        if mark.column == spans.of:
            part = slice(mark.start, mark.end)  # all of it, where neither is given
            levels[part] = np.maximum(levels[part], rank[mark.severity])
    return levels


def _f1(ours: Levels, theirs: Levels) -> float:
    n_marked = int((ours > 0).sum() + (theirs > 0).sum())
    both = (ours > 0) & (theirs > 0)
    credit = float(np.where(ours[both] == theirs[both], 1.0, OTHER_SEVERITY).sum())
    return 2 * credit / n_marked if n_marked else 1.0
