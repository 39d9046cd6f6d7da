"""The quiz before the work, wherever the work is done: in a HIT's frame or by link."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from crispy_forms.helper import FormHelper
from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string

from annotators.models import Worker
from surveys.answering import quizzes
from surveys.answering.presentation import shown_definition
from surveys.answering.quizzes import TRIES, Marked
from surveys.models import Batch, QuizAttempt
from surveys.pages.answering.hit_fields import OneOf
from surveys.pages.answering.hit_form import Problem
from surveys.pages.answering.hit_layout import QuizBlock, helper_of
from surveys.pages.answering.link_page import SeeOther
from surveys.protocols.definition import QuizQuestion

QUIZ = "quiz"  # in an address: what was posted where that has gaps, or DONE
DONE = "done"
CHOICE_MAX = 100  # characters of what was posted that an address takes along


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


def plain_address(request: HttpRequest) -> str:
    """Return the address without what is said in it of the quiz."""
    query = request.GET.copy()
    query.pop(QUIZ, None)
    return f"{request.path}?{query.urlencode()}" if query else request.path


def asked(
    request: HttpRequest, batch: Batch, *, worker: Worker, action: str, token: str, claimed_from: str = ""
) -> HttpResponse | None:
    """Return what stands before the work, or is still to be said about it; None once that is behind them.

    `action` is the `plain_address`.
    """
    who: dict[str, Any] = {"worker": worker, "claimed_from": claimed_from}
    said = request.GET.get(QUIZ, "")
    if quizzes.is_due(batch, **who):
        posted = QueryDict(said) if said and said != DONE else None
        return _ask(batch, **who, action=action, token=token, data=posted)
    attempt = quizzes.last_try(batch, **who) if said == DONE else None
    return _done(batch, attempt, action=action) if attempt else None


def _ask(
    batch: Batch, *, worker: Worker, action: str, token: str, claimed_from: str = "", data: Any = None
) -> HttpResponse:
    """Return the page with the questions of the next try; bound to `data`, with what is missing there."""
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
    return HttpResponse(render_to_string("answering/hits/quiz.html", context))


def answered(
    request: HttpRequest, batch: Batch, *, worker: Worker, action: str, claimed_from: str = "", **_: str
) -> HttpResponse:
    """Mark what was posted, and lead to what there is to say: the questions again, or the way to the work.

    A page that answers a post is none that Back can come back to.
    """
    who: dict[str, Any] = {"worker": worker, "claimed_from": claimed_from}
    if quizzes.is_due(batch, **who):
        form = QuizForm(request.POST, questions=shown_definition(batch).quiz)
        if not form.is_valid():
            posted = {name: request.POST.get(name, "")[:CHOICE_MAX] for name in form.fields}
            return SeeOther(_address(action, urlencode(posted)))
        number = form.cleaned_data["number"]
        quizzes.mark(batch, **who, number=number, answers=form.answers())
    is_over = not quizzes.is_due(batch, **who) and quizzes.last_try(batch, **who)
    return SeeOther(_address(action, DONE) if is_over else action)


def _address(action: str, said: str) -> str:
    return f"{action}{'&' if '?' in action else '?'}{urlencode({QUIZ: said})}"


def _done(batch: Batch, attempt: QuizAttempt, *, action: str) -> HttpResponse:
    context = {
        "batch": batch,
        "action": action,
        "attempt": attempt,
        "marked": quizzes.marked(attempt),
    }
    return HttpResponse(render_to_string("answering/hits/quiz_done.html", context))
