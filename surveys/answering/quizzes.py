"""The quiz before the work. The right answers stay here until they have been answered.

Tries count for the worker and for where they were claimed from, until the marketplace has named the worker: nobody
else uses them up, or sees them.
"""

from dataclasses import dataclass

from annotators.models import Worker
from surveys.answering.presentation import shown_definition
from surveys.models import Batch, QuizAttempt
from surveys.protocols.definition import QuizQuestion

TRIES = 2


@dataclass(frozen=True, slots=True)
class Marked:
    """A question as it was answered, and what there is to say about that."""

    question: QuizQuestion
    chosen: str
    is_right: bool


def is_due(batch: Batch, *, worker: Worker, claimed_from: str = "") -> bool:
    """Tell whether this worker has the quiz of this batch before them: not passed, and a try is left."""
    if not (batch.uses_quiz and batch.definition.quiz):
        return False
    tries = _tries(batch, worker, claimed_from)
    return len(tries) < TRIES and not any(attempt.is_passed for attempt in tries)


def last_try(batch: Batch, *, worker: Worker, claimed_from: str = "") -> QuizAttempt | None:
    tries = _tries(batch, worker, claimed_from)
    return tries[-1] if tries else None


def mark(
    batch: Batch, *, worker: Worker, number: int, answers: list[str], claimed_from: str = ""
) -> QuizAttempt:
    """Write down try `number` and mark it. Posted again, the try that is there counts, whatever comes this time."""
    number = min(number, len(_tries(batch, worker, claimed_from)) + 1)
    right = [question.answer for question in batch.definition.quiz]
    n_right = sum(given == wanted for given, wanted in zip(answers, right, strict=True))
    attempt, _ = QuizAttempt.objects.get_or_create(
        batch=batch,
        worker=worker,
        number=number,
        claimed_from=claimed_from,
        defaults={"answers": answers, "n_right": n_right, "is_passed": n_right == len(right)},
    )
    return attempt


def marked(attempt: QuizAttempt) -> list[Marked]:
    """Return each question with the choice that was made and whether it was right."""
    questions = shown_definition(attempt.batch).quiz
    return [
        Marked(question, chosen, chosen == question.answer)
        for question, chosen in zip(questions, attempt.answers, strict=True)
    ]


def _tries(batch: Batch, worker: Worker, claimed_from: str) -> list[QuizAttempt]:
    return list(
        QuizAttempt.objects.filter(batch=batch, worker=worker, claimed_from__in=["", claimed_from]).order_by(
            "number"
        )
    )
