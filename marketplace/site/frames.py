"""The document of an HTMLQuestion, served so that it is of no origin: it can reach neither cookies nor pages."""

import re

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.templatetags.static import static
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from marketplace.accounts.sessions import current_worker
from marketplace.models import HIT, Assignment
from marketplace.qualifications import requirements
from marketplace.questions import hit_questions
from marketplace.site import listing
from marketplace.site.sandbox import permissions

# Where templates made for MTurk post to, in production and in its sandbox.
SUBMIT_ADDRESSES = re.compile(r"https://(?:www|workersandbox)\.mturk\.com/mturk/externalSubmit")
BEGINNING = re.compile(r"<head\b[^>]*>", re.IGNORECASE), re.compile(r"<!doctype[^>]*>", re.IGNORECASE)
CROWD_SCRIPT = re.compile(
    r"<script\b[^<>]*\bsrc\s*=\s*[\"']?https://assets\.crowd\.aws/crowd-html-elements\.js[^<>]*>\s*</script\s*>",
    re.IGNORECASE,
)
SCRIPTS = "marketplace/site/task_frame.js", "marketplace/site/crowd.js"


@require_safe
@xframe_options_sameorigin
def task_frame(request: HttpRequest, hit_id: str) -> HttpResponse:
    """Serve the HTML of a HIT to a worker who holds it or may preview it."""
    hit = get_object_or_404(HIT.objects.select_related("hit_type"), hit_id=hit_id, disposed_at=None)
    question = hit_questions.parse(hit.question)
    if not isinstance(question, hit_questions.HTMLQuestion) or not _may_see(request, hit):
        raise Http404("There is no such task for you.")
    return document(question.html)


def _may_see(request: HttpRequest, hit: HIT) -> bool:
    worker = current_worker(request)
    if worker is None:
        return requirements.may("Preview", hit.hit_type, record=listing.NEWCOMER)
    holds = Assignment.objects.filter(hit=hit, worker=worker, status=Assignment.Status.OPEN)
    record = requirements.record_of(worker)
    return holds.exists() or requirements.may("Preview", hit.hit_type, record=record)


def document(html: str) -> HttpResponse:
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
