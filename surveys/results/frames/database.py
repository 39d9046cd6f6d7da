"""The door for a batch of our own: four queries, whatever its size, joined in pandas."""

from typing import Any

import pandas as pd
from django.db.models import Q, QuerySet

from annotators.models import Assignment
from surveys.models import Batch, MetricScore, Output, Rating, Response
from surveys.publishing.design import design_in_words
from surveys.results.frames.base import RESPONSE_COLUMNS, Frame, build_frame, column, used
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.review.surplus import surplus_of
from surveys.studies.planted_checks import COLUMN

SUBMITTED = (Assignment.Status.SUBMITTED, Assignment.Status.APPROVED, Assignment.Status.REJECTED)
RESPONSE_FIELDS = {
    "pk": "response",
    "item": "item",
    "shown": "shown",
    "assignment__hit__hit_id": "hit_id",
    "assignment__assignment_id": "assignment_id",
    "worker__worker_id": "worker",
    "item__subject": "item_id",
    "position": "position",
    "answer": "answer",
    "item__gold": "gold",
    "is_correct": "answer_correct",
    "skip_reason": "skip_reason",
    "active_seconds": "active_seconds",
    "assignment__accepted_at": "accepted_at",
    "assignment__submitted_at": "submitted_at",
    "assignment__status": "status",
    "assignment__channel": "channel",
    "assignment__decision__verdict": "decision",
    "assignment__inclusion__is_included": "included",
    "is_surplus": "surplus",
}
OUTPUT_FIELDS = {
    "pk": "output",
    "item": "item",
    "system": "system",
    "text": "text",
    "answer": "answer",
    "model_correct": "model_correct",
}


def read_batch(batch: Batch, *, pseudonyms: Pseudonyms | None = None) -> Frame:
    """Return everything the marketplace has as submitted, HIT by HIT in the order they were published.

    What is rejected or left out is there with `included` False; what is merely accepted or saved is not there, nor are
    answers to planted checks.
    """
    table = _table(_responses(batch), RESPONSE_FIELDS)
    outputs = _table(
        Output.objects.filter(item__slots__questionnaire__batch=batch).order_by("pk").distinct(),
        OUTPUT_FIELDS,
    )
    systems = _systems(outputs, reference=batch.definition.reference_system)
    return build_frame(
        definition=batch.definition,
        systems=systems,
        responses=_response_columns(table, batch=batch, pseudonyms=pseudonyms or Pseudonyms()),
        outputs={
            **_output_columns(table, outputs, systems=systems),
            **_shown_columns(table, outputs, systems=systems),
            **_rating_columns(table, outputs, batch=batch),
        },
        design=design_in_words(batch.design) if batch.design else "",
        accuracies={row.system: float(row.accuracy) for row in batch.survey.accuracies.order_by("pk")},
    )


def _responses(batch: Batch) -> QuerySet[Response]:
    submitted = Response.objects.filter(batch=batch, assignment__status__in=SUBMITTED)
    submitted = submitted.exclude(item__payload__has_key=COLUMN)  # planted checks are no part of the study
    marked = submitted.annotate(is_surplus=Q(assignment__in=surplus_of(batch).order_by().values("pk")))
    return marked.order_by(
        "assignment__hit__questionnaire__position", "assignment__submitted_at", "assignment__pk", "position"
    )


def _table(rows: QuerySet[Any], fields: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(list(rows.values_list(*fields)), columns=list(fields.values()), dtype=object)


def _systems(outputs: pd.DataFrame, *, reference: str) -> tuple[str, ...]:
    found = sorted(outputs["system"].unique())
    return (*(s for s in found if s != reference), *(s for s in found if s == reference))


def _response_columns(table: pd.DataFrame, *, batch: Batch, pseudonyms: Pseudonyms) -> dict[str, Any]:
    given = table.to_dict("list")
    correct = zip(given["answer_correct"], given["gold"], strict=True)
    times = zip(given["accepted_at"], given["submitted_at"], strict=True)
    columns = {
        "study": [str(batch.survey)] * len(table),
        "batch": [str(batch)] * len(table),
        "worker": [pseudonyms(worker) for worker in given["worker"]],
        "answer": [answer or None for answer in given["answer"]],
        "gold": [gold or None for gold in given["gold"]],
        "answer_correct": [bool(is_correct) if gold else None for is_correct, gold in correct],
        "skip_reason": [reason or None for reason in given["skip_reason"]],
        "quiz_passed": _quiz_passed(batch, given["worker"]),
        "is_skipped": [reason != "" for reason in given["skip_reason"]],
        "work_seconds": [_whole_seconds(accepted, submitted) for accepted, submitted in times],
        "decision": [verdict or "" for verdict in given["decision"]],
        "included": used(given["status"], included=given["included"]),
        "place": [shown.get("place") for shown in given["shown"]],
    }
    return {name: columns.get(name, given.get(name)) for name in RESPONSE_COLUMNS}


def _quiz_passed(batch: Batch, workers: list[str]) -> list[bool | None]:
    """Return for each row whether its worker passed the quiz; unknown where the batch has none."""
    if not batch.uses_quiz:
        return [None] * len(workers)
    known = batch.quiz_attempts.filter(is_passed=True, claimed_from="")
    passed = set(known.values_list("worker__worker_id", flat=True))
    return [worker in passed for worker in workers]


def _whole_seconds(accepted: Any, submitted: Any) -> int | None:
    """Return MTurk's WorkTimeInSeconds; see `Assignment.work_seconds`."""
    return None if accepted is None else int(submitted.timestamp()) - int(accepted.timestamp())


def _output_columns(
    table: pd.DataFrame, outputs: pd.DataFrame, *, systems: tuple[str, ...]
) -> dict[str, pd.Series]:
    columns = {}
    for system in systems:
        said = outputs[outputs["system"] == system].set_index("item").reindex(table["item"])
        columns[column(system, "text")] = said["text"].reset_index(drop=True)
        columns[column(system, "answer")] = said["answer"].replace("", None).reset_index(drop=True)
        columns[column(system, "model_correct")] = said["model_correct"].reset_index(drop=True)
    return columns


def _shown_columns(
    table: pd.DataFrame, outputs: pd.DataFrame, *, systems: tuple[str, ...]
) -> dict[str, list[int | None]]:
    system_of = dict(zip(outputs["output"], outputs["system"], strict=True))
    orders = [
        {system_of.get(pk): place for place, pk in enumerate(shown.get("outputs", []), start=1)}
        for shown in table["shown"]
    ]
    return {column(s, "shown_position"): [order.get(s) for order in orders] for s in systems}


def _rating_columns(table: pd.DataFrame, outputs: pd.DataFrame, *, batch: Batch) -> dict[str, pd.Series]:
    ratings = _table(
        Rating.objects.filter(response__in=_responses(batch).order_by()).order_by("pk"),
        {"response": "response", "output": "output", "criterion": "criterion", "value": "value"},
    )
    systems = ratings["output"].map(dict(zip(outputs["output"], outputs["system"], strict=True)))
    columns = systems.fillna("").astype(str) + "." + ratings["criterion"].astype(str)
    wide = pd.Series(
        ratings["value"].to_numpy(), index=[ratings["response"], columns], dtype=object
    ).unstack()
    wide = wide.reindex(table["response"]).reset_index(drop=True)
    return {name: wide[name] for name in wide.columns}


COLUMNS = {
    "output__system": "system",
    "output__item__subject": "item_id",
    "metric": "metric",
    "value": "value",
    "version": "version",
}


def read_scores(batch: Batch) -> pd.DataFrame:
    """Return what metrics say about the outputs a batch shows: system, item_id, metric, value, version."""
    shown = MetricScore.objects.filter(output__item__slots__questionnaire__batch=batch)
    rows = shown.order_by("output", "metric").distinct().values_list(*COLUMNS)
    table = pd.DataFrame.from_records(list(rows), columns=list(COLUMNS.values()))
    return table.astype({"value": "float64"})
