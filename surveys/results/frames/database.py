"""The door for a batch of our own: six queries, seven with a quiz, whatever the batch's size; or that for each part.

A large batch has hundreds of thousands of ratings that say a handful of things. Rows come in parts and are kept as
numbers: which response, which column, which of the values known so far. What many responses share, of an assignment,
an item or a worker, is kept once and laid beside them by number.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from annotators.models import SUBMITTED, Assignment, Worker
from surveys.models import Batch, Item, MetricScore, Output, Rating, Response
from surveys.publishing.design import methods_in_words
from surveys.results.frames.base import (
    LANGUAGE,
    RESPONSE_COLUMNS,
    Frame,
    Whole,
    build_frame,
    column,
    rating_names,
    used,
)
from surveys.results.frames.coded import Numbered, spread
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.review.surplus import surplus_of
from surveys.studies.planted_checks import COLUMN

AT_ONCE = 10_000  # rows
PART = 500  # assignments
IN_ORDER = ("hit__questionnaire__position", "submitted_at", "pk")
Places = npt.NDArray[np.intp]
MISSING = -1
SHOWN = re.compile(r'"outputs": ?\[[0-9, ]*\]')  # a quote within a text of the JSON has a backslash before it
PLACE = re.compile(r'"place": ?([0-9]+)')
SPOKEN = re.compile(r'"language": ?"([A-Za-z0-9-]+)"')


def read_batch(batch: Batch, *, pseudonyms: Pseudonyms | None = None) -> Frame:
    """Return everything the marketplace has as submitted, HIT by HIT in the order they were published.

    What is rejected or left out is there with `included` False; what is merely accepted or saved is not there, nor are
    answers to planted checks.
    """
    return replace(
        _frame(batch, _Read(), pseudonyms or Pseudonyms()),
        design=methods_in_words(batch.design, changes=batch.definition.changes) if batch.design else "",
        accuracies={row.system: float(row.accuracy) for row in batch.survey.accuracies.order_by("pk")},
    )


def read_parts(batch: Batch, *, pseudonyms: Pseudonyms | None = None) -> Iterator[Frame]:
    """Yield the frame of `read_batch` as frames of PART assignments, at least one, for what is written row by row.

    Each has the systems and columns of the whole, and not what is said of a study beside its rows. Never more than one
    of them is held, whatever the batch's size.
    """
    names = pseudonyms or Pseudonyms()
    whole, systems = _whole(batch), _shown_systems(batch)
    shared = _Read(
        workers=_workers(batch),
        surplus=frozenset(surplus_of(batch).order_by().values_list("pk", flat=True)),
        systems=systems,
        rated=_rated(batch, systems),
    )
    keys = tuple(_submitted(batch, shared).order_by(*IN_ORDER).values_list("pk", flat=True))
    for start in range(0, max(len(keys), 1), PART):
        part = replace(shared, keys=keys[start : start + PART])
        yield replace(_frame(batch, part, names), whole=whole)


@dataclass(frozen=True, slots=True)
class _Read:
    """Which assignments of a batch are read: all, or those of `keys`, with what is known of all beforehand."""

    keys: tuple[int, ...] | None = None
    workers: "Columns | None" = None
    surplus: frozenset[int] = frozenset()
    systems: tuple[str, ...] = ()
    rated: tuple[str, ...] = ()

    def of(self, path: str, batch: Batch, *, whole: str) -> Q:
        """Choose the rows that belong to what is read: `path` leads to their assignment, `whole` to their batch.

        Where there are keys, by these alone: given both, SQLite reads the whole batch for each part of it.
        """
        return Q(**({whole: batch} if self.keys is None else {f"{path}__in": self.keys}))


def _frame(batch: Batch, read: _Read, pseudonyms: Pseudonyms) -> Frame:
    rows = _responses(batch, read)
    outputs = _outputs(batch, rows, read)
    shown = _shown_columns(rows, outputs)
    return build_frame(
        definition=batch.definition,
        systems=outputs.systems,
        responses=_response_columns(rows, batch=batch, pseudonyms=pseudonyms),
        outputs={
            **{name: [None] * len(rows.of_item) for name in read.rated},
            **_said_columns(outputs, shown, is_drawn=batch.definition.is_drawn),
            **shown,
            **_rating_columns(rows, outputs, batch, read),
        },
    )


RESPONSE = (
    "assignment", "item", "worker", "pk", "position", "answer", "is_correct", "skip_reason", "active_seconds",
    "is_repeat", "shown_text",
)  # fmt: skip
ASSIGNMENT = (
    "pk", "hit__questionnaire__position", "submitted_at", "accepted_at", "hit__hit_id", "assignment_id", "status",
    "channel", "decision__verdict", "inclusion__is_included", "is_surplus",
)  # fmt: skip
ITEM = ("pk", "subject", "gold")
WORKER = ("pk", "worker_id")
OUTPUT = ("pk", "item", "system", "text", "answer", "model_correct")
RATING = ("response", "output", "criterion", "value")
Columns = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Responses in the order of the frame, one column a field, and what they stand beside.

    `of_assignment`, `of_item` and `of_worker` say at which place of the others each response's stands.
    """

    responses: Columns
    assignments: Columns
    items: Columns
    workers: Columns
    of_assignment: Places
    of_item: Places
    of_worker: Places


def _responses(batch: Batch, read: _Read) -> _Rows:
    """Read what responses stand beside, then the responses: of what came in or went meanwhile there are none."""
    assignments, items = _assignments(batch, read), _items(batch, read)
    workers = _workers(batch) if read.workers is None else read.workers
    own = Response.objects.filter(read.of("assignment", batch, whole="batch"))
    shown = own.annotate(shown_text=Cast("shown", TextField())).order_by()
    given = _columns(shown, RESPONSE)
    of_assignment, of_item, of_worker = (
        _Places(table["pk"]).of(given.pop(name))
        for name, table in (("assignment", assignments), ("item", items), ("worker", workers))
    )
    known = np.flatnonzero((of_assignment != MISSING) & (of_item != MISSING) & (of_worker != MISSING))
    order = known[np.lexsort((np.asarray(given["position"], "intp")[known], of_assignment[known]))]
    picked = order.tolist()
    return _Rows(
        {name: list(map(cells.__getitem__, picked)) for name, cells in given.items()},
        assignments,
        items,
        workers,
        of_assignment[order],
        of_item[order],
        of_worker[order],
    )


def _submitted(batch: Batch, read: _Read) -> QuerySet[Assignment]:
    own = read.of("pk", batch, whole="hit__questionnaire__batch")
    return Assignment.objects.filter(own, status__in=SUBMITTED)


def _assignments(batch: Batch, read: _Read) -> Columns:
    """HIT by HIT in the order of publishing, then as work came in."""
    surplus: Any = surplus_of(batch).order_by().values("pk")
    if read.keys is not None:
        surplus = read.surplus.intersection(read.keys)
    marked = _submitted(batch, read).annotate(is_surplus=Q(pk__in=surplus))
    return _columns(marked.order_by(*IN_ORDER), ASSIGNMENT)


def _items(batch: Batch, read: _Read) -> Columns:
    """Without planted checks, which are no part of the results."""
    own = Item.objects.filter(survey=batch.survey)
    if read.keys is not None:
        shown = Response.objects.filter(read.of("assignment", batch, whole="batch"))
        own = own.filter(pk__in=shown.values("item"))
    return _columns(own.exclude(payload__has_key=COLUMN).order_by(), ITEM)


def _workers(batch: Batch) -> Columns:
    found = Worker.objects.filter(assignments__hit__questionnaire__batch=batch)
    return _columns(found.order_by().distinct(), WORKER)


def _columns(rows: "QuerySet[Any]", names: Sequence[str]) -> dict[str, list[Any]]:
    """Return {name: values}, read in parts."""
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for part in _parts(rows.values_list(*names)):
        for values, cells in zip(columns.values(), zip(*part, strict=True), strict=True):
            values.extend(cells)
    return columns


def _parts(rows: "QuerySet[Any, tuple[Any, ...]]") -> Iterator[list[tuple[Any, ...]]]:
    rest = rows.iterator(AT_ONCE)
    while part := list(islice(rest, AT_ONCE)):
        yield part


class _Places:
    """At which place of `keys` each wanted key stands, MISSING where it is none of them."""

    def __init__(self, keys: Iterable[int]) -> None:
        known = np.asarray(list(keys), "int64")
        self._order = np.argsort(known)
        self._known = known[self._order]

    def of(self, wanted: Sequence[int]) -> Places:
        asked = np.asarray(wanted, "int64")
        if not len(self._known):
            return np.full(len(asked), MISSING, "intp")
        found = np.minimum(np.searchsorted(self._known, asked), len(self._known) - 1)
        return np.where(self._known[found] == asked, self._order[found], MISSING).astype("intp")


def _response_columns(rows: _Rows, *, batch: Batch, pseudonyms: Pseudonyms) -> dict[str, Any]:
    given, nobody = rows.responses, np.zeros(len(rows.of_item), "intp")
    return {
        "study": spread([str(batch.survey)], nobody),
        "batch": spread([str(batch)], nobody),
        **_of_assignments(rows),
        "worker": spread([pseudonyms(name) for name in rows.workers["worker_id"]], rows.of_worker),
        "quiz_passed": spread(_quiz_passed(rows, batch), rows.of_worker, dtype="boolean"),
        "item_id": spread(rows.items["subject"], rows.of_item),
        "position": given["position"],
        "answer": [answer or None for answer in given["answer"]],
        "gold": spread([gold or None for gold in rows.items["gold"]], rows.of_item),
        "answer_correct": _graded(rows),
        "is_skipped": [reason != "" for reason in given["skip_reason"]],
        "active_seconds": given["active_seconds"],
        "skip_reason": [reason or None for reason in given["skip_reason"]],
        "is_repeat": given["is_repeat"],
        "place": [int(match[1]) if (match := PLACE.search(shown)) else None for shown in given["shown_text"]],
        "language": [match[1] if (match := SPOKEN.search(shown)) else None for shown in given["shown_text"]],
    }


def _graded(rows: _Rows) -> list[bool | None]:
    has_gold = [bool(gold) for gold in rows.items["gold"]]
    columns = (rows.responses["is_correct"], rows.of_item.tolist(), rows.responses["skip_reason"])
    return [
        bool(is_correct) if has_gold[item] and not skipped else None
        for is_correct, item, skipped in zip(*columns, strict=True)
    ]


def _of_assignments(rows: _Rows) -> dict[str, Any]:
    """Return what all responses of an assignment have in common."""
    given = rows.assignments
    times = zip(given["accepted_at"], given["submitted_at"], strict=True)
    columns: dict[str, Sequence[Any]] = {
        "hit_id": given["hit__hit_id"],
        "assignment_id": given["assignment_id"],
        "work_seconds": [_whole_seconds(accepted, submitted) for accepted, submitted in times],
        "status": given["status"],
        "decision": [verdict or "" for verdict in given["decision__verdict"]],
        "included": used(given["status"], included=given["inclusion__is_included"]),
        "channel": given["channel"],
        "surplus": given["is_surplus"],
    }
    types = {**RESPONSE_COLUMNS, "included": "boolean"}
    return {name: spread(cells, rows.of_assignment, dtype=types[name]) for name, cells in columns.items()}


def _quiz_passed(rows: _Rows, batch: Batch) -> list[bool | None]:
    """Return for each worker whether they passed the quiz; unknown where the batch has none."""
    names = rows.workers["worker_id"]
    if not batch.uses_quiz:
        return [None] * len(names)
    known = batch.quiz_attempts.filter(is_passed=True, claimed_from="")
    passed = set(known.values_list("worker__worker_id", flat=True))
    return [name in passed for name in names]


def _whole_seconds(accepted: Any, submitted: Any) -> int | None:
    """Return MTurk's WorkTimeInSeconds; see `Assignment.work_seconds`."""
    return None if accepted is None else int(submitted.timestamp()) - int(accepted.timestamp())


@dataclass(frozen=True, slots=True)
class _Outputs:
    """Outputs by column, `systems` in the order of the frame, and at which row of the frame each item's stand."""

    given: Columns
    systems: tuple[str, ...]
    rows: _Rows

    def columns(self) -> dict[str, Any]:
        return {
            column(system, name): self._of(system, name, dtype)
            for system in self.systems
            for name, dtype in (("text", "str"), ("answer", "str"), ("model_correct", "boolean"))
        }

    def _of(self, system: str, name: str, dtype: str) -> Any:
        own = [n for n, other in enumerate(self.given["system"]) if other == system]
        cells = [self.given[name][n] for n in own]
        of_item = _Places(self.given["item"][n] for n in own).of(self.rows.items["pk"])
        if name == "answer":
            cells = [cell or None for cell in cells]
        return spread(cells, of_item[self.rows.of_item], dtype=dtype)


def _outputs(batch: Batch, rows: _Rows, read: _Read) -> _Outputs:
    shown = _shown_outputs(batch).distinct()
    if read.keys is not None:
        shown = Output.objects.filter(item__in=rows.items["pk"])
    given = _columns(shown.order_by("pk"), OUTPUT)
    return _Outputs(given, read.systems or _systems(given["system"], batch), rows)


def _shown_outputs(batch: Batch) -> QuerySet[Output]:
    return Output.objects.filter(item__slots__questionnaire__batch=batch)


def _shown_systems(batch: Batch) -> tuple[str, ...]:
    names = _shown_outputs(batch).order_by().values_list("system", flat=True)
    return _systems(names.distinct(), batch)


def _systems(names: Iterable[str], batch: Batch) -> tuple[str, ...]:
    found, reference = sorted(set(names)), batch.definition.reference_system
    return (*(s for s in found if s != reference), *(s for s in found if s == reference))


def _shown_columns(rows: _Rows, outputs: _Outputs) -> dict[str, Any]:
    """Return at which place of the page each system's output stood."""
    system_of = dict(zip(outputs.given["pk"], outputs.given["system"], strict=True))
    orders: dict[str, dict[str | None, int]] = {}
    of_rows = []
    for shown in rows.responses["shown_text"]:
        key = match[0] if (match := SHOWN.search(shown)) else shown
        if key not in orders:
            pks = json.loads(shown).get("outputs", [])
            orders[key] = {system_of.get(pk): place for place, pk in enumerate(pks, start=1)}
        of_rows.append(orders[key])
    return {
        column(s, "shown_position"): pd.array([order.get(s) for order in of_rows], dtype="Int64")
        for s in outputs.systems
    }


def _said_columns(outputs: _Outputs, shown: dict[str, Any], *, is_drawn: bool) -> dict[str, Any]:
    """Return what outputs say; of an item whose outputs were drawn, what was shown in each response alone."""
    columns = outputs.columns()
    if not is_drawn:
        return columns
    for system in outputs.systems:
        is_shown = ~pd.isna(shown[column(system, "shown_position")])
        for name in ("text", "answer", "model_correct"):
            cells = pd.Series(columns[column(system, name)])
            columns[column(system, name)] = cells.where(is_shown).array
    return columns


def _rating_columns(rows: _Rows, outputs: _Outputs, batch: Batch, read: _Read) -> dict[str, Any]:
    """Return a column for every criterion anybody rated, about each system or (system "") the item."""
    names, values = Numbered(), Numbered()
    given = Rating.objects.filter(read.of("response__assignment", batch, whole="response__batch")).order_by()
    about, places, codes = (np.concatenate(parts) for parts in _coded(rows, outputs, given, names, values))
    texts = list(values)
    columns = {}
    for name in sorted(names):
        own = about == names[name]
        cells = np.full(len(rows.of_item), MISSING, "intp")
        cells[places[own]] = codes[own]
        columns[name] = spread(texts, cells)
    return columns


def _coded(
    rows: _Rows, outputs: _Outputs, given: QuerySet[Rating], names: Numbered, values: Numbered
) -> tuple[list[Places], list[Places], list[Places]]:
    """Return of every rating, part by part, the number of its column, the row it belongs to, that of its value."""
    system_of = {
        pk: f"{system}." for pk, system in zip(outputs.given["pk"], outputs.given["system"], strict=True)
    }
    rows_of, nothing = _Places(rows.responses["pk"]), np.array([], "intp")
    about, places, codes = [nothing], [nothing], [nothing]
    for part in _parts(given.values_list(*RATING)):
        responses, of_outputs, criteria, said = zip(*part, strict=True)
        own = rows_of.of(responses)
        columns = [system_of.get(o, ".") + c for o, c in zip(of_outputs, criteria, strict=True)]
        kept = own != MISSING
        places.append(own[kept])
        about.append(np.fromiter(map(names.__getitem__, columns), "intp", len(part))[kept])
        codes.append(np.fromiter(map(values.__getitem__, said), "intp", len(part))[kept])
    return about, places, codes


def _whole(batch: Batch) -> Whole:
    """Say of all of a batch what its parts can't tell."""
    counted = Response.objects.filter(batch=batch, assignment__status__in=SUBMITTED)
    counted = counted.exclude(item__payload__has_key=COLUMN)
    return Whole(
        is_graded=counted.exclude(item__gold="").filter(is_repeat=False).exists(),
        has_repeats=counted.filter(is_repeat=True).exists(),
        has_places=counted.filter(shown__has_key="place").exists(),
        has_languages=counted.filter(shown__has_key=LANGUAGE).exists(),
    )


def _rated(batch: Batch, systems: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of what anybody rated, each looked for by itself: the first rating found will do."""
    given = Rating.objects.filter(response__batch=batch).order_by()
    return tuple(
        column(system, key)
        for system, key in rating_names(batch.definition, systems=systems)
        if given.filter(
            criterion=key, **({"output__system": system} if system else {"output": None})
        ).exists()
    )


COLUMNS = {
    "output__system": "system",
    "output__item__subject": "item_id",
    "metric": "metric",
    "value": "value",
    "version": "version",
}


def read_scores(batches: Sequence[Batch]) -> pd.DataFrame:
    """Return what metrics say about the outputs batches show: system, item_id, metric, value, version."""
    shown = MetricScore.objects.filter(output__item__slots__questionnaire__batch__in=batches)
    rows = shown.order_by("output", "metric").distinct().values_list(*COLUMNS)
    table = pd.DataFrame.from_records(list(rows), columns=list(COLUMNS.values()))
    return table.astype({"value": "float64"})
