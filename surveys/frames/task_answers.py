"""The JSON that OFA-X's crowd-form wrote into `Answer.taskAnswers`, as columns.

A cell is a list holding one object with the keys `task{n}_answer` (e-SNLI-VE: `task{n}_image_statement_relationship`),
`task{n}_explanation{1,2}_explanation_justifies_answer`, `task{n}_explanation{1,2}_shortcomings_*`,
`task{n}_preference` and `task{n}_image_id`. All but the last are {option: bool}.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from surveys.frames.errors import SourceError

COLUMN = "Answer.taskAnswers"
TASK_KEY = re.compile(r"task([1-9][0-9]*)_(.+)")
ANSWER = "answer"
RELATIONSHIP = "image_statement_relationship"
IMAGE_ID = "image_id"
PREFERENCE = "preference"
JUSTIFIES = "explanation{side}_explanation_justifies_answer"
SHORTCOMING = "explanation{side}_shortcomings_{option}"

Options = Mapping[str, bool]


class TaskAnswers:
    """The parsed answers of every assignment, looked up by task and field, a whole column at a time."""

    def __init__(self, cells: Sequence[str]) -> None:
        self.objects = [_parsed(cell, row=row) for row, cell in enumerate(cells, start=2)]
        keys = {key for answers in self.objects for key in answers}
        matches = [match for key in keys if (match := TASK_KEY.fullmatch(key))]
        self.fields = {match[2] for match in matches}
        self.tasks = sorted({int(match[1]) for match in matches})
        if not self.tasks:
            raise SourceError("no answer has a key like 'task1_answer'", column=COLUMN)
        for row, answers in enumerate(self.objects, start=2):
            if not any(TASK_KEY.fullmatch(key) for key in answers):
                raise SourceError("there is no answer at all", row=row, column=COLUMN)

    @property
    def answer_field(self) -> str:
        """The name of the answer's field: what tells e-SNLI-VE from the others."""
        for field in (ANSWER, RELATIONSHIP):
            if field in self.fields:
                return field
        raise SourceError(f"no answer has the field {ANSWER!r} or {RELATIONSHIP!r}", column=COLUMN)

    def require(self, fields: Sequence[str]) -> None:
        """SourceError if no assignment at all has one of these fields: then it is another format."""
        for field in fields:
            if field not in self.fields:
                raise SourceError(f"no answer has the field {field!r}", column=COLUMN)

    def present(self, task: int) -> list[bool]:
        """Return which assignments hold this task: HITs of one batch may differ in length."""
        prefix = f"task{task}_"
        marker = f"{prefix}{IMAGE_ID}"
        return [
            marker in answers or any(key.startswith(prefix) for key in answers) for answers in self.objects
        ]

    def texts(self, task: int, field: str) -> list[str]:
        key = f"task{task}_{field}"
        return [str(answers.get(key, "")) for answers in self.objects]

    def options(self, task: int, field: str) -> list[Options]:
        """Return {option: bool} per assignment, empty where the assignment lacks the field."""
        key = f"task{task}_{field}"
        found = [answers.get(key, _NOTHING) for answers in self.objects]
        for row, options in enumerate(found, start=2):
            if type(options) is not dict:
                raise SourceError(f"{key} is not a set of options", row=row, column=COLUMN)
        return found

    def selected(self, task: int, field: str, *, among: Sequence[str] = ()) -> list[str | None]:
        """Return the one option that is true, None where none is.

        SourceError where two are, or where it is not `among` the known ones.
        """
        key = f"task{task}_{field}"
        chosen = [
            [option for option, is_on in options.items() if is_on is not False]
            for options in self.options(task, field)
        ]
        for row, names in enumerate(chosen, start=2):
            if names and (problem := self._problem(names, self.objects[row - 2][key], among)):
                raise SourceError(f"{key} {problem}", row=row, column=COLUMN)
        return [names[0] if names else None for names in chosen]

    @staticmethod
    def _problem(names: Sequence[str], options: Options, among: Sequence[str]) -> str:
        if len(names) > 1:
            return f"has two options selected: {', '.join(names)}"
        if options[names[0]] is not True:
            return f"says neither true nor false to {names[0]!r}"
        if among and names[0] not in among:
            return f"has {names[0]!r}, not one of {', '.join(among)}"
        return ""


_NOTHING: dict[str, bool] = {}


def _parsed(cell: str, *, row: int) -> dict[str, Any]:
    try:
        data = json.loads(cell)
    except ValueError as error:
        raise SourceError(f"broken JSON: {error}", row=row, column=COLUMN) from error
    if not (isinstance(data, list) and len(data) == 1 and isinstance(data[0], dict)):
        raise SourceError("not a list with one object of answers", row=row, column=COLUMN)
    return data[0]
