"""What is kept about whoever is signed in: to look at, to take along, and to delete."""

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.accounts import keys, limits
from marketplace.accounts.sessions import worker_required
from marketplace.engine import forgetting
from marketplace.models import Worker
from marketplace.site.arrivals import arrive

TOO_OFTEN = gettext_lazy("Too many attempts have failed. Wait a quarter of an hour.")


class DeleteForm(forms.Form):
    """The access code once more: a screen left open is nobody's wish to be forgotten."""

    access_code = forms.CharField(
        max_length=64,
        label=gettext_lazy("Your access code, to delete the account"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def check(self, worker: Worker, *, address: str) -> bool:
        """Say whether the code is the worker's; wrong ones count as failed sign-ins do."""
        visitor = {"worker_id": worker.worker_id, "address": address}
        if limits.is_blocked(**visitor, now=timezone.now()):
            self.add_error("access_code", TOO_OFTEN)
        elif not keys.check_code(worker, code=self.cleaned_data["access_code"]):
            limits.note_failure(**visitor, now=timezone.now())
            self.add_error("access_code", gettext("This is not the access code of this account."))
        return self.is_valid()


@require_safe
@worker_required
def own_data(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Show what is kept, and what a deletion would take away and leave."""
    return _page(request, worker, DeleteForm(label_suffix=""))


@require_safe
@worker_required
def download(request: HttpRequest, worker: Worker) -> HttpResponse:
    response = JsonResponse(forgetting.own_data(worker), json_dumps_params={"indent": 1})
    response["Content-Disposition"] = f'attachment; filename="{worker.worker_id}.json"'
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@worker_required
def delete(request: HttpRequest, worker: Worker) -> HttpResponse:
    form = DeleteForm(request.POST, label_suffix="")
    if not form.is_valid() or not form.check(worker, address=limits.address_of(request)):
        return _page(request, worker, form, status=422)
    if forgetting.erase(worker, now=clock.now()):
        return _page(request, worker, form, status=409)
    request.session.flush()
    return render(request, "marketplace/site/deleted.html")


def _page(request: HttpRequest, worker: Worker, form: DeleteForm, *, status: int = 200) -> HttpResponse:
    arrive(request)
    context = {
        "worker": worker,
        "form": form,
        "kept": forgetting.own_data(worker),
        "holding": forgetting.holding(worker, now=clock.now()),
    }
    response = render(request, "marketplace/site/own_data.html", context, status=status)
    response["Cache-Control"] = "no-store"
    return response
