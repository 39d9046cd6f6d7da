"""What a HIT shows a worker: a frame with the requester's page, or a form of our own."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from marketplace.models import HIT, Assignment, Worker
from marketplace.questions import hit_questions
from marketplace.questions.answer_forms import AnswerForm
from marketplace.questions.hit_questions import ExternalQuestion, HTMLQuestion
from marketplace.questions.question_forms import QuestionForm
from marketplace.site import accept_next
from marketplace.site.sandbox import permissions

# A form shows what a requester wrote and pictures from anywhere; nothing of it may run or send.
FORM_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src * data:; media-src *; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def latest(worker: Worker, **lookup: str) -> Assignment:
    """Return the worker's own latest go; the same AssignmentId may by now be another worker's."""
    rows = Assignment.objects.filter(worker=worker, **lookup).order_by("-pk")
    found = rows.select_related("hit__hit_type__requester", "worker").first()
    if found is None:
        raise Http404("You have no such assignment.")
    return found


def work_context(assignment: Assignment, *, now: datetime) -> dict[str, Any]:
    """Return what the page of an accepted HIT says besides the task."""
    return {
        "worker": assignment.worker,
        "assignment": assignment,
        "hit_type": assignment.hit.hit_type,
        "seconds_left": int((assignment.deadline - now).total_seconds()),
    }


def shown(hit: HIT, assignment: Assignment | None = None) -> dict[str, Any]:
    """Return what the template needs: `form`, or `frame` with url and height; without assignment a preview."""
    question = hit_questions.parse(hit.question)
    if isinstance(question, QuestionForm):
        return {"form": AnswerForm(question)}
    address = _address(question, hit, assignment)
    return {
        "frame": {"url": address, "height": question.frame_height, "sandbox": permissions(has_origin=True)}
    }


def _address(question: ExternalQuestion | HTMLQuestion, hit: HIT, assignment: Assignment | None) -> str:
    ours = reverse("task-frame", kwargs={"hit_id": hit.hit_id})
    url = ours if isinstance(question, HTMLQuestion) else question.url
    if assignment is None:
        return hit_questions.frame_url(url, hit_id=hit.hit_id)
    return hit_questions.frame_url(
        url,
        hit_id=hit.hit_id,
        assignment_id=assignment.assignment_id,
        worker_id=assignment.worker.worker_id,
        submit_to=settings.MARKETPLACE_URL,
    )


def work_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """Answer with the page of an accepted HIT."""
    template = "marketplace/site/work_form.html" if "form" in context else "marketplace/site/work.html"
    return page(request, template, context | {"accepts_next": accept_next.is_on(request)})


def page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Answer with a page that may have a requester's form on it: 422 when what was sent has gaps."""
    form: AnswerForm | None = context.get("form")
    if form is None:
        response = render(request, template, context)
        # Under Django's "same-origin" window.open gives another site nothing (HTML, rules for choosing a navigable).
        response["Cross-Origin-Opener-Policy"] = "same-origin-allow-popups"
        return response
    response = render(request, template, context, status=422 if form.is_bound else 200)
    response["Content-Security-Policy"] = FORM_POLICY
    return response
