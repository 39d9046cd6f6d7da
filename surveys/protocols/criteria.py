"""What is asked: criteria with their scales, checklists, numbers or spans, the answer, a preference; and what each
of them contradicts in itself.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite

from surveys.protocols.conditions import Condition
from surveys.protocols.preferences import WAYS, By

# Where in a definition: ("criteria", 2, "choices"); numbers count from 1.
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A contradiction in a definition, and the place it is about."""

    path: Path
    sentence: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a question: the stored value, the label people read, and its score or None.

    `description` is the level's rubric, shown beside the label all the time.
    """

    value: str
    label: str
    score: float | None = None
    description: str = ""


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """The task itself: which answer is right? Without `choices` each item brings its own.

    `is_ordered` choices (entailment, neutral, contradiction) keep their natural order; others are drawn.
    """

    label: str
    choices: tuple[Choice, ...] = ()
    is_ordered: bool = False


NUMERAL = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True)
class Number:
    """Which numbers answer a question: between two bounds, each of which may be missing, in steps from the lower one.

    `step` 1 takes whole numbers; without one any decimal is taken. `unit` stands behind the field.
    """

    min: float | None = None
    max: float | None = None
    step: float | None = None
    unit: str = ""

    def read(self, text: str, *, say: Callable[[str], str] = str) -> str:
        """Return the number in its one spelling ("3", "-0.5"), as it is stored. ValueError says what is wanted.

        `say` puts an English text into somebody's language.
        """
        if not NUMERAL.fullmatch(text.strip()):
            raise ValueError(say("Write a number, such as 3 or 0.5."))
        number = Decimal(text.strip())
        self._check(number, say)
        plain = f"{number:f}"
        plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
        return plain if number else "0"

    @property
    def sample(self) -> str:
        """Return a number within the bounds: the lower one, or else 0 or the upper one."""
        least = self.min if self.min is not None else min(0.0, self.max or 0.0)
        return f"{_exact(least):f}"

    def _check(self, number: Decimal, say: Callable[[str], str]) -> None:
        if self.min is not None and number < _exact(self.min):
            raise ValueError(say("Write a number from %(least)s on.") % {"least": f"{self.min:.15g}"})
        if self.max is not None and number > _exact(self.max):
            raise ValueError(say("Write a number up to %(most)s.") % {"most": f"{self.max:.15g}"})
        if self.step is not None and (number - _exact(self.min or 0)) % _exact(self.step):
            if self.step == 1:
                raise ValueError(say("Write a whole number."))
            raise ValueError(say("Write a number in steps of %(step)s.") % {"step": f"{self.step:.15g}"})


def _exact(bound: float) -> Decimal:
    """Return a bound as it was written: 0.1 is a tenth."""
    return Decimal(f"{bound:.15g}")


@dataclass(frozen=True, slots=True)
class Spans:
    """What is marked in a text: places, each of a category, where there are any, and a severity, whose score it costs.

    The text is the output's or, of a question about the item, that of its block `of`. What an output leaves out is
    marked in the item's block `missing_in`. With `takes_whole` the text as a whole can be marked, without a place;
    with `takes_notes` a few words can be said of a mark. `most` is how many marks an answer holds. A slash in a
    category's label says what it is a part of: "Accuracy/Omission".
    """

    severities: tuple[Choice, ...]
    categories: tuple[Choice, ...] = ()
    of: str = ""
    missing_in: str = ""
    takes_whole: bool = False
    takes_notes: bool = False
    most: int = 50

    @property
    def columns(self) -> tuple[str, ...]:
        """Return where there is something to mark: blocks by their columns, "" for the output's text."""
        return (self.of, *([self.missing_in] if self.missing_in else []))

    def cost(self, value: str) -> float:
        """Return the sum of what the marks of a stored value cost."""
        costs = {severity.value: severity.score or 0.0 for severity in self.severities}
        return float(sum(costs[mark["severity"]] for mark in json.loads(value)))


@dataclass(frozen=True, slots=True)
class Criterion:
    """Something judged about each output (or, with `per_output=False`, about the item as a whole).

    A scale takes exactly one of its choices. A checklist (`is_checklist`) takes any number, none at all if it
    `is_optional`; `exclusive` names the choice that rules out all others (an explicit None). Text (`is_text`) has no
    choices and no score. A `number` is written, and is its own score. `spans` are marked in a text, and what they cost
    is the score, below 0. These three are required unless they are `is_optional`; what is left empty has no rating at
    all. `aliases` are other names of the key in published files. With `asked_if`
    it is asked only of who answered an earlier question in that way, and of all others there is no rating.
    """

    key: str
    label: str
    choices: tuple[Choice, ...] = ()
    help: str = ""
    per_output: bool = True
    is_checklist: bool = False
    exclusive: str = ""
    is_text: bool = False
    aliases: tuple[str, ...] = ()
    is_optional: bool = False
    number: Number | None = None
    asked_if: Condition | None = None
    spans: Spans | None = None

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(choice.value for choice in self.choices)

    @property
    def is_scale(self) -> bool:
        return not (self.is_checklist or self.is_written)

    @property
    def is_written(self) -> bool:
        """Tell whether it is answered by writing, a text or a number, or by marking, instead of choosing."""
        return self.is_text or self.number is not None or self.spans is not None

    @property
    def has_score(self) -> bool:
        """Tell whether an answer is one value with one score, which has a mean."""
        return self.is_scale or self.number is not None or self.spans is not None

    def score(self, value: str) -> float:
        """Return the score of a `value` that has one; KeyError if it is not one of a scale's choices."""
        if self.number:
            return float(value)
        if self.spans:
            return 0.0 - self.spans.cost(value)
        return {choice.value: choice.score for choice in self.choices if choice.score is not None}[value]


def numbered(label: str, n: int) -> str:
    """Return the label of the n-th output: {n} is its number, and any other brace is a brace."""
    return label.replace("{n}", str(n))


@dataclass(frozen=True, slots=True)
class Preference:
    """Which output is better? `by` says how: one choice per output as shown, a ranking of them, or the best and the
    worst.

    Of a choice, there is a way not to choose unless `none_label` is empty. It comes last or, with `is_none_between`,
    between the two outputs. In a ranking several may share a place if it `has_ties`. Of best and worst, `worst_label`
    asks for the worst.
    """

    key: str
    label: str
    output_label: str
    none_label: str = ""
    is_none_between: bool = False
    by: By = "choice"
    has_ties: bool = False
    worst_label: str = ""


MOST_NUMBER = 1_000_000_000
LEAST_STEP = 0.000001


def criterion_problems(criterion: Criterion, *, path: Path) -> Iterator[Problem]:
    name = f"criterion {criterion.key!r}"
    yield from choice_problems(name, criterion.choices, path=(*path, "choices"))
    yield from _kind_problems(name, criterion, path=path)
    if criterion.number:
        yield from _number_problems(criterion.number, path=(*path, "number"))
    if criterion.is_optional and criterion.is_scale:
        yield Problem((*path, "is_optional"), f"{name} is a scale, which can't stay empty.")
    if criterion.exclusive and not (criterion.is_checklist and criterion.exclusive in criterion.values):
        yield Problem((*path, "exclusive"), f"{name} has no choice {criterion.exclusive!r} to be exclusive.")
    if criterion.is_scale and any(choice.score is None for choice in criterion.choices):
        yield Problem((*path, "choices"), f"{name} has choices without a score.")


def _kind_problems(name: str, criterion: Criterion, *, path: Path) -> Iterator[Problem]:
    """A question is of one kind: a text and a number are written, all others have choices."""
    if criterion.is_checklist and criterion.is_text:
        yield Problem(path, f"{name} can't be a checklist and a text.")
    if criterion.number and (criterion.is_checklist or criterion.is_text):
        yield Problem((*path, "number"), f"{name} can't be a number and something else.")
    if criterion.spans and (criterion.is_checklist or criterion.is_text or criterion.number):
        yield Problem((*path, "spans"), f"{name} can't be marked spans and something else.")
    written = "text" if criterion.is_text else "number" if criterion.number else ""
    kind = f"is a {written}" if written else "is marked spans" if criterion.spans else ""
    if bool(kind) == bool(criterion.choices):
        yield Problem(path, f"{name} {kind} and has choices." if kind else f"{name} has no choices.")


def _number_problems(number: Number, *, path: Path) -> Iterator[Problem]:
    for name in ("min", "max", "step"):
        bound = getattr(number, name)
        if bound is not None and not (isfinite(bound) and abs(bound) < MOST_NUMBER):
            yield Problem((*path, name), f"a number here is less than {MOST_NUMBER:,}.")
            return
    if number.min is not None and number.max is not None and number.min >= number.max:
        yield Problem(path, f"no number is from {number.min:g} to {number.max:g}.")
    if number.step is not None and number.step < LEAST_STEP:
        yield Problem((*path, "step"), f"the least step is {LEAST_STEP:f}.")


def choice_problems(name: str, choices: Sequence[Choice], *, path: Path) -> Iterator[Problem]:
    values = [choice.value for choice in choices]
    if len(set(values)) < len(values):
        yield Problem(path, f"{name} lists a value twice.")


def preference_problems(preference: Preference, *, n_shown: int) -> Iterator[Problem]:
    way, path = WAYS[preference.by], ("preference",)
    if n_shown > 1 and not way.least_shown <= n_shown <= way.most_shown:
        sentence = f"it is of {way.least_shown} to {way.most_shown} outputs, not of {n_shown}."
        yield Problem((*path, "by"), sentence)
    if preference.by != "choice" and (preference.none_label or preference.is_none_between):
        yield Problem((*path, "none_label"), "only a choice can be of none.")
    if preference.has_ties and preference.by != "ranking":
        yield Problem((*path, "has_ties"), "only in a ranking several share a place.")
    if bool(preference.worst_label) != (preference.by == "best_worst"):
        yield Problem(
            (*path, "worst_label"), "the worst is asked for where it is by best_worst, and there alone."
        )
