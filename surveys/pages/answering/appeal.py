"""The pages on which a rejected worker appeals: nobody signs in, the code of the message is all it takes."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotators.crowds.base import crowd_of
from annotators.models import Assignment
from surveys import sync
from surveys.answering.admissions import NotAdmitted, admit
from surveys.answering.throttling import WAIT, NotCounting, Throttle
from surveys.enqueue import enqueue
from surveys.models import Appeal
from surveys.operations import log_context
from surveys.pages.access import address_of
from surveys.pages.answering.appeal_forms import AppealForm, CodeForm
from surveys.pages.answering.framing import UNREADABLE_REQUEST
from surveys.pages.answering.link_page import to, with_headers
from surveys.review import appeal_codes, decisions

logger = logging.getLogger(__name__)

FROM_ONE_ADDRESS = Throttle("appeals:address", limit=10, seconds=15 * 60)
FROM_ALL = Throttle("appeals", limit=1000, seconds=15 * 60)
UNKNOWN = gettext_lazy("There is no appeal with this code. Please compare it with the one in the message.")
TOO_MANY = gettext_lazy(
    "Too many codes that are none of ours. Please wait a quarter of an hour, then try again."
)
NOT_COUNTING = gettext_lazy(
    "No code can be looked at right now. The fault is ours. Please try again in a minute."
)
UNREADABLE = gettext_lazy(
    "What was sent is too large or damaged. Please go back, shorten your text and send it again."
)
BROKEN = gettext_lazy(
    "The fault is ours, and we have a record of it. Please go back to your text, and send it again later."
)


def alone(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Keep a page uncached, unframed and out of search engines, and turn failures into sentences.

    The code in the path is the credential. A browser sends it to no page by itself, as it would a cookie: so nobody
    else's page can act in a person's name, and no CSRF token is needed, nor the cookie it would take.
    """

    @csrf_exempt
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except UNREADABLE_REQUEST:
            response = _failure(gettext("This could not be read"), UNREADABLE, status=400)
        except Exception:
            logger.exception("Page %s failed", view.__name__)
            got_request_exception.send(sender=None, request=request)
            response = _failure(gettext("Something went wrong here"), BROKEN, status=500)
        response["X-Robots-Tag"] = "noindex, nofollow"
        return with_headers(response)

    return wrapped


@alone
@require_http_methods(["GET", "HEAD", "POST"])
def enter(request: HttpRequest) -> HttpResponse:
    """Ask for the code."""
    form = CodeForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _ask(form, status=422 if form.is_bound else 200)
    return to("appeal", form.cleaned_data["code"])


@alone
@require_http_methods(["GET", "HEAD", "POST"])
def appeal(request: HttpRequest, code: str) -> HttpResponse:
    """What was rejected and why; a text to send; what was sent, and what we answered."""
    try:
        if _is_closed(request):
            return _refuse(request, code, TOO_MANY, status=429)
    except NotCounting:
        response = _refuse(request, code, NOT_COUNTING, status=503)
        response["Retry-After"] = str(WAIT)
        return response
    made = appeal_codes.find(appeal_codes.read_code(code))
    if made is None:
        _count(request)
        return _refuse(request, code, UNKNOWN, status=404)
    log_context.bind(assignment=made.assignment_id)
    if request.method == "POST":
        return _send(request, made)
    return _show(request, made, AppealForm(), is_sent="sent" in request.GET)


def _send(request: HttpRequest, appeal: Appeal) -> HttpResponse:
    form = AppealForm(request.POST)
    if not form.is_valid():
        return _show(request, appeal, form, status=422)
    text = form.cleaned_data["text"]
    if not _may_write(appeal) or not appeal_codes.make(appeal, text=text):
        appeal.refresh_from_db()
        if appeal.text != text:
            return _show(request, appeal, form, status=409)
    enqueue(sync.tell_of_appeal, appeal.pk)
    return to("appeal", appeal.code, query="&".join(["?sent", *filter(None, [request.GET.urlencode()])]))


def _show(
    request: HttpRequest, appeal: Appeal, form: AppealForm, *, status: int = 200, is_sent: bool = False
) -> HttpResponse:
    assignment, decision = appeal.assignment, getattr(appeal.assignment, "decision", None)
    until = decisions.overturn_until(assignment)
    context = {
        "appeal": appeal,
        "assignment": assignment,
        "number": _number_of(assignment),
        "list_url": _list_of(assignment, token=request.GET.get("list", "")),
        "query": request.GET,
        "title": assignment.hit.questionnaire.batch.title,
        "reason": decisions.reason_told(decision) if decision else assignment.feedback,
        "overturned": decision if decision and decision.overturned_at else None,
        "is_refused": decisions.overturn_refused(assignment) is not None,
        "form": form,
        "can_write": _may_write(appeal),
        "not_added": form.typed() if status == 409 else "",
        "is_sent": is_sent and bool(appeal.made_at),
        "until": until,
        "is_late": until < timezone.now(),
        "text_max": appeal_codes.TEXT_MAX,
    }
    return _page("appeal", context, status=status)


def _number_of(assignment: Assignment) -> int | None:
    """Return the annotation's number, which people by link met; on a marketplace nobody does."""
    slot = None if crowd_of(assignment).has_market else getattr(assignment, "annotation_slot", None)
    return slot.number if slot else None


def _list_of(assignment: Assignment, *, token: str) -> str:
    """Return the way back to the list that led here. The code alone leads to no list: that is its person's own."""
    try:
        admission = admit(token)
    except NotAdmitted:
        return ""
    return reverse("link", args=[admission.token]) if admission.worker == assignment.worker else ""


def _may_write(appeal: Appeal) -> bool:
    """Once, about work that is rejected, unless we have taken the rejection back by ourselves."""
    return decisions.rejection_stands(appeal.assignment) and appeal.made_at is None


def _is_closed(request: HttpRequest) -> bool:
    address = address_of(request)
    return FROM_ALL.is_closed() or (address != "" and FROM_ONE_ADDRESS.is_closed(address))


def _count(request: HttpRequest) -> None:
    FROM_ALL.count()
    if address := address_of(request):
        FROM_ONE_ADDRESS.count(address)


def _refuse(request: HttpRequest, code: str, message: str | Promise, *, status: int) -> HttpResponse:
    """Ask for the code again, and give back what was written: the browser keeps no copy of an uncached page."""
    form = CodeForm({"code": code})
    form.add_error("code", str(message)) if form.is_valid() else None
    return _ask(form, status=status, not_added=AppealForm(request.POST or None).typed())


def _ask(form: CodeForm, *, status: int, not_added: str = "") -> HttpResponse:
    return _page("enter", {"form": form, "not_added": not_added}, status=status)


def _failure(title: str, message: str | Promise, *, status: int) -> HttpResponse:
    return _page("failure", {"title": title, "message": message}, status=status)


def _page(template: str, context: dict[str, Any], *, status: int) -> HttpResponse:
    """Render without the request: its context processors would bring the session, thus a cookie."""
    return HttpResponse(render_to_string(f"answering/appeals/{template}.html", context), status=status)
