"""Balance of what is shown first. Five raters an item and sixty HITs, as OFA-X ran it."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.utils import timezone

from annotators.models import Assignment, Worker
from surveys.answering.orders import (
    SHOWN_TO_WORKER,
    History,
    base_values,
    draw_order,
    shuffled,
    slots_to_draw,
)
from surveys.models import Batch, Item, Response
from surveys.protocols.criteria import Choice
from tests.factories import (
    make_batch,
    make_hit,
    make_item,
    make_published,
    make_questionnaire,
    make_survey,
    open_for,
)
from tests.protocols import VQAX

pytestmark = pytest.mark.django_db
N_HITS = 60


def firsts(item: Item) -> Counter[str]:
    """How often each system led on an item."""
    systems = {output.pk: output.system for output in item.outputs.all()}
    return Counter(systems[r.shown["outputs"][0]] for r in item.responses.all())


def led_by_model(responses: Iterable[Response]) -> int:
    """How much more often the model led than the ground truth, in what one worker was shown."""
    led = [
        r.shown["outputs"][0] == next(o.pk for o in r.item.outputs.all() if o.system == "model")
        for r in responses
    ]
    return 2 * sum(led) - len(led)


def gold_slots(responses: Iterable[Response]) -> Counter[int]:
    return Counter(r.shown["choices"].index(r.item.gold) for r in responses)


def shown_to(worker_id: str) -> list[Response]:
    found = Response.objects.filter(worker__worker_id=worker_id).select_related("item")
    return list(found.prefetch_related("item__outputs"))


@pytest.mark.parametrize("seed", [0, 7, 2**31 - 1])
def test_over_five_raters_each_output_leads_two_or_three_times(seed: int) -> None:
    questionnaire = make_published(seed=seed)
    for n in range(5):
        open_for(questionnaire, worker=f"AWORKER{n}")
    counts = [sorted(firsts(item).values()) for item in Item.objects.all()]
    assert counts == [[2, 3]] * 5


def test_over_ten_raters_each_output_leads_five_times() -> None:
    questionnaire = make_published()
    for _ in range(10):
        open_for(questionnaire)
    assert [firsts(item) for item in Item.objects.all()] == [{"model": 5, "ground_truth": 5}] * 5


def test_over_six_raters_each_of_three_answers_leads_twice() -> None:
    questionnaire = make_published()
    for _ in range(6):
        open_for(questionnaire)
    for item in Item.objects.all():
        led = Counter(response.shown["choices"][0] for response in item.responses.all())
        assert led == {"maybe": 2, "no": 2, "yes": 2}


def test_a_worker_sees_both_systems_first_in_every_hit() -> None:
    """Measured over five raters of one HIT: the first sees 3:2, nobody sees one system first five times."""
    questionnaire = make_published()
    for n in range(5):
        open_for(questionnaire, worker=f"AWORKER{n}")
    differences = [led_by_model(shown_to(f"AWORKER{n}")) for n in range(5)]
    assert abs(differences[0]) == 1
    assert max(abs(d) for d in differences) <= 3


class Drawn:
    """A study as it is drawn, kept in memory instead of the database; `shown` is what each worker was shown."""

    def __init__(self, *, n_hits: int = N_HITS) -> None:
        survey = make_survey(n_items=5 * n_hits)
        self.batch = make_batch(survey)
        self.items = list(survey.items.prefetch_related("outputs"))
        self.everybody = History()
        self.histories: defaultdict[str, History] = defaultdict(self._history)
        self.shown: defaultdict[str, list[Response]] = defaultdict(list)

    def _history(self) -> History:
        """One person's: what came first on the items counts for everybody."""
        own = History()
        own.outputs_first, own.choices_first = self.everybody.outputs_first, self.everybody.choices_first
        return own

    def draw(self, item: Item, worker: str) -> None:
        shown = self.histories[worker].draw(item, batch=self.batch, worker=Worker(worker_id=worker))
        self.everybody.outputs_first[item.pk].update(shown["outputs"][:1])
        self.everybody.choices_first[item.pk].update(shown["choices"][:1])
        self.shown[worker].append(Response(item=item, shown=shown))


def study_of(*, arrivals: Callable[[int], list[str]]) -> tuple[dict[str, int], dict[str, Counter[int]]]:
    """Let workers do sixty HITs of five questions; return led_by_model and gold_slots of each."""
    study = Drawn()
    for n in range(N_HITS):
        for worker, item in product(arrivals(n), study.items[5 * n : 5 * n + 5]):
            study.draw(item, worker)
    assert [sorted(of.values()) for of in study.everybody.outputs_first.values()] == [[2, 3]] * 300
    return (
        {worker: led_by_model(shown) for worker, shown in study.shown.items()},
        {worker: gold_slots(shown) for worker, shown in study.shown.items()},
    )


def recounted(responses: Iterable[Response], worker: Worker) -> History:
    """Return the history of these responses, counted one by one."""
    history = History()
    for one in responses:
        outputs, choices = one.shown["outputs"], one.shown["choices"]
        history.outputs_first[one.item_id].update(outputs[:1])
        history.choices_first[one.item_id].update(choices[:1])
        history.places[one.item_id, one.shown.get("place", 0)] += 1
        if one.worker_id == worker.pk:
            history.systems_first[
                next((o.system for o in one.item.outputs.all() if o.pk in outputs[:1]), "")
            ] += 1
            history.gold_slots[choices.index(one.item.gold) if one.item.gold in choices else -1] += 1
    return history


def test_history_is_what_counting_one_by_one_finds() -> None:
    """Three workers have two HITs each; one page is of before designs, one item has nothing to put in order."""
    survey = make_survey(n_items=4)
    batch, items = make_batch(survey), list(survey.items.all())
    pages = [make_questionnaire(batch, items=part, hit=make_hit()) for part in (items[:2], items[2:])]
    for questionnaire, n in product(pages, range(3)):
        open_for(questionnaire, worker=f"AWORKER{n}")
    first, second, *_ = Response.objects.filter(worker__worker_id="AWORKER0").order_by("pk")
    first.shown = {"outputs": first.shown["outputs"], "choices": first.shown["choices"]}
    second.shown = {"outputs": [], "choices": []}
    Response.objects.bulk_update([first, second], ["shown"])
    rejected = Assignment.objects.filter(responses__item=items[3], worker__worker_id="AWORKER1")
    now = timezone.now()
    rejected.update(status="Rejected", saved_at=now, submitted_at=now, rejected_at=now)
    counts = Response.objects.exclude(assignment__status="Rejected").select_related("item")
    for questionnaire, worker in product(pages, Worker.objects.all()):
        slots = slots_to_draw(questionnaire)
        here = [slot.item_id for slot in slots]
        found = History.of(batch, slots=slots, worker=worker)
        wanted = recounted(counts, worker)
        assert (found.systems_first, found.gold_slots) == (wanted.systems_first, wanted.gold_slots)
        assert found.outputs_first == {pk: n for pk, n in wanted.outputs_first.items() if n and pk in here}
        assert found.choices_first == {pk: n for pk, n in wanted.choices_first.items() if n and pk in here}
        assert found.places == {at: n for at, n in wanted.places.items() if at[0] in here}


def test_history_is_read_in_as_many_rows_as_there_are_orders_however_much_was_shown() -> None:
    """Two outputs, three choices, three gold answers."""
    survey = make_survey(n_items=60)
    batch, items = make_batch(survey), list(survey.items.all())
    for n in range(0, 60, 5):
        open_for(make_questionnaire(batch, items=items[n : n + 5], hit=make_hit()), worker="AWORKER")
    worker = Worker.objects.get()
    rows = SHOWN_TO_WORKER.rows(
        batch=batch.pk, worker=worker.pk, given_up=timezone.now() - timedelta(hours=2)
    )
    assert sum(row[-1] for row in rows) == 60
    assert len(rows) <= 2 * 3 * 3


def test_what_is_stored_is_drawn_as_in_memory() -> None:
    """Three workers, two HITs: the scenarios below are those of the database."""
    study = Drawn(n_hits=2)
    workers = ["AWORKER1", "AWORKER2", "AWORKER3"]
    for page in (study.items[:5], study.items[5:]):
        questionnaire = make_questionnaire(study.batch, items=page, hit=make_hit())
        for worker in workers:
            open_for(questionnaire, worker=worker)
            for item in page:
                study.draw(item, worker)
    for worker in workers:
        stored = {r.item.pk: (r.shown["outputs"], r.shown["choices"]) for r in shown_to(worker)}
        drawn = {r.item.pk: (r.shown["outputs"], r.shown["choices"]) for r in study.shown[worker]}
        assert stored == drawn


def test_five_workers_who_do_all_sixty_hits_see_exactly_as_much_of_each() -> None:
    """300 questions each: each system first 150 times, the gold answer 100 times in each of three places."""
    led, slots = study_of(arrivals=lambda n: [f"AWORKER{k}" for k in range(5)])
    assert led == {f"AWORKER{k}": 0 for k in range(5)}
    assert slots == {f"AWORKER{k}": {0: 100, 1: 100, 2: 100} for k in range(5)}


def test_workers_who_come_as_they_please_stay_balanced() -> None:
    """Eight workers, five of them on each HIT in random order, about 190 questions each.

    Balance within the item comes first, so every second rater has no choice. Measured, and the bound:
    2 in |model first - ground truth first|, 4 between the gold answer's most and least frequent place.
    """
    mixed = random.Random(1)
    led, slots = study_of(arrivals=lambda n: mixed.sample([f"AWORKER{k}" for k in range(8)], 5))
    assert max(abs(difference) for difference in led.values()) <= 2
    assert max(max(s.values()) - min(s.values()) for s in slots.values()) <= 4


def test_natural_order_scales_are_never_shuffled() -> None:
    survey = make_survey(n_items=5, definition_key="evil-esnlive")
    batch = make_batch(survey)
    questionnaire = make_questionnaire(batch, items=list(survey.items.all()), hit=make_hit())
    for _ in range(5):
        open_for(questionnaire)
    shown = [response.shown["choices"] for response in Response.objects.all()]
    assert shown == [["entailment", "neutral", "contradiction"]] * 25
    assert base_values(survey.items.all()[0], batch.definition, seed=3) == [
        "entailment",
        "neutral",
        "contradiction",
    ]


def test_choices_fixed_by_the_definition_are_drawn_where_they_have_no_order() -> None:
    assert VQAX.answer is not None
    fixed = replace(VQAX.answer, choices=(Choice("left", "Left"), Choice("right", "Right")))
    survey = make_survey()
    for position in range(1, 6):
        make_item(survey, position=position, choices=(), gold="left")
    batch = make_batch(survey, snapshot=replace(VQAX, answer=fixed).to_snapshot())
    questionnaire = make_questionnaire(batch, items=list(survey.items.all()), hit=make_hit())
    for _ in range(2):
        open_for(questionnaire)
    for item in survey.items.all():
        assert sorted(r.shown["choices"] for r in item.responses.all()) == [
            ["left", "right"],
            ["right", "left"],
        ]


def orders(batch: Batch) -> list[tuple[list[str], list[str]]]:
    """What was shown, in terms that outlast a database."""
    responses = batch.responses.order_by("worker__worker_id", "position").prefetch_related("item__outputs")
    return [
        (
            [{o.pk: o.system for o in r.item.outputs.all()}[pk] for pk in r.shown["outputs"]],
            r.shown["choices"],
        )
        for r in responses
    ]


def shown_with(seed: int) -> list[tuple[list[str], list[str]]]:
    questionnaire = make_published(seed=seed)
    for n in range(5):
        open_for(questionnaire, worker=f"AWORKER{n}")
    return orders(questionnaire.batch)


def test_the_seed_alone_decides() -> None:
    assert shown_with(7) == shown_with(7)
    assert shown_with(7) != shown_with(8)


def test_what_was_drawn_is_stored_and_stays() -> None:
    questionnaire = make_published()
    first = open_for(questionnaire, worker="AWORKER", assignment="3A")
    drawn = orders(questionnaire.batch)
    for _ in range(4):
        open_for(questionnaire)
    again = open_for(questionnaire, worker="AWORKER", assignment="3A")
    assert again == first
    mine = Batch.objects.get().responses.filter(assignment=first)
    assert [r.shown["choices"] for r in mine] == [choices for _, choices in drawn]
    assert all(sorted(r.shown["outputs"]) == sorted(o.pk for o in r.item.outputs.all()) for r in mine)


def test_rejected_assignments_dont_count() -> None:
    """Four kept and their replacement are as balanced as if the rejected one had never been."""
    questionnaire = make_published()
    opened = [open_for(questionnaire) for _ in range(5)]
    now = timezone.now()
    for rejected in opened[:2]:
        Assignment.objects.filter(pk=rejected.pk).update(status="Rejected", submitted_at=now, rejected_at=now)
    for _ in range(2):
        open_for(questionnaire)
    for item in Item.objects.all():
        model = item.outputs.get(system="model").pk
        kept = item.responses.exclude(assignment__status="Rejected")
        assert Counter(r.shown["outputs"][0] == model for r in kept).most_common(1)[0][1] == 3


def test_those_who_left_long_ago_dont_count() -> None:
    questionnaire = make_published()
    for _ in range(2):
        left = open_for(questionnaire)
        Assignment.objects.filter(pk=left.pk).update(loaded_at=timezone.now() - timedelta(hours=2, seconds=1))
    staying = [open_for(questionnaire) for _ in range(5)]
    for item in Item.objects.all():
        model = item.outputs.get(system="model").pk
        led = Counter(r.shown["outputs"][0] == model for r in item.responses.filter(assignment__in=staying))
        assert sorted(led.values()) == [2, 3]


def test_another_batch_of_the_same_items_counts_for_itself() -> None:
    first = make_published()
    second = make_batch(first.batch.survey)
    repeat = make_questionnaire(second, items=list(first.items.all()), hit=make_hit())
    for n in range(5):
        open_for(first, worker=f"AWORKER{n}")
        open_for(repeat, worker=f"AWORKER{n}")
    assert orders(first.batch) == orders(second)


def test_an_item_without_gold_or_choices_is_drawn() -> None:
    survey = make_survey()
    make_item(survey, choices=(), gold="")
    batch = make_batch(survey, items_per_hit=1)
    open_for(make_questionnaire(batch, items=list(survey.items.all()), hit=make_hit()))
    shown = Response.objects.get().shown
    assert (len(shown["outputs"]), shown["choices"]) == (2, [])


def draw(values: list[str], *, first: Counter[str], seen: Counter[Any], tie: str = "t") -> list[str]:
    return draw_order(
        values,
        seed="s",
        tie_seed=tie,
        first_on_item=first,
        worker_label=lambda order: order[0],
        seen_by_worker=seen,
    )


def test_balance_within_the_item_comes_before_balance_within_the_worker() -> None:
    assert draw(["a", "b"], first=Counter(a=1), seen=Counter(b=9)) == ["b", "a"]
    assert draw(["a", "b"], first=Counter(a=1, b=1), seen=Counter(b=9)) == ["a", "b"]


def test_ties_are_broken_by_their_seed_both_ways() -> None:
    ties = Counter(draw(["a", "b"], first=Counter(), seen=Counter(), tie=str(n))[0] for n in range(200))
    assert set(ties) == {"a", "b"}
    assert min(ties.values()) > 70


def test_nothing_to_order() -> None:
    assert draw([], first=Counter(), seen=Counter()) == []


def test_a_shuffle_depends_on_its_seed_alone() -> None:
    assert shuffled("abcdef", seed="1") == shuffled("abcdef", seed="1")
    assert sorted(shuffled("abcdef", seed="1")) == list("abcdef")
    assert len({tuple(shuffled("abc", seed=str(n))) for n in range(100)}) == 6
