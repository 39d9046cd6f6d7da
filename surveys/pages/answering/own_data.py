"""What is kept about somebody who comes by a personal link: to look at, to take along, and to delete."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from surveys.answering.admissions import owner
from surveys.models import Invitation
from surveys.operations.holding import Waiting, waiting
from surveys.operations.own_data import forget
from surveys.operations.own_data import own_data as data_of
from surveys.pages.answering import language
from surveys.pages.answering.link_page import linked, render


class DeleteForm(forms.Form):
    """Whether they mean it, and do without what is still on its way to them."""

    given_up = forms.BooleanField(
        error_messages={"required": gettext_lazy("Tick the box if you do without it.")}
    )
    confirmed = forms.BooleanField(
        error_messages={"required": gettext_lazy("Tick the box if you want that.")}
    )

    def __init__(self, data: Any = None, *, is_giving_up: bool) -> None:
        super().__init__(data)
        self.fields["given_up"].required = is_giving_up


@linked
@require_GET
def own_data(request: HttpRequest, token: str) -> HttpResponse:
    """Show what is kept, and what a deletion would take away and leave."""
    invitation = owner(token)
    language.follow(invitation.batch, request)
    return _page(invitation, token=token)


@linked
@require_GET
def download(request: HttpRequest, token: str) -> HttpResponse:
    response = JsonResponse(data_of(owner(token).worker), json_dumps_params={"indent": 1})
    response["Content-Disposition"] = 'attachment; filename="my-data.json"'
    return response


@linked
@require_POST
def delete(request: HttpRequest, token: str) -> HttpResponse:
    invitation = owner(token)
    language.follow(invitation.batch, request)
    form = DeleteForm(request.POST, is_giving_up=_can_give_up(waiting(invitation.worker)))
    if not form.is_valid():
        return _page(invitation, token=token, form=form, status=422)
    if forget(invitation.worker, giving_up=form.cleaned_data["given_up"]):
        return _page(invitation, token=token, form=form, status=409)
    return render("deleted")


def _can_give_up(held: list[Waiting]) -> bool:
    return any(one.can_be_given_up for one in held)


def _page(
    invitation: Invitation, *, token: str, form: DeleteForm | None = None, status: int = 200
) -> HttpResponse:
    data, held = data_of(invitation.worker), waiting(invitation.worker)
    return render(
        "own_data",
        status=status,
        token=token,
        form=form or DeleteForm(is_giving_up=_can_give_up(held)),
        name=invitation.name,
        email=invitation.email,
        kept=data,
        n_saved=sum(row["saved_at"] is not None for row in data["annotations"]),
        unsettled=[one for one in held if not one.can_be_given_up],
        giving_up=[one for one in held if one.can_be_given_up],
    )
