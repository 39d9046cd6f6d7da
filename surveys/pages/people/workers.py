"""One worker over all batches, whether they may go on, and what they have asked for: their data, or its end."""

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotators.models import Source, Worker
from annotators.people.names import pseudonym
from surveys import audit
from surveys.operations.holding import in_the_way
from surveys.operations.own_data import forget_for, own_data
from surveys.pages.access import researcher
from surveys.pages.people.worker_facts import worker_facts
from surveys.review.standing import change_standing

WHAT_FOLLOWS = {
    Worker.Standing.OK: "May work",
    Worker.Standing.WATCH: "Watched: a person looks at whatever the rules would approve",
    Worker.Standing.EXCLUDED: "Excluded: gets nothing new; what they have begun can be finished and is paid",
}


class StandingForm(forms.Form):
    """A worker's standing, the reason of the change, and what it `was` on the page that is sent."""

    standing = forms.ChoiceField(choices=list(WHAT_FOLLOWS.items()), widget=forms.RadioSelect)
    reason = forms.CharField(
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3, "class": "wide"}),
        error_messages={
            "required": "Give a reason; it goes into the audit trail. The worker does not read it."
        },
    )
    was = forms.ChoiceField(choices=Worker.Standing.choices, widget=forms.HiddenInput)


VIEW = ("surveys.view_batch", "annotators.view_assignment", "annotators.view_worker")


@never_cache
@require_safe
@researcher(*VIEW)
def worker(request: HttpRequest, worker_pk: int) -> HttpResponse:
    """Show a worker's work with the three decisions about each, their numbers, and what was decided about them."""
    return _page(request, get_object_or_404(Worker, pk=worker_pk))


@never_cache
@require_POST
@researcher(*VIEW, "annotators.change_worker")
def standing(request: HttpRequest, worker_pk: int) -> HttpResponse:
    """Change a worker's standing. What somebody else has changed meanwhile is not overwritten."""
    found = get_object_or_404(Worker, pk=worker_pk)
    form = StandingForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form=form, status=422)
    wanted = form.cleaned_data
    is_changed = change_standing(
        found,
        to=wanted["standing"],
        was=wanted["was"],
        reason=wanted["reason"],
        by=request.user,  # type: ignore[arg-type]
    )
    if not is_changed:
        form.add_error(None, f"Meanwhile somebody set it to “{found.get_standing_display()}”. Look again.")
        return _page(request, found, form=form, status=409)
    messages.success(request, f"Standing: {found.get_standing_display()}.")
    return redirect("worker", found.pk)


@never_cache
@require_POST
@researcher(*VIEW)
def hand_out(request: HttpRequest, worker_pk: int) -> HttpResponse:
    """Send what is kept about a person as JSON, for them; that it was taken is in the audit trail."""
    found = _for_superuser(request, worker_pk)
    response = JsonResponse(own_data(found), json_dumps_params={"indent": 1})
    response["Content-Disposition"] = f'attachment; filename="data-of-{pseudonym(found.worker_id)}.json"'
    audit.record(audit.Kind.DOWNLOAD, "own_data", worker=found, by=request.user)
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@researcher(*VIEW)
def forget(request: HttpRequest, worker_pk: int) -> HttpResponse:
    """Say what a deletion takes away and leaves, or what is in its way; delete once that is confirmed."""
    found = _for_superuser(request, worker_pk)
    if request.method == "POST" and not forget_for(found, by=request.user):
        messages.success(request, "Deleted. Their answers stay.")
        return redirect("worker", found.pk)
    reasons = in_the_way(found)
    context = {
        **admin.site.each_context(request),
        "title": f"Delete worker {found}",
        "worker": found,
        "reasons": reasons,
        "comes_by_link": found.source == Source.LINK,
        "has_account": found.source == Source.EMBEDDED,
    }
    is_refused = request.method == "POST"
    return render(request, "people/forget.html", context, status=409 if is_refused else 200)


def _for_superuser(request: HttpRequest, worker_pk: int) -> Worker:
    """A person is one over all studies, of which others see only their own."""
    if not request.user.is_superuser:
        raise PermissionDenied
    return get_object_or_404(Worker, pk=worker_pk)


def _page(
    request: HttpRequest, found: Worker, *, form: StandingForm | None = None, status: int = 200
) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        "title": f"Worker {found}",
        "worker": found,
        "facts": worker_facts(found, reader=request.user),
        "form": form or StandingForm(initial={"standing": found.standing}),
    }
    return render(request, "people/worker.html", context, status=status)
