"""The headers and refusals of pages that people reach by link. They stand alone: nobody may frame them."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.signals import got_request_exception
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.csrf import csrf_exempt

from annotators.models import Assignment
from surveys.answering.admissions import Admission, NotAdmitted, admit
from surveys.answering.allocation import (
    NoneFree,
    NothingLeft,
    NotYours,
    has_done,
    next_number,
    own,
    progress,
    take,
)
from surveys.answering.completions import Completion, end
from surveys.models import Batch, Outcome
from surveys.pages.answering import language
from surveys.pages.answering.framing import NOT_KEPT, UNREADABLE_REQUEST
from surveys.pages.answering.styles import style_sources
from surveys.pages.answering.tokens import TokenError
from surveys.protocols.policy import judges
from surveys.publishing import giving

logger = logging.getLogger(__name__)

Status = Assignment.Status
View = Callable[..., HttpResponse]

CONTENT_SECURITY_POLICY = (
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
TITLES = {
    "unknown": gettext_lazy("This link is not valid"),
    "expired": gettext_lazy("This link has expired"),
    "revoked": gettext_lazy("This link was withdrawn"),
    "closed": gettext_lazy("This study is closed"),
    "full": gettext_lazy("There is nothing left to do here"),
    "throttled": gettext_lazy("Please wait a little"),
    "uncounted": gettext_lazy("Please wait a little"),
    "unproven": gettext_lazy("We can’t show this here"),
}
STATUS = {"unknown": 404, "throttled": 429, "uncounted": 503}
HAVE_DATA = {"expired", "closed", "full"}
FOREIGN = gettext_lazy(
    "What was sent does not belong to this annotation, or not to you. Open it again from your list."
)
UNREADABLE = gettext_lazy(
    "What was sent is too large or damaged. What was saved before is kept: open your list and carry on."
)
BROKEN = gettext_lazy(
    "The fault is ours, and we have a record of it. Open your list again in a little while."
)
KEPT = gettext_lazy("What you had answered on the page before is kept as a draft.")


def linked(view: View) -> View:
    """Turn refusals into pages a person can read; keep all of it uncached, unframed, and its address to ourselves.

    The token in the path is the credential. A browser sends it to no page by itself, as it would a cookie: so nobody
    else's page can act in a person's name, and no CSRF token is needed.
    """

    @csrf_exempt
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response = view(request, *args, **kwargs)
        except (NotAdmitted, NotYours, NothingLeft, TokenError) as error:
            response = _refused(error, token=kwargs.get("token", ""))
        except UNREADABLE_REQUEST:
            response = _refusal(
                gettext("This could not be read"), UNREADABLE, status=400, token=kwargs.get("token", "")
            )
        except Exception:
            record_fault(view.__name__, request)
            token = kwargs.get("token", "")
            title, message = (
                (gettext("This was not kept"), NOT_KEPT)
                if request.method == "POST"
                else (gettext("Something went wrong here"), BROKEN)
            )
            response = _refusal(title, message, status=500, token=token)
        return with_headers(response)

    return wrapped


def record_fault(page: str, request: HttpRequest) -> None:
    """Log the exception that is being handled by the page's name, as its address is a secret, and tell of it."""
    logger.exception("Page %s failed", page)
    got_request_exception.send(sender=None, request=request)


class SeeOther(HttpResponseRedirect):
    """Go on there with a GET, whatever came here (RFC 9110, 15.4.4)."""

    status_code = 303


def to(name: str, *args: str | int, query: str = "") -> HttpResponse:
    """Return the way to a page by its name."""
    return SeeOther(reverse(name, args=args) + query)


def render(template: str, *, status: int = 200, **context: Any) -> HttpResponse:
    """Render without the request: its context processors would bring the session, thus a cookie."""
    return HttpResponse(render_to_string(f"answering/links/{template}.html", context), status=status)


def admitted(request: HttpRequest, token: str) -> Admission:
    """Admit the bearer of a link, in the language their study asks for. Raises NotAdmitted."""
    admission = admit(token)
    language.follow(admission.batch, request)
    return admission


def on_to_next(admission: Admission, *, query: str = "") -> HttpResponse:
    """Give the person their next annotation, or show the end where there is none."""
    try:
        assignment = take(
            admission.batch, worker=admission.worker, channel=admission.channel, limit=admission.limit
        )
    except NothingLeft:
        return to("link_finish", admission.token, query=query)
    return to("link_work", admission.token, assignment.annotation_slot.number, query=query)


def around_work(admission: Admission, *, just_saved: str = "") -> dict[str, Any]:
    """Return what is around an annotation: whose it is, and how far they are. `just_saved` as in `surroundings`."""
    batch, worker = admission.batch, admission.worker
    n_mine, n_done = progress(batch, worker=worker)
    saved = int(just_saved) if just_saved.isascii() and just_saved.isdecimal() and len(just_saved) < 10 else 0
    is_true = saved and has_done(batch, number=saved, worker=worker)
    return _around(admission, n_mine=n_mine, n_done=n_done, just_saved=saved if is_true else None)


def surroundings(admission: Admission, *, just_saved: str = "") -> dict[str, Any]:
    """Return what is around a person's own list: who they are, what is theirs, how much is left.

    `just_saved` is what the address says; it is believed where it is true.
    """
    mine = own(admission.batch, worker=admission.worker)
    done = [annotation for annotation in mine if annotation.state != "open"]
    n_accepted = sum(annotation.is_accepted for annotation in mine)
    saved = next((a.number for a in done if str(a.number) == just_saved), None)
    return {
        **_around(admission, n_mine=len(mine), n_done=len(done), just_saved=saved),
        "mine": mine,
        "n_changeable": sum(is_changeable(annotation.assignment, admission.batch) for annotation in done),
        "n_accepted": n_accepted,
        "earned": admission.batch.reward * n_accepted
        if admission.crowd.is_invited
        else 0,  # a panel pays its own
    }


def _around(admission: Admission, *, n_mine: int, n_done: int, just_saved: int | None) -> dict[str, Any]:
    return {
        "admission": admission,
        "batch": admission.batch,
        "n_done": n_done,
        "n_all": n_mine + _n_more(admission, n_mine=n_mine),
        "just_saved": just_saved,
        "home_url": reverse("link", args=[admission.token]),
    }


def following(admission: Admission) -> dict[str, Any]:
    """Return the annotation id the person would be given next as `suggested`, or why there is none as `reason`.

    Without a reason others have taken all there was: what is to be said then depends on what the person has done.
    """
    try:
        number = next_number(admission.batch, worker=admission.worker, limit=admission.limit)
    except NoneFree:
        return {"suggested": None, "reason": ""}
    except NothingLeft as error:
        return {"suggested": None, "reason": str(error)}
    return {"suggested": number, "reason": ""}


def is_changeable(assignment: Assignment, batch: Batch) -> bool:
    """Answers can be changed until the batch closes, or until somebody was or was not paid because of them."""
    status, pays_by_answers = assignment.status, judges(batch.review_policy)
    is_decided = status == Status.REJECTED or (status == Status.APPROVED and pays_by_answers)
    return batch.status == Batch.Status.OPEN and not is_decided


def _n_more(admission: Admission, *, n_mine: int) -> int:
    """Return how many annotations the person could still be given."""
    if admission.batch.status != Batch.Status.OPEN:
        return 0
    free = giving.n_free(admission.batch, worker=admission.worker)
    return free if admission.limit is None else min(free, max(admission.limit - n_mine, 0))


def _refused(error: Exception, *, token: str) -> HttpResponse:
    kept = " ".join(getattr(error, "__notes__", []))
    if isinstance(error, NotAdmitted):
        data_url = reverse("own_data", args=[token]) if token and error.kind in HAVE_DATA else ""
        more: dict[str, Any] = {"kept": kept, "data_url": data_url, "completion": _nothing_left(error)}
        return _refusal(TITLES[error.kind], str(error), status=STATUS.get(error.kind, 403), **more)
    if isinstance(error, NotYours):
        title = gettext("This annotation is not yours")
        return _refusal(title, str(error), kept=kept, status=404, token=token, is_starting=True)
    if isinstance(error, NothingLeft):
        return _refusal(
            gettext("There is nothing left to do here"), str(error), kept=kept, status=403, token=token
        )
    return _refusal(gettext("This page can’t be used"), FOREIGN, status=403, token=token)


def _nothing_left(error: NotAdmitted) -> Completion | None:
    """Return what a panel's person takes back who came when there was nothing to do."""
    return end(error.visit, Outcome.NOTHING_LEFT) if error.visit else None


def _refusal(
    title: str | Promise, message: str | Promise, *, status: int, token: str = "", **context: Any
) -> HttpResponse:
    home_url = reverse("link", args=[token]) if token else ""
    return render("refused", status=status, title=title, message=message, home_url=home_url, **context)


def with_headers(response: HttpResponse) -> HttpResponse:
    """Keep a page uncached, unframed, and its address to ourselves."""
    response["Content-Security-Policy"] = f"default-src 'self'; {style_sources()}; {CONTENT_SECURITY_POLICY}"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    return response
