"""What a HIT shows a worker: a frame with the requester's page, or a form of our own; and what the frame posts.

The document of an HTMLQuestion is served of no origin: it can reach neither cookies nor pages.
"""

import re
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.shortcuts import get_object_or_404, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from marketplace.accounts.sessions import current_worker, submitting_worker_id
from marketplace.engine import assignments
from marketplace.models import HIT, Assignment
from marketplace.qualifications import requirements
from marketplace.questions import answer_documents, documents, hit_questions
from marketplace.questions.answer_forms import AnswerForm
from marketplace.questions.hit_questions import ExternalQuestion, HTMLQuestion
from marketplace.questions.question_forms import QuestionForm
from marketplace.refusals import WorkerRefusal
from marketplace.site.arrivals import arrive
from statements import Hole, Statement

# A task lies wherever its requester has it, and may lead on to other addresses.
FRAME_POLICY = (
    "default-src 'self'; img-src 'self' data:; frame-src http: https:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
# A form shows what a requester wrote and pictures from anywhere; nothing of it may run or send.
FORM_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src * data:; media-src *; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Where templates made for MTurk post to, in production and in its sandbox.
SUBMIT_ADDRESSES = re.compile(r"https://(?:www|workersandbox)\.mturk\.com/mturk/externalSubmit")
BEGINNING = re.compile(r"<head\b[^>]*>", re.IGNORECASE), re.compile(r"<!doctype[^>]*>", re.IGNORECASE)
CROWD_SCRIPT = re.compile(
    r"<script\b[^<>]*\bsrc\s*=\s*[\"']?https://assets\.crowd\.aws/crowd-html-elements\.js[^<>]*>\s*</script\s*>",
    re.IGNORECASE,
)
SCRIPTS = "marketplace/site/task_frame.js", "marketplace/site/crowd.js"


def shown(hit: HIT, assignment: Assignment | None = None, *, language: str = "") -> dict[str, Any]:
    """Return what the template needs: `form`, or `frame` with url and height; without assignment a preview.

    `language`: what the worker chose here; a frame of another site sees no cookie of ours.
    """
    question = hit_questions.parse(hit.question)
    if isinstance(question, QuestionForm):
        return {"form": AnswerForm(question)}
    address = _address(question, hit, assignment, language=language)
    return {
        "frame": {"url": address, "height": question.frame_height, "sandbox": permissions(has_origin=True)}
    }


def _address(
    question: ExternalQuestion | HTMLQuestion, hit: HIT, assignment: Assignment | None, *, language: str
) -> str:
    ours = reverse("task-frame", kwargs={"hit_id": hit.hit_id})
    url = ours if isinstance(question, HTMLQuestion) else question.url
    if assignment is None:
        return hit_questions.frame_url(url, hit_id=hit.hit_id, language=language)
    return hit_questions.frame_url(
        url,
        hit_id=hit.hit_id,
        assignment_id=assignment.assignment_id,
        worker_id=assignment.worker.worker_id,
        submit_to=settings.MARKETPLACE_URL,
        language=language,
    )


def page(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Answer with a page that may have a requester's form on it: 422 when what was sent has gaps."""
    form: AnswerForm | None = context.get("form")
    if form is None:
        response = render(request, template, context)
        # Under Django's "same-origin" window.open gives another site nothing (HTML, rules for choosing a navigable).
        response["Cross-Origin-Opener-Policy"] = "same-origin-allow-popups"
        response["Content-Security-Policy"] = FRAME_POLICY
        return response
    response = render(request, template, context, status=422 if form.is_bound else 200)
    response["Content-Security-Policy"] = FORM_POLICY
    return response


@require_safe
@xframe_options_sameorigin
def task_frame(request: HttpRequest, hit_id: str) -> HttpResponse:
    """Serve the HTML of a HIT to a worker who holds it or may preview it."""
    hit = get_object_or_404(HIT.objects.select_related("hit_type"), hit_id=hit_id, disposed_at=None)
    question = hit_questions.parse(hit.question)
    if not isinstance(question, HTMLQuestion) or not _may_see(request, hit):
        raise Http404("There is no such task for you.")
    return html_document(question.html)


def _may_see(request: HttpRequest, hit: HIT) -> bool:
    worker = current_worker(request)
    holds = Assignment.objects.filter(hit=hit, worker=worker, status=Assignment.Status.OPEN)
    if worker is not None and holds.exists():
        return True
    return requirements.may(
        "Preview", hit.hit_type, record=requirements.record_of(worker, hit_types=[hit.hit_type])
    )


def permissions(*, has_origin: bool) -> str:
    """Return the tokens of the HTML `sandbox` attribute. Without an origin a document can reach nothing of ours.

    Templates written for MTurk tell workers what is missing with alert(), and psiTurk works in a window of its own;
    strict frames allow neither.
    """
    tokens = ["allow-scripts", *(["allow-same-origin"] if has_origin else []), "allow-forms"]
    tokens += [] if settings.MARKETPLACE_STRICT_FRAMES else ["allow-popups", "allow-modals"]
    return " ".join(tokens)


def html_document(html: str) -> HttpResponse:
    """Answer with a requester's document that is of no origin."""
    response = HttpResponse(_prepared(html))
    response["Content-Security-Policy"] = f"sandbox {permissions(has_origin=False)}; frame-ancestors 'self'"
    response["Cache-Control"] = "no-store"
    return response


def _prepared(html: str) -> str:
    """Point the form here and load our scripts before any other, and instead of Amazon's crowd elements."""
    html = SUBMIT_ADDRESSES.sub("/mturk/externalSubmit", CROWD_SCRIPT.sub("", html))
    scripts = "".join(f'<script src="{static(name)}"></script>' for name in SCRIPTS)
    ours = f'{scripts}<link rel="stylesheet" href="{static("marketplace/site/crowd.css")}">'
    found = next(filter(None, (pattern.search(html) for pattern in BEGINNING)), None)
    position = found.end() if found else 0
    return html[:position] + ours + html[position:]


@csrf_exempt
@xframe_options_sameorigin
@require_http_methods(["GET", "HEAD", "POST"])
def external_submit(request: HttpRequest) -> HttpResponse:
    """Record the fields of an open assignment, or say in the frame why they were not recorded."""
    try:
        if request.method == "HEAD":
            raise WorkerRefusal(gettext("A HEAD request submits nothing."))
        form = _form(request)
        assignment = _record(form, visitor=submitting_worker_id(request), now=arrive(request))
    except WorkerRefusal as refusal:
        return render(request, "marketplace/site/frame_refused.html", {"reason": str(refusal)}, status=400)
    return render(request, "marketplace/site/frame_submitted.html", {"assignment": assignment})


def _form(request: HttpRequest) -> dict[str, list[str]]:
    try:
        return dict([*request.GET.lists(), *request.POST.lists()])
    except (RequestDataTooBig, TooManyFieldsSent) as error:
        raise WorkerRefusal(gettext("The answers are too large to be recorded.")) from error
    except UnreadablePostError as error:
        raise WorkerRefusal(gettext("The connection ended before the answers had arrived.")) from error


def _record(form: dict[str, list[str]], *, visitor: str, now: datetime) -> Assignment:
    """The document is made before the HIT is locked: nobody waits for that."""
    fields = answer_documents.fields_of(form.items())
    document = answer_documents.document(fields)
    with transaction.atomic():
        assignment = _open_assignment(form, visitor=visitor)
        if not fields:
            raise WorkerRefusal(gettext("The task sent no answer besides the assignment's own number."))
        assignments.submit_locked(assignment, answer=document, now=now)
    return assignment


# Locked is the HIT, as wherever one of its assignments changes.
OPEN_ASSIGNMENT = Statement(
    lambda: (
        Assignment.objects.filter(
            assignment_id=Hole("assignment_id", Assignment._meta.get_field("assignment_id")),
            status=Assignment.Status.OPEN,
        )
        .select_for_update(of=("hit",), no_key=True)
        .select_related("worker", "hit__hit_type__notification", "hit__requester")
        .order_by("pk")[:1]
    )
)


def _open_assignment(form: dict[str, list[str]], *, visitor: str) -> Assignment:
    """Return the open assignment, if it is whose the page says, and of `visitor`: this browser's WorkerId, or ""."""
    assignment_id = form.get("assignmentId", [""])[0]
    if assignment_id in {"", hit_questions.PREVIEW_ID}:
        raise WorkerRefusal(gettext("This was a preview. Accept the HIT before you submit it."))
    assignment = OPEN_ASSIGNMENT.first(assignment_id=documents.legal(assignment_id))
    if assignment is None:
        raise WorkerRefusal(
            gettext("This assignment is not open. It was submitted already, returned, or its time ran out.")
        )
    _check_whose(assignment, named=form.get("workerId", [""])[0], visitor=visitor)
    if hit_questions.is_form(assignment.hit.question):
        raise WorkerRefusal(gettext("This HIT is answered on its own page, where the answers are checked."))
    return assignment


def _check_whose(assignment: Assignment, *, named: str, visitor: str) -> None:
    """Refuse what another worker submits: a number is dealt out anew after a return, and a tab may hold its old one.

    What sends neither a session nor workerId is a program, and goes by the number alone, as on MTurk.
    """
    holder = assignment.worker.worker_id
    if named not in {"", holder}:
        raise WorkerRefusal(gettext("This assignment now belongs to another worker."))
    if visitor not in {"", holder}:
        raise WorkerRefusal(
            gettext("This assignment belongs to another worker than the one who is signed in here.")
        )
