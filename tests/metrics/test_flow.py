"""The greatest matching of kinds of words, beside every matching there is."""

import random

from metrics.flow import greatest_flow, linked
from metrics.matching import match_related

KEYS = {"a": {1}, "b": {1, 2}, "c": {2}, "d": {3}, "e": {2, 3}, "f": set()}


def most_by_trial(left: list[str], right: list[str]) -> int:
    """Return how many words can be matched, by trying everything."""
    if not left:
        return 0
    best = most_by_trial(left[1:], right)
    for place, word in enumerate(right):
        if KEYS[left[0]] & KEYS[word]:
            best = max(best, 1 + most_by_trial(left[1:], right[:place] + right[place + 1 :]))
    return best


def test_as_many_as_trying_everything_finds() -> None:
    draw = random.Random(5)
    for _ in range(300):
        left, right = (draw.choices("abcdef", k=draw.randint(0, 5)) for _ in range(2))
        for fewest in (True, False):
            pairs = match_related(
                dict(enumerate(left)),
                dict(enumerate(right)),
                keys=KEYS.__getitem__,
                fixed=[],
                fewest_crossings=fewest,
            )
            assert len(pairs) == most_by_trial(left, right), (left, right, fewest)
            assert all(KEYS[left[mine]] & KEYS[right[theirs]] for mine, theirs in pairs)
            assert len({mine for mine, _ in pairs}) == len({theirs for _, theirs in pairs}) == len(pairs)


def test_words_already_matched_make_room() -> None:
    one, two, both = frozenset("1"), frozenset("2"), frozenset("12")
    links = linked([both, one], [one, two])
    assert links == {both: [one, two], one: [one]}
    assert greatest_flow(links, {both: 3, one: 2}, {one: 3, two: 2}) == {
        (both, one): 1,
        (both, two): 2,
        (one, one): 2,
    }


def test_thousands_of_synonyms_are_matched() -> None:
    left, right = dict(enumerate(["a"] * 6000)), dict(enumerate(["b"] * 5000))
    pairs = match_related(left, right, keys=KEYS.__getitem__, fixed=[])
    assert pairs == [(place, place) for place in range(5000)]
