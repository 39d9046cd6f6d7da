"""A design: which balance holds of HITs over random shapes, and of a study as it is published."""

import random
from collections import Counter, defaultdict
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from surveys.models import AuditEntry, Batch, Item, Survey
from surveys.publishing import questionnaires
from surveys.publishing.design import (
    Unit,
    design_in_words,
    draw_blocks,
    methods_in_words,
    n_meetings,
    round_of_pairs,
    shares,
    williams,
)
from tests.factories import make_draft, make_item, make_survey

SEEDS = st.integers(0, 2**31)
SHAPES: dict[str, Any] = {
    "n_subjects": st.integers(1, 14),
    "n_systems": st.integers(1, 7),
    "size": st.integers(1, 8),
    "n_strata": st.integers(1, 3),
    "n_checks": st.integers(0, 6),
    "seed": SEEDS,
}


def study(
    n_subjects: int, n_systems: int, *, n_strata: int = 1, n_checks: int = 0, left_out: int = 0
) -> list[Unit]:
    """Every system on every subject but each `left_out`th pair, and planted checks."""
    pairs = [(s, k) for s in range(n_subjects) for k in range(n_systems)]
    kept = [pair for n, pair in enumerate(pairs, 1) if not left_out or n % left_out]
    units = [Unit(n, f"s{s}", f"k{k}", f"class {s % n_strata}") for n, (s, k) in enumerate(kept)]
    return units + [Unit(len(kept) + n, f"check {n}", "check") for n in range(n_checks)]


def assert_in_proportion(blocks: list[list[Unit]], units: list[Unit]) -> None:
    """Of each kind every HIT, and every beginning of the order of publishing, has its share rounded down or up."""
    done, n_done = Counter[str](), 0
    for block in blocks:
        here = Counter(unit.kind for unit in block)
        done, n_done = done + here, n_done + len(block)
        for kind, n in Counter(unit.kind for unit in units).items():
            assert n * len(block) // len(units) <= here[kind] <= -(-n * len(block) // len(units))
            assert n * n_done // len(units) <= done[kind] <= -(-n * n_done // len(units))


@settings(max_examples=200, deadline=None)
@given(**SHAPES, left_out=st.sampled_from([0, 2, 3, 5]))
def test_every_hit_and_every_beginning_has_each_kind_in_proportion(
    n_subjects: int, n_systems: int, size: int, n_strata: int, n_checks: int, left_out: int, seed: int
) -> None:
    units = study(n_subjects, n_systems, n_strata=n_strata, n_checks=n_checks, left_out=left_out)
    assume(units)
    blocks = draw_blocks(units, size=size, seed=str(seed), checks="check")
    assert sorted(unit.key for block in blocks for unit in block) == [unit.key for unit in units]
    assert {len(block) for block in blocks[:-1]} <= {size}
    assert_in_proportion(blocks, units)
    assert draw_blocks(units, size=size, seed=str(seed), checks="check") == blocks


@settings(max_examples=100, deadline=None)
@given(**SHAPES)
def test_systems_differ_by_at_most_one_within_a_hit_and_by_two_over_any_run_of_hits(
    n_subjects: int, n_systems: int, size: int, n_strata: int, n_checks: int, seed: int
) -> None:
    units = study(n_subjects, n_systems, n_strata=n_strata, n_checks=n_checks)
    blocks = draw_blocks(units, size=size, seed=str(seed), checks="check")
    systems = {unit.kind for unit in units} - {"check"}
    for first in range(len(blocks)):
        run = Counter[str]()
        for n, block in enumerate(blocks[first:]):
            run.update(unit.kind for unit in block)
            counts = [run[system] for system in systems]
            assert max(counts) - min(counts) <= (1 if n == 0 or first == 0 else 2)


@settings(max_examples=150, deadline=None)
@given(**SHAPES, left_out=st.sampled_from([0, 3, 5]))
def test_no_exchange_of_two_items_of_a_kind_would_part_more_subjects(
    n_subjects: int, n_systems: int, size: int, n_strata: int, n_checks: int, left_out: int, seed: int
) -> None:
    units = study(n_subjects, n_systems, n_strata=n_strata, n_checks=n_checks, left_out=left_out)
    assume(units)
    blocks = draw_blocks(units, size=size, seed=str(seed), checks="check")
    met = n_meetings(blocks)
    for a, b in combinations(blocks, 2):
        for p, q in [(p, q) for p in range(len(a)) for q in range(len(b)) if a[p].kind == b[q].kind]:
            a[p], b[q] = b[q], a[p]
            assert n_meetings(blocks) >= met
            a[p], b[q] = b[q], a[p]


@settings(max_examples=150, deadline=None)
@given(n_systems=st.integers(1, 6), size=st.integers(1, 8), more=st.integers(0, 20), seed=SEEDS)
def test_no_hit_shows_a_subject_twice_where_there_are_as_many_subjects_as_it_has_items(
    n_systems: int, size: int, more: int, seed: int
) -> None:
    assert n_meetings(draw_blocks(study(size + more, n_systems), size=size, seed=str(seed))) == 0


@settings(max_examples=100, deadline=None)
@given(counts=st.lists(st.integers(1, 30), min_size=1, max_size=6), size=st.integers(1, 9), seed=SEEDS)
def test_shares_of_any_counts_are_rounded_down_or_up(counts: list[int], size: int, seed: int) -> None:
    rows, total = shares(counts, size=size, chance=random.Random(seed)), sum(counts)
    assert [sum(column) for column in zip(*rows, strict=True)] == counts
    for n, row in enumerate(rows, 1):
        shown = min(n * size, total)
        assert all(
            0 <= cell - size * count // total <= 1 for cell, count in zip(row, counts, strict=True)
        ) or n == len(rows)
        sums = [sum(column) for column in zip(*rows[:n], strict=True)]
        assert all(
            c * shown // total <= s <= -(-c * shown // total) for s, c in zip(sums, counts, strict=True)
        )


@settings(max_examples=50, deadline=None)
@given(n_per_class=st.lists(st.integers(1, 20), min_size=2, max_size=4), seed=SEEDS)
def test_classes_alternate_in_proportion_where_one_item_is_shown_at_a_time(
    n_per_class: list[int], seed: int
) -> None:
    classes = [name for name, n in enumerate(n_per_class) for _ in range(n)]
    units = [Unit(n, f"s{n}", "model", f"class {name}") for n, name in enumerate(classes)]
    shown = [block[0].stratum for block in draw_blocks(units, size=1, seed=str(seed))]
    for n in range(1, len(shown) + 1):
        for name, of in enumerate(n_per_class):
            assert of * n // len(units) <= shown[:n].count(f"class {name}") <= -(-of * n // len(units))


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 10, 11, 13])
def test_every_pair_of_systems_meets_equally_often_where_two_are_shown_and_where_two_are_not(n: int) -> None:
    assert Counter(frozenset(pair) for pair in round_of_pairs(n)) == {
        frozenset(pair): 1 for pair in combinations(range(n), 2)
    }
    for size in {2, n - 2}:
        n_hits = n * (n - 1) // 2
        blocks = (
            draw_blocks(study(n_hits * size // n, n), size=size, seed="3") if n_hits * size % n == 0 else []
        )
        met = Counter(
            frozenset(pair) for block in blocks for pair in combinations([u.kind for u in block], 2)
        )
        assert len(set(met.values())) == 1
        assert len(met) == n * (n - 1) // 2


@pytest.mark.parametrize("n", range(1, 9))
def test_in_a_williams_square_each_comes_at_each_place_and_after_each_other_one_equally_often(n: int) -> None:
    rows = [row for square in williams(n) for row in square]
    times = len(rows) // n
    assert all(sorted(column) == sorted(list(range(n)) * times) for column in zip(*rows, strict=True))
    neighbours = Counter(pair for row in rows for pair in pairwise(row))
    assert set(neighbours.values()) <= {times}
    assert len(neighbours) == n * (n - 1)


def test_a_subject_comes_back_after_a_round_of_all_others() -> None:
    blocks = draw_blocks(study(30, 3), size=5, seed="1")
    hits = {
        f"s{s}": [n for n, block in enumerate(blocks) for u in block if u.subject == f"s{s}"]
        for s in range(30)
    }
    assert min(b - a for places in hits.values() for a, b in pairwise(places)) == 5
    assert len({tuple(u.kind for b in blocks for u in b if u.subject == s) for s in hits}) == 6


@settings(max_examples=100, deadline=None)
@given(
    n_systems=st.integers(2, 5),
    size=st.integers(1, 8),
    n_checks=st.integers(0, 30),
    more=st.integers(0, 2),
    seed=SEEDS,
)
def test_each_row_of_the_square_is_as_frequent_whatever_checks_stand_between(
    n_systems: int, size: int, n_checks: int, more: int, seed: int
) -> None:
    """Of subjects that fill rows, and are more than the items of a HIT and of two rounds of systems."""
    n_rows = n_systems if n_systems % 2 == 0 else 2 * n_systems
    times = (size + 2 * n_systems) // n_rows + 1 + more
    units = study(times * n_rows, n_systems, n_checks=n_checks)
    blocks = draw_blocks(units, size=size, seed=str(seed), checks="check")
    kinds: dict[str, list[str]] = defaultdict(list)
    for block in blocks:
        assert len({unit.subject for unit in block}) == len(block)
        for unit in block:
            kinds[unit.subject].append(unit.kind)
    rows = Counter(tuple(row) for row in kinds.values() if row != ["check"])
    assert sorted(rows.values()) == [times] * n_rows
    assert Counter(row[0] for row in rows) == dict.fromkeys(
        {u.kind for u in units} - {"check"}, n_rows // n_systems
    )
    assert len(set(Counter(pair for row in rows for pair in pairwise(row)).values())) == 1


def test_other_seeds_are_other_designs() -> None:
    drawn = [draw_blocks(study(30, 3), size=5, seed=str(seed)) for seed in range(20)]
    assert len({tuple(u.key for block in blocks for u in block) for blocks in drawn}) == 20


def make_xai(n_subjects: int, systems: tuple[str, ...], **values: object) -> Batch:
    """A study as its file gives it: system after system."""
    survey = make_survey(definition_key="xai")
    pairs = [(system, s) for system in systems for s in range(n_subjects)]
    for n, (system, s) in enumerate(pairs, 1):
        make_item(
            survey,
            position=n,
            external_id=f"{s}/{system}",
            subject=str(s),
            systems=(system,),
            choices=(),
            gold="",
        )
    return make_draft(survey, review_policy={"rules": [], "reject_at": 2}, **values)


def hits_of(batch: Batch) -> list[list[Item]]:
    return [
        [slot.item for slot in q.slots.select_related("item").order_by("position")]
        for q in batch.questionnaires.order_by("position")
    ]


@pytest.mark.django_db
def test_three_systems_on_thirty_subjects_stand_together_in_every_hit() -> None:
    batch = make_xai(30, ("a", "b", "c"))
    assert questionnaires.start_publishing(batch) is True
    counts = [Counter(item.external_id.split("/")[1] for item in items) for items in hits_of(batch)]
    assert len(counts) == 18
    assert {tuple(sorted(count.values())) for count in counts} == {(1, 2, 2)}
    assert all(len({item.subject for item in items}) == 5 for items in hits_of(batch))
    beginnings = [sum(counts[:n], Counter()) for n in range(1, 19)]
    assert max(max(c.values()) - min(c.values()) for c in beginnings) == 1


@pytest.mark.django_db
def test_the_design_is_kept_with_its_seed_and_said_in_the_audit_trail() -> None:
    batch = make_xai(30, ("a", "b", "c"))
    questionnaires.start_publishing(batch)
    batch.refresh_from_db()
    facts = {
        "version": 2,
        "drawn": True,
        "seed": 7,
        "hits": 18,
        "kinds": 3,
        "systems": 3,
        "is_combined": False,
        "is_even": True,
        "meetings": 0,
        "checks": 0,
        "strata": 1,
    }
    assert batch.design == facts
    assert AuditEntry.objects.get(batch=batch, outcome="publish").details["design"] == (
        "Items were assigned to 18 HITs at random (seed 7): each of 3 systems equally often, give or take one, within "
        "a HIT and over the order of publishing. No HIT shows a subject twice. Each person sees the items of a HIT in "
        "an order of their own, balanced over the people who do it."
    )


@pytest.mark.django_db
def test_systems_shown_in_pairs_are_counted_as_systems_and_as_combinations() -> None:
    survey = make_survey()
    for n, pair in enumerate([*combinations("abcd", 2)] * 5, 1):
        make_item(survey, position=n, systems=pair)
    batch = make_draft(survey)
    questionnaires.start_publishing(batch)
    details = AuditEntry.objects.get(batch=batch, outcome="publish").details
    assert "each of 6 combinations of 4 systems equally often, give or take one," in details["design"]


@pytest.mark.django_db
def test_planted_checks_are_spread_evenly() -> None:
    survey = make_survey(n_items=24)
    for n in range(25, 31):
        make_item(survey, position=n, payload={"question": "Which?", "check": "answer"})
    batch = make_draft(survey)
    questionnaires.start_publishing(batch)
    assert [sum("check" in item.payload for item in items) for items in hits_of(batch)] == [1] * 6


def make_rows(n_rows: int, *, size: int = 5) -> Survey:
    """A study from a batch CSV, whose rows are HITs."""
    survey = make_survey()
    header = [f"id_{slot}" for slot in range(size)]
    for n in range(1, n_rows * size + 1):
        make_item(
            survey, position=n, payload={"question": "Which?", "header": header, "columns": {}, "row": {}}
        )
    return survey


@pytest.mark.django_db
def test_rows_of_a_batch_file_that_show_all_systems_stay_hits_in_an_order_of_the_seed() -> None:
    survey = make_rows(6)
    orders = set()
    for seed in (1, 2, 3):
        batch = make_draft(survey, seed=seed)
        questionnaires.start_publishing(batch)
        hits = [[item.position for item in items] for items in hits_of(batch)]
        assert sorted(hits) == [[*range(start, start + 5)] for start in range(1, 31, 5)]
        assert batch.design == {"version": 2, "drawn": False, "seed": seed, "hits": 6, "is_shuffled": True}
        orders.add(tuple(hit[0] for hit in hits))
    assert len(orders) == 3
    assert AuditEntry.objects.filter(outcome="publish").latest("pk").details["design"] == (
        "HITs as the file has them in an order drawn at random: all items show the same systems. Seed 3. Each person "
        "sees the items of a HIT in an order of their own, balanced over the people who do it."
    )


@pytest.mark.django_db
def test_rows_of_another_length_are_taken_apart() -> None:
    batch = make_draft(make_rows(6), items_per_hit=3, review_policy={"rules": [], "reject_at": 2})
    questionnaires.start_publishing(batch)
    assert batch.design["drawn"] is True
    assert [len(items) for items in hits_of(batch)] == [3] * 10


@pytest.mark.django_db
def test_fixed_answers_are_strata() -> None:
    """An e-SNLI-VE study: every HIT of five has two, two and one, as the study has."""
    survey = make_survey(definition_key="evil-esnlive")
    golds = ["entailment"] * 12 + ["neutral"] * 12 + ["contradiction"] * 6
    for n, gold in enumerate(golds, 1):
        make_item(survey, position=n, gold=gold, choices=())
    batch = make_draft(survey)
    questionnaires.start_publishing(batch)
    assert {tuple(sorted(Counter(item.gold for item in items).items())) for items in hits_of(batch)} == {
        (("contradiction", 1), ("entailment", 2), ("neutral", 2))
    }
    assert "Subjects came in an order with the answers in proportion at any time." in design_in_words(
        batch.design
    )


def test_what_was_published_before_reads_as_before() -> None:
    assert design_in_words({"version": 1, "drawn": False, "seed": 7, "hits": 2}) == (
        "HITs as the file has them: all items show the same systems. Seed 7. Each person sees the items of a HIT in an "
        "order of their own, balanced over the people who do it."
    )


def test_what_a_type_does_otherwise_follows_the_design() -> None:
    assert methods_in_words(None, changes=()) == "HITs and items in the order of the file."
    assert methods_in_words(None, changes=("A.", "B.")) == "HITs and items in the order of the file. A. B."


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"repeats": 1}, "The first item of each page was asked again"),
        ({"repeats": 2}, "The first 2 items of each page were asked again"),
        ({"repeats": 2, "least_repeats": 1}, "The first 1 to 2 items of each page were asked again"),
        ({"repeats": 1, "checks": 3}, "The first item of each page, planted checks aside, was asked again"),
    ],
)
def test_repeats_are_told_as_they_were_drawn(facts: dict[str, int], words: str) -> None:
    design = {"version": 2, "drawn": False, "seed": 7, "hits": 2} | facts
    assert words in design_in_words(design)
