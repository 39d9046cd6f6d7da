"""The door for an MTurk batch results CSV of an e-ViL study, whether or not this system ever saw the study.

Format: OFA-X's published raw files. Explanation 1 is the model's and explanation 2 the ground truth. On which
side of the screen each was shown is not in the file, so `shown_position` is missing; nor is what was left out of the
analysis, so that everything is used that is not rejected. Columns are found by name, and worked on whole: no row is
visited by pandas.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
    OUTPUT_COLUMNS,
    PREFERRED,
    RESPONSE_COLUMNS,
    SELECTED,
    Frame,
    build_frame,
    column,
)
from surveys.results.frames.coded import Coded, Column, Numbered, spread
from surveys.results.frames.csv_table import CsvTable, SourceError, read_table
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.results.frames.task_answers import JsonColumn, Options, TaskAnswers

GROUND_TRUTH = "ground_truth"  # the reference of e-ViL's three types
DECISIONS = {"Submitted": "", "Approved": "approve", "Rejected": "reject"}
OPTIONS = ("incorrect_description", "insufficient_justification", "confusing_sentence")
SIDES = (1, 2)
PREFERENCE_OPTIONS = {1: "expl_1", 2: "expl_2", None: "no_preference"}
BATCH_ID = "BatchId:"
MARKETPLACE = "marketplace"
SECONDS = re.compile("[0-9]{1,9}")
REPEAT_OF = "Input.repeat_of_{slot}"  # our own: the number of the question that this one asks again

KINDS = {task_answers.COLUMN: JsonColumn}


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
    with path.open("rb") as stream:
        table = read_table(stream, kinds=KINDS)
    return frame_from_table(
        table, study=path.stem, system=system, definition=definition, pseudonyms=pseudonyms
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
    return frame_from_table(
        read_table(data, kinds=KINDS),
        study=study,
        system=system,
        definition=definition,
        pseudonyms=pseudonyms,
    )


def frame_from_table(
    table: CsvTable,
    *,
    study: str,
    system: str = "model",
    definition: Definition | None = None,
    pseudonyms: Pseudonyms | None = None,
) -> Frame:
    """Read a batch results file that was read as a table, best with `KINDS`; see `read_mturk_csv`."""
    if system == GROUND_TRUTH:
        raise SourceError(f"the model can't be called {GROUND_TRUTH!r}, that is the reference")
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
    """Columns of cells of shape (assignments, tasks): raveled, they stand in the order of the file."""

    study: str
    table: CsvTable
    answers: TaskAnswers
    systems: tuple[str, str]
    definition: Definition
    pseudonyms: Pseudonyms

    def frame(self) -> Frame:
        self.answers.require(list(self._required_fields()))
        present = np.stack([self.answers.present(task) for task in self.answers.tasks], axis=1)
        rows = present.ravel()
        own = {
            column(system, name): dtype for system in self.systems for name, dtype in OUTPUT_COLUMNS.items()
        }
        return build_frame(
            definition=self.definition,
            systems=self.systems,
            responses=_spread_columns(self._responses(present), rows, RESPONSE_COLUMNS),
            outputs=_spread_columns(self._outputs(), rows, own),
        )

    def _required_fields(self) -> Iterator[str]:
        yield from (task_answers.IMAGE_ID, self.answers.answer_field, task_answers.PREFERENCE)
        for side in SIDES:
            yield task_answers.JUSTIFIES.format(side=side)
            yield from (task_answers.SHORTCOMING.format(side=side, option=option) for option in OPTIONS)

    def _by_task(self, get: Callable[[int], Coded]) -> Coded:
        """Return the columns of all tasks beside one another."""
        columns = [get(task) for task in self.answers.tasks]
        values: list[Any] = []
        codes = np.empty((self.table.n_rows, len(columns)), dtype=np.int32)
        for index, one in enumerate(columns):
            codes[:, index] = one.codes + len(values)
            values.extend(one.values)
        return Coded(values, codes)

    def _by_assignment(self, name: str) -> Coded:
        """Return a column of the file, the same for all tasks of an assignment."""
        return self._every(_coded(self.table.coded(name)))

    def _every(self, cells: Coded) -> Coded:
        shape = (self.table.n_rows, len(self.answers.tasks))
        return Coded(cells.values, np.broadcast_to(cells.codes[:, None], shape))

    def _always(self, value: Any) -> Coded:
        return self._every(Coded([value], np.zeros(self.table.n_rows, dtype=np.int32)))

    def _input(self, name: str) -> Coded:
        return self._by_task(lambda task: _coded(self.table.coded(f"Input.{name}_{task - 1}")))

    def _optional(self, name: str) -> Coded:
        return self._by_task(lambda task: _coded(self.table.coded_optional(name.format(slot=task - 1))))

    def _field(self, field: str, *, among: Sequence[str] = ()) -> Coded:
        """Return what was selected; all fields share their values."""
        columns = [self.answers.selected(task, field, among=among) for task in self.answers.tasks]
        return Coded(columns[0].values, np.stack([one.codes for one in columns], axis=1))

    def _position(self) -> Coded:
        shape = (self.table.n_rows, len(self.answers.tasks))
        return Coded(
            self.answers.tasks, np.broadcast_to(np.arange(len(self.answers.tasks), dtype=np.int32), shape)
        )

    def _responses(self, present: npt.NDArray[np.bool_]) -> Iterator[tuple[str, Coded]]:
        gold = self._input("answer")
        answer = self._field(self.answers.answer_field)
        self._check_gold(present)
        status = self._by_assignment("AssignmentStatus")
        yield "study", self._always(self.study)
        yield "batch", self._every(_coded(self.table.coded_optional("RequesterAnnotation")).map(_batch_id))
        yield "hit_id", self._by_assignment("HITId")
        yield "assignment_id", self._by_assignment("AssignmentId")
        yield "worker", self._by_assignment("WorkerId").map(self.pseudonyms)
        yield "item_id", self._by_task(lambda task: self.answers.texts(task, task_answers.IMAGE_ID))
        yield "position", self._position()
        yield "is_repeat", self._optional(REPEAT_OF).map(bool)
        yield "answer", answer.map(_trimmed)
        yield "gold", gold.map(_trimmed)
        yield "answer_correct", _are_equal(answer, gold)
        yield "is_skipped", self._always(False)
        yield "work_seconds", self._every(_work_seconds(self.table))
        yield "status", status
        yield "decision", status.map(DECISIONS.__getitem__)
        yield "included", status.map(KEPT_STATUSES.__contains__)
        yield "channel", self._always(MARKETPLACE)

    def _outputs(self) -> Iterator[tuple[str, Coded]]:
        preference = self._field(task_answers.PREFERENCE, among=tuple(PREFERENCE_OPTIONS.values()))
        scale = self.definition.criterion("justifies").values
        texts = ("output_explanation", "explanation")
        for system, side, text in zip(self.systems, SIDES, texts, strict=True):
            yield column(system, "text"), self._input(text)
            yield column(system, "shown_position"), self._always(None)
            yield column(system, "answer"), self._output_answers(side).map(_trimmed)
            yield (
                column(system, "justifies"),
                self._field(task_answers.JUSTIFIES.format(side=side), among=scale),
            )
            for option in OPTIONS:
                ticked = self._field(
                    task_answers.SHORTCOMING.format(side=side, option=option), among=(SELECTED,)
                )
                yield column(system, f"shortcomings.{option}"), ticked.map(_ticked)
            yield column(system, "preference"), preference.map(partial(_preferred, side=side))

    def _output_answers(self, side: int) -> Coded:
        if side == SIDES[1]:
            return self._input("answer")
        return self._optional("Input.output_answer_{slot}")

    def _check_gold(self, present: npt.NDArray[np.bool_]) -> None:
        for index, task in enumerate(self.answers.tasks):
            name = f"Input.answer_{task - 1}"
            given = self.answers.options(task, self.answers.answer_field)
            gold = self.table.coded(name)
            pairs, places = np.unique(
                np.stack([given.codes, gold.codes], axis=1), axis=0, return_inverse=True
            )
            is_wrong = np.array([_is_no_option(gold.texts[b], given.values[a]) for a, b in pairs.tolist()])
            wrong = np.flatnonzero(is_wrong[places.ravel()] & present[:, index])
            if len(wrong):
                row = int(wrong[0])
                _refuse_gold(gold[row], given.values[given.codes[row]].given, row=row + 2, column=name)


def _spread_columns(
    columns: Iterable[tuple[str, Coded]], rows: npt.NDArray[np.bool_], types: Mapping[str, str]
) -> dict[str, Any]:
    """Return the chosen cells of each column, in the type that the frame promises; one column is made at a time."""
    return {
        name: spread(cells.values, cells.codes.ravel()[rows], dtype=types.get(name, "str"))
        for name, cells in columns
    }


def _coded(cells: Column) -> Coded:
    return Coded(cells.texts, cells.codes)


def _are_equal(texts: Coded, others: Coded) -> Coded:
    """Compare cell by cell; where nothing was selected is equal to nothing."""
    numbers = Numbered()
    same = texts.numbered(numbers, nothing=-1) == others.numbered(numbers, nothing=-2)
    return Coded([False, True], same.astype(np.int32))


def _is_no_option(gold: str, options: Options) -> bool:
    return bool(options.given) and gold not in options.given


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


def _batch_id(text: str) -> str:
    """Return N of MTurk's annotation `BatchId:N;OriginalHitTemplateId:M;`, "" where there is none."""
    return next((part.removeprefix(BATCH_ID) for part in text.split(";") if part.startswith(BATCH_ID)), "")


def _work_seconds(table: CsvTable) -> Coded:
    name = "WorkTimeInSeconds"
    cells = table.coded_optional(name)
    for text in cells.texts:
        if text and not SECONDS.fullmatch(text):
            raise SourceError(f"{text!r} is not a number of seconds", row=cells.place(text) + 2, column=name)
    return _coded(cells).map(lambda text: int(text) if text else None)


def _trimmed(text: str | None) -> str | None:
    """Return a text without the spaces around it; blank is None."""
    return (text.strip() or None) if text else None


def _ticked(selected: str | None) -> str:
    return SELECTED if selected == SELECTED else NOT_SELECTED


def _preferred(option: str | None, *, side: int) -> str | None:
    """Return what the choice says about the output of one side; None where there was no choice."""
    if option == PREFERENCE_OPTIONS[None]:
        return NO_PREFERENCE
    sides = {chosen: other for other, chosen in PREFERENCE_OPTIONS.items()}
    return None if option not in sides else PREFERRED if sides[option] == side else OTHER
