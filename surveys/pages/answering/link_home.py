"""Where people who come by link come in, see what is theirs, and go out again."""

from django import forms
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from surveys.answering import consents
from surveys.answering.admissions import Admission, NotAdmitted, admit_by_code, admit_panel
from surveys.answering.allocation import NUMBER_MAX, Annotation
from surveys.answering.presentation import shown_definition
from surveys.answering.throttling import WAIT
from surveys.pages.answering.consent import shown, to_link_consent
from surveys.pages.answering.link_page import (
    admitted,
    following,
    linked,
    on_to_next,
    render,
    surroundings,
    to,
)
from surveys.pages.answering.work_page import pay_rule, time_allowed
from surveys.publishing.questionnaires import n_questions
from surveys.review.panels import completion

HELD_UP = {"throttled": 429, "uncounted": 503}
SHOWN_PER_PAGE = 50
NO_NUMBER = gettext_lazy("An annotation id is a whole number from 1.")


class NumberForm(forms.Form):
    """An annotation id to open; empty: the next one."""

    number = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=NUMBER_MAX,
        error_messages=dict.fromkeys(["invalid", "min_value", "max_value"], NO_NUMBER),
    )


class SignInForm(forms.Form):
    """Who somebody is, without their personal link at hand."""

    name = forms.CharField(max_length=200, error_messages={"required": gettext_lazy("Give your name.")})
    access_code = forms.CharField(
        max_length=128, error_messages={"required": gettext_lazy("Give your access code.")}
    )


@linked
@require_http_methods(["GET", "POST"])
def home(request: HttpRequest, token: str) -> HttpResponse:
    """What this is about, what is done, and Start: with an annotation id, or with the next one."""
    admission = admitted(request, token)
    form = NumberForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _home(request, admission, form)
    number = form.cleaned_data["number"]
    is_next = number is None or str(number) == request.POST.get("suggested")
    if is_next and _is_asked_first(admission):
        return to_link_consent(token)
    return on_to_next(admission) if is_next else to("link_work", token, number)


@linked
@require_GET
def finish(request: HttpRequest, token: str) -> HttpResponse:
    """The end: thanks, a panel's code for how it ended, and the way back to change something."""
    admission = admitted(request, token)
    around = surroundings(admission, just_saved=request.GET.get("saved", ""))
    return render("finish", **around, **following(admission), completion=completion(admission))


@linked
@require_http_methods(["GET", "POST"])
def sign_in(request: HttpRequest, batch: int) -> HttpResponse:
    """Name and access code instead of the personal link."""
    form = SignInForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return render("sign_in", status=422 if form.is_bound else 200, form=form)
    try:
        admission = admit_by_code(batch, **form.cleaned_data)
    except NotAdmitted as error:
        form.add_error(None, str(error))
        response = render("sign_in", status=HELD_UP.get(error.kind, 403), form=form)
        if error.kind == "uncounted":
            response["Retry-After"] = str(WAIT)
        return response
    return to("link", admission.token)


@linked
@require_GET
def panel(request: HttpRequest, code: str) -> HttpResponse:
    """Somebody sent by a panel, who they are in the address: on to an address that is theirs alone."""
    return to("link", admit_panel(code, request.GET.dict()).token)


def _is_asked_first(admission: Admission) -> bool:
    """Tell whether consent comes before the next annotation; who can have none is told so, and asked for nothing."""
    is_due = consents.due(admission.batch, worker=admission.worker) is not None
    return is_due and following(admission)["suggested"] is not None


def _page(mine: list[Annotation], *, number: str | None, just_saved: int | None) -> Page[Annotation]:
    """Return a page of the list, what was not accepted first; unless one is asked for, that of what was just saved."""
    listed = sorted(mine, key=lambda one: not one.is_rejected)
    at = next((n for n, one in enumerate(listed) if one.number == just_saved), 0)
    return Paginator(listed, SHOWN_PER_PAGE).get_page(number or 1 + at // SHOWN_PER_PAGE)


def _home(request: HttpRequest, admission: Admission, form: NumberForm) -> HttpResponse:
    around = surroundings(admission, just_saved=request.GET.get("saved", ""))
    offer = following(admission)
    least, most = n_questions(admission.batch)
    return render(
        "home",
        status=422 if form.is_bound else 200,
        **around,
        page=_page(around["mine"], number=request.GET.get("page"), just_saved=around["just_saved"]),
        form=form,
        **offer,
        number=form["number"].value() if form.is_bound else offer["suggested"],
        instructions=shown_definition(admission.batch).instructions,
        time_allowed=time_allowed(admission.batch),
        pay_rule=pay_rule(admission.batch, is_named=admission.crowd.is_invited),
        n_questions=most,
        has_shorter=least < most,
        consent=shown(admission.batch),
    )
