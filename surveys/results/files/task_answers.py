"""The cell `Answer.taskAnswers` of MTurk's batch file, as OFA-X's crowd-form wrote it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from surveys.results.files.pairs import Pairs
from surveys.results.frames.base import PREFERRED, SELECTED, Frame

ANSWER, RELATIONSHIP = "answer", "image_statement_relationship"
JUSTIFIES = ("no", "weak_no", "weak_yes", "yes")
OPTIONS = ("confusing_sentence", "incorrect_description", "insufficient_justification")
SIDES = (1, 2)


@dataclass(frozen=True, slots=True)
class TaskAnswers:
    """All answers of one assignment, keys as the form named them."""

    data: dict[str, Any] = field(default_factory=dict)

    def as_cell(self, *, comment: str = "") -> str:
        """Return compact JSON with sorted keys: a list holding one object."""
        data = {**self.data, "feedback": comment} if comment else self.data
        return json.dumps([data], sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def task_answers(
    frame: Frame, *, choices: Mapping[str, Mapping[str, str]]
) -> dict[tuple[str, str], TaskAnswers]:
    """Return the answers by (assignment id, worker pseudonym).

    `choices`: {item id: {stored answer: option as the file spells it}}.
    """
    found: dict[tuple[str, str], TaskAnswers] = {}
    question = frame.definition.answer
    field_name = RELATIONSHIP if question and question.choices else ANSWER
    for row in _plain_rows(frame):
        answers = found.setdefault((row["assignment_id"], row["worker"]), TaskAnswers())
        task = f"task{row['position']}"
        spelled = choices[row["item_id"]]
        answers.data[f"{task}_{field_name}"] = {
            option: value == row["answer"] for value, option in spelled.items()
        }
        answers.data[f"{task}_image_id"] = row["item_id"]
        answers.data[f"{task}_preference"] = _preference(row)
        for side in SIDES:
            answers.data.update(
                {f"{task}_explanation{side}_{key}": given for key, given in _ratings(row, side).items()}
            )
    return found


def _plain_rows(frame: Frame) -> list[dict[str, Any]]:
    """Return rows as dicts with the ratings under (side, criterion); a blank is None."""
    pairs = Pairs(frame, frame.responses)
    names = ("justifies", "preference", *(f"shortcomings.{option}" for option in OPTIONS))
    sides = {1: pairs.ours, 2: pairs.gt}
    columns: dict[Any, Any] = {
        name: frame.responses[name] for name in ("assignment_id", "worker", "item_id", "position", "answer")
    }
    columns |= {(side, name): get(name) for side, get in sides.items() for name in names}
    lists = {
        name: values.astype(object).where(values.notna(), None).tolist() for name, values in columns.items()
    }
    return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]


def _preference(row: Mapping[Any, Any]) -> dict[str, bool]:
    preferred = {f"expl_{side}": row[(side, "preference")] == PREFERRED for side in SIDES}
    is_given = any(row[(side, "preference")] is not None for side in SIDES)
    return {**preferred, "no_preference": is_given and not any(preferred.values())}


def _ratings(row: Mapping[Any, Any], side: int) -> dict[str, dict[str, bool]]:
    return {
        "explanation_justifies_answer": {value: row[(side, "justifies")] == value for value in JUSTIFIES},
        **{
            f"shortcomings_{option}": {"selected": row[(side, f"shortcomings.{option}")] == SELECTED}
            for option in OPTIONS
        },
    }
