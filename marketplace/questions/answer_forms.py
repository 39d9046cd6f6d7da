"""A QuestionForm as a Django form, and its answers in MTurk's shape."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.utils.datastructures import MultiValueDict

from marketplace.questions import answer_documents
from marketplace.questions.answer_fields import MISSING, ChoiceField, TextField
from marketplace.questions.answer_rows import Row, is_required
from marketplace.questions.question_form import ChoiceAnswer, Overview, Question, QuestionForm, TextAnswer

Given = list[tuple[str, str]]


class AnswerForm(forms.Form):
    """Fields q1, q2, ... and q1-other for the questions of `asked`, in their order."""

    def __init__(self, asked: QuestionForm, data: MultiValueDict[str, str] | None = None) -> None:
        super().__init__(data)
        self.asked = asked
        for number, question in enumerate(asked.questions, start=1):
            self._add(f"q{number}", question)

    def _add(self, name: str, question: Question) -> None:
        answer = question.answer
        if isinstance(answer, TextAnswer):
            self.fields[name] = TextField(answer, is_required=is_required(question))
            return
        self.fields[name] = ChoiceField(answer)
        if answer.other is not None:
            self.fields[f"{name}-other"] = TextField(answer.other, is_required=False)

    def clean(self) -> dict[str, Any]:
        """Ask for what is required: a choice, or in its place the alternative text."""
        for number, question in enumerate(self.asked.questions, start=1):
            names = {f"q{number}", f"q{number}-other"}
            is_given = any(self.cleaned_data.get(name) for name in names)
            if is_required(question) and not is_given and not names & self.errors.keys():
                self.add_error(f"q{number}", MISSING)
        return self.cleaned_data

    def parts(self) -> Iterator[Overview | Row]:
        """Yield what the page shows, in the document's order."""
        number = 0
        for part in self.asked.parts:
            if isinstance(part, Question):
                number += 1
                yield self._row(number, part)
            else:
                yield part

    def _row(self, number: int, question: Question) -> Row:
        other = f"q{number}-other"
        return Row(number, question, self[f"q{number}"], self[other] if other in self.fields else None)

    def rows(self) -> list[Row]:
        return [part for part in self.parts() if isinstance(part, Row)]

    def first_gap(self) -> str:
        """Return the name of the first field with an error; empty when there is none."""
        return next((name for name in self.fields if name in self.errors), "")

    def choices(self) -> dict[str, frozenset[str]]:
        """Return what was selected in a valid form, by QuestionIdentifier; text is left out."""
        return {
            row.question.identifier: frozenset(self.cleaned_data[row.field.name])
            for row in self.rows()
            if isinstance(row.question.answer, ChoiceAnswer)
        }

    def document(self) -> str:
        """Return the QuestionFormAnswers of a valid form: every question, the unanswered ones empty."""
        return answer_documents.written((row.question.identifier, self._given(row)) for row in self.rows())

    def _given(self, row: Row) -> Given:
        value = self.cleaned_data[row.field.name]
        if isinstance(row.question.answer, TextAnswer):
            return [("FreeText", value)]
        given = [("SelectionIdentifier", chosen) for chosen in value]
        other = self.cleaned_data.get(f"{row.field.name}-other")
        return [*given, ("OtherSelectionText", other)] if other else given
