"""In which order things are shown: drawn from the batch seed, balanced within the item and within the worker.

`Response.shown` keeps it: `outputs` and `choices`, and `place`, from 1, where the item stands on this person's page.
Without `place` (a batch published before designs were drawn) the page has the order of the questionnaire. Answers given
in one of several languages add `language` (`collection`).
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, TypeVar

from django.db.models import (
    BigIntegerField,
    Count,
    F,
    FilteredRelation,
    OuterRef,
    Q,
    QuerySet,
    prefetch_related_objects,
)
from django.db.models.functions import Cast
from django.utils import timezone

from annotators.models import Assignment, Worker
from statements import Hole, Moment, Statement, insert
from statements.gathered import Tallied
from statements.json_lists import PlaceIn
from surveys.answering.contents import OUTPUTS, PICTURES, contents_of, with_contents
from surveys.models import Batch, Item, Output, Questionnaire, QuestionnaireItem, Response
from surveys.protocols.definition import Definition
from surveys.publishing.design import repeated, williams
from surveys.studies.planted_checks import COLUMN

T = TypeVar("T", bound=Hashable)
Shown = dict[str, Any]
NOWHERE = -1  # where a gold answer stands that is none of the choices, or that there is not


def shuffled(values: Sequence[T], *, seed: str) -> list[T]:
    """Return `values` in an order that depends on the seed alone."""
    mixed = list(values)
    random.Random(seed).shuffle(mixed)  # noqa: S311 (an order, not a secret)
    return mixed


@lru_cache(1024)
def _base(n: int, seed: str) -> tuple[int, ...]:
    """Return so many places in the order of an item's seed, which is asked for each of its workers."""
    return tuple(shuffled(range(n), seed=seed))


def draw_order(
    values: Sequence[T],
    *,
    seed: str,
    tie_seed: str,
    first_on_item: Counter[T],
    worker_label: Callable[[Sequence[T]], Hashable],
    seen_by_worker: Counter[Hashable],
) -> list[T]:
    """Return one rotation of the seeded shuffle of `values`.

    Taken is the rotation whose first value has led least often on this item; among equals the one whose label
    (what the worker would see more of, say the first system) this worker has had least; then chance by `tie_seed`.
    Over any number of raters each value therefore leads equally often on an item, give or take one.
    """
    base = [values[place] for place in _base(len(values), seed)]
    starts = shuffled(range(len(base)), seed=tie_seed)
    rotations = [base[start:] + base[:start] for start in starts]

    def burden(order: list[T]) -> tuple[int, int]:
        return first_on_item[order[0]], seen_by_worker[worker_label(order)]

    return min(rotations, key=burden) if rotations else []


def _counted() -> QuerySet[Response]:
    """Return what a batch has shown so far, as `History.of` counts it."""
    batch, given_up = Hole("batch", Batch._meta.pk), Moment("given_up")
    left = Q(assignment__saved_at=None, assignment__loaded_at__lt=given_up)
    firsts = Response.objects.filter(batch=batch, is_repeat=False)
    return firsts.exclude(assignment__status=Assignment.Status.REJECTED).exclude(left).order_by()


def _so_far(batch: Batch) -> dict[str, Any]:
    """Return what `_counted` asks about."""
    return {"batch": batch.pk, "given_up": timezone.now() - 2 * batch.assignment_duration}


def _shown_to_worker() -> QuerySet[Response, Any]:
    """Return (system shown first, where the gold answer stood, of how many items) for each that there is."""
    is_first = Q(item__outputs__pk=Cast(F("shown__outputs__0"), BigIntegerField()))
    first = FilteredRelation("item__outputs", condition=is_first)
    mine = _counted().filter(worker=Hole("worker", Worker._meta.pk)).annotate(first=first)
    gold_slot = PlaceIn(F("shown__choices"), F("item__gold"))
    return mine.values_list("first__system", gold_slot).annotate(n=Count("pk"))


SHOWN_TO_WORKER = Statement(_shown_to_worker)


class History:
    """How often each output and each choice has come first, on these items and for this worker."""

    def __init__(self) -> None:
        self.outputs_first: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self.choices_first: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.places: Counter[tuple[int, int]] = Counter()
        self.systems_first: Counter[Hashable] = Counter()
        self.gold_slots: Counter[Hashable] = Counter()

    @classmethod
    def of(cls, batch: Batch, *, slots: Sequence[Any], worker: Worker | None) -> "History":
        """Count what the batch has shown so far, but not to those whose work is rated again by others.

        These are the rejected, and those who left without answering and can't come back in time. `slots`: as
        `slots_to_draw` returns them. No worker: one to whom nothing was shown.
        """
        history = cls()
        for slot in slots:
            for shown in slot.shown_before or []:
                history._count_item(slot.item_id, *shown)
        mine = SHOWN_TO_WORKER.rows(**_so_far(batch), worker=worker.pk) if worker else []
        for system, gold_slot, n in mine:
            history.systems_first[system or ""] += n
            history.gold_slots[NOWHERE if gold_slot is None else gold_slot] += n
        return history

    def draw(
        self, item: Item, *, batch: Batch, worker: Worker, outputs: Sequence[Output] | None = None
    ) -> Shown:
        """Return {"outputs": ids, "choices": values} in the order to show them in, and count them as shown.

        `outputs` are those to show, all of the item's by default.
        """
        tie = f"{batch.seed}:{item.external_id}:{worker.worker_id}"
        shown: Shown = {
            "outputs": draw_order(
                [output.pk for output in (item.outputs.all() if outputs is None else outputs)],
                seed=f"{batch.seed}:outputs:{item.external_id}",
                tie_seed=f"{tie}:outputs",
                first_on_item=self.outputs_first[item.pk],
                worker_label=partial(_first_system, _systems(item)),
                seen_by_worker=self.systems_first,
            ),
            "choices": base_values(item, batch.definition, seed=batch.seed)
            if _is_fixed(batch.definition)
            else draw_order(
                _values(item, batch.definition),
                seed=f"{batch.seed}:choices:{item.external_id}",
                tie_seed=f"{tie}:choices",
                first_on_item=self.choices_first[item.pk],
                worker_label=partial(_slot_of, item.gold),
                seen_by_worker=self.gold_slots,
            ),
        }
        self.systems_first[_first_system(_systems(item), shown["outputs"])] += 1
        self.gold_slots[_slot_of(item.gold, shown["choices"])] += 1
        return shown

    def draw_places(
        self, items: Sequence[Item], *, batch: Batch, worker: Worker
    ) -> dict[int, dict[str, int]]:
        """Return {item id: {"place": from 1}}: of the rows of a Williams square the one seen least; then chance.

        As many people as there are items see each item once at each place. Empty where the batch has no design.
        """
        if batch.design is None or len(items) < 2:
            return {item.pk: {} for item in items}
        names = "|".join(item.external_id for item in items)
        ids: list[int] = shuffled([item.pk for item in items], seed=f"{batch.seed}:places:{names}")
        rows: list[tuple[int, ...]] = [tuple(row) for square in williams(len(ids)) for row in square]

        def burden(row: tuple[int, ...]) -> int:
            return sum(self.places[ids[k], place] ** 2 for place, k in enumerate(row, 1))

        tie = f"{batch.seed}:{names}:{worker.worker_id}:places"
        best = min(shuffled(rows, seed=tie), key=burden)
        return {ids[k]: {"place": place} for place, k in enumerate(best, 1)}

    def _count_item(
        self, item_id: int, output: int | None, choice: str | None, place: int | None, n: int
    ) -> None:
        """Count what came first, and where the item stood, as so many people were shown it."""
        if output is not None:
            self.outputs_first[item_id][output] += n
        if choice is not None:
            self.choices_first[item_id][choice] += n
        self.places[item_id, place or 0] += n


def draw_responses(
    questionnaire: Questionnaire,
    *,
    assignment: Assignment,
    is_new: bool = False,
    is_newcomer: bool = False,
    slots: Sequence[QuestionnaireItem] | None = None,
) -> list[Response]:
    """Write one response per item, each with the order it will be shown in; nothing where there are some.

    Returns what was written, with all that a page needs of it. To be called under a lock on the questionnaire: what is
    drawn depends on what was drawn before. Of a new assignment, and of a newcomer, there is nothing to ask for.
    `slots`: those of `slots_to_draw`, where they were read under that lock.
    """
    if not is_new and assignment.responses.exists():
        return []
    batch, slots = questionnaire.batch, slots or slots_to_draw(questionnaire)
    worker = None if is_newcomer else assignment.worker
    history = History.of(batch, slots=slots, worker=worker)
    places = history.draw_places([slot.item for slot in slots], batch=batch, worker=assignment.worker)
    responses = [
        Response(
            assignment=assignment,
            batch=batch,
            worker=assignment.worker,
            item=slot.item,
            position=slot.position,
            shown=history.draw(slot.item, batch=batch, worker=assignment.worker, outputs=slot.shown_outputs)
            | places[slot.item_id],
            is_claim=assignment.is_claim,
        )
        for slot in slots
    ]
    drawn = [*responses, *_repeats(responses, batch=batch)]
    insert(drawn)
    return drawn


def _repeats(firsts: Sequence[Response], *, batch: Batch) -> Iterator[Response]:
    """Yield what the page asks again at its end, shown as it was the first time; see `design`."""
    page = sorted(firsts, key=attrgetter("place"))
    again = items_again([response.item for response in page], batch=batch)
    first_of = {response.item_id: response for response in firsts}
    for place, item in enumerate(again, len(firsts) + 1):
        first = first_of[item.pk]
        yield Response(
            assignment=first.assignment,
            batch=batch,
            worker=first.worker,
            item=item,
            position=place,
            shown=first.shown | {"place": place},
            is_claim=first.is_claim,
            is_repeat=True,
        )


def items_again(page: Sequence[Item], *, batch: Batch) -> list[Item]:
    """Return the items that a page, given in its order, asks again at its end."""
    checks = [item for item in page if COLUMN in item.payload]
    return repeated(page, wanted=batch.repeats_per_hit, checks=checks)


def _slots() -> QuerySet[QuestionnaireItem]:
    rows = with_contents(QuestionnaireItem.objects.all(), OUTPUTS, PICTURES)
    return rows.filter(questionnaire=Hole("questionnaire", Questionnaire._meta.pk)).order_by("position")


def to_draw() -> QuerySet[QuestionnaireItem]:
    """Return the query of `slots_to_draw`, for a statement that asks for more with it."""
    of_item = _counted().filter(item=OuterRef("item"))
    firsts = of_item.annotate(
        output=F("shown__outputs__0"), choice=F("shown__choices__0"), stood_at=F("shown__place")
    )
    return _slots().annotate(shown_before=Tallied(firsts, "output", "choice", "stood_at"))


SLOTS = Statement(_slots)
TO_DRAW = Statement(to_draw)


def slots_in_order(questionnaire: Questionnaire) -> list[QuestionnaireItem]:
    """Return what a questionnaire shows, with pictures and outputs, in one query, or two where outputs are drawn."""
    return _read_slots(SLOTS, questionnaire)


def slots_to_draw(
    questionnaire: Questionnaire, *, by: Statement[QuestionnaireItem] = TO_DRAW, **values: Any
) -> list[Any]:
    """Return the `slots_in_order`, each with `shown_before`: how its item was shown in this batch so far.

    `by`: a statement of `to_draw` that asks for more, of these `values`.
    """
    return _read_slots(by, questionnaire, **_so_far(questionnaire.batch), **values)


def _read_slots(
    statement: Statement[QuestionnaireItem], questionnaire: Questionnaire, **values: Any
) -> list[QuestionnaireItem]:
    slots = contents_of(statement, OUTPUTS, PICTURES, questionnaire=questionnaire.pk, **values)
    for slot in slots:
        slot.questionnaire = questionnaire
    if questionnaire.batch.definition.is_drawn:
        prefetch_related_objects(slots, "outputs")
    return slots


def _first_system(systems: dict[int, str], order: Sequence[int]) -> str:
    return systems[order[0]] if order else ""


def _slot_of(gold: str, order: Sequence[str]) -> int:
    return list(order).index(gold) if gold in order else NOWHERE


def _systems(item: Item) -> dict[int, str]:
    return {output.pk: output.system for output in item.outputs.all()}


def output_ids(slot: QuestionnaireItem) -> list[int]:
    """Return the ids of the outputs that are shown, in the order of import."""
    return [output.pk for output in slot.shown_outputs]


def _is_fixed(definition: Definition) -> bool:
    return bool(definition.answer and definition.answer.is_ordered)


def _values(item: Item, definition: Definition) -> list[str]:
    return [choice.value for choice in item.choices_for(definition)]


def base_values(item: Item, definition: Definition, *, seed: int) -> list[str]:
    """Return the choices' values in natural order where they have one, else as the seed has it."""
    values = _values(item, definition)
    return values if _is_fixed(definition) else shuffled(values, seed=f"{seed}:choices:{item.external_id}")
