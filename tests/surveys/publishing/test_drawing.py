"""Which outputs are drawn: balanced over systems, pairs and time, connected, the same for the same seed."""

from collections import Counter

import pytest

from surveys.publishing.drawing import Showing, draw_sets, drawing_facts, drawing_in_words, pairs_of, parts

TWELVE = tuple(f"s{n:02}" for n in range(12))


def showings(n_items: int, *, draws: int = 1, systems: tuple[str, ...] = TWELVE) -> list[Showing]:
    return [Showing(item, systems) for _ in range(draws) for item in range(n_items)]


def spread(counts: Counter, among) -> int:
    found = [counts[one] for one in among]
    return max(found) - min(found)


def test_twelve_systems_on_two_hundred_items() -> None:
    """At every moment systems are within two of each other and pairs, once each has met, within one."""
    sets = draw_sets(showings(200, draws=3), size=2, seed="7")
    systems, pairs = Counter(), Counter()
    for number, chosen in enumerate(sets, 1):
        systems.update(chosen)
        pairs.update(pairs_of(chosen))
        assert spread(systems, TWELVE) <= 2
        if number == 11:
            assert len(parts(TWELVE, pairs=pairs)) == 1
        if number >= 66:
            assert spread(pairs, pairs_of(TWELVE)) <= 1
    assert set(systems.values()) == {100}
    assert drawing_facts(sets, systems=TWELVE, size=2, draws=3) == {
        "shown": 2, "draws": 3, "of_systems": 12, "least_met": 9, "most_met": 10, "parts": 1,
    }  # fmt: skip


def test_an_item_shows_all_its_pairs_before_it_shows_one_again() -> None:
    sets = draw_sets(showings(5, draws=6, systems=("a", "b", "c", "d")), size=2, seed="7")
    for item in range(5):
        assert set(Counter(sets[item::5]).values()) == {1}


def test_the_seed_alone_decides() -> None:
    again = [draw_sets(showings(30), size=2, seed=seed) for seed in ("7", "7", "8")]
    assert (again[0] == again[1], again[0] == again[2]) == (True, False)


@pytest.mark.parametrize("size", [3, 4, 6])
def test_larger_sets_are_balanced_too(size: int) -> None:
    sets = draw_sets(showings(132), size=size, seed="7")
    assert {len(chosen) for chosen in sets} == {size}
    assert spread(Counter(system for chosen in sets for system in chosen), TWELVE) <= 2
    assert spread(Counter(pair for chosen in sets for pair in pairs_of(chosen)), pairs_of(TWELVE)) <= 4


def test_an_item_with_fewer_outputs_shows_all_and_a_check_shows_the_system_it_is_about() -> None:
    asked = [Showing(1, ("a", "b")), Showing(2, ("a", "b", "c"), ("c",), is_counted=False)]
    few, check = draw_sets(asked, size=2, seed="7")
    assert few == ("a", "b")
    assert "c" in check
    assert len(check) == 2


def test_systems_that_share_no_item_stay_apart_and_are_told() -> None:
    asked = [Showing(n, ("a", "b") if n % 2 else ("c", "d", "e")) for n in range(10)]
    facts = drawing_facts(draw_sets(asked, size=2, seed="7"), systems="abcde", size=2, draws=1)
    assert facts["parts"] == 2
    assert drawing_in_words(facts) == (
        "Of the outputs of an item by 5 systems 2 were drawn, so that each two systems met 0 to 5 times. They fall "
        "into 2 groups that never met."
    )
