"""Several studies beside each other: which of their items are the same, and how their systems differ on those.

Items are the same where two studies of one data set (one survey type) give them one id; ids of different data sets
are never taken for each other. Compared are models with models, wherever they were rated, and references with
references of another study: their texts are the same, so that a difference there is one of raters. Both are families
of their own for Holm's correction. A model and its own reference are compared in the study's own report.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from surveys.results.frames.base import ABOUT, Frame, column
from surveys.results.statistics.comparison import Difference, Strangers, corrected
from surveys.results.statistics.criteria import scores_of
from surveys.results.statistics.inference import Labels, Ratings
from surveys.results.statistics.numbering import known_people
from surveys.results.statistics.numbers import Counts, Selection
from surveys.results.statistics.summary import summarise

KEPT, FILTERED = "kept", "filtered"


@dataclass(frozen=True, slots=True)
class Study:
    """Answers under one name: those of a file, or of a batch."""

    name: str
    frame: Frame

    @property
    def dataset(self) -> str:
        return self.frame.definition.key


@dataclass(frozen=True, slots=True)
class Party:
    """One system in one study, and the items about which there are kept answers."""

    study: str
    system: str
    role: str
    items: int

    def __str__(self) -> str:
        return f"{self.system} in {self.study}"


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two parties of a data set: on how many items both have kept answers, and how many people answered about both.

    `strangers` says what is known where no item is shared.
    """

    dataset: str
    ours: Party
    theirs: Party
    shared: int
    workers: int
    strangers: Strangers | None = None

    def __str__(self) -> str:
        return f"{self.ours} - {self.theirs}"


@dataclass(frozen=True, slots=True)
class Contrast:
    """A pairing on one criterion. `means` are of all ratings that each has on the shared items, `ratings` how many.

    `difference` is ours less theirs, a mean over items.
    """

    pairing: Pairing
    means: tuple[float | None, float | None]
    ratings: tuple[int, int]
    difference: Difference


@dataclass(frozen=True, slots=True)
class StudyNumbers:
    """What a study's own report says of it, as far as it stands beside others. `filtered` is None if not graded."""

    name: str
    dataset: str
    counts: Counts
    kept: Selection
    filtered: Selection | None


@dataclass(frozen=True, slots=True)
class Across:
    """`contrasts` are of kept rows, `filtered` of those whose answer was right, where both studies grade answers."""

    studies: tuple[StudyNumbers, ...]
    pairings: tuple[Pairing, ...]
    contrasts: tuple[Contrast, ...]
    filtered: tuple[Contrast, ...]

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(study.dataset for study in self.studies))

    @property
    def strangers(self) -> tuple[Pairing, ...]:
        return tuple(pairing for pairing in self.pairings if pairing.strangers)


def compare_studies(studies: Sequence[Study]) -> Across:
    """Put studies beside each other, and compare the systems of those of one data set item by item."""
    pairs = list(_pairs(studies))
    pairings = tuple(_pairing(*ours, *theirs) for ours, theirs in pairs)
    of_study = {study.name: study for study in studies}
    return Across(
        studies=tuple(_numbers(study) for study in studies),
        pairings=pairings,
        contrasts=_contrasts(pairings, of_study, rows=KEPT),
        filtered=_contrasts([p for p in pairings if _is_graded(p, of_study)], of_study, rows=FILTERED),
    )


def _numbers(study: Study) -> StudyNumbers:
    found = summarise(study.frame)
    filtered = found.filtered if found.is_graded else None
    return StudyNumbers(study.name, study.dataset, found.counts, found.kept, filtered)


def _is_graded(pairing: Pairing, studies: dict[str, Study]) -> bool:
    return all(studies[party.study].frame.is_graded for party in (pairing.ours, pairing.theirs))


Side = tuple[Study, str]


def _pairs(studies: Sequence[Study]) -> Iterator[tuple[Side, Side]]:
    """Yield what is to be paired, models first; of two in a row the later one is "ours"."""
    for role in ("model", "reference"):
        sides = [(s, system) for s in studies for system in s.frame.systems if s.frame.role(system) == role]
        for theirs, ours in combinations(sides, 2):
            if ours[0].dataset == theirs[0].dataset:
                yield ours, theirs


def _pairing(study: Study, system: str, other: Study, against: str) -> Pairing:
    rows, of_other = _shown(study, system), _shown(other, against)
    items, workers = (_common(rows[name], of_other[name]) for name in ("item_id", "worker"))
    ours, theirs = _party(study, system, rows), _party(other, against, of_other)
    found = Pairing(study.dataset, ours, theirs, items, workers)
    if items or not ours.items or not theirs.items:
        return found
    equal = len(_texts(study, rows, system) & _texts(other, of_other, against))
    return replace(found, strangers=Strangers(str(ours), str(theirs), ours.items, theirs.items, equal))


def _shown(study: Study, system: str) -> pd.DataFrame:
    return study.frame.about(study.frame.kept, system=system)


def _common(ours: "pd.Series[str]", theirs: "pd.Series[str]") -> int:
    return len(set(ours.dropna()) & set(theirs.dropna()))


def _party(study: Study, system: str, rows: pd.DataFrame) -> Party:
    return Party(study.name, system, study.frame.role(system), int(rows["item_id"].nunique()))


def _texts(study: Study, rows: pd.DataFrame, system: str) -> set[str]:
    """Return texts by which items could be known again: what they are about, the reference's, or the output's."""
    reference = study.frame.definition.reference_system
    names = (ABOUT, column(reference, "text"), column(system, "text"))
    known = next(name for name in names if name in rows and rows[name].notna().any())
    return set(rows[known].dropna()) - {""}


def _contrasts(pairings: Iterable[Pairing], studies: dict[str, Study], *, rows: str) -> tuple[Contrast, ...]:
    by_role = [
        [pairing for pairing in pairings if pairing.ours.role == role] for role in ("model", "reference")
    ]
    return tuple(found for family in by_role for found in _family(family, studies, rows=rows))


def _family(pairings: Sequence[Pairing], studies: dict[str, Study], *, rows: str) -> Iterator[Contrast]:
    """Yield the contrasts of pairings on every scale, corrected for each other."""
    of_name = {str(pairing): pairing for pairing in pairings}
    sides = {
        (name, key): tuple(_ratings(studies, party, key, rows=rows) for party in (p.ours, p.theirs))
        for name, p in of_name.items()
        for key in _scales(studies[p.ours.study].frame, studies[p.theirs.study].frame)
    }
    pairs = {name: (ours, theirs) for name, (ours, theirs) in sides.items()}
    for found in corrected(pairs):
        yield _contrast(of_name[found.system], found, *pairs[found.system, found.criterion])


def _scales(*frames: Frame) -> list[str]:
    """Return the scales both ask: a survey type may have got another since the first was published."""
    asked = [[c.key for c in frame.definition.output_criteria if c.has_score] for frame in frames]
    return [key for key in asked[0] if key in asked[1]]


def _ratings(studies: dict[str, Study], party: Party, key: str, *, rows: str) -> Ratings:
    """Return the ratings of a party by the names of items and workers, which are the same in every study.

    Whoever is not named where others are is one more person, as `known_people` has it, and another in every study.
    """
    frame = studies[party.study].frame
    chosen = frame.about(frame.filtered if rows == FILTERED else frame.kept, system=party.system)
    given = scores_of(frame, chosen, system=party.system, key=key).dropna()
    of_given = chosen.loc[given.index, ["item_id", "worker"]]
    codes, names = pd.factorize(of_given["worker"])
    people = known_people(codes, unknown=len(names))
    everybody = np.append(_labels(names), f"? {party.study}")
    return Ratings(
        np.asarray(given, dtype=np.float64),
        items=_labels(of_given["item_id"]),
        workers=None if people is None else everybody[people],
    )


def _labels(names: "pd.Series[str] | pd.Index[str]") -> Labels:
    return names.to_numpy(dtype=object).astype(np.str_)


def _contrast(pairing: Pairing, difference: Difference, ours: Ratings, theirs: Ratings) -> Contrast:
    shared = np.intersect1d(ours.items, theirs.items)
    values = [np.sort(side.values[np.isin(side.items, shared)]) for side in (ours, theirs)]
    first, second = (float(side.mean()) if len(side) else None for side in values)
    return Contrast(pairing, (first, second), (len(values[0]), len(values[1])), difference)
