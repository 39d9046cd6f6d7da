"""What the back office's pages share: whose rows are shown, and secrets shown once."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from marketplace.models import Requester

# Django's own classes take no type arguments at run time.
if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


def is_administrator(request: HttpRequest) -> bool:
    """Tell whether somebody is answerable for the whole marketplace, its workers and its money."""
    return bool(request.user.is_active and request.user.is_superuser)


def own_requesters(request: HttpRequest) -> QuerySet[Requester]:
    """Return the accounts somebody may see: administrators all, others those they are named in."""
    if is_administrator(request):
        return Requester.objects.all()
    return Requester.objects.filter(researchers=request.user.pk)


class OwnedAdmin(ModelAdmin):
    """Rows of the requesters that somebody may see; `owner` leads from a row to its requester."""

    owner = "requester"

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        rows = super().get_queryset(request)
        if is_administrator(request):
            return rows
        return rows.filter(**{f"{self.owner}__in": own_requesters(request)})


class ReadOnlyAdmin(OwnedAdmin):
    """Rows that only the engine writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def show_once(request: HttpRequest, *, title: str, columns: list[str], rows: list[list[str]]) -> HttpResponse:
    """Answer with secrets that are kept nowhere else: no cookie, no message, no cache."""
    context = {**admin.site.each_context(request), "title": title, "columns": columns, "rows": rows}
    response = render(request, "marketplace/admin/secrets.html", context)
    response["Cache-Control"] = "no-store"
    return response
