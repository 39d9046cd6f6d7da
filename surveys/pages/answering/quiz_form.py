"""The form of the quiz before the work."""

from collections.abc import Mapping, Sequence
from typing import Any

from crispy_forms.helper import FormHelper
from django import forms

from surveys.answering.quizzes import TRIES, Marked
from surveys.pages.answering.hit_fields import OneOf
from surveys.pages.answering.hit_form import Problem
from surveys.pages.answering.hit_layout import QuizBlock, helper_of
from surveys.protocols.definition import QuizQuestion


class QuizForm(forms.Form):
    """One question after the other, `q1` and on; `number` says which try it is.

    After a try (`before`) each question carries what there was to say, and the right ones stay chosen.
    """

    number = forms.IntegerField(min_value=1, max_value=TRIES)

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        questions: Sequence[QuizQuestion],
        before: Sequence[Marked] = (),
    ) -> None:
        super().__init__(data)
        self.before = dict(enumerate(before, 1))
        self.questions = dict(enumerate(questions, 1))
        for n, question in self.questions.items():
            self.fields[f"q{n}"] = OneOf(label=question.question, place=n, choices=question.choices)
        self.initial = {f"q{n}": said.chosen for n, said in self.before.items() if said.is_right}

    @property
    def helper(self) -> FormHelper:
        return helper_of(
            QuizBlock(f"q{n}", n, question, self.before.get(n)) for n, question in self.questions.items()
        )

    @property
    def problems(self) -> list[tuple[int, list[Problem]]]:
        """The error summary, by question."""
        return [
            (n, [Problem(f"q{n}-1", "", question.question, error.messages[0], error.code)])
            for n, question in self.questions.items()
            for error in (self.errors.as_data().get(f"q{n}") or [])[:1]
        ]

    def answers(self) -> list[str]:
        """Return the choices made, in the order of the questions."""
        return [self.cleaned_data[f"q{n}"] for n in self.questions]
