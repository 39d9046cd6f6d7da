"""Questions that are asked only of who answered an earlier one in some way: which are asked, and what can't be."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

ANSWER = "answer"  # what the item's answer question is called in a condition


@dataclass(frozen=True, slots=True)
class Condition:
    """When a question is asked: if an earlier `question` is answered by one of these values, or has one of them ticked.

    The earlier question stands about the same output, or about the same item; `answer` is the item's answer question.
    `is` names choices of a scale or of the answer, `ticked` those of a checklist.
    """

    question: str
    is_: tuple[str, ...] = ()
    ticked: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        return self.is_ or self.ticked

    def holds(self, answer: object) -> bool:
        """Tell whether that answer, a value or a list of those ticked, is one it is asked for; None never is."""
        given = [answer] if isinstance(answer, str) else answer
        return isinstance(given, list) and any(value in given for value in self.values)


class Asked(Protocol):
    """What there is to know of a question here; `options` are the values that can be named, None of what is written."""

    @property
    def key(self) -> str: ...
    @property
    def per_output(self) -> bool: ...
    @property
    def is_checklist(self) -> bool: ...
    @property
    def is_written(self) -> bool: ...
    @property
    def values(self) -> tuple[str, ...]: ...
    @property
    def asked_if(self) -> Condition | None: ...


def asked_keys(questions: Sequence[Asked], *, given: Mapping[str, object], answer: object) -> set[str]:
    """Return which of the questions about one output, or about the item, are asked, by what was answered before.

    `given`: {question: value, or values of a checklist}; `answer` is the item's. What was answered to a question that
    isn't asked asks for nothing.
    """
    answers, asked = {ANSWER: answer}, set[str]()
    for question in questions:
        if question.asked_if is None or question.asked_if.holds(answers.get(question.asked_if.question)):
            asked.add(question.key)
            answers[question.key] = given.get(question.key)
    return asked


def contradictions(
    questions: Sequence[Asked], *, answers: Collection[str] | None
) -> Iterator[tuple[int, str, str]]:
    """Yield (place of the question from 1 on, key of its condition, what is wrong with it in a sentence).

    `answers` are the values of the answer question, none where each item brings its own, None where there is none.
    """
    for place, question in enumerate(questions, 1):
        if question.asked_if is not None:
            wrong = _why_not(question, question.asked_if, questions=questions, answers=answers)
            yield from ((place, key, sentence) for key, sentence in wrong)


def _why_not(
    question: Asked, condition: Condition, *, questions: Sequence[Asked], answers: Collection[str] | None
) -> Iterator[tuple[str, str]]:
    name = condition.question
    earlier = next((one for one in questions if one.key == name), None)
    if earlier is not None:
        if sentence := _why_not_earlier(question, earlier, questions=questions):
            yield "question", sentence
        else:
            yield from _values(condition, earlier.values, is_checklist=earlier.is_checklist)
    elif name != ANSWER or answers is None:
        yield "question", f"there is no earlier question {name!r}."
    elif not answers:
        yield "question", "each item brings its own answers, so that no condition can name one."
    else:
        yield from _values(condition, answers, is_checklist=False)


def _why_not_earlier(question: Asked, other: Asked, *, questions: Sequence[Asked]) -> str:
    """Return why a question can't depend on the other one, "" if it can."""
    if other.key == question.key:
        return f"{question.key!r} can't depend on its own answer."
    if question.per_output and not other.per_output:
        return f"{other.key!r} is about the item, which is asked after what is about each output."
    if other.per_output and not question.per_output:
        return f"{other.key!r} is about each output, and {question.key!r} about the item."
    if other.is_written:
        return f"{other.key!r} is written, so that no condition can name its answers."
    keys = [one.key for one in questions]
    if keys.index(other.key) > keys.index(question.key):
        return f"{other.key!r} is asked later than {question.key!r}."
    return ""


def _values(
    condition: Condition, values: Collection[str], *, is_checklist: bool
) -> Iterator[tuple[str, str]]:
    name = condition.question
    key, wrong, kind = ("ticked", "is", "a") if is_checklist else ("is", "ticked", "no")
    given = {"is": condition.is_, "ticked": condition.ticked}
    if given[wrong]:
        yield wrong, f"{name!r} is {kind} checklist: write “{key}” for “{wrong}”."
    elif not given[key]:
        yield key, f"which answers to {name!r}? Name them under “{key}”."
    for value in given[key]:
        if value not in values:
            yield key, f"{name!r} has no choice {value!r}. Its choices are: {', '.join(values)}."
