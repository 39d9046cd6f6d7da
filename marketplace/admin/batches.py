"""Template batches in the back office: where their pages hang."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from marketplace.admin import batch_pages
from marketplace.admin.base import OwnedAdmin, own_requesters
from marketplace.models import TemplateBatch
from marketplace.money import ledger


@admin.register(TemplateBatch)
class TemplateBatchAdmin(OwnedAdmin):
    """A list of batches; every other page is in `batch_pages`."""

    list_display = ["title", "requester", "reward", "max_assignments", "created_at", "published_at"]
    list_select_related = ["requester"]
    search_fields = ["title"]

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view
        views: dict[str, Any] = {
            "publish/": batch_pages.publish,
            "discard/": batch_pages.discard,
            "results.csv": batch_pages.results,
            "decide/": batch_pages.decide,
            "rows/<int:number>/": batch_pages.row,
        }
        own = [
            path(f"<int:pk>/{route}", page(view), name=f"marketplace_batch_{view.__name__}")
            for route, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and own_requesters(request).exists()

    def has_change_permission(self, request: HttpRequest, obj: TemplateBatch | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: TemplateBatch | None = None) -> bool:
        return False

    @admin.display(description="Reward ($)")
    def reward(self, batch: TemplateBatch) -> str:
        return ledger.dollars(batch.reward_cents)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return batch_pages.new(request)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        return batch_pages.batch(request, pk=batch_pages.number(object_id))
