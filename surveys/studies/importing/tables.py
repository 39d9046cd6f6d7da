"""Bytes to rows of text cells, with the place of everything that is wrong on the way."""

import csv
import difflib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from surveys.protocols.definition import Definition
from surveys.studies.importing.plan import Cell, Problem, Severity

# PostgreSQL stores no NUL in text, and UTF-8 has no lone surrogates (JSON escapes can spell both).
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
UTF_16 = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
DELIMITERS = (",", ";", "\t")
SNIFFED = 50  # records that tell what separates the columns,
SNIFFED_TEXT = 2**20  # of so many characters at most
BETWEEN = re.compile(r"[\s,]*")  # two objects of a list
MOST_NAMED = 12  # columns that a message lists
MOST_COLUMNS = 5_000  # of a JSON object, those of nested ones counted
DEEPEST = 4  # objects in one another of which columns are made
MOST_NAME = 40  # characters of who speaks: what a line of a conversation begins with
FOR_BLOCKS = (
    "The value is an object; only a conversation or a table shows one. Take a column of one of its fields."
)
# By what names chats call who speaks and what they say.
SPEAKERS = ("role", "from", "speaker", "author", "name")
SAID = ("content", "value", "text", "utterance", "message")
TOLD_DELIMITER = re.compile(r"sep=([,;\t])\r?\n")  # Excel's own first line


class Cells(Mapping[str, str]):
    """The cells of a record by the names of a header that all of them share: a dict for each is five times as large."""

    __slots__ = ("_places", "_texts")

    def __init__(self, places: Mapping[str, int], texts: tuple[str, ...]) -> None:
        self._places, self._texts = places, texts

    def __getitem__(self, name: str) -> str:
        return self._texts[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, slots=True)
class Row:
    """One record; `cells` as written, `lists` the cells that JSON gave as a list."""

    number: int
    line: int
    cells: Mapping[str, str]
    lists: dict[str, list[str]] = field(default_factory=dict)

    def cell(self, column: str) -> Cell:
        return Cell(self.cells.get(column, "").strip(), self.number, self.line, column)

    def parts(self, column: str) -> list[Cell]:
        """Return the parts of a cell that JSON gives as a list and CSV separates by `|`; at least one."""
        whole = self.cell(column)
        texts = self.lists.get(column) or whole.text.split("|")
        return [whole._replace(text=text.strip()) for text in texts]


@dataclass(frozen=True, slots=True)
class Table:
    header: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    problems: tuple[Problem, ...] = ()


def file_error(message: str, *, line: int | None = None, column: str = "") -> Problem:
    return Problem(Severity.ERROR, message, line=line, column=column)


def missing_columns(needed: Sequence[str], *, header: Sequence[str]) -> list[Problem]:
    """Return a problem for each needed column that a header lacks: which ones there are, and which may be meant.

    What is needed itself is never meant by another name. Of very many that are missing only the first are compared.
    """
    known, wanted = set(header), set(needed)
    spare = [name for name in header if name not in wanted]
    more = f" and {len(header) - MOST_NAMED} more" if len(header) > MOST_NAMED else ""
    found = f"The file has {', '.join(header[:MOST_NAMED])}{more}."
    missing = [name for name in needed if name not in known]
    near = {name: difflib.get_close_matches(name, spare, n=1, cutoff=0.75) for name in missing[:MOST_NAMED]}
    return [
        file_error(
            f'The column is missing; is it "{near[name][0]}"? {found}'
            if near.get(name)
            else f"The column is missing. {found}",
            line=1,
            column=name,
        )
        for name in missing
    ]


def decode(data: bytes) -> str | Problem:
    """Return the text of UTF-8 or, as Excel saves "Unicode text", UTF-16 bytes without their byte order mark.

    Otherwise what is wrong and where.
    """
    if data.startswith(OLD_EXCEL):
        return file_error("The file is of an old Excel (.xls); save it as .xlsx or CSV and try again.")
    for mark, encoding in UTF_16:
        if data.startswith(mark):
            try:
                return data.decode(encoding).removeprefix("\ufeff")
            except UnicodeDecodeError as error:
                return file_error(f"The file begins as UTF-16, but byte {error.start} is broken.")
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        return _encoding_problem(data, start=error.start)


def _encoding_problem(data: bytes, *, start: int) -> Problem:
    """Say where the first byte that isn't UTF-8 stands: offset from 0, row, line and column."""
    before = data[:start].decode("utf-8").removeprefix("\ufeff")
    message = (
        f"The file is not UTF-8: byte 0x{data[start]:02X} at offset {start}. Save it as UTF-8 and try again."
    )
    line = before.count("\n") + 1
    try:
        records = [record for record in csv.reader(io.StringIO(before + "\ufffd", newline="")) if record]
    except csv.Error:
        return file_error(message, line=line)
    header, last = records[0], records[-1]
    column = header[len(last) - 1] if len(records) > 1 and len(last) <= len(header) else ""
    return Problem(Severity.ERROR, message, len(records) - 1 or None, line, column)


def read_csv(text: str, *, is_cut: bool = False) -> Table:
    """Read text separated by commas, semicolons or tabs, with a header; blank lines are skipped, ragged rows are
    problems. Of a text that `is_cut` at its end, the whole records are read.
    """
    records = _records(text, delimiter=delimiter_of(text))
    try:
        return table_of(_whole(records) if is_cut else records)
    except csv.Error as error:
        return Table(problems=(file_error(f"The file is not well-formed CSV: {error}."),))


def delimiter_of(text: str) -> str:
    """Return what separates the columns: what Excel's first line says, or what parts the most of the first records into
    as many cells as the header, and then the header into the most.
    """
    if told := TOLD_DELIMITER.match(text):
        return told[1]
    return max(DELIMITERS, key=lambda one: _fit(text[:SNIFFED_TEXT], delimiter=one))


def _fit(text: str, *, delimiter: str) -> tuple[float, int]:
    """Return the share of the first records that have the header's number of cells, and that number; one is no fit."""
    records: list[list[str]] = []
    with suppress(csv.Error):  # a text that is no CSV with this delimiter
        records.extend(
            filter(None, islice(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), SNIFFED))
        )
    width = len(records[0]) if records else 0
    if width < 2:
        return 0, width
    return sum(len(record) == width for record in records) / len(records), width


class Once:
    """The texts that a column says again and again, each kept once."""

    MOST = 1_000  # texts of a column

    def __init__(self, n_columns: int) -> None:
        self._known: list[dict[str, str]] = [{} for _ in range(n_columns)]

    def kept(self, cells: Sequence[str]) -> tuple[str, ...]:
        """Return the cells of a record, those that were said before as they were said then."""
        return tuple(map(self._kept, self._known, cells))

    def _kept(self, known: dict[str, str], text: str) -> str:
        return known.setdefault(text, text) if len(known) < self.MOST else known.get(text, text)


def table_of(records: Iterable[tuple[int, list[str]]]) -> Table:
    """Return the table of records (line, cells), the first of which is the header."""
    records = iter(records)
    first = next(records, None)
    if first is None:
        return Table(problems=(file_error("The file has no header."),))
    header = [name.strip() for name in first[1]]
    places = {name: place for place, name in enumerate(header)}
    problems = list(_header_problems(header))
    rows, once = [], Once(len(header))
    for number, (line, cells) in enumerate(records, start=1):
        if found := list(_row_problems(cells, header=header, number=number, line=line)):
            problems.extend(found)
        else:
            rows.append(Row(number, line, Cells(places, once.kept(cells))))
    return Table(tuple(header), tuple(rows), tuple(problems))


def _records(text: str, *, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line the record starts on, cells); csv.Error names the line."""
    text, n_told = TOLD_DELIMITER.subn("", text, count=1) if TOLD_DELIMITER.match(text) else (text, 0)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = 1 + n_told
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise csv.Error(f"{error} in the record that starts on line {start}") from None
        if cells:
            yield start, cells
        start = reader.line_num + 1 + n_told


def _whole(records: Iterable[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """Yield records up to one that is cut, which strict CSV finds broken."""
    with suppress(csv.Error):
        yield from records


def _header_problems(header: list[str]) -> Iterator[Problem]:
    seen: set[str] = set()
    for number, name in enumerate(header, start=1):
        if UNSTORABLE.search(name):
            yield file_error(f"The name of column {number} holds a character that can't be stored.", line=1)
        if not name and number > 1:
            yield file_error(f"Column {number} has no name.", line=1)
        if name and name in seen:
            yield file_error("Two columns have this name.", line=1, column=name)
        seen.add(name)


def _row_problems(cells: list[str], *, header: list[str], number: int, line: int) -> Iterator[Problem]:
    if len(cells) != len(header):
        column = header[len(cells)] if len(cells) < len(header) else header[-1]
        message = f"The row has {len(cells)} cells, the header {len(header)}."
        yield Problem(Severity.ERROR, message, number, line, column)
    for name, text in zip(header, cells, strict=False):
        if "\0" in text:
            yield Cell(text, number, line, name).error("The cell holds a NUL character.")


def read_jsonl(text: str, *, is_cut: bool = False) -> Table:
    """Read one JSON object a line, or a list of objects; blank lines are skipped. Of a list that `is_cut` at its end,
    the whole objects are read.

    The header is every key in order of appearance.
    """
    rows: list[Row] = []
    problems: list[Problem] = []
    objects = _first_of_list(text) if is_cut and text.lstrip().startswith("[") else _json_objects(text)
    for number, (line, record) in enumerate(objects, start=1):
        if isinstance(record, str):
            problems.append(Problem(Severity.ERROR, record, number, line))
            continue
        row, found = _json_row(record, number=number, line=line)
        rows.append(row)
        problems.extend(found)
    header = dict.fromkeys(name for row in rows for name in row.cells)
    return Table(tuple(header), tuple(rows), tuple(problems))


def _json_objects(text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield (line, object), or a sentence instead of it; a list's entries all stand on the line where it begins."""
    if text.lstrip().startswith("[") and isinstance(listed := _json(text), list):
        line = text[: text.index("[")].count("\n") + 1
        yield from ((line, one if isinstance(one, dict) else NO_OBJECT) for one in listed)
        return
    for line, part in enumerate(text.split("\n"), start=1):
        if part.strip():
            yield line, _json_object(part)


def _first_of_list(text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield the objects of a list whose end is missing."""
    at, decoder = text.index("[") + 1, json.JSONDecoder()
    with suppress(ValueError, RecursionError):
        while found := BETWEEN.match(text, at):
            one, at = decoder.raw_decode(text, found.end())
            yield 1, one if isinstance(one, dict) else NO_OBJECT


def _json(text: str) -> object:
    """Return what a text is as JSON, None where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


NO_OBJECT = "The line is not a JSON object."


def _json_object(text: str) -> dict[str, Any] | str:
    """Return the object, or a sentence that says why there is none."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        return f"The line is not JSON: {error.msg} at character {error.pos + 1}."
    except (ValueError, RecursionError):
        return "The line is not JSON that can be read."
    return record if isinstance(record, dict) else NO_OBJECT


def _json_row(record: dict[str, Any], *, number: int, line: int) -> tuple[Row, list[Problem]]:
    cells: dict[str, str] = {}
    row, problems = Row(number, line, cells), []
    for name, value in islice(_flat(record), MOST_COLUMNS):
        texts = [_json_text(part) for part in value] if isinstance(value, list) else [_json_text(value)]
        kept = [text for text in texts if text is not None]
        if len(kept) < len(texts):
            problems.append(
                Cell("", number, line, name).error("The value must be a text or a list of texts.")
            )
        if isinstance(value, Lines):
            problems.append(Cell("", number, line, name).error(FOR_BLOCKS))
        if any(UNSTORABLE.search(text) for text in (name, *kept)):
            problems.append(
                Cell("", number, line, ascii(name)[1:-1]).error(
                    "The text can't be stored (NUL or surrogate)."
                )
            )
            continue
        cells[name] = "|".join(kept)
        if isinstance(value, list):
            row.lists[name] = kept
    return row, problems


class Lines(list[Any]):
    """Turns or rows in lines `Name: text`, as a conversation or a table shows them."""


def _flat(record: Mapping[str, Any], *, before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the columns of an object: what is nested by dotted names, turns of a conversation as lines `Name: text`.

    An object of texts is rows `Name: text` too; of a list of objects, each field is a list.
    """
    for key, value in record.items():
        name = f"{before}{key}"
        if isinstance(value, list) and any(isinstance(part, dict) for part in value):
            parts = [part if isinstance(part, dict) else {} for part in value]
            turns = [_turn(part) for part in parts]
            yield name, Lines(turns) if all(turn is not None for turn in turns) else value
            fields = dict.fromkeys(field for part in parts for field in part)
            yield from ((f"{name}.{field}", [part.get(field) for part in parts]) for field in fields)
        elif isinstance(value, dict):
            texts = {str(one): _json_text(part) for one, part in value.items()}
            is_plain = None not in texts.values()
            yield name, Lines(_line(*one) for one in texts.items() if one[1]) if is_plain else value
            if depth < DEEPEST:
                yield from _flat(value, before=f"{name}.", depth=depth + 1)
        else:
            yield name, value


def _turn(part: Mapping[str, Any]) -> str | None:
    """Return a turn as a line `Name: text`, by the fields that chats have; None for what is none."""
    speaker = next((part[name] for name in SPEAKERS if isinstance(part.get(name), str)), None)
    said = next((part[name] for name in SAID if name in part), None)
    if speaker is None or not any(name in part for name in SAID):
        return None
    pieces = said if isinstance(said, list) else [said]
    texts = [
        piece.get("text", f"[{piece.get('type')}]") if isinstance(piece, dict) else piece for piece in pieces
    ]
    return _line(speaker, "\n".join(str(text) for text in texts if text is not None))


def _line(name: str, text: str | None) -> str:
    """Return `Name: text` as a conversation or a table reads it, whatever the text has of lines and colons."""
    plain = " ".join(name.replace(":", " ").split())[:MOST_NAME] or "?"
    return f"{plain}: {text or ''}".replace("\n", "\n ")


def _json_text(value: object) -> str | None:
    """Return a JSON scalar as text, null as empty, None for anything nested."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    return str(value) if isinstance(value, str | int | float) else None


ID = ("item_id", "index", "sample_idx", "id")
SYSTEM = ("system", "exp")
CORRECT = "model_correct"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns one file uses. `question` and `references` are empty where there are none.

    `is_rated`: it holds ratings too, so that a row is one rating and the same output can come in several.
    """

    id: str
    image: str
    question: str
    answer: tuple[str, ...]
    system: str
    text: str
    references: str
    has_images: bool
    is_rated: bool
    blocks: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()  # of blocks: the column, and what kind its files are

    @property
    def of_item(self) -> tuple[str, ...]:
        """The columns in which all rows of an item agree."""
        image = self.image if self.has_images else ""
        files = (column for column, _ in self.files)
        return tuple(filter(None, (image, self.question, *self.answer, *self.blocks, *files)))

    @property
    def required(self) -> tuple[str, ...]:
        return (self.id, *self.of_item, self.system, self.text)

    @property
    def used(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, (*self.required, self.image, self.references, CORRECT))))


def find_columns(header: tuple[str, ...], *, definition: Definition) -> Columns:
    """Return what the columns are called in a file with this header; one it lacks goes by our name.

    VTT's files call the steps `preds` and the reference steps `label`; the XAI survey's label is the question.
    """
    is_sequence = definition.is_sequence
    images = ("images", "image") if is_sequence else ("image", "images")
    image = _first(images, header)
    questions = ("question", "statement") if is_sequence else ("question", "statement", "label")
    references = ("references", "reference", *(["label"] if is_sequence else []))
    return Columns(
        id=_first(ID, header),
        image=image,
        question=_first(questions, header) if definition.question_label else "",
        answer=tuple(_answer(definition)),
        system=_first(SYSTEM, header),
        text=_first(("steps", "preds") if is_sequence else ("explanation", "text"), header),
        references=next((name for name in references if name in header), ""),
        has_images=_has_images(image in header, definition=definition),
        is_rated=any(name in header for name in ratings_of(definition)),
        blocks=tuple(block.column for block in definition.blocks if not block.file_kind),
        files=tuple((block.column, block.file_kind) for block in definition.blocks if block.file_kind),
    )


def _has_images(is_there: bool, *, definition: Definition) -> bool:
    """Tell whether a column names the pictures: one has to, unless they are named by the id or not needed."""
    if definition.pictures == "none":
        return False
    return is_there or (definition.pictures == "required" and not definition.is_sequence)


def is_long(header: tuple[str, ...]) -> bool:
    """Say whether a header looks like one output a row."""
    return "item_id" in header or not (set(header).isdisjoint(ID) or set(header).isdisjoint(SYSTEM))


def _first(names: tuple[str, ...], header: tuple[str, ...]) -> str:
    return next((name for name in names if name in header), names[0])


def _answer(definition: Definition) -> Iterator[str]:
    if definition.answer:
        yield "answer"
        if not definition.answer.choices:
            yield "choices"


def ratings_of(definition: Definition) -> Iterator[str]:
    """Yield the names of columns that hold ratings, as the published files have beside the items."""
    for criterion in definition.criteria:
        yield from (criterion.key, *criterion.aliases)


ANY_ENDING = ".*"


def state_name(subject: str, number: int) -> str:
    """Return the name of a state, from 1, whose picture may be of any kind: `8_1.*`."""
    return f"{subject}_{number}{ANY_ENDING}"


def one_line(steps: Sequence[Cell]) -> str:
    """Return the steps with a line each, whatever line breaks they had."""
    return "\n".join(" ".join(step.text.split()) for step in steps)


def images_of(row: Row, *, columns: Columns, definition: Definition) -> tuple[Cell, ...]:
    """Return the pictures a row names; those of a sequence that names none go by its id."""
    if columns.has_images:
        return named_images(row.parts(columns.image), definition=definition)
    if not definition.is_sequence:
        return ()
    cell = row.cell(columns.id)
    n = len(row.parts(columns.text))
    return tuple(cell._replace(text=state_name(cell.text, k)) for k in range(1, n + 2))


def named_images(cells: Sequence[Cell], *, definition: Definition) -> tuple[Cell, ...]:
    """Return the cells that name a picture, an empty one too where it has to."""
    if definition.pictures == "required":
        return tuple(cells)
    return tuple(cell for cell in cells if cell.text and definition.pictures == "optional")


def step_problems(row: Row, *, columns: Columns) -> Iterator[Problem]:
    """Yield what doesn't fit: gaps among the texts, their number against that of the pictures and references."""
    steps = row.parts(columns.text)
    whole = row.cell(columns.text)
    for n, step in enumerate(steps, 1):
        if not step.text and len(steps) > 1:
            yield whole.warning(f"Text {n} of {len(steps)} is empty; annotators will see a gap.")
    images = len(row.parts(columns.image)) if columns.has_images else len(steps) + 1
    if images != len(steps) + 1:
        yield row.cell(columns.image).error(
            f"There must be one picture more than texts; the row has {images} to {len(steps)}."
        )
    references = len(row.parts(columns.references)) if columns.references else len(steps)
    if references != len(steps):
        yield row.cell(columns.references).warning(
            f"Texts: {len(steps)}, reference texts: {references}; metrics compare them line by line."
        )
