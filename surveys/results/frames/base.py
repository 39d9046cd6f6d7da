"""The frame that every score, table and file is made from."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from surveys.protocols.criteria import Criterion, Preference
from surveys.protocols.definition import Definition
from surveys.protocols.preferences import NO_PREFERENCE as NO_PREFERENCE
from surveys.protocols.preferences import OTHER as OTHER
from surveys.protocols.preferences import PREFERRED as PREFERRED
from surveys.protocols.preferences import WAYS

# Texts are Arrow's, whose own allocator keeps what is freed; the system's gives large tables back.
pa.set_memory_pool(pa.system_memory_pool())

KEPT_STATUSES = ("Submitted", "Approved")
SELECTED, NOT_SELECTED = "selected", "not_selected"

RESPONSE_COLUMNS: dict[str, str] = {
    "study": "str",
    "batch": "str",
    "hit_id": "str",
    "assignment_id": "str",
    "worker": "str",
    "item_id": "str",
    "position": "int64",
    "answer": "str",
    "gold": "str",
    "answer_correct": "boolean",
    "is_skipped": "bool",
    "active_seconds": "Float64",
    "work_seconds": "Int64",
    "status": "str",
    "decision": "str",
    "included": "bool",
    "skip_reason": "str",
    "channel": "str",
    "quiz_passed": "boolean",
    "surplus": "boolean",
    "place": "Int64",
    "is_repeat": "bool",
    "language": "str",
}
OUTPUT_COLUMNS: dict[str, str] = {
    "text": "str",
    "answer": "str",
    "shown_position": "Int64",
    "model_correct": "boolean",
}
ABOUT = ".about"  # what an item is about, as text, where a source has it: for items that two files name differently
# What no number of the rows with right answers is made of.
UNCOUNTED = (
    "study", "batch", "hit_id", "assignment_id", "active_seconds", "work_seconds", "status", "decision", "channel",
    "quiz_passed", "surplus", "position", "place", "is_repeat", "language",
)  # fmt: skip
SKIP = "skip"
PART = 5_000  # rows
TIDY_COLUMNS = (
    "study", "batch", "hit_id", "assignment_id", "worker", "item_id", "position",
    "system", "role", "shown_position", "criterion", "value", "score",
    "answer", "gold", "answer_correct", "is_skipped", "active_seconds", "work_seconds",
    "status", "decision", "included", "model_correct", "skip_reason", "channel", "quiz_passed", "surplus",
)  # fmt: skip


REPEAT = "is_repeat"
LANGUAGE = "language"  # what the questions were read in, where there was a choice


def column(system: str, name: str) -> str:
    """Return the name of a system's column in the wide frame; `system` "" is the item itself."""
    return f"{system}.{name}"


def rating_keys(criterion: Criterion) -> list[str]:
    """Return the criteria a criterion is stored under: a checklist has one per option."""
    if criterion.is_checklist:
        return [f"{criterion.key}.{value}" for value in criterion.values]
    return [criterion.key]


def rating_names(definition: Definition, *, systems: Iterable[str]) -> list[tuple[str, str]]:
    """Return (system, stored criterion) of all that is asked; system "" is the item itself."""
    per_output = [key for criterion in definition.output_criteria for key in rating_keys(criterion)]
    per_output += [definition.preference.key] if definition.preference else []
    per_item = [key for criterion in definition.item_criteria for key in rating_keys(criterion)]
    return [*((system, key) for system in systems for key in per_output), *(("", key) for key in per_item)]


class Computed(dict[str, float]):
    """The scores of values that nobody can list, each computed when it is asked for: numbers, marks in a text."""

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = criterion

    def __missing__(self, value: Any) -> float:
        return self.criterion.score(value) if isinstance(value, str) else np.nan


def score_maps(definition: Definition) -> dict[str, dict[str, float]]:
    """Return {stored criterion: {value: score}}; choices without a score are left out, and a text has none.

    The map of a number, and of marks in a text, is empty, and any value that is looked up in it has its score.
    """
    maps: dict[str, dict[str, float]] = {}
    for criterion in definition.criteria:
        if criterion.is_checklist:
            maps |= {key: {SELECTED: 1.0, NOT_SELECTED: 0.0} for key in rating_keys(criterion)}
        elif criterion.number or criterion.spans:
            maps[criterion.key] = Computed(criterion)
        else:
            maps[criterion.key] = {c.value: c.score for c in criterion.choices if c.score is not None}
    if definition.preference:
        maps[definition.preference.key] = _places(definition.preference)
    return maps


def scored(values: "pd.Series[str]", *, by: Mapping[str, float]) -> "pd.Series[float]":
    """Return the score of each value by a map of `score_maps`, looked up once for each that is said; a blank has none.

    Many rows say few things, and `Series.map` would make a Python text of each row.
    """
    codes, said = pd.factorize(values)
    scores = np.array([*(_score_in(by, value) for value in said.tolist()), np.nan], dtype=np.float64)
    return pd.Series(scores[codes], index=values.index, name=values.name)  # a blank's code is -1, the last


def _score_in(scores: Mapping[str, float], value: str) -> float:
    return scores[value] if value in scores or isinstance(scores, Computed) else np.nan


def _places(preference: Preference) -> dict[str, float]:
    """Return the score of each place that an output can have."""
    way = WAYS[preference.by]
    return {place: way.score(place) for place in way.levels}


def used(statuses: Iterable[str], *, included: Iterable[bool | None]) -> list[bool]:
    """Tell of each assignment whether its answers are used: not where it is rejected, whatever else a source says.

    `included`: what was decided about their use, None where nothing was or the source does not know.
    """
    pairs = zip(statuses, included, strict=True)
    return [status in KEPT_STATUSES and said is not False for status, said in pairs]


def only(rows: pd.DataFrame, chosen: "pd.Series[bool]") -> pd.DataFrame:
    """Return the chosen rows; where that is all of them no copy of what may be a large table."""
    return rows if bool(chosen.all()) else rows[chosen]


def _presence(texts: "pd.Series[str]") -> Any:
    """Return True for each text, missing where there is none."""
    return pd.arrays.BooleanArray(np.ones(len(texts), dtype=bool), texts.isna().to_numpy())


@dataclass(frozen=True, slots=True)
class Whole:
    """What only all of a study's rows together tell; each part of a large one is told."""

    is_graded: bool
    has_repeats: bool
    has_places: bool
    has_languages: bool


@dataclass(frozen=True, slots=True)
class Repeated:
    """A table with columns `names`: each row is the one of `shared` that `places` names, with cells of its `own`.

    Whoever writes it makes the text of a shared row once.
    """

    names: tuple[str, ...]
    shared: pd.DataFrame
    places: npt.NDArray[np.int64]
    own: pd.DataFrame

    def table(self) -> pd.DataFrame:
        left = self.shared.iloc[self.places].reset_index(drop=True)
        return pd.concat([left, self.own], axis=1)[list(self.names)]


@dataclass(frozen=True, slots=True)
class Frame:
    """Answers of one study, wide.

    `responses` has one row per (assignment, item) in the order of the source: RESPONSE_COLUMNS, and for each
    system OUTPUT_COLUMNS (`<system>.text` ..) and one column per stored criterion, holding the value as text. A
    judgement about the item as a whole stands under system "". `place` is where the item stood on this worker's page,
    where that was drawn; `position` is that of the HIT. Blank is missing, never "". Rows of assignments that
    are rejected or left out of the analysis are there with `included` False, and skipped ones with `is_skipped` True
    and no value.

    `item_id` is what the item is about: where each system's output is an item of its own, they share it, and one
    row holds one system's columns, the others' being missing.

    `repeats` are further rows of the same columns, each the second answer of somebody on an item that their page asked
    twice by design (`is_repeat`): agreement within raters is made of them, files have them, and no score counts them.

    `whole` is there where these are the rows of some assignments only, for a file that is written part by part.
    """

    definition: Definition
    systems: tuple[str, ...]
    responses: pd.DataFrame
    design: str = ""  # how the HITs were drawn, in words; unknown in a file
    accuracies: Mapping[str, float] = field(
        default_factory=dict
    )  # of a system on the whole test set, where entered
    repeats: pd.DataFrame = field(default_factory=pd.DataFrame)
    whole: Whole | None = None
    _kept: list[pd.DataFrame] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def kept(self) -> pd.DataFrame:
        """The rows whose answers are used. Every table of a report asks for them: they are chosen once."""
        if not self._kept:
            self._kept.append(only(self.responses, self.responses["included"]))
        return self._kept[0]

    @property
    def filtered(self) -> pd.DataFrame:
        """Kept rows whose answer was right, for numbers. Where nothing can be graded, all kept rows.

        Columns that no number is made of are left out, and of a text stands only whether there is one: these rows are
        a copy of what may be a large table.
        """
        chosen = self.responses["included"] & self._is_right(self.responses)
        texts = {name: _presence(self.responses[name]) for name in self._of_outputs("text")}
        left_out = [*UNCOUNTED, *self._of_outputs("shown_position")]
        return only(self.responses.drop(columns=left_out, errors="ignore").assign(**texts), chosen)

    def _of_outputs(self, name: str) -> list[str]:
        return [column(system, name) for system in self.systems]

    def rightly(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return those of `rows` whose answer was right. Where nothing can be graded, all."""
        return only(rows, self._is_right(rows))

    def _is_right(self, rows: pd.DataFrame) -> "pd.Series[bool]":
        if not self.is_graded:
            return pd.Series(True, index=rows.index)
        return rows["answer_correct"].fillna(False).astype(bool)

    @property
    def kept_repeats(self) -> pd.DataFrame:
        return self.repeats if self.repeats.empty else only(self.repeats, self.repeats["included"])

    @property
    def has_repeats(self) -> bool:
        return self.whole.has_repeats if self.whole else not self.repeats.empty

    @property
    def has_places(self) -> bool:
        return self.whole.has_places if self.whole else bool(self.responses["place"].notna().any())

    def parts(self) -> Iterator["Frame"]:
        """Yield frames of some rows each, at least one, for what is written row by row.

        Repeats stand among the rows of their assignment, wherever those are, so that a study with any is one part.
        """
        if self.has_repeats:
            yield self
            return
        whole = Whole(self.is_graded, self.has_repeats, self.has_places, self.has_languages)
        for start in range(0, max(len(self.responses), 1), PART):
            rows = self.responses.iloc[start : start + PART].reset_index(drop=True)
            yield replace(self, responses=rows, whole=whole)

    def with_repeats(self, rows: pd.DataFrame, repeats: pd.DataFrame) -> pd.DataFrame:
        """Return rows and repeats of assignments together, an assignment's repeats after its first answers."""
        if repeats.empty:
            return rows
        both = pd.concat([rows, repeats], ignore_index=True)
        order = np.argsort(pd.factorize(both["assignment_id"])[0], kind="stable")
        return both.iloc[order].reset_index(drop=True)

    @property
    def everything(self) -> "Frame":
        """The frame with its repeats among its rows, for files; not for scores."""
        return replace(self, responses=self.with_repeats(self.responses, self.repeats))

    @property
    def has_languages(self) -> bool:
        return (
            self.whole.has_languages
            if self.whole
            else bool(self.everything.responses[LANGUAGE].notna().any())
        )

    @property
    def is_graded(self) -> bool:
        return self.whole.is_graded if self.whole else bool(self.responses["answer_correct"].notna().any())

    @property
    def models(self) -> tuple[str, ...]:
        """The systems under evaluation: all but the protocol's reference."""
        return tuple(system for system in self.systems if system != self.definition.reference_system)

    def role(self, system: str) -> str:
        if not system:
            return ""
        return "reference" if system == self.definition.reference_system else "model"

    def about(self, rows: pd.DataFrame, *, system: str) -> pd.DataFrame:
        """Return those of `rows` in which an output of `system` was shown."""
        return only(rows, rows[column(system, "text")].notna())

    def rating_columns(self) -> Iterator[tuple[str, str, str]]:
        """Yield (system, stored criterion, column) for every rating column there is."""
        for system, key in rating_names(self.definition, systems=self.systems):
            if column(system, key) in self.responses:
                yield system, key, column(system, key)

    def tidy(self, *, repeats: bool = False) -> pd.DataFrame:
        """Return one row per rating given, with TIDY_COLUMNS. A blank has no row.

        A skipped response has one row per output shown: criterion "skip", the reason as value, no score. `repeats`
        adds the second ratings of items that were asked twice, and `last_columns`.
        """
        return self.tidy_rows(repeats=repeats).table()

    def tidy_rows(self, *, repeats: bool = False) -> Repeated:
        """Return the rows of `tidy`, those of a response with what they share apart from what is theirs."""
        if repeats:
            return self.everything._tidy((*TIDY_COLUMNS, *self.last_columns))
        return self._tidy(TIDY_COLUMNS)

    @property
    def last_columns(self) -> list[str]:
        """Return columns that files end with where they say anything: `is_repeat` and `language`."""
        is_question = LANGUAGE in {criterion.key for criterion in self.definition.criteria}
        has_languages = self.has_languages and not is_question
        return [*([REPEAT] if self.has_repeats else []), *([LANGUAGE] if has_languages else [])]

    def _tidy(self, names: tuple[str, ...]) -> Repeated:
        parts = [self._ratings(*names) for names in self.rating_columns()]
        parts += [self._skips(system) for system in self.systems]
        long = pd.concat(parts, ignore_index=True) if parts else _no_ratings()
        long = long.iloc[np.argsort(long["row"].to_numpy(), kind="stable")].reset_index(drop=True)
        shared = self.responses[[name for name in RESPONSE_COLUMNS if name in names]]
        return Repeated(names, shared, places=long["row"].to_numpy(), own=long.drop(columns="row"))

    def _ratings(self, system: str, key: str, name: str) -> pd.DataFrame:
        values = self.responses[name]
        scores = scored(values, by=score_maps(self.definition)[key])
        return self._long(system, key, values, scores, rows=values.notna())

    def _skips(self, system: str) -> pd.DataFrame:
        values = self.responses["skip_reason"]
        is_shown = self.responses[column(system, "text")].notna()
        scores = pd.Series(np.nan, index=values.index)
        return self._long(system, SKIP, values, scores, rows=self.responses["is_skipped"] & is_shown)

    def _long(
        self,
        system: str,
        key: str,
        values: "pd.Series[str]",
        scores: "pd.Series[float]",
        *,
        rows: "pd.Series[bool]",
    ) -> pd.DataFrame:
        places = np.flatnonzero(rows.to_numpy())
        return pd.DataFrame(
            {
                "row": places,
                "system": system,
                "role": self.role(system),
                "shown_position": self._of_output(system, "shown_position", places),
                "criterion": key,
                "value": values.array[places],
                "score": scores.array[places],
                "model_correct": self._of_output(system, "model_correct", places),
            }
        )

    def _of_output(self, system: str, name: str, places: Any) -> Any:
        """Return an output's column at `places`; missing where the judgement is about the item."""
        if not system:
            return pd.Series(pd.NA, index=range(len(places)), dtype=cast(Any, OUTPUT_COLUMNS[name])).array
        return self.responses[column(system, name)].array[places]


def _no_ratings() -> pd.DataFrame:
    names = ("system", "role", "shown_position", "criterion", "value", "score", "model_correct")
    return pd.DataFrame({"row": np.array([], dtype="int64"), **{name: [] for name in names}})


def build_frame(
    *,
    definition: Definition,
    systems: tuple[str, ...],
    responses: Mapping[str, object],
    outputs: Mapping[str, object],
    design: str = "",
    accuracies: Mapping[str, float] | None = None,
) -> Frame:
    """Put columns of equal length together, in the types the frame promises; one that is not given is blank."""
    blank = [None] * len(cast(Sized, responses["item_id"]))
    data = {name: responses.get(name, blank) for name in RESPONSE_COLUMNS}
    own = {column(system, name): dtype for system in systems for name, dtype in OUTPUT_COLUMNS.items()}
    said = {**dict.fromkeys(own, blank), **outputs}
    types = {name: own.get(name, "str") for name in said}
    parts = [pd.DataFrame(data).astype(RESPONSE_COLUMNS), pd.DataFrame(said).astype(types)]
    rows = pd.concat(parts, axis=1)
    if not rows[REPEAT].any():
        return Frame(definition, systems, rows, design, accuracies or {})
    firsts, repeats = (rows[rows[REPEAT] == again].reset_index(drop=True) for again in (False, True))
    return Frame(definition, systems, firsts, design, accuracies or {}, repeats)
