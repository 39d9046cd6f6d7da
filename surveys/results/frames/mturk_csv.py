"""The door for an MTurk batch results CSV of an e-ViL study, whether or not this system ever saw the study.

Format: OFA-X's published raw files. Explanation 1 is the model's and explanation 2 the ground truth. On which
side of the screen each was shown is not in the file, so `shown_position` is missing; nor is what was left out of the
analysis, so that everything is used that is not rejected. Columns are found by name, and worked on whole: no row is
visited by pandas.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from surveys.protocols.definition import Definition
from surveys.protocols.registry import get_definition
from surveys.results.frames import task_answers
from surveys.results.frames.base import (
    KEPT_STATUSES,
    NO_PREFERENCE,
    NOT_SELECTED,
    OTHER,
    PREFERRED,
    SELECTED,
    Frame,
    build_frame,
    column,
)
from surveys.results.frames.csv_table import CsvTable, SourceError, read_table
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.results.frames.task_answers import TaskAnswers

GROUND_TRUTH = "ground_truth"  # the reference of e-ViL's three types
DECISIONS = {"Submitted": "", "Approved": "approve", "Rejected": "reject"}
OPTIONS = ("incorrect_description", "insufficient_justification", "confusing_sentence")
SIDES = (1, 2)
PREFERENCE_OPTIONS = {1: "expl_1", 2: "expl_2", None: "no_preference"}
BATCH_ID = "BatchId:"
MARKETPLACE = "marketplace"
SECONDS = re.compile("[0-9]{1,9}")
REPEAT_OF = "Input.repeat_of_{slot}"  # our own: the number of the question that this one asks again

Cells = npt.NDArray[np.object_]


def read_mturk_csv(
    path: Path,
    *,
    system: str = "model",
    definition: Definition | None = None,
    pseudonyms: Pseudonyms | None = None,
) -> Frame:
    """Read a batch results file. `system` names the model; the definition is found out where none is given.

    Raises SourceError, which names row and column, and OSError.
    """
    return frame_from_csv(
        path.read_bytes(), study=path.stem, system=system, definition=definition, pseudonyms=pseudonyms
    )


def frame_from_csv(
    data: bytes,
    *,
    study: str,
    system: str = "model",
    definition: Definition | None = None,
    pseudonyms: Pseudonyms | None = None,
) -> Frame:
    """Read the bytes of a batch results file; see `read_mturk_csv`."""
    if system == GROUND_TRUTH:
        raise SourceError(f"the model can't be called {GROUND_TRUTH!r}, that is the reference")
    table = read_table(data)
    _check_assignments(table)
    answers = TaskAnswers(table.column(task_answers.COLUMN))
    return _Batch(
        study=study,
        table=table,
        answers=answers,
        systems=(system, GROUND_TRUTH),
        definition=definition or _detect(table, answers),
        pseudonyms=pseudonyms or Pseudonyms(),
    ).frame()


@dataclass(frozen=True, slots=True)
class _Batch:
    study: str
    table: CsvTable
    answers: TaskAnswers
    systems: tuple[str, str]
    definition: Definition
    pseudonyms: Pseudonyms

    def frame(self) -> Frame:
        self.answers.require(list(self._required_fields()))
        present = self._by_task(self.answers.present)
        rows = present.ravel().astype(bool)
        columns = {name: cells.ravel()[rows] for name, cells in self._responses(present).items()}
        outputs = {name: cells.ravel()[rows] for name, cells in self._outputs().items()}
        return build_frame(
            definition=self.definition, systems=self.systems, responses=columns, outputs=outputs
        )

    def _required_fields(self) -> Iterator[str]:
        yield from (task_answers.IMAGE_ID, self.answers.answer_field, task_answers.PREFERENCE)
        for side in SIDES:
            yield task_answers.JUSTIFIES.format(side=side)
            yield from (task_answers.SHORTCOMING.format(side=side, option=option) for option in OPTIONS)

    def _by_task(self, get: Any) -> Cells:
        """Return cells of shape (assignments, tasks): raveled, they stand in the order of the file."""
        cells = np.empty((self.table.n_rows, len(self.answers.tasks)), dtype=object)
        for index, task in enumerate(self.answers.tasks):
            cells[:, index] = get(task)
        return cells

    def _by_assignment(self, values: Sequence[Any]) -> Cells:
        return np.repeat(np.array(values, dtype=object)[:, None], len(self.answers.tasks), axis=1)

    def _input(self, name: str) -> Cells:
        return self._by_task(lambda task: self.table.column(f"Input.{name}_{task - 1}"))

    def _field(self, field: str, *, among: Sequence[str] = ()) -> Cells:
        return self._by_task(lambda task: self.answers.selected(task, field, among=among))

    def _responses(self, present: Cells) -> dict[str, Cells]:
        table, gold = self.table, self._input("answer")
        answer = self._field(self.answers.answer_field)
        self._check_gold(gold, present)
        status = table.column("AssignmentStatus")
        every = self._by_assignment
        nothing = every([None] * table.n_rows)
        return {
            "study": every([self.study] * table.n_rows),
            "batch": every(_batch_ids(table)),
            "hit_id": every(table.column("HITId")),
            "assignment_id": every(table.column("AssignmentId")),
            "worker": every([self.pseudonyms(worker) for worker in table.column("WorkerId")]),
            "item_id": self._by_task(lambda task: self.answers.texts(task, task_answers.IMAGE_ID)),
            "position": self._by_task(lambda task: [task] * table.n_rows),
            "is_repeat": self._by_task(lambda task: _filled(table.optional(REPEAT_OF.format(slot=task - 1)))),
            "answer": _trimmed(answer),
            "gold": _trimmed(gold),
            "answer_correct": answer == gold,
            "is_skipped": nothing.astype(bool),
            "active_seconds": nothing,
            "work_seconds": every(_work_seconds(table)),
            "status": every(status),
            "decision": every([DECISIONS[value] for value in status]),
            "included": every([value in KEPT_STATUSES for value in status]),
            "channel": every([MARKETPLACE] * table.n_rows),
        }

    def _outputs(self) -> dict[str, Cells]:
        columns: dict[str, Cells] = {}
        preference = self._field(task_answers.PREFERENCE, among=tuple(PREFERENCE_OPTIONS.values()))
        scale = self.definition.criterion("justifies").values
        texts = ("output_explanation", "explanation")
        for system, side, text in zip(self.systems, SIDES, texts, strict=True):
            columns[column(system, "text")] = self._input(text)
            columns[column(system, "shown_position")] = self._by_assignment([None] * self.table.n_rows)
            columns[column(system, "answer")] = _trimmed(self._output_answers(side))
            columns[column(system, "justifies")] = self._field(
                task_answers.JUSTIFIES.format(side=side), among=scale
            )
            for option in OPTIONS:
                field = task_answers.SHORTCOMING.format(side=side, option=option)
                columns[column(system, f"shortcomings.{option}")] = _ticked(
                    self._field(field, among=(SELECTED,))
                )
            columns[column(system, "preference")] = _preferred(preference, side)
        return columns

    def _output_answers(self, side: int) -> Cells:
        if side == SIDES[1]:
            return self._input("answer")
        return self._by_task(lambda task: self.table.optional(f"Input.output_answer_{task - 1}"))

    def _check_gold(self, gold: Cells, present: Cells) -> None:
        field = self.answers.answer_field
        for index, task in enumerate(self.answers.tasks):
            for row, options in enumerate(self.answers.options(task, field)):
                if present[row, index] and options.given and gold[row, index] not in options.given:
                    _refuse_gold(
                        gold[row, index], options.given, row=row + 2, column=f"Input.answer_{task - 1}"
                    )


def _refuse_gold(gold: str, options: Iterable[str], *, row: int, column: str) -> NoReturn:
    raise SourceError(
        f"the right answer {gold!r} is not among the options {', '.join(options)}", row=row, column=column
    )


def _detect(table: CsvTable, answers: TaskAnswers) -> Definition:
    if answers.answer_field == task_answers.RELATIONSHIP:
        return get_definition("evil-esnlive")
    return get_definition("evil-vcr" if "Input.answer0_0" in table else "evil-vqax")


def _check_assignments(table: CsvTable) -> None:
    for row, status in enumerate(table.column("AssignmentStatus"), start=2):
        if status not in DECISIONS:
            raise SourceError(f"unknown status {status!r}", row=row, column="AssignmentStatus")
    first: dict[str, int] = {}
    for row, assignment_id in enumerate(table.column("AssignmentId"), start=2):
        if not assignment_id:
            raise SourceError("the id is blank", row=row, column="AssignmentId")
        if first.setdefault(assignment_id, row) != row:
            raise SourceError(
                f"{assignment_id!r} is in row {first[assignment_id]} already", row=row, column="AssignmentId"
            )


def _filled(cells: Sequence[str]) -> list[bool]:
    return [cell != "" for cell in cells]


def _batch_ids(table: CsvTable) -> list[str]:
    """Return N of MTurk's annotation `BatchId:N;OriginalHitTemplateId:M;`, "" where there is none."""
    annotations = table.optional("RequesterAnnotation")
    return [
        next((part.removeprefix(BATCH_ID) for part in text.split(";") if part.startswith(BATCH_ID)), "")
        for text in annotations
    ]


def _work_seconds(table: CsvTable) -> list[int | None]:
    name = "WorkTimeInSeconds"
    seconds: list[int | None] = []
    for row, text in enumerate(table.optional(name), start=2):
        if text and not SECONDS.fullmatch(text):
            raise SourceError(f"{text!r} is not a number of seconds", row=row, column=name)
        seconds.append(int(text) if text else None)
    return seconds


def _trimmed(texts: Cells) -> Cells:
    """Return texts without the spaces around them; blank is None."""
    trimmed = np.empty(texts.shape, dtype=object)
    trimmed.ravel()[:] = [text.strip() or None if text else None for text in texts.ravel()]
    return trimmed


def _ticked(selected: Cells) -> Cells:
    return np.where(selected == SELECTED, SELECTED, NOT_SELECTED).astype(object)


def _preferred(preference: Cells, side: int) -> Cells:
    """Return what the choice says about the output of one side; None where there was no choice."""
    values = np.full(preference.shape, None, dtype=object)
    values[preference == PREFERENCE_OPTIONS[None]] = NO_PREFERENCE
    for other, option in PREFERENCE_OPTIONS.items():
        if other is not None:
            values[preference == option] = PREFERRED if other == side else OTHER
    return values
