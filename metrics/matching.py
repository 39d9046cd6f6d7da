"""One stage of an alignment: as many matches as can be, then as few crossings as can be."""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, combinations, islice, product, repeat
from math import comb
from operator import mul
from typing import Final

from metrics.flow import Kind, Links, greatest_flow, linked

LOOKED_AT: Final = 20_000
"""So many pairs are looked at, at most, in search of fewer crossings."""

Pair = tuple[int, int]
"""Position in the hypothesis, position in the reference."""
Key = Callable[[str], Hashable]
Keys = Callable[[str], Collection[Hashable]]
Words = Mapping[int, str]
"""Words by position, in order."""
Matching = list[Pair]
Group = tuple[list[int], list[int]]
"""Where one word stands in either text."""


def match_equal(
    left: Words, right: Words, *, key: Key, fixed: Matching, fewest_crossings: bool = True
) -> Matching:
    """Match words with equal keys, given the pairs of earlier stages."""
    groups = list(_shared_groups(left, right, key))
    # In one group order-keeping pairs cross each other least, and others no more than any other pairs do.
    even = [pair for mine, theirs in groups if len(mine) == len(theirs) for pair in _in_order(mine, theirs)]
    uneven = [group for group in groups if len(group[0]) != len(group[1])]
    if not fewest_crossings:
        return even + [pair for mine, theirs in uneven for pair in _in_order(mine, theirs)]
    return even + _choose(uneven, given=fixed + even)


def match_related(
    left: Words, right: Words, *, keys: Keys, fixed: Matching, fewest_crossings: bool = True
) -> Matching:
    """Match words that share a key, given the pairs of earlier stages."""
    mine, theirs = _kinds(left, keys), _kinds(right, keys)
    links = linked(mine, theirs)
    is_few = _is_within(_ways_to_relate(links, mine, theirs), limit=_tries(len(fixed) + len(left)))
    if not (fewest_crossings and is_few):
        return _expanded(greatest_flow(links, _sizes(mine), _sizes(theirs)), mine, theirs)
    every = {place: _places(links[kind], theirs) for kind in links for place in mine[kind]}
    return min(_matchings(every), key=lambda some: (-len(some), crossings(fixed + some)))


def crossings(pairs: Iterable[Pair]) -> int:
    """Count how many two pairs stand in opposite order in the two texts, in O(n log n)."""
    return _inversions([theirs for _mine, theirs in sorted(pairs)])[0]


def _inversions(numbers: list[int]) -> tuple[int, list[int]]:
    if len(numbers) < 2:
        return 0, numbers
    middle = len(numbers) // 2
    (in_left, left), (in_right, right) = _inversions(numbers[:middle]), _inversions(numbers[middle:])
    merged: list[int] = []
    across = taken = 0
    for number in right:
        while taken < len(left) and left[taken] <= number:
            merged.append(left[taken])
            taken += 1
        across += len(left) - taken
        merged.append(number)
    return in_left + in_right + across, merged + left[taken:]


def _tries(pairs: int) -> int:
    return max(1, LOOKED_AT // (pairs + 1))


def _shared_groups(left: Words, right: Words, key: Key) -> Iterator[Group]:
    mine, theirs = _positions(left, key), _positions(right, key)
    return ((mine[value], theirs[value]) for value in mine if value in theirs)


def _positions(words: Words, key: Key) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = defaultdict(list)
    for position, word in words.items():
        found[key(word)].append(position)
    return found


def _in_order(mine: Sequence[int], theirs: Sequence[int]) -> Matching:
    return list(zip(mine, theirs, strict=False))


def _choose(groups: list[Group], *, given: Matching) -> Matching:
    """Choose which occurrences to match: all groups at once if those ways are few, else group by group."""
    size = len(given) + sum(min(map(len, group)) for group in groups)
    if _is_within(map(_ways, groups), limit=_tries(size)):
        together = (list(chain.from_iterable(way)) for way in product(*map(_subsets, groups)))
        return _least_crossing(together, given=given)
    chosen = list(given)
    for group in groups:
        some = islice(_subsets(group), max(1, _tries(size) // len(groups)))
        chosen.extend(_least_crossing(some, given=chosen))
    return chosen[len(given) :]


def _is_within(factors: Iterable[int], *, limit: int) -> bool:
    """Say whether a product of numbers from 1 is at most `limit`; numbers past that are not looked at."""
    return all(product <= limit for product in accumulate(factors, mul, initial=1))


def _least_crossing(ways: Iterator[Matching], *, given: Matching) -> Matching:
    first = next(ways)
    second = next(ways, None)
    if second is None:
        return first
    return min(chain((first, second), ways), key=lambda way: crossings(given + way))


def _ways(group: Group) -> int:
    fewer, more = sorted(map(len, group))
    return comb(more, fewer) if more < 100 else LOOKED_AT + 1


def _subsets(group: Group) -> Iterator[Matching]:
    mine, theirs = group
    if len(mine) < len(theirs):
        return (_in_order(mine, some) for some in combinations(theirs, len(mine)))
    return (_in_order(some, theirs) for some in combinations(mine, len(theirs)))


def _kinds(words: Words, keys: Keys) -> dict[Kind, list[int]]:
    """Return where the words of one set of keys stand; words without a key are left out."""
    found: dict[Kind, list[int]] = defaultdict(list)
    for position, word in words.items():
        if kind := frozenset(keys(word)):
            found[kind].append(position)
    return found


def _sizes(kinds: Mapping[Kind, list[int]]) -> dict[Kind, int]:
    return {kind: len(positions) for kind, positions in kinds.items()}


def _places(kinds: Iterable[Kind], positions: Mapping[Kind, list[int]]) -> list[int]:
    return sorted(chain.from_iterable(positions[kind] for kind in kinds))


def _ways_to_relate(
    links: Links, mine: Mapping[Kind, list[int]], theirs: Mapping[Kind, list[int]]
) -> Iterator[int]:
    """Yield, for each word on the left, how many on the right it may be matched with, and one more for none."""
    for kind, others in links.items():
        yield from repeat(1 + sum(len(theirs[other]) for other in others), len(mine[kind]))


def _expanded(
    flow: Mapping[tuple[Kind, Kind], int], mine: Mapping[Kind, list[int]], theirs: Mapping[Kind, list[int]]
) -> Matching:
    """Turn how many words of two kinds are matched into pairs of positions, each kind's in order."""
    left = {kind: iter(positions) for kind, positions in mine.items()}
    right = {kind: iter(positions) for kind, positions in theirs.items()}
    return sorted(
        (next(left[kind]), next(right[other])) for (kind, other), count in flow.items() for _ in range(count)
    )


def _matchings(links: Mapping[int, list[int]]) -> Iterator[Matching]:
    """Yield every one-to-one matching along the links, the empty one among them."""
    partial: list[tuple[Matching, frozenset[int]]] = [([], frozenset())]
    for mine, all_theirs in links.items():
        partial += [
            ([*some, (mine, theirs)], used | {theirs})
            for some, used in partial
            for theirs in all_theirs
            if theirs not in used
        ]
    return (some for some, _used in partial)
