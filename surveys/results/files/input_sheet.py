"""The `Input.*` columns of MTurk's batch results: the file a batch was made of, HIT by HIT."""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Count, Max, Min, Q, QuerySet

from surveys.models import Batch, Item, Output, Picture, QuestionnaireItem, Response
from surveys.protocols.definition import Definition

ROWS = 2000  # fetched at a time
WITHOUT_HEADER = Q(payload__header__isnull=True) | Q(payload__header=None) | Q(payload__header=[])
SLOTTED = re.compile(r"(.+)_(0|[1-9][0-9]{0,3})")
OPTION_COLUMN = re.compile(r"answer|other_answer[0-9]+")
REPEAT_OF = "repeat_of_{slot}"  # of a question that is asked again: the number of the first time
DISTRACTOR = "other_answer{n}"


@dataclass(frozen=True, slots=True)
class Columns:
    """One item's cells by base name, the rest of its row, and the header they came under."""

    header: tuple[str, ...]
    cells: dict[str, str]
    row: dict[str, str]


class Said(NamedTuple):
    """An output: its primary key, and what it says."""

    pk: int
    system: str
    answer: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """An item, what was said of it, and the name of its own picture, "" without one."""

    item: Item
    outputs: list[Said]
    picture: str


class InputSheet:
    """The input file of a batch, as the researcher uploaded it or as OFA-X would have written it.

    `header`: the columns' names without `Input.`, in the order of the uploaded file(s).
    """

    def __init__(self, batch: Batch) -> None:
        self._slots = QuestionnaireItem.objects.filter(
            questionnaire__batch=batch, questionnaire__hit__isnull=False
        )
        self._items = Item.objects.filter(slots__questionnaire__batch=batch).distinct()
        self._repeats = Response.objects.filter(batch=batch, is_repeat=True)
        self._repeats_per_hit = batch.repeats_per_hit
        self.definition = batch.definition
        self.header = self._header()

    def _header(self) -> list[str]:
        lengths = self._slots.order_by().values("questionnaire").annotate(n=Count("pk"))
        size = lengths.aggregate(least=Min("n"), most=Max("n"))
        again = self._most_repeats()
        n = (size["most"] or 0) + again
        positions = [*self._first_with_header(), *self._first_with_choices()]
        questions = _loaded(self._items.filter(position__in=positions).order_by("position"))
        names: dict[str, None] = {}
        for question in questions.values():
            names |= dict.fromkeys(_widened(_columns(question, definition=self.definition).header, n=n))
        if again:
            names |= dict.fromkeys(REPEAT_OF.format(slot=slot) for slot in range(size["least"], n))
        return list(names)

    def _most_repeats(self) -> int:
        """Return how many items were asked again of whoever was asked most."""
        if not self._repeats_per_hit:
            return 0
        counts = self._repeats.order_by().values("assignment").annotate(n=Count("pk"))
        return counts.aggregate(most=Max("n"))["most"] or 0

    def _first_with_header(self) -> list[int]:
        """Return where the first item with each uploaded header stands."""
        headers = self._items.order_by().values("payload__header").annotate(first=Min("position"))
        return [row["first"] for row in headers]

    def _first_with_choices(self) -> list[int]:
        """Return where the first item with each number of wrong choices stands: OFA-X would have a column for each."""
        found: dict[int, int] = {}
        items = self._items.filter(WITHOUT_HEADER).order_by("position")
        rows = items.values_list("position", "gold", "choices").iterator(ROWS)
        item = Item()  # one for all rows: the first byte of the file waits for them
        for position, item.gold, item.choices in rows:
            found.setdefault(len(_wrong(item, definition=self.definition)), position)
        return list(found.values())

    @cached_property
    def _spelled_by(self) -> dict[str, int]:
        """Return which item's spelling of the answers counts, where several are about the same."""
        subjects = self._items.order_by().values("subject").annotate(n=Count("pk", distinct=True))
        several = subjects.filter(n__gt=1).values_list("subject", Max("position"))
        return dict(several.iterator(ROWS))

    def part(self, hits: Collection[int], *, assignments: Collection[int]) -> "InputPart":
        """Return the rows of some HITs and assignments of theirs, given by primary keys."""
        slots = QuestionnaireItem.objects.filter(questionnaire__hit__in=hits).order_by("position")
        of_hit: dict[int, list[int]] = defaultdict(list)
        for hit, item in slots.values_list("questionnaire__hit__pk", "item__pk"):
            of_hit[hit].append(item)
        shown = {item for items in of_hit.values() for item in items}
        questions = _loaded(Item.objects.filter(pk__in=shown))
        return InputPart(
            self.header,
            of_hit,
            questions,
            repeats=self._repeated(assignments),
            definition=self.definition,
            spelled_by=self._spellers(questions),
        )

    def _repeated(self, assignments: Collection[int]) -> dict[int, tuple[int, ...]]:
        """Return {assignment: the items that were asked again, in order}."""
        found: dict[int, tuple[int, ...]] = defaultdict(tuple)
        if self._repeats_per_hit:
            asked = self._repeats.filter(assignment__in=assignments).order_by("position")
            for assignment, item in asked.values_list("assignment__pk", "item__pk"):
                found[assignment] += (item,)
        return found

    def _spellers(self, questions: Mapping[int, Question]) -> dict[str, Question]:
        """Return {subject: the question whose spelling of the answers counts}, where it is not the only one."""
        subjects = {question.item.subject for question in questions.values()}
        wanted = [self._spelled_by[subject] for subject in subjects if subject in self._spelled_by]
        found = _loaded(self._items.filter(position__in=wanted)) if wanted else {}
        return {question.item.subject: question for question in found.values()}


def _loaded(items: QuerySet[Item]) -> dict[int, Question]:
    """Return {primary key: question} in the order of `items`; three queries."""
    found = {item.pk: item for item in items.only("subject", "payload", "choices", "gold")}
    pictures = Picture.objects.filter(item__in=found.keys(), block="").order_by("-position")
    names = dict(pictures.values_list("item__pk", "name"))  # of several the first one stays
    said: dict[int, list[Said]] = defaultdict(list)
    outputs = Output.objects.filter(item__in=found.keys())
    for item, pk, system, answer, text in outputs.values_list("item__pk", "pk", "system", "answer", "text"):
        said[item].append(Said(pk, system, answer, text))
    return {pk: Question(item, said[pk], names.get(pk, "")) for pk, item in found.items()}


class InputPart:
    """The input of a few HITs, and their questions. `repeats`: {assignment: items that were asked again}."""

    def __init__(
        self,
        header: list[str],
        slots: Mapping[int, list[int]],
        questions: Mapping[int, Question],
        *,
        repeats: Mapping[int, tuple[int, ...]],
        definition: Definition,
        spelled_by: Mapping[str, Question],
    ) -> None:
        self._header, self._slots, self.questions, self.definition = header, slots, questions, definition
        self.repeats = repeats
        self._columns = {pk: _columns(question, definition=definition) for pk, question in questions.items()}
        self.options = {
            pk: self._spelled(pk, spelled_by.get(question.item.subject, question))
            for pk, question in questions.items()
        }

    def _spelled(self, item: int, speller: Question) -> dict[str, str]:
        is_own = speller.item.pk == item
        columns = self._columns[item] if is_own else _columns(speller, definition=self.definition)
        return _options(speller.item, columns.cells, definition=self.definition)

    def cells(self, hit: int, *, again: Sequence[int] = ()) -> list[str]:
        """Return the row of a HIT, given by primary key, with the items that were asked `again`.

        A slot that this one lacks is blank.
        """
        items = self._slots[hit]
        columns = [self._columns[item] for item in (*items, *again)]
        found = dict(columns[0].row) if _one_row(columns) else {}
        for slot, item in enumerate(columns):
            found |= {f"{name}_{slot}": text for name, text in item.cells.items()}
        for slot, item_id in enumerate(again, len(items)):
            found[REPEAT_OF.format(slot=slot)] = str(items.index(item_id) + 1)
        return [found.get(name, "") for name in self._header]


def _one_row(columns: list[Columns]) -> bool:
    return bool(columns) and all(item.row == columns[0].row for item in columns)


def _widened(header: tuple[str, ...], *, n: int) -> list[str]:
    """Return the header as it is if it has `n` slots, else every slotted name with `n` of them."""
    parts = {name: match for name in header if (match := SLOTTED.fullmatch(name))}
    slots = {match[2] for match in parts.values() if match[1] == "id"}
    if len(slots) == n:
        return list(header)
    names: dict[str, None] = {}
    for name in header:
        match = parts.get(name)
        if match and match[2] in slots:
            names |= dict.fromkeys(f"{match[1]}_{slot}" for slot in range(n))
        else:
            names[name] = None
    return list(names)


def _columns(question: Question, *, definition: Definition) -> Columns:
    payload: dict[str, Any] = question.item.payload
    if payload.get("header"):
        return Columns(tuple(payload["header"]), payload["columns"], payload.get("row", {}))
    cells = _as_ofax(question, definition=definition)
    return Columns(tuple(f"{name}_0" for name in cells), cells, {})


def _as_ofax(question: Question, *, definition: Definition) -> dict[str, str]:
    item = question.item
    outputs = {output.system: output for output in question.outputs}
    reference = outputs.pop(definition.reference_system, None)
    model = next(iter(outputs.values()), None)
    return {
        "id": item.subject,
        definition.question_label.lower(): str(item.payload.get("question", "")),
        "answer": item.gold,
        "output_answer": model.answer if model else "",
        "output_explanation": model.text if model else "",
        "explanation": reference.text if reference else "",
        **{DISTRACTOR.format(n=n): value for n, value in enumerate(_wrong(item, definition=definition), 1)},
        "img_name": question.picture,
    }


def _wrong(item: Item, *, definition: Definition) -> list[str]:
    return [choice.value for choice in item.choices_for(definition) if choice.value != item.gold]


def _options(item: Item, cells: dict[str, str], *, definition: Definition) -> dict[str, str]:
    """Return {stored answer: option as the file spells it}: cells may have spaces that the import trimmed."""
    spelled = {text.strip(): text for name, text in cells.items() if OPTION_COLUMN.fullmatch(name)}
    values = [choice.value for choice in item.choices_for(definition)]
    return {value: spelled.get(value, value) for value in values}
