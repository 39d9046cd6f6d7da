"""A study of any number of systems: what is stored of a draw, and what everything after it takes from there."""

from collections import Counter
from decimal import Decimal

import pytest
from django.db import DatabaseError, transaction

from surveys.models import Output, Questionnaire, QuestionnaireItem, Response, SlotOutput
from surveys.pages.results.responses import answers_behind
from surveys.publishing import preconditions
from surveys.publishing.comparisons import comparisons
from surveys.publishing.pricing import people_needed, quote
from surveys.publishing.questionnaires import keys, start_publishing
from surveys.results.chosen import Chosen
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from surveys.review.replacements import _sibling
from tests.arena import hand_in, judge, make_arena
from tests.factories import open_batch, open_for

pytestmark = pytest.mark.django_db

TWELVE = tuple(f"s{n:02}" for n in range(12))


def sets_of(batch) -> list[tuple[str, frozenset[str]]]:
    slots = QuestionnaireItem.objects.filter(questionnaire__batch=batch).select_related("item")
    slots = slots.prefetch_related("item__outputs", "outputs").order_by("questionnaire__position", "position")
    return [(slot.item.external_id, frozenset(o.system for o in slot.shown_outputs)) for slot in slots]


def test_each_draw_shows_the_same_hits_other_pairs() -> None:
    batch = make_arena(n_items=10, draws_per_item=3)
    start_publishing(batch)
    shown = sets_of(batch)
    blocks = [frozenset(item for item, _ in shown[start : start + 5]) for start in range(0, 30, 5)]

    assert {len(systems) for _, systems in shown} == {2}
    assert len(set(shown)) == 30
    assert sorted(Counter(blocks).values()) == [3, 3]
    assert set(Counter(systems for _, systems in shown).values()) == {5}
    assert batch.design | {"seed": 0} == batch.design | {
        "seed": 0,
        "hits": 6,
        "shown": 2,
        "draws": 3,
        "parts": 1,
    }
    assert (batch.design["least_met"], batch.design["most_met"]) == (5, 5)


def test_what_a_draft_will_be_is_told_before() -> None:
    batch = make_arena(n_items=10, draws_per_item=3, assignments_per_hit=2)
    price, found = quote(batch), comparisons(batch)
    assert (price.n_hits, price.n_assignments) == (6, 12)
    assert people_needed(batch, n_hits=6).n == 6
    assert (found.n_systems, found.n_pairs, found.n_judged, found.per_pair, found.warning) == (
        4,
        6,
        60,
        10.0,
        "",
    )
    assert len(keys(batch)) == 6
    start_publishing(batch)
    assert batch.questionnaires.count() == 6


def test_twelve_systems_on_two_hundred_items_before_and_after_publishing() -> None:
    """What a draft promises of pairs, people and money is what is published."""
    batch = make_arena(
        n_items=200, systems=TWELVE, draws_per_item=3, assignments_per_hit=2, reward=Decimal("0.50")
    )
    price, found = quote(batch), comparisons(batch)
    assert (price.n_hits, price.n_assignments, price.reward_total) == (120, 240, Decimal("120.00"))
    assert (found.n_pairs, found.n_judged, len(found.groups), found.warning) == (66, 1200, 1, "")
    start_publishing(batch)
    shown = sets_of(batch)
    met = Counter(systems for _, systems in shown)
    assert (len(shown), len(met), max(met.values()) - min(met.values())) == (600, 66, 1)
    assert set(Counter(system for _, systems in shown for system in systems).values()) == {100}
    assert len({(item, systems) for item, systems in shown}) == 600


def test_too_few_showings_connect_nothing_and_that_is_said() -> None:
    batch = make_arena(n_items=5, systems=TWELVE)
    assert comparisons(batch).warning in preconditions.warnings(batch)
    assert comparisons(batch).warning.startswith(
        "Not all systems can be compared: nothing connects s00; s01; s02 and"
    )


def test_the_same_draft_draws_the_same() -> None:
    batch = make_arena(n_items=10, systems=TWELVE)
    expected = keys(batch)
    start_publishing(batch)
    made = batch.questionnaires.order_by("position").values_list("pk", flat=True)
    assert list(made) == expected


def test_the_database_takes_no_output_of_another_item() -> None:
    batch = make_arena()
    start_publishing(batch)
    slot = QuestionnaireItem.objects.first()
    other = Output.objects.exclude(item=slot.item).first()
    with pytest.raises(DatabaseError), transaction.atomic():
        SlotOutput.objects.create(slot=slot, output=other)
    drawn = slot.drawn.first()
    with pytest.raises(DatabaseError), transaction.atomic():
        SlotOutput.objects.filter(pk=drawn.pk).update(output=other)
    with pytest.raises(DatabaseError), transaction.atomic():
        SlotOutput.objects.create(slot=slot, output=drawn.output)


def test_a_page_shows_what_was_drawn_and_a_replacement_the_same() -> None:
    batch = make_arena()
    (questionnaire,) = open_batch(batch)
    assignment = open_for(questionnaire)
    drawn = {slot.item_id: {one.output_id for one in slot.drawn.all()} for slot in questionnaire.slots.all()}
    assert {r.item_id: set(r.shown["outputs"]) for r in assignment.responses.all()} == drawn

    hand_in(assignment)
    sibling = _sibling(Questionnaire.objects.get(pk=questionnaire.pk), replaced=assignment)
    assert {
        slot.item_id: {one.output_id for one in slot.drawn.all()} for slot in sibling.slots.all()
    } == drawn


def test_only_what_was_shown_is_rated_and_in_the_frame() -> None:
    batch = make_arena(n_items=10, draws_per_item=3)
    judge(batch, raters=2)
    rows = read_batch(batch).responses
    n_shown = rows[[f"{system}.text" for system in "abcd"]].notna().sum(axis=1)

    assert (len(rows), set(n_shown), Response.objects.count()) == (60, {2}, 60)
    for system in "abcd":
        assert (rows[f"{system}.text"].notna() == rows[f"{system}.better"].notna()).all()
        assert (rows[f"{system}.text"].notna() == rows[f"{system}.shown_position"].notna()).all()


def test_results_rank_the_systems_and_say_of_each_pair() -> None:
    batch = make_arena(n_items=10, draws_per_item=3)
    judge(batch, raters=2)
    data = make_report(read_batch(batch)).as_data()["strengths"]

    assert data["comparisons"] == 60
    assert data["why_not"] == "No finite strengths: a, b were preferred in every comparison with the others."
    pairs = {(one["system"], one["against"]): one for one in data["pairs"]}
    assert (pairs["a", "b"]["ties"], pairs["a", "c"]["wins"], pairs["c", "d"]["rate"]) == (10, 10, 1.0)
    assert {name: of["shown"] for name, of in data["systems"].items()} == dict.fromkeys("abcd", 30)


def test_answers_about_a_system_are_those_that_showed_it() -> None:
    batch = make_arena(n_items=5, draws_per_item=3)
    judge(batch, raters=2)
    shown = Counter(
        (output.system, output.model_correct)
        for response in Response.objects.all()
        for output in response.shown_outputs
    )

    def listed(chosen: Chosen, **wanted: str) -> int:
        return answers_behind([batch], chosen, wanted).count()

    assert sum(shown.values()) == 2 * Response.objects.count() == 60
    for system in "abcd":
        n = shown[system, None]
        assert 0 < n < Response.objects.count()
        assert listed(Chosen(), of=system) == listed(Chosen(stratum="unknown"), of=system) == n
        assert listed(Chosen(systems=(system,))) == n
