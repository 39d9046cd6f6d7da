"""The JSON that OFA-X's crowd-form wrote into `Answer.taskAnswers`, as columns.

A cell is a list holding one object with the keys `task{n}_answer` (e-SNLI-VE: `task{n}_image_statement_relationship`),
`task{n}_explanation{1,2}_explanation_justifies_answer`, `task{n}_explanation{1,2}_shortcomings_*`,
`task{n}_preference` and `task{n}_image_id`. All but the last are {option: bool}.

Cells of JSON that say the same things again and again, each thing parsed once.

Thousands of cells hold a few hundred distinct `"key":{"option":true,..}` parts. A compact cell is cut where one
part ends and the next begins, and every distinct part is parsed by itself. That is exact: if each part is valid as
an object of its own, the cell is the object with all their members. Anything else is parsed whole.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from surveys.results.frames.csv_table import SourceError

START, CUT, END = '[{"', '},"', "}}]"


class Options:
    """{option: bool}, judged once: `selected` is the true one or None, `problem` why there is no such thing."""

    __slots__ = ("given", "problem", "selected")

    def __init__(self, given: dict[str, Any]) -> None:
        chosen = [option for option, is_on in given.items() if is_on is not False]
        self.given = given
        self.selected: str | None = chosen[0] if chosen else None
        self.problem = ""
        if len(chosen) > 1:
            self.problem = f"has two options selected: {', '.join(chosen)}"
        elif chosen and given[chosen[0]] is not True:
            self.problem = f"says neither true nor false to {chosen[0]!r}"


class JsonCells:
    """A parser for lists that hold one object, whose {option: bool} members become `Options`."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[str, Any]] = {}

    def __call__(self, cell: str) -> dict[str, Any] | None:
        """Return the object; None if the cell holds anything else. Raises ValueError for broken JSON."""
        if cell.startswith(START) and cell.endswith(END):
            try:
                return self._in_parts(cell)
            except ValueError:
                pass
        data = json.loads(cell)
        if not (isinstance(data, list) and len(data) == 1 and isinstance(data[0], dict)):
            return None
        return _judged(data[0])

    def _in_parts(self, cell: str) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for part in cell[len(START) : -len(END)].split(CUT):
            known = self._parts.get(part)
            if known is None:
                known = self._parts[part] = _judged(json.loads(f'{{"{part}}}}}'))
            answers.update(known)
        return answers


def _judged(members: dict[str, Any]) -> dict[str, Any]:
    return {key: Options(value) if isinstance(value, dict) else value for key, value in members.items()}


COLUMN = "Answer.taskAnswers"
TASK_KEY = re.compile(r"task([1-9][0-9]{0,3})_(.+)")
ANSWER = "answer"
RELATIONSHIP = "image_statement_relationship"
IMAGE_ID = "image_id"
PREFERENCE = "preference"
JUSTIFIES = "explanation{side}_explanation_justifies_answer"
SHORTCOMING = "explanation{side}_shortcomings_{option}"

NOTHING = Options({})
SURROGATE = re.compile("[\ud800-\udfff]")  # JSON escapes can spell one; no UTF-8 file can hold it


class TaskAnswers:
    """The parsed answers of every assignment, looked up by task and field, a whole column at a time."""

    def __init__(self, cells: Sequence[str]) -> None:
        parse = JsonCells()
        self.objects = [_parsed(cell, parse=parse, row=row) for row, cell in enumerate(cells, start=2)]
        matches = [match for key in set().union(*self.objects) if (match := TASK_KEY.fullmatch(key))]
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
        """Return what could be chosen and was, empty where the assignment lacks the field."""
        key = f"task{task}_{field}"
        found = [answers.get(key, NOTHING) for answers in self.objects]
        if not set(map(type, found)) <= {Options}:
            row = next(row for row, options in enumerate(found, start=2) if type(options) is not Options)
            raise SourceError(f"{key} is not a set of options", row=row, column=COLUMN)
        return found

    def selected(self, task: int, field: str, *, among: Sequence[str] = ()) -> list[str | None]:
        """Return the one option that is true, None where none is.

        SourceError where two are, or where it is not `among` the known ones.
        """
        options = self.options(task, field)
        chosen = [given.selected for given in options]
        if any(given.problem for given in options) or (among and not set(chosen) <= {*among, None}):
            _refuse(options, key=f"task{task}_{field}", among=among)
        return chosen


def _refuse(given: Sequence[Options], *, key: str, among: Sequence[str]) -> None:
    for row, options in enumerate(given, start=2):
        problem = options.problem
        if not problem and among and options.selected not in {*among, None}:
            problem = f"has {options.selected!r}, not one of {', '.join(among)}"
        if problem:
            raise SourceError(f"{key} {problem}", row=row, column=COLUMN)


def _parsed(cell: str, *, parse: JsonCells, row: int) -> Mapping[str, Any]:
    try:
        answers = parse(cell)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"broken JSON: {error}", row=row, column=COLUMN) from error
    if answers is None:
        raise SourceError("not a list with one object of answers", row=row, column=COLUMN)
    if "\\u" in cell and SURROGATE.search(json.dumps(json.loads(cell), ensure_ascii=False)):
        raise SourceError("a text holds half a character (a lone surrogate)", row=row, column=COLUMN)
    return answers
