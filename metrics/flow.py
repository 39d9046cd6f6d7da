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
    holders: dict[Hashable, dict[Kind, int]] = defaultdict(dict)
    for rank, other in enumerate(theirs):
        for key in other:
            holders[key][other] = rank
    # Sets of strings have another order in every process, so kinds are put in the order of the text.
    ranked = {kind: _merged(holders[key] for key in kind if key in holders) for kind in mine}
    return {kind: sorted(others, key=others.__getitem__) for kind, others in ranked.items() if others}


def _merged(parts: Iterable[Mapping[Kind, int]]) -> dict[Kind, int]:
    return {kind: rank for part in parts for kind, rank in part.items()}


def greatest_flow(links: Links, mine: Mapping[Kind, int], theirs: Mapping[Kind, int]) -> Flow:
    """Return how many words of each two kinds to match so that the most words are matched in all.

    Augmenting paths, shortest first (Edmonds and Karp, 1972), from one kind after another.
    """
    flow: Flow = defaultdict(int)
    room = dict(theirs)
    carriers: dict[Kind, dict[Kind, None]] = defaultdict(dict)
    for kind in links:
        waiting = mine[kind]
        while waiting and (path := _path(kind, links, carriers, room)):
            waiting -= _augment(flow, carriers, room, path, most=waiting)
    return {pair: count for pair, count in flow.items() if count}


def _path(
    start: Kind, links: Links, carriers: Mapping[Kind, dict[Kind, None]], room: Mapping[Kind, int]
) -> Path:
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
    flow: Flow, carriers: Mapping[Kind, dict[Kind, None]], room: dict[Kind, int], path: Path, *, most: int
) -> int:
    filled, emptied = path[::2], path[1::2]
    count = min([most, room[path[-1][1]], *(flow[pair] for pair in emptied)])
    for pair in filled:
        flow[pair] += count
        carriers[pair[1]][pair[0]] = None
    for pair in emptied:
        flow[pair] -= count
        if not flow[pair]:
            del carriers[pair[1]][pair[0]]
    room[path[-1][1]] -= count
    return count
