"""The door for VTT's files of human scores: JSONL, one line per annotator's ratings of one system on one item.

Format: the published files at https://github.com/hughplay/VTT (docs/lists/human_results). `exp` is the system, which
human.jsonl lacks: then it is the file's name. The item is `id`, `index` or `sample_idx`; `preds` are the lines of the
output and `label` those of the truth, by which items are known again that two files name differently; a score of -1 or
`normal: false` marks a skip. Nobody is named in them, so workers are unknown. Our own files of this kind have more
keys: see OWN_KEYS.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from surveys.protocols.criteria import Criterion
from surveys.protocols.definition import Definition
from surveys.results.frames.base import ABOUT, RESPONSE_COLUMNS, Frame, build_frame, column, used
from surveys.results.frames.csv_table import SourceError, choice_value, name_in, number
from surveys.results.frames.pseudonyms import Pseudonyms

ITEM_KEYS = ("id", "index", "sample_idx")
SYSTEM, TEXTS, NORMAL, DURATION, TRUTH = "exp", "preds", "normal", "duration", "label"
SKIP_MARK = -1
LARGEST = 10**9  # of a position or a time in seconds
UNKNOWN_REASON = "unknown"
MARKETPLACE_STATUSES = ("Submitted", "Approved", "Rejected")
# Keys of our own lines, beside VTT's: {key: the types its value may have}.
OWN_KEYS: dict[str, tuple[type, ...]] = {
    "assignment_id": (str,),
    "worker_id": (str,),
    "hit_id": (str,),
    "status": (str,),
    "decision": (str,),
    "included": (bool,),
    "channel": (str,),
    "skip_reason": (str,),
    "position": (int,),
    "place": (int,),
    "active_seconds": (int, float),
    "work_seconds": (int,),
    "quiz_passed": (bool,),
    "surplus": (bool,),
    "model_correct": (bool,),
    "language": (str,),
}


def read_annotations(
    paths: Sequence[Path], *, definition: Definition, pseudonyms: Pseudonyms | None = None
) -> Frame:
    """Read files of one study, one or several systems in each.

    Raises SourceError, which names file, line and key, and OSError.
    """
    pseudonyms = pseudonyms or Pseudonyms()
    if not definition.is_single:
        raise SourceError(f"a line holds one output, and {definition.key!r} shows several at once")
    _check_repeated(paths)
    lines = [line for path in paths for line in _lines(path, definition=definition, pseudonyms=pseudonyms)]
    return _frame(lines, definition=definition, study=" + ".join(path.stem for path in paths))


def _check_repeated(paths: Sequence[Path]) -> None:
    seen: set[Path] = set()
    for path in paths:
        if path.resolve() in seen:
            raise SourceError("the file is given twice").in_file(str(path))
        seen.add(path.resolve())


def _lines(path: Path, *, definition: Definition, pseudonyms: Pseudonyms) -> list[dict[str, Any]]:
    data = path.read_bytes()
    try:
        lines = list(_read(data, definition=definition, name=path.stem, pseudonyms=pseudonyms))
        if not lines:
            raise SourceError("there is no line in it")
    except SourceError as error:
        raise error.in_file(str(path)) from error
    return lines


def _read(
    data: bytes, *, definition: Definition, name: str, pseudonyms: Pseudonyms
) -> Iterator[dict[str, Any]]:
    for place, text in enumerate(_text(data).split("\n"), start=1):
        if text.strip():
            try:
                line = _Line(_object(text), definition=definition, file=name)
                yield line.cells(f"{name}:{place}", pseudonyms=pseudonyms)
            except SourceError as error:
                error.line = place
                raise


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError(f"not UTF-8: byte 0x{data[error.start]:02x}", line=line) from error


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(f"not JSON: {error}") from error
    if not isinstance(data, dict):
        raise SourceError("not a JSON object")
    return data


class _Line:
    """One line, checked as it is read."""

    def __init__(self, data: dict[str, Any], *, definition: Definition, file: str) -> None:
        self.data, self.definition, self.file = data, definition, file

    def cells(self, place: str, *, pseudonyms: Pseudonyms) -> dict[str, Any]:
        """Return cells under the frame's names, ratings under their criterion alone; `place` names a nameless line."""
        own = {key: self._own(key) for key in OWN_KEYS}
        ratings = {c.key: self._value(c) for c in self.definition.output_criteria}
        is_skipped = self._is_skipped()
        worker = own.pop("worker_id")
        return {
            **own,
            "assignment_id": own["assignment_id"] or place,
            "worker": pseudonyms(worker) if worker else None,
            "work_seconds": own["work_seconds"] if "work_seconds" in self.data else self._duration(),
            "item_id": self._item(),
            "system": self._system(),
            "text": self._output(),
            "about": self._about(),
            "is_skipped": is_skipped,
            "skip_reason": (own["skip_reason"] or UNKNOWN_REASON) if is_skipped else None,
            "ratings": {} if is_skipped else ratings,
        }

    def _is_skipped(self) -> bool:
        normal = self.data.get(NORMAL, True)
        if not isinstance(normal, bool):
            raise SourceError(f"{normal!r} is neither true nor false", key=NORMAL)
        scales = [c for c in self.definition.output_criteria if c.is_scale]
        return not normal or all(number(self.data[self._key(c)]) == SKIP_MARK for c in scales)

    def _key(self, criterion: Criterion) -> str:
        found = name_in(self.data, criterion)
        if found is None:
            raise SourceError("the key is missing", key=(criterion.key, *criterion.aliases)[-1])
        return found

    def _value(self, criterion: Criterion) -> str | None:
        """Return the value of a scale's choice or a text; None for a skip and for null."""
        key = self._key(criterion)
        given = self.data[key]
        if given is None or (criterion.is_scale and number(given) == SKIP_MARK):
            return None
        if criterion.is_text and isinstance(given, str):
            return given
        try:
            return choice_value(criterion, given)
        except ValueError as error:
            raise SourceError(str(error), key=key) from error

    def _item(self) -> str:
        for key in ITEM_KEYS:
            given = self.data.get(key)
            if given is not None:
                return _name(given, key=key)
        raise SourceError("the item has no id", key=ITEM_KEYS[0])

    def _system(self) -> str:
        if SYSTEM not in self.data:
            return self.file
        return _name(self.data[SYSTEM], key=SYSTEM)

    def _output(self) -> str:
        given = self.data.get(TEXTS, "")
        lines = [given] if isinstance(given, str) else given
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise SourceError("not a list of texts", key=TEXTS)
        return "\n".join(lines)

    def _about(self) -> str | None:
        given = self.data.get(TRUTH)
        return json.dumps(given, ensure_ascii=False) if given else None

    def _duration(self) -> int | None:
        given = self.data.get(DURATION)
        if given is None:
            return None
        seconds = number(given)
        if seconds is None or not 0 <= seconds <= LARGEST:
            raise SourceError(f"{given!r} is not a number of seconds", key=DURATION)
        return int(seconds)

    def _own(self, key: str) -> Any:
        given = self.data.get(key)
        if given is None:
            return None
        is_number = isinstance(given, int | float)
        if type(given) not in OWN_KEYS[key] or (is_number and not 0 <= given <= LARGEST):
            raise SourceError(f"{given!r} is not what belongs there", key=key)
        if key == "status" and given not in MARKETPLACE_STATUSES:
            raise SourceError(f"unknown status {given!r}", key=key)
        return given


def _name(given: Any, *, key: str) -> str:
    text = str(given).strip() if isinstance(given, str | int) and not isinstance(given, bool) else ""
    if not text:
        raise SourceError(f"{given!r} is not a name or a number", key=key)
    return text


def _frame(lines: list[dict[str, Any]], *, definition: Definition, study: str) -> Frame:
    systems = tuple(dict.fromkeys(line["system"] for line in lines))
    responses: dict[str, list[Any]] = {name: [line.get(name) for line in lines] for name in RESPONSE_COLUMNS}
    status = [line["status"] or MARKETPLACE_STATUSES[0] for line in lines]
    responses |= {
        "study": [study] * len(lines),
        "position": [line["position"] or 1 for line in lines],
        "status": status,
        "decision": [line["decision"] or "" for line in lines],
        "included": used(status, included=[line["included"] for line in lines]),
    }
    outputs: dict[str, Any] = {ABOUT: [line["about"] for line in lines]} if lines else {}
    for system in systems:
        outputs |= _columns(lines, system=system, keys=[c.key for c in definition.output_criteria])
    return build_frame(definition=definition, systems=systems, responses=responses, outputs=outputs)


def _columns(lines: Sequence[Mapping[str, Any]], *, system: str, keys: list[str]) -> dict[str, list[Any]]:
    is_own = [line["system"] == system for line in lines]
    own = {
        **{name: [line[name] for line in lines] for name in ("text", "model_correct")},
        "shown_position": [1] * len(lines),
        **{key: [line["ratings"].get(key) for line in lines] for key in keys},
    }
    return {
        column(system, name): [cell if mine else None for cell, mine in zip(cells, is_own, strict=True)]
        for name, cells in own.items()
    }
