"""A batch becomes questionnaires, with its definition frozen."""

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils import timezone

from annotators.failpoints import reach
from surveys import audit
from surveys.models import Batch, Item, Questionnaire, QuestionnaireItem
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
from surveys.publishing.preconditions import problems
from surveys.publishing.pricing import quote
from surveys.studies.importing.batch_layout import take_apart
from surveys.studies.planted_checks import COLUMN

CHECK = "planted check"  # with a blank: no system is called that
VERSION = 2


class CannotPublish(Exception):
    """The batch can't be published; the message says why."""


def start_publishing(batch: Batch, *, by: AbstractBaseUser | AnonymousUser | None = None) -> bool:
    """Freeze the definition and write the questionnaires. False if that happened before.

    Raises CannotPublish with all problems. Nothing is sent to the marketplace yet.
    """
    if batch.status != Batch.Status.DRAFT:
        return False
    if found := problems(batch):
        raise CannotPublish(" ".join(found))
    try:
        with budget.spending(batch):
            is_first = _write(batch, by=by)
    except budget.OverBudget as error:
        raise CannotPublish(str(error)) from error
    batch.refresh_from_db()
    return is_first


def _write(batch: Batch, *, by: AbstractBaseUser | AnonymousUser | None) -> bool:
    draft = Batch.objects.filter(pk=batch.pk, status=Batch.Status.DRAFT)
    snapshot = batch.survey.definition.to_snapshot()
    if not draft.update(status=Batch.Status.PUBLISHING, snapshot=snapshot, published_at=timezone.now()):
        return False
    _write_questionnaires(batch)
    if quota.has_slots(batch):
        quota.write_slots(batch)
    details = {**_terms(batch), "design": design_in_words(batch.design)}
    audit.record(audit.Kind.PUBLISHING, "publish", batch=batch, by=by, details=details)
    reach("publish.writing")
    return True


def _terms(batch: Batch) -> dict[str, str | None]:
    """What the audit trail keeps of the money, in dollars."""
    limit = None if batch.budget is None else f"{batch.budget:.2f}"
    return {"total": f"{quote(batch).total:.2f}", "budget": limit}


def _blocks(batch: Batch) -> tuple[list[list[Item]], dict[str, object]]:
    """Return the items of each HIT, in publishing order, and what there is to say about how they were drawn.

    Rows of a batch CSV are HITs that somebody composed. Where all items show the same systems, each subject once, so
    that nothing can be confounded, they stay whole, and only their order is drawn.
    """
    items = list(batch.survey.items.order_by("position").prefetch_related("outputs"))
    units = [_unit(item, batch.definition) for item in items]
    seed, size = f"{batch.seed}:design", batch.items_per_hit
    if _is_one_of_a_kind(units) and _are_rows(items, size=size):
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
    return {"version": VERSION, "seed": batch.seed, **facts, **_repeats(batch, blocks)}


def _repeats(batch: Batch, blocks: Sequence[Sequence[Item]]) -> dict[str, object]:
    """Return how many items a page asks again; also the least, where short pages and planted checks leave fewer."""
    if not batch.repeats_per_hit:
        return {}
    pages = [[item for item in block if COLUMN not in item.payload] for block in blocks]
    made = [len(repeated(page, wanted=batch.repeats_per_hit)) for page in pages]
    least, most = min(made, default=0), max(made, default=0)
    return {"repeats": most, **({"least_repeats": least} if least < most else {})}


def _are_rows(items: Sequence[Item], *, size: int) -> bool:
    """Tell whether the items came as rows of a batch CSV, `size` of them in a row."""
    headers = {tuple(item.payload.get("header", ())) for item in items}
    return len(items) % size == 0 and {take_apart(header).n for header in headers} == {size}


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


def keys(batch: Batch) -> list[uuid.UUID]:
    """Return the keys of the questionnaires that publishing the draft as it is now writes.

    They are made of what the draft says, so that a draft published after a backup, and again after its restore,
    finds the HITs it was given. One that says anything else gets others. Translations count for nothing here, so that a
    draft from before its type had any finds its HITs, too.
    """
    return [_key(batch, position, group) for position, group in enumerate(_blocks(batch)[0], 1)]


def _key(batch: Batch, position: int, group: Sequence[Item]) -> uuid.UUID:
    terms = (batch.title, batch.description, batch.keywords, batch.reward, batch.assignment_duration)
    design = (batch.seed, batch.assignments_per_hit, batch.auto_approval_delay, batch.lifetime)
    made = [batch.pk, batch.created_at.isoformat(), position, [item.pk for item in group]]
    made += [batch.repeats_per_hit] if batch.repeats_per_hit else []
    asked = replace(batch.survey.definition, translations=()).to_snapshot()
    said = json.dumps([*map(str, terms + design), made, asked], sort_keys=True)
    return uuid.uuid5(uuid.NAMESPACE_URL, said)


def _write_questionnaires(batch: Batch) -> None:
    fresh = Batch.objects.select_related("survey").get(pk=batch.pk)
    groups, facts = _blocks(fresh)
    Batch.objects.filter(pk=batch.pk).update(design=facts)
    batch.design = facts
    questionnaires = Questionnaire.objects.bulk_create(
        Questionnaire(
            pk=_key(fresh, position, group),
            batch=batch,
            position=position,
            target_assignments=batch.assignments_per_hit,
        )
        for position, group in enumerate(groups, 1)
    )
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=questionnaire, item=item, position=position)
        for questionnaire, group in zip(questionnaires, groups, strict=True)
        for position, item in enumerate(group, 1)
    )
