"""A batch becomes questionnaires, with its definition frozen."""

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain
from operator import attrgetter

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import Count, Max, Min
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators.failpoints import reach
from surveys import audit, notes
from surveys.models import Batch, Item, Output, Publishing, Questionnaire, QuestionnaireItem, SlotOutput
from surveys.protocols.definition import Definition
from surveys.publishing import budget, quota
from surveys.publishing.design import (
    Unit,
    design_facts,
    design_in_words,
    draw_blocks,
    in_chance_order,
    repeated,
)
from surveys.publishing.drawing import Showing, draw_sets, drawing_facts
from surveys.publishing.pilots import are_rows, items_of
from surveys.publishing.preconditions import problems
from surveys.publishing.pricing import Quote, quote
from surveys.studies.planted_checks import COLUMN, read_check

CHECK = "planted check"  # with a blank: no system is called that
VERSION = 2


class CannotPublish(Exception):
    """The batch can't be published; the message says why."""


def start_publishing(batch: Batch, *, by: AbstractBaseUser | AnonymousUser | None = None) -> bool:
    """Begin, and write the questionnaires at once: where nobody waits for an answer. False if it had begun before.

    Raises CannotPublish with all problems. Nothing is sent to the marketplace yet.
    """
    is_first = begin(batch, by=by)
    if problem := write(batch):
        raise CannotPublish(problem)
    batch.refresh_from_db()
    return is_first


def begin(batch: Batch, *, by: AbstractBaseUser | AnonymousUser | None = None) -> bool:
    """Freeze the definition and what it may cost; a worker writes the questionnaires. False if that happened before.

    Raises CannotPublish with all problems.
    """
    if batch.status != Batch.Status.DRAFT:
        return False
    if reasons := problems(batch):
        raise CannotPublish(" ".join(reasons))
    try:
        with budget.spending(batch):
            is_first = _begin(batch, by=by)
    except budget.OverBudget as error:
        raise CannotPublish(str(error)) from error
    batch.refresh_from_db()
    return is_first


@transaction.atomic
def write(batch: Batch) -> str:
    """Draw the HITs of a batch that is being published and write them down, all or none. Safe to repeat.

    Returns "", or why it is a draft again: what it shows now would cost something else than what was confirmed.
    """
    locked = budget.lock(batch.pk)
    asked = Publishing.objects.filter(batch=locked, written_at=None).first()
    if asked is None or locked.status != Batch.Status.PUBLISHING:
        return ""
    price = quote(locked)
    if (price.n_hits, price.total) != (asked.n_hits, asked.total):
        return _take_back(locked, asked, _other_price(asked, price))
    _write_questionnaires(locked)
    if quota.has_slots(locked):
        quota.write_slots(locked)
    Publishing.objects.filter(pk=asked.pk).update(written_at=timezone.now())
    details = {**_terms(locked, total=price.total), "design": design_in_words(locked.design)}
    audit.record(audit.Kind.PUBLISHING, "publish", batch=locked, by=asked.asked_by, details=details)
    reach("publish.writing")
    return ""


def _begin(batch: Batch, *, by: AbstractBaseUser | AnonymousUser | None) -> bool:
    draft = Batch.objects.filter(pk=batch.pk, status=Batch.Status.DRAFT)
    frozen = {"snapshot": batch.survey.definition.to_snapshot(), "published_at": timezone.now()}
    if not draft.update(status=Batch.Status.PUBLISHING, error="", **frozen):
        return False
    price = quote(batch)
    Publishing.objects.create(
        batch=batch, asked_by_id=by.pk if by else None, n_hits=price.n_hits, total=price.total
    )
    return True


def _take_back(batch: Batch, asked: Publishing, problem: str) -> str:
    """Make a batch of which no HIT was written a draft again, and say why."""
    asked.delete()
    as_draft = {"status": Batch.Status.DRAFT, "snapshot": None, "published_at": None}
    Batch.objects.filter(pk=batch.pk).update(**as_draft, error=problem)
    audit.record(audit.Kind.PUBLISHING, "withdraw", batch=batch, by=asked.asked_by, reason=problem)
    about = f"not published:{batch.pk}:{asked.asked_at.isoformat()}"
    text = f"{batch} was not published. {problem}"
    notes.tell(asked.asked_by_id, about=about, text=text, url=batch.get_absolute_url())
    return problem


def _other_price(asked: Publishing, price: Quote) -> str:
    return (
        f"Its study changed in that moment: it takes {price.n_hits} HITs for ${price.total:.2f} now, "
        f"and {asked.n_hits} for ${asked.total:.2f} were confirmed."
    )


def _terms(batch: Batch, *, total: Decimal) -> dict[str, str | None]:
    """What the audit trail keeps of the money, in dollars."""
    limit = None if batch.budget is None else f"{batch.budget:.2f}"
    return {"total": f"{total:.2f}", "budget": limit}


@dataclass(frozen=True, slots=True)
class Shown:
    """An item of a HIT, and the outputs that were drawn to be shown of it: all of them where there are none."""

    item: Item
    drawn: tuple[Output, ...] = ()


def _pages(batch: Batch) -> tuple[list[list[Shown]], dict[str, object]]:
    """Return what each HIT shows, in publishing order, and what there is to say about how it was drawn.

    Where outputs are drawn, every draw has the same blocks of items, in another order, so that whoever has seen an item
    is kept from no other block.
    """
    rounds, facts = _rounds(batch)
    pages = [[Shown(item) for item in block] for block in rounds]
    if not batch.definition.is_drawn:
        return pages, facts
    items = [item for block in rounds for item in block]
    drawn = iter(_drawn(items, batch))
    pages = [[Shown(item, next(drawn)) for item in block] for block in rounds]
    return pages, {**facts, **_drawing_facts(pages, batch)}


def _rounds(batch: Batch) -> tuple[list[list[Item]], dict[str, object]]:
    """Return the blocks of items of all draws, one after the other."""
    blocks, facts = _blocks(batch)
    seed, n_blocks = f"{batch.seed}:design", len(blocks)
    for draw in range(2, batch.draws_per_item + 1):
        blocks = [*blocks, *in_chance_order(blocks[:n_blocks], seed=f"{seed}:{draw}")]
    return blocks, facts | {"hits": len(blocks)}


def _drawn(items: Sequence[Item], batch: Batch) -> list[tuple[Output, ...]]:
    """Return the outputs that each showing of an item has, in the order of the items."""
    showings = [_showing(item, batch.definition) for item in items]
    sets = draw_sets(showings, size=batch.definition.outputs_per_item, seed=f"{batch.seed}:outputs")
    return [
        tuple(output for output in item.outputs.all() if output.system in chosen)
        for item, chosen in zip(items, sets, strict=True)
    ]


def _showing(item: Item, definition: Definition) -> Showing:
    """A planted check about one system's output shows that output."""
    check = item.payload.get(COLUMN, "")
    wanted = read_check(check, definition=definition).system if check else ""
    return Showing(item.pk, tuple(_systems(item)), (wanted,) if wanted else (), not check)


def _drawing_facts(pages: Sequence[Sequence[Shown]], batch: Batch) -> dict[str, object]:
    counted = [shown for page in pages for shown in page if COLUMN not in shown.item.payload]
    return drawing_facts(
        [tuple(output.system for output in shown.drawn) for shown in counted],
        systems={system for shown in counted for system in _systems(shown.item)},
        size=batch.definition.outputs_per_item,
        draws=batch.draws_per_item,
    )


def _blocks(batch: Batch) -> tuple[list[list[Item]], dict[str, object]]:
    """Return the items of each HIT, in publishing order, and what there is to say about how they were drawn.

    Rows of a batch CSV are HITs that somebody composed. Where all items show the same systems, each subject once, so
    that nothing can be confounded, they stay whole, and only their order is drawn.
    """
    items = list(items_of(batch).prefetch_related("outputs"))
    units = [_unit(item, batch.definition) for item in items]
    seed, size = f"{batch.seed}:design", batch.items_per_hit
    if _is_one_of_a_kind(units) and are_rows(items, size=size):
        rows = in_chance_order(
            [items[start : start + size] for start in range(0, len(items), size)], seed=seed
        )
        return rows, _facts(batch, rows, drawn=False, hits=len(rows), is_shuffled=True)
    by_key = {item.pk: item for item in items}
    drawn = draw_blocks(units, size=size, seed=seed, checks=CHECK)
    systems = {unit.kind: _systems(item) for unit, item in zip(units, items, strict=True)}
    blocks = [_in_file_order(by_key[unit.key] for unit in block) for block in drawn]
    return blocks, _facts(batch, blocks, drawn=True, **design_facts(drawn, checks=CHECK, systems=systems))


def _facts(batch: Batch, blocks: Sequence[Sequence[Item]], **facts: object) -> dict[str, object]:
    simulated = {"is_simulated": True} if batch.is_simulated else {}
    return {"version": VERSION, "seed": batch.seed, **facts, **_repeats(batch, blocks), **simulated}


def _repeats(batch: Batch, blocks: Sequence[Sequence[Item]]) -> dict[str, object]:
    """Return how many items a page asks again; also the least, where short pages and planted checks leave fewer."""
    if not batch.repeats_per_hit:
        return {}
    pages = [[item for item in block if COLUMN not in item.payload] for block in blocks]
    made = [len(repeated(page, wanted=batch.repeats_per_hit)) for page in pages]
    least, most = min(made, default=0), max(made, default=0)
    return {"repeats": most, **({"least_repeats": least} if least < most else {})}


def _in_file_order(items: Iterable[Item]) -> list[Item]:
    return sorted(items, key=attrgetter("position"))


def _systems(item: Item) -> list[str]:
    return sorted(output.system for output in item.outputs.all())


def _unit(item: Item, definition: Definition) -> Unit:
    """Items that show the same systems are of a kind, and planted checks are; answer classes are the strata."""
    is_fixed = definition.answer is not None and bool(definition.answer.choices)
    return Unit(
        key=item.pk,
        subject=item.subject,
        kind=CHECK if COLUMN in item.payload else "+".join(_systems(item)),
        stratum=item.gold if is_fixed else "",
    )


def _is_one_of_a_kind(units: Sequence[Unit]) -> bool:
    return len({unit.kind for unit in units}) <= 1 and len({unit.subject for unit in units}) == len(units)


def n_questions(batch: Batch) -> tuple[int, int]:
    """Return how many questions a HIT of a published batch has, at least and at most; those asked twice count twice.

    One HIT of each draw may be shorter than the others, wherever it stands: it shows what is left over.
    """
    roots = batch.questionnaires.filter(sibling_of=None).annotate(size=Count("slots"))
    sizes = roots.aggregate(
        least=Coalesce(Min("size"), batch.items_per_hit), most=Coalesce(Max("size"), batch.items_per_hit)
    )
    design = batch.design or {}
    most_again = design.get("repeats", batch.repeats_per_hit)
    least_again = design.get("least_repeats", most_again)
    return sizes["least"] + least_again, sizes["most"] + most_again


def keys(batch: Batch) -> list[uuid.UUID]:
    """Return the keys of the questionnaires that publishing the draft as it is now writes.

    They are made of what the draft says, so that a draft published after a backup, and again after its restore,
    finds the HITs it was given. One that says anything else gets others. Translations count for nothing here, so that a
    draft from before its type had any finds its HITs, too.
    """
    return [_key(batch, position, page) for position, page in enumerate(_pages(batch)[0], 1)]


def _key(batch: Batch, position: int, page: Sequence[Shown]) -> uuid.UUID:
    terms = (batch.title, batch.description, batch.keywords, batch.reward, batch.assignment_duration)
    design = (batch.seed, batch.assignments_per_hit, batch.auto_approval_delay, batch.lifetime)
    made = [batch.pk, batch.created_at.isoformat(), position, [shown.item.pk for shown in page]]
    made += [[[output.pk for output in shown.drawn] for shown in page]] if batch.definition.is_drawn else []
    made += [batch.repeats_per_hit] if batch.repeats_per_hit else []
    definition = batch.definition if batch.snapshot else batch.survey.definition
    asked = replace(definition, translations=()).to_snapshot()
    whole = json.dumps([*map(str, terms + design), made, asked], sort_keys=True)
    return uuid.uuid5(uuid.NAMESPACE_URL, whole)


def _write_questionnaires(batch: Batch) -> None:
    fresh = Batch.objects.select_related("survey").get(pk=batch.pk)
    pages, facts = _pages(fresh)
    Batch.objects.filter(pk=batch.pk).update(design=facts)
    batch.design = facts
    questionnaires = Questionnaire.objects.bulk_create(
        Questionnaire(
            pk=_key(fresh, position, page),
            batch=batch,
            position=position,
            target_assignments=batch.assignments_per_hit,
        )
        for position, page in enumerate(pages, 1)
    )
    slots = QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=questionnaire, item=shown.item, position=position)
        for questionnaire, page in zip(questionnaires, pages, strict=True)
        for position, shown in enumerate(page, 1)
    )
    SlotOutput.objects.bulk_create(
        SlotOutput(slot=slot, output=output)
        for slot, shown in zip(slots, chain.from_iterable(pages), strict=True)
        for output in shown.drawn
    )
