"""Which outputs of an item each HIT shows, where the survey type draws them: from a seed, balanced as it goes.

Terms: a *showing* is an item in one HIT; its *set* is what it shows of the item; a *pair* is two systems in one set.
Showings come in publishing order, so that what holds of every beginning holds over time. Of the sets of an item, first
those with the pair it has shown least often; while systems are in several parts, those that join two parts; then those
with the pair that was shown least often on any item, with the systems that were, and then by chance. A set of more than
two grows from such a pair by the system that has met the others least often.

So every n-1 showings of n systems that all items have connect them, an item shows all its pairs before it shows one
again, and over items that have the same systems no pair is two ahead of another as long as items don't run out of
pairs. Which output stands first is drawn when somebody opens the HIT (`answering.orders`).
"""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Showing:
    """An item in one HIT: its systems, in any order, and those it has to show. What is no `counted` one (a planted
    check) is balanced with the others, but not they with it.
    """

    item: int
    systems: tuple[str, ...]
    wanted: tuple[str, ...] = ()
    is_counted: bool = True


def draw_sets(showings: Sequence[Showing], *, size: int, seed: str) -> list[tuple[str, ...]]:
    """Return the set of each showing, sorted: `size` of its systems, or all if they are fewer; the same for the same
    showings and seed.
    """
    tally, chance = _Tally(), random.Random(seed)  # noqa: S311 (a design, not a secret)
    sets = []
    for showing in showings:
        chosen = tally.chosen(showing, size=size, chance=chance)
        if showing.is_counted:
            tally.count(showing.item, chosen)
        sets.append(chosen)
    return sets


def pairs_of(systems: Iterable[str]) -> Iterator[Pair]:
    """Yield every two of some systems, in one spelling."""
    return combinations(sorted(systems), 2)


def parts(systems: Iterable[str], *, pairs: Iterable[Pair]) -> list[list[str]]:
    """Return the systems in groups that pairs connect, the largest first."""
    joined = _Parts()
    for one, other in pairs:
        joined.join(one, other)
    groups: dict[str, list[str]] = {}
    for system in sorted(systems):
        groups.setdefault(joined.of(system), []).append(system)
    return sorted(groups.values(), key=len, reverse=True)


def drawing_facts(
    sets: Sequence[tuple[str, ...]], *, systems: Collection[str], size: int, draws: int
) -> dict[str, object]:
    """Return what a reader has to know of drawn sets, as data; planted checks are not among them."""
    met = Counter(pair for chosen in sets for pair in pairs_of(chosen))
    counts = [met[pair] for pair in pairs_of(systems)]
    return {
        "shown": size,
        "draws": draws,
        "of_systems": len(systems),
        "least_met": min(counts, default=0),
        "most_met": max(counts, default=0),
        "parts": len(parts(systems, pairs=met)),
    }


def drawing_in_words(design: Mapping[str, Any]) -> str:
    """Return the sentences about drawn sets; "" of a design that drew none."""
    if "shown" not in design:
        return ""
    draws = "" if design["draws"] == 1 else f" in each of {design['draws']} HITs"
    least, most = design["least_met"], design["most_met"]
    times = f"{least} times" if least == most else f"{least} to {most} times"
    sentence = (
        f"Of the outputs of an item by {design['of_systems']} systems {design['shown']} were drawn{draws}, so that "
        f"each two systems met {times}."
    )
    if design["parts"] > 1:
        sentence += f" They fall into {design['parts']} groups that never met."
    return sentence


class _Parts:
    """Systems in parts that were joined (disjoint sets with path halving)."""

    def __init__(self) -> None:
        self._above: dict[str, str] = {}

    def of(self, system: str) -> str:
        while (above := self._above.get(system, system)) != system:
            self._above[system] = system = self._above.get(above, above)
        return system

    def join(self, one: str, other: str) -> None:
        self._above[self.of(one)] = self.of(other)


class _Tally:
    """How often pairs and systems were shown so far, on each item and on all."""

    def __init__(self) -> None:
        self.pairs: Counter[Pair] = Counter()
        self.on_item: Counter[tuple[int, Pair]] = Counter()
        self.systems: Counter[str] = Counter()
        self.parts = _Parts()

    def chosen(self, showing: Showing, *, size: int, chance: random.Random) -> tuple[str, ...]:
        chosen = list(showing.wanted)
        if not chosen and size > 1 and len(showing.systems) > 1:
            chosen = list(self._best_pair(showing, chance))
        while len(chosen) < min(size, len(showing.systems)):
            rest = [system for system in showing.systems if system not in chosen]
            chosen.append(min(rest, key=lambda system: self._of_one(system, chosen, chance)))
        return tuple(sorted(chosen))

    def count(self, item: int, chosen: Sequence[str]) -> None:
        self.systems.update(chosen)
        for pair in pairs_of(chosen):
            self.pairs[pair] += 1
            self.on_item[item, pair] += 1
            self.parts.join(*pair)

    def _best_pair(self, showing: Showing, chance: random.Random) -> Pair:
        return min(pairs_of(showing.systems), key=lambda pair: self._of_pair(showing, pair, chance))

    def _of_pair(self, showing: Showing, pair: Pair, chance: random.Random) -> tuple[float, ...]:
        one, other = pair
        is_joined = self.parts.of(one) == self.parts.of(other)
        seen = self.systems[one], self.systems[other]
        return (
            self.on_item[showing.item, pair], is_joined, self.pairs[pair], sum(seen), max(seen), chance.random(),
        )  # fmt: skip

    def _of_one(self, system: str, chosen: Sequence[str], chance: random.Random) -> tuple[float, ...]:
        met = sum(self.pairs[min(system, other), max(system, other)] for other in chosen)
        return met, self.systems[system], chance.random()
