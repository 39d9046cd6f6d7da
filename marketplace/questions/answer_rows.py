"""A question as the page shows it: its control, its words, what was entered and what is wrong."""

from dataclasses import dataclass

from django import forms

from marketplace.questions import hints
from marketplace.questions.question_form import Block, ChoiceAnswer, Question, TextAnswer


@dataclass(frozen=True)
class Option:
    value: str
    label: Block
    is_chosen: bool


@dataclass
class Row:
    """One question on the page; `other` is the field of its alternative text."""

    number: int
    question: Question
    field: forms.BoundField
    other: forms.BoundField | None

    @property
    def control(self) -> str:
        """Return how the question is asked: text, radio, checkbox, select or multiple."""
        answer = self.question.answer
        return "text" if isinstance(answer, TextAnswer) else hints.control(answer)

    @property
    def title(self) -> str:
        return self.question.name or f"Question {self.number}"

    @property
    def problems(self) -> list[str]:
        """Return what is wrong, of the field and of the alternative text."""
        fields = [self.field] if self.other is None else [self.field, self.other]
        return [str(error) for field in fields for error in field.errors]

    @property
    def first_id(self) -> str:
        """Return the id of the element to go to when something is wrong."""
        return self.field.html_name if self.field.errors or self.other is None else self.other.html_name

    @property
    def hint(self) -> str:
        return hints.hint(self.question.answer)

    @property
    def described_by(self) -> str:
        """Return the ids of the hint and of what is wrong, as far as they are on the page."""
        parts = {"hint": self.hint, "errors": self.problems}
        return " ".join(f"{self.field.html_name}-{name}" for name, shown in parts.items() if shown)

    @property
    def is_marked_required(self) -> bool:
        """Tell whether the control itself must be filled in; one of several boxes, or beside a text, need not."""
        return not self.is_optional and self.other is None and self.control in {"text", "radio", "select"}

    @property
    def other_hint(self) -> str:
        answer = self.question.answer
        return hints.hint(answer.other) if isinstance(answer, ChoiceAnswer) and answer.other else ""

    @property
    def is_optional(self) -> bool:
        return not is_required(self.question)

    @property
    def options(self) -> list[Option]:
        """Return the choices; none of a text field."""
        answer, chosen = self.question.answer, self.field.value() or []
        choices = answer.choices if isinstance(answer, ChoiceAnswer) else ()
        numbered = ((str(number), choice.label) for number, choice in enumerate(choices, start=1))
        return [Option(number, label, number in chosen) for number, label in numbered]

    @property
    def size(self) -> int:
        """Return how many choices of a list show at once; 0 for a list that opens."""
        answer = self.question.answer
        return hints.size(answer) if isinstance(answer, ChoiceAnswer) else 0


def is_required(question: Question) -> bool:
    """A minLength makes an answer required; no selection at all can be an answer (API reference, QuestionForm)."""
    if isinstance(question.answer, TextAnswer):
        return question.is_required or question.answer.shortest > 0
    return question.is_required and question.answer.fewest > 0
