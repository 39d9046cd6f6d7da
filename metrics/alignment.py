"""Which word of one text stands for which word of another: METEOR's alignment.

Stages run in order, and each matches only words the earlier ones left. A stage matches as many words as can be, one to
one; among those matchings the one with the fewest crossings is taken. The number of matches is always the greatest;
crossings are the fewest where the ways to match repeated words are few enough to try (`matching.LOOKED_AT`), as
they are in sentences; beyond, words are matched in reading order.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from metrics.matching import Key, Keys, Pair, crossings, match_equal, match_related


@dataclass(frozen=True)
class Alignment:
    """Pairs in the order of the hypothesis, and how many each stage found."""

    pairs: tuple[Pair, ...]
    found: tuple[int, ...]

    @property
    def crossings(self) -> int:
        """How many two pairs stand in opposite order in the two texts."""
        return crossings(self.pairs)

    @property
    def chunks(self) -> int:
        """How many runs of pairs are adjacent in both texts."""
        breaks = sum(after != (before[0] + 1, before[1] + 1) for before, after in pairwise(self.pairs))
        return breaks + bool(self.pairs)


def align(
    hypothesis: Sequence[str],
    reference: Sequence[str],
    *,
    same: Iterable[Key],
    related: Iterable[Keys] = (),
    fewest_crossings: bool = True,
) -> Alignment:
    """Align two lists of words in stages.

    In a stage of `same` words match when their keys are equal; in one of `related`, which follow, when they share
    any key. Without `fewest_crossings` words are matched in reading order.
    """
    left, right = dict(enumerate(hypothesis)), dict(enumerate(reference))
    pairs: list[Pair] = []
    found = []
    stages = [
        *(partial(match_equal, key=key) for key in same),
        *(partial(match_related, keys=keys) for keys in related),
    ]
    for stage in stages:
        new = stage(left, right, fixed=pairs, fewest_crossings=fewest_crossings)
        pairs += new
        found.append(len(new))
        for mine, theirs in new:
            del left[mine], right[theirs]
    return Alignment(tuple(sorted(pairs)), tuple(found))
