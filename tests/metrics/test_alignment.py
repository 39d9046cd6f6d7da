"""METEOR's alignment: most matches, then fewest crossings."""

from itertools import combinations, permutations

from hypothesis import given
from hypothesis import strategies as st

from metrics.alignment import align
from metrics.matching import Pair, crossings

WORDS = st.lists(st.sampled_from("абв"), max_size=5)
SENSES = {"а": {1}, "б": {1, 2}, "в": {2}, "г": {3}, "д": {2, 3}}
RELATED = st.lists(st.sampled_from("абвгд"), max_size=4)


def one_by_one(pairs: list[Pair]) -> int:
    return sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in combinations(pairs, 2))


def best(links: set[Pair], left: int, right: int) -> tuple[int, int]:
    """Return (most matches, fewest crossings) by trying every matching there is."""
    found = [(0, 0)]
    for size in range(1, min(left, right) + 1):
        for mine in combinations(range(left), size):
            for theirs in permutations(range(right), size):
                pairs = list(zip(mine, theirs, strict=True))
                if links.issuperset(pairs):
                    found.append((size, -one_by_one(pairs)))
    most, fewest = max(found)
    return most, -fewest


@given(WORDS, WORDS)
def test_equal_words_cross_as_little_as_can_be(left: list[str], right: list[str]) -> None:
    links = {(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b}
    found = align(left, right, same=[str])
    assert links.issuperset(found.pairs)
    assert (len(found.pairs), found.crossings) == best(links, len(left), len(right))


@given(RELATED, RELATED)
def test_related_words_cross_as_little_as_can_be(left: list[str], right: list[str]) -> None:
    links = {(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if SENSES[a] & SENSES[b]}
    found = align(left, right, same=[], related=[SENSES.__getitem__])
    assert (len(found.pairs), found.crossings) == best(links, len(left), len(right))


@given(st.lists(st.sampled_from("абвгд"), max_size=30), st.lists(st.sampled_from("абвгд"), max_size=30))
def test_long_texts_still_have_the_most_matches(left: list[str], right: list[str]) -> None:
    links = [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if SENSES[a] & SENSES[b]]
    found = align(left, right, same=[], related=[SENSES.__getitem__])
    assert len(found.pairs) == greatest(links)
    assert len({i for i, _ in found.pairs}) == len({j for _, j in found.pairs}) == len(found.pairs)


def greatest(links: list[Pair]) -> int:
    """Return the size of a greatest matching by depth-first augmentation."""
    partner: dict[int, int] = {}

    def place(mine: int, seen: set[int]) -> bool:
        for i, j in links:
            if i == mine and j not in seen:
                seen.add(j)
                if j not in partner or place(partner[j], seen):
                    partner[j] = mine
                    return True
        return False

    return sum(place(mine, set()) for mine in sorted({i for i, _ in links}))


@given(
    st.lists(
        st.tuples(st.integers(0, 50), st.integers(0, 50)),
        max_size=20,
        unique_by=(lambda p: p[0], lambda p: p[1]),
    )
)
def test_crossings_are_counted_fast_as_one_by_one(pairs: list[Pair]) -> None:
    assert crossings(pairs) == one_by_one(pairs)


def test_a_later_stage_sees_only_what_is_left() -> None:
    found = align(["кот", "кота"], ["кота", "коту"], same=[str, lambda word: word[:3]])
    assert (found.pairs, found.found) == (((0, 1), (1, 0)), (1, 1))


def test_chunks_are_runs_adjacent_in_both_texts() -> None:
    assert align(["а", "б", "в"], ["б", "в", "а"], same=[str]).chunks == 2
    assert align(["а", "б"], ["г", "д"], same=[str]).chunks == 0


def test_order_kept_beyond_what_is_tried() -> None:
    found = align(["а", "б"] * 2_000, ["а", "б"] * 1_000, same=[str])
    assert len(found.pairs) == 2_000
    assert found.pairs[0] == (0, 0)
