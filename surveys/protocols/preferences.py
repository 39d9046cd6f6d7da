"""The ways in which people compare outputs with each other: by a choice, a ranking, or the best and the worst.

Whatever the way, each output shown gets a *place*, which its rating stores. A place has a level: of two outputs the one
on the higher level was preferred; of two on the same level nothing is known, unless two such places are a tie.
The question has *parts*, each answered by one choice. A part has a name: an output's code, or a word.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

By = Literal["choice", "ranking", "best_worst"]
PREFERRED, OTHER, NO_PREFERENCE = "preferred", "other", "no_preference"
BEST, WORST = "best", "worst"
MOST_RANKED = 9  # by the keys 1 to 9
Places = dict[str, str]  # {output code: place}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the outputs, or none of them."""

    levels: Mapping[str, float] = field(
        default_factory=lambda: {PREFERRED: 1.0, NO_PREFERENCE: 0.5, OTHER: 0.0}
    )
    least_shown: int = 2
    most_shown: int = 100

    def level(self, place: str) -> float:
        """Return how high a place is; KeyError if there is no such place."""
        return self.levels[place]

    def score(self, place: str) -> float:
        """Return the number that a rating keeps of a place; KeyError if there is no such place."""
        return 1.0 if self.levels[place] == 1 else 0.0

    def is_tied(self, level: float) -> bool:
        """Tell whether two outputs on this level were found equal."""
        return level == self.levels[NO_PREFERENCE]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Every output has a place, "1" for the best; several may share one if the protocol says so."""

    levels: Mapping[str, float] = field(
        default_factory=lambda: {str(n): float(-n) for n in range(1, MOST_RANKED + 1)}
    )
    least_shown: int = 2
    most_shown: int = MOST_RANKED

    def level(self, place: str) -> float:
        return self.levels[place]

    def score(self, place: str) -> float:
        return -self.levels[place]

    def is_tied(self, level: float) -> bool:
        return True

    def parts(self, codes: Sequence[str]) -> tuple[str, ...]:
        return tuple(codes)

    def places(self, given: Mapping[str, str], codes: Sequence[str]) -> Places:
        return {code: given[code] for code in codes}

    def given(self, places: Places) -> dict[str, str]:
        return dict(places)

    def clashes(self, given: Mapping[str, str], *, has_ties: bool) -> Iterator[str]:
        """Yield the parts whose answer another part rules out."""
        taken: Counter[str] = Counter()
        for part, place in given.items():
            taken[place] += 1
            if taken[place] > 1 and not has_ties:
                yield part

    def are_sound(self, places: Mapping[str, str], codes: Sequence[str], *, has_ties: bool) -> bool:
        """Tell whether these are places of just these outputs."""
        known = {str(n) for n in range(1, len(codes) + 1)}
        is_whole = set(places) == set(codes) and set(places.values()) <= known
        return is_whole and not any(self.clashes(places, has_ties=has_ties))


@dataclass(frozen=True, slots=True)
class BestWorst:
    """The best and the worst of the outputs; of the others nothing is said."""

    levels: Mapping[str, float] = field(default_factory=lambda: {BEST: 1.0, OTHER: 0.0, WORST: -1.0})
    least_shown: int = 3
    most_shown: int = 100

    def level(self, place: str) -> float:
        return self.levels[place]

    def score(self, place: str) -> float:
        return self.levels[place]

    def is_tied(self, level: float) -> bool:
        return False

    def parts(self, codes: Sequence[str]) -> tuple[str, ...]:
        return (BEST, WORST)

    def places(self, given: Mapping[str, str], codes: Sequence[str]) -> Places:
        of = {given[WORST]: WORST, given[BEST]: BEST}
        return {code: of.get(code, OTHER) for code in codes}

    def given(self, places: Places) -> dict[str, str]:
        return {place: code for code, place in places.items() if place != OTHER}

    def clashes(self, given: Mapping[str, str], *, has_ties: bool) -> Iterator[str]:
        if given.get(BEST) and given.get(BEST) == given.get(WORST):
            yield WORST

    def are_sound(self, places: Mapping[str, str], codes: Sequence[str], *, has_ties: bool) -> bool:
        others = [OTHER] * (len(codes) - 2)
        return set(places) == set(codes) and sorted(places.values()) == sorted([BEST, WORST, *others])


InParts = Ranking | BestWorst
IN_PARTS: Mapping[By, InParts] = {"ranking": Ranking(), "best_worst": BestWorst()}
WAYS: Mapping[By, Choice | InParts] = {"choice": Choice(), **IN_PARTS}
