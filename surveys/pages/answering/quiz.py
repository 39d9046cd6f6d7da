"""The quiz before the work, wherever the work is done: in a HIT's frame or by link."""

from collections.abc import Mapping, Sequence
from typing import Any

from crispy_forms.helper import FormHelper
from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string

from annotators.models import Worker
from surveys.answering import quizzes
from surveys.answering.presentation import shown_definition
from surveys.answering.quizzes import TRIES, Marked
from surveys.models import Batch, QuizAttempt
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


def is_quiz(request: HttpRequest) -> bool:
    """Tell whether answers to the quiz were posted, not answers to the work."""
    return request.method == "POST" and "quiz" in request.POST


def ask(
    batch: Batch, *, worker: Worker, action: str, token: str, claimed_from: str = "", data: Any = None
) -> HttpResponse:
    """Return the page with the questions of the next try; bound to `data`, with what is missing there (422)."""
    attempt = quizzes.last_try(batch, worker=worker, claimed_from=claimed_from)
    before = quizzes.marked(attempt) if attempt else []
    definition = shown_definition(batch)
    form = QuizForm(data, questions=definition.quiz, before=before)
    context = {
        "batch": batch,
        "action": action,
        "token": token,
        "form": form,
        "attempt": attempt,
        "number": attempt.number + 1 if attempt else 1,
        "instructions": definition.instructions,
    }
    return HttpResponse(
        render_to_string("answering/hits/quiz.html", context), status=422 if form.is_bound else 200
    )


def answered(
    request: HttpRequest, batch: Batch, *, worker: Worker, action: str, token: str, claimed_from: str = ""
) -> HttpResponse:
    """Mark what was posted, and show what there is to say: the questions again, or the way to the work."""
    who: dict[str, Any] = {"worker": worker, "claimed_from": claimed_from}
    if quizzes.is_due(batch, **who):
        form = QuizForm(request.POST, questions=shown_definition(batch).quiz)
        if not form.is_valid():
            return ask(batch, **who, action=action, token=token, data=request.POST)
        number = form.cleaned_data["number"]
        quizzes.mark(batch, **who, number=number, answers=form.answers())
    if quizzes.is_due(batch, **who):
        return ask(batch, **who, action=action, token=token)
    attempt = quizzes.last_try(batch, **who)
    return _done(batch, attempt, action=action) if attempt else HttpResponseRedirect(action)


def _done(batch: Batch, attempt: QuizAttempt, *, action: str) -> HttpResponse:
    context = {
        "batch": batch,
        "action": action,
        "attempt": attempt,
        "marked": quizzes.marked(attempt),
    }
    return HttpResponse(render_to_string("answering/hits/quiz_done.html", context))
