"""The JSON that OFA-X's crowd-form wrote into `Answer.taskAnswers`, as columns.

A cell is a list holding one object with the keys `task{n}_answer` (e-SNLI-VE: `task{n}_image_statement_relationship`),
`task{n}_explanation{1,2}_explanation_justifies_answer`, `task{n}_explanation{1,2}_shortcomings_*`,
`task{n}_preference` and `task{n}_image_id`. All but the last are {option: bool}.

Cells of JSON that say the same things again and again, each thing kept and parsed once.

Thousands of cells hold a few hundred distinct `"key":{"option":true,..}` parts. A compact cell is cut where one
part ends and the next begins, and every distinct part is parsed by itself. That is exact: if each part is valid as
an object of its own, the cell is the object with all their members. Anything else is parsed whole.
"""

import json
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, overload

import numpy as np
import numpy.typing as npt

from surveys.results.frames.coded import Cells, Coded, Codes, Numbered
from surveys.results.frames.csv_table import SourceError

COLUMN = "Answer.taskAnswers"
START, CUT, END = '[{"', '},"', "}}]"
SURROGATE = re.compile("[\ud800-\udfff]")  # JSON escapes can spell one; no UTF-8 file can hold it
AT_ONCE = 2_000  # cells


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


class JsonColumn(Cells):
    """A column of such cells: of each the numbers of its parts, or the text of one that can't be cut."""

    def __init__(self, cells: Iterable[str] = ()) -> None:
        self.parts = Numbered()
        self.whole: dict[int, str] = {}
        self._codes, self._ends = array("i"), array("q", [0])
        self._texts: list[str] = []
        self.extend(cells)

    def extend(self, cells: Iterable[str]) -> None:
        for cell in cells:
            if cell.startswith(START) and cell.endswith(END):
                parts = cell[len(START) : -len(END)].split(CUT)
                self._codes.extend(map(self.parts.__getitem__, parts))
            else:
                self.whole[len(self)] = cell
            self._ends.append(len(self._codes))

    def parts_of(self, first: int, last: int) -> tuple[Codes, npt.NDArray[np.int64]]:
        """Return the numbers of the parts of some cells, and how many of them are whose."""
        ends = np.frombuffer(self._ends, dtype=np.int64)[first : last + 1]
        return np.frombuffer(self._codes, dtype=np.int32)[ends[0] : ends[-1]], np.diff(ends)

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return self.whole[place] if place in self.whole else self._joined(place)

    def _joined(self, place: int) -> str:
        if len(self._texts) != len(self.parts):
            self._texts = list(self.parts)
        codes = self._codes[self._ends[place] : self._ends[place + 1]]
        return START + CUT.join(self._texts[code] for code in codes) + END


NOTHING = Options({})


class Members:
    """What the objects of a column hold, by key: at which rows there is one, and which of `values` it is.

    SourceError for the first cell that is no list with one object.
    """

    def __init__(self, cells: JsonColumn) -> None:
        self.n_rows = len(cells)
        self.values: list[Any] = [NOTHING]
        self._keys = Numbered()
        self._rows: dict[int, list[Codes]] = {}
        self._codes: dict[int, list[Codes]] = {}
        parts = _Parts([self._part(text) for text in cells.parts])
        for first in range(0, self.n_rows, AT_ONCE):
            self._add(*parts.members(self, cells, first, min(first + AT_ONCE, self.n_rows)))
        names = list(self._keys)
        self.keys = [names[number] for number in self._rows]

    def __contains__(self, key: str) -> bool:
        return self._keys.get(key) in self._rows

    def codes(self, key: str) -> Codes:
        """Return which value each row has under a key, 0 where it has none."""
        codes = np.zeros(self.n_rows, dtype=np.int32)
        number = self._keys.get(key)
        if number in self._rows:
            codes[np.concatenate(self._rows[number])] = np.concatenate(self._codes[number])
        return codes

    def has(self, keys: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Tell of each row whether it has any of these keys."""
        found = np.zeros(self.n_rows, dtype=bool)
        for key in keys:
            for rows in self._rows[self._keys[key]]:
                found[rows] = True
        return found

    def numbered(self, members: Mapping[str, Any]) -> list[tuple[int, int]]:
        """Return the members of an object as numbers of keys and values."""
        pairs = []
        for key, value in members.items():
            self.values.append(Options(value) if isinstance(value, dict) else value)
            pairs.append((self._keys[key], len(self.values) - 1))
        return pairs

    def _part(self, text: str) -> list[tuple[int, int]] | None:
        """Return the members of a part; None where its cell has to be parsed whole."""
        if "\\u" in text:
            return None
        try:
            return self.numbered(json.loads(f'{{"{text}}}}}'))
        except (ValueError, RecursionError):
            return None

    def _add(self, rows: Codes, keys: Codes, codes: Codes) -> None:
        order = np.argsort(keys, kind="stable")
        rows, keys, codes = rows[order], keys[order], codes[order]
        starts = [0, *(np.flatnonzero(np.diff(keys)) + 1).tolist()] if len(keys) else []
        for start, end in zip(starts, [*starts[1:], len(keys)], strict=True) if starts else ():
            self._rows.setdefault(int(keys[start]), []).append(rows[start:end])
            self._codes.setdefault(int(keys[start]), []).append(codes[start:end])


class _Parts:
    """The members of every distinct part, one after the other; `is_good` tells which parts can stand by themselves."""

    def __init__(self, parts: list[list[tuple[int, int]] | None]) -> None:
        self.is_good = np.array([part is not None for part in parts], dtype=bool)
        self._sizes = np.array([len(part or ()) for part in parts], dtype=np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes
        pairs = [pair for part in parts for pair in part or ()]
        self._pairs = np.array(pairs, dtype=np.int32).reshape(-1, 2)

    def members(self, found: Members, cells: JsonColumn, first: int, last: int) -> tuple[Codes, Codes, Codes]:
        """Return rows, keys and values of the members of some cells."""
        codes, counts = cells.parts_of(first, last)
        rows = np.repeat(np.arange(first, last, dtype=np.int32), counts)
        uncut = {*rows[~self.is_good[codes]].tolist(), *(n for n in range(first, last) if n in cells.whole)}
        whole = [(n, *pair) for n in sorted(uncut) for pair in found.numbered(_parsed(cells[n], row=n + 2))]
        cut = ~np.isin(rows, list(uncut)) if uncut else slice(None)
        rows, codes = rows[cut], codes[cut]
        sizes = self._sizes[codes]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        pairs = self._pairs[np.repeat(self._starts[codes], sizes) + within]
        more = np.array(whole, dtype=np.int32).reshape(-1, 3)
        return (
            np.concatenate([np.repeat(rows, sizes), more[:, 0]]),
            np.concatenate([pairs[:, 0], more[:, 1]]),
            np.concatenate([pairs[:, 1], more[:, 2]]),
        )


def _parsed(cell: str, *, row: int) -> dict[str, Any]:
    try:
        answers = json.loads(cell)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"broken JSON: {error}", row=row, column=COLUMN) from error
    if not (isinstance(answers, list) and len(answers) == 1 and isinstance(answers[0], dict)):
        raise SourceError("not a list with one object of answers", row=row, column=COLUMN)
    if "\\u" in cell and SURROGATE.search(json.dumps(answers, ensure_ascii=False)):
        raise SourceError("a text holds half a character (a lone surrogate)", row=row, column=COLUMN)
    return answers[0]


TASK_KEY = re.compile(r"task([1-9][0-9]{0,3})_(.+)")
ANSWER = "answer"
RELATIONSHIP = "image_statement_relationship"
IMAGE_ID = "image_id"
PREFERENCE = "preference"
JUSTIFIES = "explanation{side}_explanation_justifies_answer"
SHORTCOMING = "explanation{side}_shortcomings_{option}"


class TaskAnswers:
    """The parsed answers of every assignment, looked up by task and field, a whole column at a time."""

    def __init__(self, cells: Sequence[str]) -> None:
        self._members = Members(cells if isinstance(cells, JsonColumn) else JsonColumn(cells))
        matches = [match for key in self._members.keys if (match := TASK_KEY.fullmatch(key))]
        self.fields = {match[2] for match in matches}
        self.tasks = sorted({int(match[1]) for match in matches})
        if not self.tasks:
            raise SourceError("no answer has a key like 'task1_answer'", column=COLUMN)
        is_answered = self._members.has(match[0] for match in matches)
        if not is_answered.all():
            raise SourceError("there is no answer at all", row=_first(~is_answered), column=COLUMN)
        self._judged = _Judged.of(self._members.values)

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

    def present(self, task: int) -> npt.NDArray[np.bool_]:
        """Return which assignments hold this task: HITs of one batch may differ in length."""
        prefix = f"task{task}_"
        return self._members.has(key for key in self._members.keys if key.startswith(prefix))

    def texts(self, task: int, field: str) -> Coded:
        codes = self._members.codes(f"task{task}_{field}")
        distinct, places = np.unique(codes, return_inverse=True)
        values = ["" if code == 0 else str(self._members.values[code]) for code in distinct.tolist()]
        return Coded(values, places.astype(np.int32))

    def options(self, task: int, field: str) -> Coded:
        """Return what could be chosen and was, empty where the assignment lacks the field."""
        key = f"task{task}_{field}"
        codes = self._members.codes(key)
        is_none = ~self._judged.is_options[codes]
        if is_none.any():
            raise SourceError(f"{key} is not a set of options", row=_first(is_none), column=COLUMN)
        return Coded(self._members.values, codes)

    def selected(self, task: int, field: str, *, among: Sequence[str] = ()) -> Coded:
        """Return the one option that is true, None where none is.

        SourceError where two are, or where it is not `among` the known ones.
        """
        options = self.options(task, field)
        chosen = self._judged.selected[options.codes]
        strange = [value is not None and bool(among) and value not in among for value in self._judged.texts]
        is_refused = self._judged.has_problem[options.codes] | np.array(strange, dtype=bool)[chosen]
        if is_refused.any():
            row = _first(is_refused)
            _refuse(options.values[options.codes[row - 2]], row, key=f"task{task}_{field}", among=among)
        return Coded(self._judged.texts, chosen)


@dataclass(frozen=True, slots=True)
class _Judged:
    """Of each value whether it is a set of options, whether that has a problem, and which of `texts` is selected."""

    is_options: npt.NDArray[np.bool_]
    has_problem: npt.NDArray[np.bool_]
    selected: Codes
    texts: list[str | None]

    @classmethod
    def of(cls, values: Sequence[Any]) -> "_Judged":
        options = [value if isinstance(value, Options) else NOTHING for value in values]
        numbers: dict[str | None, int] = {None: 0}
        selected = [numbers.setdefault(one.selected, len(numbers)) for one in options]
        return cls(
            np.array([isinstance(value, Options) for value in values], dtype=bool),
            np.array([one.problem != "" for one in options], dtype=bool),
            np.array(selected, dtype=np.int32),
            list(numbers),
        )


def _first(chosen: npt.NDArray[np.bool_]) -> int:
    """Return the row of the file that the first chosen one is."""
    return int(np.argmax(chosen)) + 2


def _refuse(given: Options, row: int, *, key: str, among: Sequence[str]) -> NoReturn:
    problem = given.problem or f"has {given.selected!r}, not one of {', '.join(among)}"
    raise SourceError(f"{key} {problem}", row=row, column=COLUMN)
