"""Invitation links for new workers, made by an administrator and shown once."""

import csv
from datetime import datetime

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from marketplace import clock
from marketplace.accounts import invitations
from marketplace.admin.base import ModelAdmin, is_administrator
from marketplace.models import Invitation

MOST_LINKS = 1_000


class InvitationForm(forms.Form):
    """How many links, for how many people each, for how long."""

    number = forms.IntegerField(label="Links", min_value=1, max_value=MOST_LINKS, initial=1)
    most_uses = forms.IntegerField(label="People per link", min_value=1, max_value=1000, initial=1)
    days = forms.IntegerField(label="Valid for days", min_value=1, max_value=365, initial=14)
    note = forms.CharField(label="Note, seen here only", max_length=128, required=False)


@admin.register(Invitation)
class InvitationAdmin(ModelAdmin):
    """The links themselves are shown when they are made; afterwards only how often they were used."""

    list_display = ["note_or_number", "used", "most_uses", "created_at", "expires_at", "is_usable"]
    search_fields = ["note"]
    actions = ["withdraw"]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    def has_view_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return is_administrator(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    def has_change_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Invitation | None = None) -> bool:
        return False

    def has_withdraw_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    @admin.display(description="Invitation", ordering="note")
    def note_or_number(self, invitation: Invitation) -> str:
        return str(invitation)

    @admin.display(description="Usable", boolean=True)
    def is_usable(self, invitation: Invitation) -> bool:
        is_left = invitation.used < invitation.most_uses and invitation.expires_at > clock.now()
        return invitation.is_active and is_left

    @admin.action(description="Withdraw", permissions=["withdraw"])
    def withdraw(self, request: HttpRequest, chosen: "QuerySet[Invitation]") -> None:
        withdrawn = chosen.filter(is_active=True).update(is_active=False)
        self.message_user(request, f"Invitations withdrawn: {withdrawn}.", messages.SUCCESS)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = InvitationForm(request.POST or None, label_suffix="")
        if request.method == "POST" and form.is_valid():
            return self._made(request, form)
        context = {**self.admin_site.each_context(request), "title": "Invite workers", "form": form}
        status = 422 if form.is_bound else 200
        return render(request, "marketplace/admin/invite.html", context, status=status)

    def _made(self, request: HttpRequest, form: InvitationForm) -> HttpResponse:
        now = clock.now()
        links = [_address(token) for token in invitations.create(now=now, **form.cleaned_data)]
        if "csv" in request.POST:
            return _csv(links, form=form, now=now)
        context = {
            **self.admin_site.each_context(request),
            "title": "Invitation links",
            "links": links,
            "most_uses": form.cleaned_data["most_uses"],
            "days": form.cleaned_data["days"],
        }
        response = render(request, "marketplace/admin/invited.html", context)
        response["Cache-Control"] = "no-store"
        return response


def _address(token: str) -> str:
    path = reverse("invitation", kwargs={"token": token}, urlconf=settings.MARKETPLACE_URLCONF)
    return f"{settings.MARKETPLACE_URL}{path}"


def _csv(links: list[str], *, form: InvitationForm, now: datetime) -> HttpResponse:
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="invitations.csv"'
    response["Cache-Control"] = "no-store"
    writer = csv.writer(response)
    writer.writerow(["link", "people", "days", "made_at"])
    made_at = now.isoformat(timespec="seconds")
    writer.writerows(
        [link, form.cleaned_data["most_uses"], form.cleaned_data["days"], made_at] for link in links
    )
    return response
