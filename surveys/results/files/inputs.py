"""The `Input.*` cells of MTurk's batch file: the researcher's own columns, one row per HIT."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from surveys.models import Batch, Item, QuestionnaireItem
from surveys.protocols.definition import Definition

SLOTTED = re.compile(r"(.+)_(0|[1-9][0-9]{0,3})")
OPTION_COLUMN = re.compile(r"answer|other_answer[0-9]+")
DISTRACTOR = "other_answer{n}"


@dataclass(frozen=True, slots=True)
class Columns:
    """One item's cells by base name, the rest of its row, and the header they came under."""

    header: tuple[str, ...]
    cells: dict[str, str]
    row: dict[str, str]


class InputSheet:
    """The input file of a batch, as the researcher uploaded it or as OFA-X would have written it."""

    def __init__(self, batch: Batch) -> None:
        definition = batch.definition
        slots = QuestionnaireItem.objects.filter(questionnaire__batch=batch, questionnaire__hit__isnull=False)
        slots = slots.select_related("item", "questionnaire").order_by("questionnaire__position", "position")
        items = (
            Item.objects.filter(slots__questionnaire__batch=batch)
            .distinct()
            .prefetch_related("outputs", "pictures")
        )
        self._items = {item.pk: item for item in items}
        self._slots: dict[int, list[int]] = defaultdict(list)
        for slot in slots:
            self._slots[slot.questionnaire.hit_id or 0].append(slot.item_id)
        self._columns = {pk: _columns(item, definition=definition) for pk, item in self._items.items()}
        self.options = {
            item.subject: _options(item, self._columns[item.pk].cells, definition=definition)
            for item in self._items.values()
        }

    @cached_property
    def header(self) -> list[str]:
        """Return the columns' names without `Input.`, in the order of the uploaded file(s)."""
        n = max((len(items) for items in self._slots.values()), default=0)
        names: dict[str, None] = {}
        for columns in self._columns.values():
            names |= dict.fromkeys(_widened(columns.header, n=n))
        return list(names)

    def cells(self, hit: int) -> list[str]:
        """Return the row of a HIT, given by primary key; a slot that this HIT lacks is blank."""
        columns = [self._columns[item] for item in self._slots[hit]]
        found = dict(columns[0].row) if _one_row(columns) else {}
        for slot, item in enumerate(columns):
            found |= {f"{name}_{slot}": text for name, text in item.cells.items()}
        return [found.get(name, "") for name in self.header]


def _one_row(columns: list[Columns]) -> bool:
    return bool(columns) and all(item.row == columns[0].row for item in columns)


def _widened(header: tuple[str, ...], *, n: int) -> list[str]:
    """Return the header as it is if it has `n` slots, else every slotted name with `n` of them."""
    found = [SLOTTED.fullmatch(name) for name in header]
    slots = {int(match[2]) for match in found if match and match[1] == "id"}
    if len(slots) == n:
        return list(header)
    names: dict[str, None] = {}
    for name, match in zip(header, found, strict=True):
        is_slotted = match is not None and int(match[2]) in slots
        base = match[1] if match and is_slotted else name
        names |= dict.fromkeys(f"{base}_{slot}" for slot in range(n)) if is_slotted else {name: None}
    return list(names)


def _columns(item: Item, *, definition: Definition) -> Columns:
    payload: dict[str, Any] = item.payload
    if payload.get("header"):
        return Columns(tuple(payload["header"]), payload["columns"], payload.get("row", {}))
    cells = _as_ofax(item, definition=definition)
    return Columns(tuple(f"{name}_0" for name in cells), cells, {})


def _as_ofax(item: Item, *, definition: Definition) -> dict[str, str]:
    outputs = {output.system: output for output in item.outputs.all()}
    reference = outputs.pop(definition.reference_system, None)
    model = next(iter(outputs.values()), None)
    others = [choice.value for choice in item.choices_for(definition) if choice.value != item.gold]
    return {
        "id": item.external_id,
        definition.question_label.lower(): str(item.payload.get("question", "")),
        "answer": item.gold,
        "output_answer": model.answer if model else "",
        "output_explanation": model.text if model else "",
        "explanation": reference.text if reference else "",
        **{DISTRACTOR.format(n=n): value for n, value in enumerate(others, start=1)},
        "img_name": next((picture.name for picture in item.pictures.all()), ""),
    }


def _options(item: Item, cells: dict[str, str], *, definition: Definition) -> dict[str, str]:
    """Return {stored answer: option as the file spells it}: cells may have spaces that the import trimmed."""
    spelled = {text.strip(): text for name, text in cells.items() if OPTION_COLUMN.fullmatch(name)}
    values = [choice.value for choice in item.choices_for(definition)]
    return {value: spelled.get(value, value) for value in values}
