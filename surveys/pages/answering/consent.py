"""Agreeing before the first answer, wherever the work is done: in a HIT's frame or by link."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotators.models import Worker
from surveys.answering import consents
from surveys.answering.completions import end
from surveys.answering.consents import ShownConsent
from surveys.models import Batch, Outcome
from surveys.pages.answering.link_page import SeeOther, admitted, linked, on_to_next, render, to

AGREES, DECLINES = "agree", "decline"


def is_consent(request: HttpRequest) -> bool:
    """Tell whether it was posted whether somebody agrees, and no answers."""
    return request.method == "POST" and "consent" in request.POST


def shown(batch: Batch) -> ShownConsent | None:
    """Return what people agreed to or are about to, for the pages they work on."""
    return ShownConsent.of(batch.consent_text) if batch.consent_text else None


def ask(
    batch: Batch, *, worker: Worker, action: str, token: str, claimed_from: str = "", is_kept: bool = False
) -> HttpResponse | None:
    """Return the page that asks; None where there is nothing to ask. `is_kept`: answers had come, and wait."""
    text = consents.due(batch, worker=worker, claimed_from=claimed_from)
    if text is None:
        return None
    context = {"action": action, "token": token, **_asked(batch, ShownConsent.of(text)), "is_kept": is_kept}
    return HttpResponse(render_to_string("answering/hits/consent.html", context))


def answered(
    request: HttpRequest, batch: Batch, *, worker: Worker, action: str, token: str, claimed_from: str = ""
) -> HttpResponse:
    """Write down that somebody agrees and go on, or show the end. To an older version nobody agrees any more."""
    if request.POST["consent"] == DECLINES:
        context = {"batch": batch, "back_url": action}
        return HttpResponse(render_to_string("answering/hits/declined.html", context))
    who: dict[str, Any] = {"worker": worker, "claimed_from": claimed_from}
    _give_if_asked(request, batch, **who)
    return ask(batch, **who, action=action, token=token) or SeeOther(action)


@linked
@require_http_methods(["GET", "POST"])
def link_consent(request: HttpRequest, token: str) -> HttpResponse:
    """Ask somebody who came by link, before anything is theirs to do; then on to annotation `number`, or the next."""
    admission = admitted(request, token)
    batch, worker = admission.batch, admission.worker
    if is_consent(request) and request.POST["consent"] == DECLINES:
        completion = end(admission.visit, Outcome.NO_CONSENT) if admission.visit else None
        context: dict[str, Any] = {"admission": admission, "batch": batch, "completion": completion}
        return render("declined", **context, back_url=request.get_full_path())
    if is_consent(request):
        _give_if_asked(request, batch, worker=worker)
    number = request.GET.get("number", "")
    if text := consents.due(batch, worker=worker):
        shown = _asked(batch, ShownConsent.of(text))
        is_kept = "kept" in request.GET
        return render(
            "consent", action=request.get_full_path(), **shown, is_kept=is_kept, admission=admission
        )
    is_number = number.isascii() and number.isdecimal() and len(number) < 10
    return to("link_work", token, int(number)) if is_number else on_to_next(admission)


def to_link_consent(token: str, *, number: int | None = None, is_kept: bool = False) -> HttpResponse:
    """Return the way to the question, and from there to an annotation."""
    asked = [f"number={number}"] if number else []
    asked += ["kept=1"] if is_kept else []
    return SeeOther(reverse("link_consent", args=[token]) + ("?" + "&".join(asked) if asked else ""))


def _give_if_asked(request: HttpRequest, batch: Batch, *, worker: Worker, claimed_from: str = "") -> None:
    """Write it down where the version that was read is the one in force."""
    text = batch.consent_text
    if text and request.POST["consent"] == AGREES and request.POST.get("version") == str(text.version):
        consents.give(text, worker=worker, claimed_from=claimed_from)


def _asked(batch: Batch, consent: ShownConsent) -> dict[str, Any]:
    return {"batch": batch, "consent": consent, "is_changed": consent.version > 1}
