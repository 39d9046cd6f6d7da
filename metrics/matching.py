"""One stage of an alignment: as many matches as can be, then as few crossings as can be."""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, islice, product
from math import comb, prod
from typing import Final

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
    links = _links(left, right, keys)
    ways = prod(len(theirs) + 1 for theirs in links.values())
    if not fewest_crossings or ways > _tries(len(fixed) + len(links)):
        return _maximum_matching(links)
    return min(_matchings(links), key=lambda some: (-len(some), crossings(fixed + some)))


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
    return LOOKED_AT // (pairs + 1)


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
    if prod(map(_ways, groups)) <= _tries(size):
        together = (list(chain.from_iterable(way)) for way in product(*map(_subsets, groups)))
        return _least_crossing(together, given=given)
    chosen = list(given)
    for group in groups:
        some = islice(_subsets(group), max(1, _tries(size)))
        chosen.extend(_least_crossing(some, given=chosen) if _tries(size) > 1 else next(some))
    return chosen[len(given) :]


def _least_crossing(ways: Iterable[Matching], *, given: Matching) -> Matching:
    return min(ways, key=lambda way: crossings(given + way))


def _ways(group: Group) -> int:
    fewer, more = sorted(map(len, group))
    return comb(more, fewer) if more < 100 else LOOKED_AT + 1


def _subsets(group: Group) -> Iterator[Matching]:
    mine, theirs = group
    if len(mine) < len(theirs):
        return (_in_order(mine, some) for some in combinations(theirs, len(mine)))
    return (_in_order(some, theirs) for some in combinations(mine, len(theirs)))


def _links(left: Words, right: Words, keys: Keys) -> dict[int, list[int]]:
    """Return, for each position on the left that has any, the positions on the right it may be matched with."""
    holders: dict[Hashable, list[int]] = defaultdict(list)
    for theirs, word in right.items():
        for key in keys(word):
            holders[key].append(theirs)
    linked = {
        mine: {theirs for key in keys(word) for theirs in holders.get(key, ())} for mine, word in left.items()
    }
    return {mine: sorted(found) for mine, found in linked.items() if found}


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


def _maximum_matching(links: Mapping[int, list[int]]) -> Matching:
    """Return a greatest matching by augmenting paths (Kuhn's algorithm, breadth first)."""
    mine_of: dict[int, int] = {}
    theirs_of: dict[int, int] = {}
    for start in links:
        path = _augmenting_path(start, links, mine_of, theirs_of)
        theirs_of.update(path)
        mine_of.update((theirs, mine) for mine, theirs in path)
    return sorted(theirs_of.items())


def _augmenting_path(
    start: int, links: Mapping[int, list[int]], mine_of: Mapping[int, int], theirs_of: Mapping[int, int]
) -> Matching:
    reached_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        mine = waiting.popleft()
        for theirs in links[mine]:
            if theirs in reached_from:
                continue
            reached_from[theirs] = mine
            if theirs not in mine_of:
                return _walk_back(theirs, start, reached_from, theirs_of)
            waiting.append(mine_of[theirs])
    return []


def _walk_back(
    theirs: int, start: int, reached_from: Mapping[int, int], theirs_of: Mapping[int, int]
) -> Matching:
    path = [(reached_from[theirs], theirs)]
    while path[-1][0] != start:
        theirs = theirs_of[path[-1][0]]
        path.append((reached_from[theirs], theirs))
    return path
