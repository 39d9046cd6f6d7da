"""A model's predictions, and the items of earlier samples, out of their files: rows and problems by row and column."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

# What a column may be called; one that is taken is none of the later ones: beside `gold`, `answer` is the system's.
NAMES = {
    "item": ("item", "id", "item_id"),
    "gold": ("gold", "answer"),
    "predicted": ("output_answer", "prediction", "answer"),
    "output": ("output_explanation", "explanation"),
    "system": ("system",),
    "dataset": ("dataset", "data_set", "data set"),
    "reference": ("reference", "explanation"),
    "question": ("question", "statement"),
    "image": ("img_name", "image"),
    "choices": ("choices",),
}
REQUIRED = ("item", "gold", "predicted", "output")
SLOT = re.compile(r"id_[0-9]+")
NO_TEXT = re.compile("[\0\ud800-\udfff]")


class SamplingError(ValueError):
    """No sample can be drawn; the message names the row and the column, or the data set."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a system said about one item. `row` counts from 1."""

    row: int
    item: str
    gold: str
    predicted: str
    output: str
    system: str = ""
    dataset: str = ""
    reference: str = ""
    question: str = ""
    image: str = ""
    choices: tuple[str, ...] = ()

    @property
    def why_not(self) -> str:
        """Why the item can't be shown; empty if it can."""
        if not self.predicted:
            return "no answer"
        if self.predicted != self.gold:
            return "wrong answer"
        return "" if self.output else "no explanation"


# Items of an earlier sample by data set, or of the only data set there is: two may use the same ids.
Earlier = frozenset[str] | Mapping[str, frozenset[str]]


def read_predictions(path: Path) -> Iterator[Prediction]:
    """Yield the rows of a CSV, or of JSON lines (`.jsonl`), one by one. SamplingError names row and column."""
    for number, cells in enumerate(_cells_of(path), 1):
        yield _prediction(number, cells, _columns(tuple(cells), row=number))


def datasets_of(path: Path) -> set[str]:
    """Return the names of the data sets in a file of predictions, without looking at anything else."""
    found: set[str] = set()
    for number, cells in enumerate(_cells_of(path), 1):
        column = _columns(tuple(cells), row=number).get("dataset")
        found.add(_text(cells[column], row=number, column=column) if column else "")
    return found


def _cells_of(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        yield from _json_rows(stream) if path.suffix in {".jsonl", ".json"} else _csv_rows(stream)


def _csv_rows(stream: IO[str]) -> Iterator[dict[str, object]]:
    reader = csv.reader(stream, strict=True)
    number = 0
    try:
        header = [_text(name, row=0, column=str(n)).strip() for n, name in enumerate(next(reader, []), 1)]
        _columns(tuple(header), row=0)
        for cells in reader:
            if not cells:
                continue
            number += 1
            if len(cells) != len(header):
                column = header[len(cells)] if len(cells) < len(header) else header[-1]
                message = f"it has {len(cells)} cells, the header {len(header)}."
                raise SamplingError(f"row {number}, column {column}: {message}")
            yield dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise SamplingError(f"row {number + 1}: this is not well-formed CSV: {error}.") from error


@lru_cache(maxsize=256)
def _columns(header: tuple[str, ...], *, row: int) -> dict[str, str]:
    """Return {name: column} of a header, or of the keys of one record. `row` 0 is the header."""
    place = f"row {row}, " if row else ""
    if twice := [name for name, n in Counter(header).items() if n > 1 and name]:
        raise SamplingError(f"{place}column {twice[0]}: two columns have this name.")
    found: dict[str, str] = {}
    for name, columns in NAMES.items():
        free = [column for column in columns if column in header and column not in found.values()]
        if free:
            found[name] = free[0]
        elif name in REQUIRED:
            raise SamplingError(
                f"{place}column {columns[0]}: there is none (nor {' or '.join(columns[1:])})."
            )
    return found


def _json_rows(stream: IO[str]) -> Iterator[dict[str, object]]:
    number = 0
    for line in stream:
        if not line.strip():
            continue
        number += 1
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise SamplingError(f"row {number}: the line is not JSON.") from error
        if not isinstance(record, dict):
            raise SamplingError(f"row {number}: the line is not a JSON object.")
        yield record


def _prediction(number: int, cells: dict[str, object], columns: dict[str, str]) -> Prediction:
    values = {
        name: _text(cells[column], row=number, column=column)
        for name, column in columns.items()
        if name != "choices"
    }
    for name in ("item", "gold"):
        if not values[name]:
            raise SamplingError(f"row {number}, column {columns[name]}: the cell is empty.")
    choices = _choices(cells.get("choices", ""), row=number)
    if choices:
        for name in ("gold", "predicted"):
            values[name] = _key(values[name], choices, row=number, column=columns[name])
    return Prediction(row=number, choices=choices, **values)


def _text(value: object, *, row: int, column: str) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SamplingError(f"row {row}, column {column}: the value must be a text.")
    text = str(value).strip()
    if NO_TEXT.search(text):
        raise SamplingError(f"row {row}, column {column}: the text is not UTF-8, or holds a NUL character.")
    return text


def _choices(value: object, *, row: int) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else str(value or "").split("|")
    texts = tuple(_text(part, row=row, column="choices") for part in parts)
    if texts == ("",) or not texts:
        return ()
    if "" in texts or len(set(texts)) < max(len(texts), 2):
        raise SamplingError(
            f"row {row}, column choices: there must be two or more, all different, none empty."
        )
    return texts


def _key(answer: str, choices: tuple[str, ...], *, row: int, column: str) -> str:
    """Return an answer as the key of its choice: "answer2" is the third."""
    keys = [f"answer{n}" for n in range(len(choices))]
    if answer in choices:
        return keys[choices.index(answer)]
    if answer and answer not in keys:
        raise SamplingError(f'row {row}, column {column}: "{answer[:80]}" is none of the choices.')
    return answer


def read_earlier(files: Mapping[Path, str], *, predictions: Path) -> list[Earlier]:
    """Return earlier samples; `files` says of each which data set it is of, "" where nobody said.

    Then its column `dataset` says so, or its name where a data set of the predictions is called that.
    """
    known = datasets_of(predictions) if not all(files.values()) else set()
    return [
        read_items(path, dataset=dataset or (path.stem if path.stem in known else ""))
        for path, dataset in files.items()
    ]


def read_items(path: Path, *, dataset: str = "") -> Earlier:
    """Return the items of an earlier sample: a batch CSV's columns `id_0` .., or a column `item` or `id`."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        try:
            reader = csv.DictReader(stream, strict=True)
            header = reader.fieldnames or []
            columns = [name for name in header if SLOT.fullmatch(name)]
            columns = columns or [name for name in NAMES["item"] if name in header][:1]
            if not columns:
                message = f"the header has neither id_0 nor {' nor '.join(NAMES['item'])}."
                raise SamplingError(f"{path.name}: {message}")
            of_set = next((name for name in NAMES["dataset"] if name in header), "")
            found: dict[str, set[str]] = {}
            for row in reader:
                name = dataset or (row[of_set] or "").strip() if of_set or dataset else ""
                found.setdefault(name, set()).update(row[name].strip() for name in columns if row[name])
        except csv.Error as error:
            raise SamplingError(f"{path.name}: this is not well-formed CSV: {error}.") from error
    by_set = {name: frozenset(items) for name, items in found.items()}
    return by_set if of_set or dataset else by_set.get("", frozenset())
