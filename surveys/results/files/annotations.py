"""Responses to a sequence as VTT's files of human scores: JSONL, one line per response.

The keys VTT's readers need have VTT's names and meanings: a skip is -1 in every score and `normal: false`. Those that
VTT's files lack say who did it, where it came from and what became of it; see `surveys.results.frames.annotations`.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pandas as pd

from annotators.models import SUBMITTED, Assignment
from surveys.models import Batch, Output
from surveys.protocols.criteria import Criterion
from surveys.protocols.definition import UNSEEN
from surveys.results.frames.annotations import SKIP_MARK
from surveys.results.frames.base import LANGUAGE, Frame, column
from surveys.results.frames.database import read_parts
from surveys.results.frames.pseudonyms import names_for_raw

OWN = (
    "hit_id",
    "assignment_id",
    "status",
    "decision",
    "included",
    "channel",
    "quiz_passed",
    "surplus",
    "position",
    "active_seconds",
)
TIME = "%Y-%m-%d %H:%M:%S"


def annotation_lines(batch: Batch, *, worker_ids: bool = False) -> Iterator[str]:
    """Return the file's lines, every submitted response of a batch in the order of HITs."""
    for frame in read_parts(batch, pseudonyms=names_for_raw(worker_ids=worker_ids)):
        references, times = _references(batch, frame), _times(batch, frame)
        for line in _lines(frame):
            labels = references.get((line["id"], line["exp"]), [])
            line |= {"label": labels, **times.get(line["assignment_id"], {})}
            yield json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _references(batch: Batch, frame: Frame) -> dict[tuple[str, str], list[str]]:
    subjects = set(frame.responses["item_id"])
    outputs = Output.objects.filter(item__slots__questionnaire__batch=batch, item__subject__in=subjects)
    rows = outputs.values_list("item__subject", "system", "item__references")
    return {(subject, system): texts[0].split("\n") for subject, system, texts in rows if texts}


def _times(batch: Batch, frame: Frame) -> dict[str, dict[str, str]]:
    """Return when each assignment was begun and submitted, in UTC."""
    own = Assignment.objects.filter(assignment_id__in=set(frame.responses["assignment_id"]))
    rows = own.filter(hit__questionnaire__batch=batch, status__in=SUBMITTED)
    return {
        assignment_id: {"start_time": _time(start), "end_time": _time(end)}
        for assignment_id, start, end in rows.values_list("assignment_id", "accepted_at", "submitted_at")
    }


def _time(moment: datetime | None) -> str:
    return f"{moment:{TIME}}" if moment else ""


def _lines(frame: Frame) -> Iterator[dict[str, Any]]:
    for row in frame.responses.to_dict("records"):
        for system in frame.systems:
            text = row[column(system, "text")]
            if not pd.isna(text):
                yield {
                    "id": row["item_id"],
                    "exp": system,
                    "preds": text.split("\n"),
                    **_scores(frame, row, system),
                    "duration": _plain(row["work_seconds"]),
                    "normal": not row["is_skipped"],
                    "skip_reason": _plain(row["skip_reason"]),
                    "model_correct": _plain(row[column(system, "model_correct")]),
                    "worker_id": row["worker"],
                    **{name: _plain(row[name]) for name in OWN},
                    **({} if pd.isna(row["place"]) else {"place": int(row["place"])}),
                    **({} if pd.isna(row[LANGUAGE]) else {LANGUAGE: row[LANGUAGE]}),
                }


def _scores(frame: Frame, row: Mapping[Any, Any], system: str) -> dict[str, Any]:
    return {
        (*criterion.aliases, criterion.key)[0]: _score(row, criterion, system)
        for criterion in frame.definition.output_criteria
    }


def _score(row: Mapping[Any, Any], criterion: Criterion, system: str) -> Any:
    value = _plain(row.get(column(system, criterion.key)))
    if row["is_skipped"] and row["skip_reason"] not in UNSEEN and criterion.is_scale:
        return SKIP_MARK
    if value is None or not criterion.has_score:
        return value
    score = criterion.score(value)
    return int(score) if score.is_integer() else score


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; missing is null."""
    if value is None or pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value
