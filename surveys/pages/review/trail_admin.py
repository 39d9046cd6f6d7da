"""The whole audit trail in the admin, to search and to read."""

from typing import Any

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotators.admin import ReadOnlyAdmin
from statements.long_lists import LongListAdmin
from surveys import audit
from surveys.models import AuditEntry
from surveys.pages.study.team_admin import OfTeams


@admin.register(AuditEntry)
class AuditEntryAdmin(OfTeams, LongListAdmin, ReadOnlyAdmin):
    list_display = [
        "at",
        "kind",
        "what",
        "by",
        "reason",
        "survey",
        "batch",
        "about_worker",
        "about_assignment",
    ]
    list_per_page = 12
    list_filter = ["kind", "at"]
    list_select_related = ["actor", "survey", "batch", "worker", "assignment"]
    search_fields = ["reason", "outcome", "batch__name", "worker__worker_id", "actor__username"]
    ordering = ("-at", "-pk")

    @admin.display(description="outcome")
    def what(self, entry: AuditEntry) -> str:
        return audit.in_words(entry.outcome)

    @admin.display(description="by")
    def by(self, entry: AuditEntry) -> str:
        return entry.by_whom

    @admin.display(description="worker")
    def about_worker(self, entry: AuditEntry) -> SafeString | str:
        if not entry.worker:
            return ""
        return _link("worker", entry.worker_id, text=entry.worker.worker_id)

    @admin.display(description="assignment")
    def about_assignment(self, entry: AuditEntry) -> SafeString | str:
        if not (entry.assignment_id and entry.batch_id):
            return ""
        return _link("assignment", entry.batch_id, entry.assignment_id, text=f"#{entry.assignment_id}")


def _link(name: str, *args: Any, text: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse(name, args=args), text)
