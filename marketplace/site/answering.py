"""The answers to a HIT whose question is a form of our own."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from marketplace import clock
from marketplace.accounts.sessions import worker_required
from marketplace.engine import assignments, deadlines
from marketplace.models import Assignment, Worker
from marketplace.questions import hit_questions
from marketplace.questions.answer_forms import AnswerForm
from marketplace.questions.question_forms import QuestionForm
from marketplace.refusals import WorkerRefusal
from marketplace.site import accept_next, tasks


@require_POST
@worker_required
def answer(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """Record the answers, or show the form again with the first gap focused."""
    now = clock.now()
    deadlines.sweep(now=now)
    assignment = tasks.latest(worker, assignment_id=assignment_id)
    if assignment.status != Assignment.Status.OPEN:
        return redirect("after", assignment_id=assignment_id)
    form = _form(request, assignment)
    if not form.is_valid():
        context = tasks.work_context(assignment, now=now) | {"accepts_next": accept_next.is_on(request)}
        return tasks.work_page(request, context | {"form": form})
    try:
        assignments.submit(assignment, answer=form.document(), now=now)
    except WorkerRefusal as refusal:
        messages.error(request, str(refusal))
    return redirect("after", assignment_id=assignment_id)


def _form(request: HttpRequest, assignment: Assignment) -> AnswerForm:
    question = hit_questions.parse(assignment.hit.question)
    if not isinstance(question, QuestionForm):
        raise Http404("This HIT is answered in its frame.")
    return AnswerForm(question, request.POST)
