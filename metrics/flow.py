"""How many words of one kind can be matched with how many of another: a greatest flow between kinds of words.

A kind is the set of keys that a word has. Texts have many words and few kinds, so kinds are matched, not words.
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Mapping

Kind = frozenset[Hashable]
Links = Mapping[Kind, list[Kind]]
Flow = dict[tuple[Kind, Kind], int]
Path = list[tuple[Kind, Kind]]


def linked(mine: Iterable[Kind], theirs: Iterable[Kind]) -> Links:
    """Return, for each kind that shares a key with any of the other side, those it shares one with."""
    holders: dict[Hashable, list[Kind]] = defaultdict(list)
    for other in theirs:
        for key in other:
            holders[key].append(other)
    found = {kind: dict.fromkeys(other for key in kind for other in holders.get(key, ())) for kind in mine}
    return {kind: list(others) for kind, others in found.items() if others}


def greatest_flow(links: Links, mine: Mapping[Kind, int], theirs: Mapping[Kind, int]) -> Flow:
    """Return how many words of each two kinds to match so that the most words are matched in all.

    Augmenting paths, shortest first (Edmonds and Karp, 1972), from one kind after another.
    """
    flow: Flow = defaultdict(int)
    room = dict(theirs)
    carriers: dict[Kind, set[Kind]] = defaultdict(set)
    for kind in links:
        waiting = mine[kind]
        while waiting and (path := _path(kind, links, carriers, room)):
            waiting -= _augment(flow, carriers, room, path, most=waiting)
    return {pair: count for pair, count in flow.items() if count}


def _path(start: Kind, links: Links, carriers: Mapping[Kind, set[Kind]], room: Mapping[Kind, int]) -> Path:
    """Return the links of a path from `start` to a kind with room: first, third ... to fill, the others to empty."""
    came_from: dict[Kind, Kind] = {}
    came_by: dict[Kind, Kind] = {}
    waiting = deque([start])
    while waiting:
        kind = waiting.popleft()
        for other in links[kind]:
            if other in came_from:
                continue
            came_from[other] = kind
            if room[other]:
                return _walk_back(other, start, came_from, came_by)
            fresh = [one for one in carriers[other] if one != start and one not in came_by]
            came_by.update((one, other) for one in fresh)
            waiting.extend(fresh)
    return []


def _walk_back(
    other: Kind, start: Kind, came_from: Mapping[Kind, Kind], came_by: Mapping[Kind, Kind]
) -> Path:
    path = [(came_from[other], other)]
    while path[-1][0] != start:
        kind = path[-1][0]
        path += [(kind, came_by[kind]), (came_from[came_by[kind]], came_by[kind])]
    return path[::-1]


def _augment(
    flow: Flow, carriers: Mapping[Kind, set[Kind]], room: dict[Kind, int], path: Path, *, most: int
) -> int:
    filled, emptied = path[::2], path[1::2]
    count = min([most, room[path[-1][1]], *(flow[pair] for pair in emptied)])
    for pair in filled:
        flow[pair] += count
        carriers[pair[1]].add(pair[0])
    for pair in emptied:
        flow[pair] -= count
        if not flow[pair]:
            carriers[pair[1]].discard(pair[0])
    room[path[-1][1]] -= count
    return count
