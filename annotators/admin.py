"""The marketplace's facts and the outbox, to read. Only a worker's standing can be changed by hand.

What belongs to a study is registered where it is known who may see which: in surveys/pages/study/team_admin.py.
"""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from annotators.models import HIT, Assignment, Call, Worker
from annotators.models.calls import OPEN_FIRST
from annotators.outbox import journal
from annotators.people.names import pseudonym
from annotators.people.pseudonyms import called
from statements.long_lists import LongListAdmin

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class KeptAdmin(ModelAdmin):
    """Rows that are written by the system and stay: nobody adds or deletes them by hand."""

    list_per_page = 25
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(KeptAdmin):
    """Rows nobody changes by hand either."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def n_of(assignments: QuerySet[Assignment]) -> Coalesce:
    """Count a worker's own among these, for the rows that are shown."""
    own = assignments.filter(worker=OuterRef("pk")).order_by().values("worker").annotate(n=Count("pk"))
    return Coalesce(Subquery(own.values("n")), 0)


class WorkerAdmin(LongListAdmin, ReadOnlyAdmin):
    """A list to search. Each worker has a page of their own, where a change of standing asks for its reason."""

    list_display = ["name", "pseudonym", "source", "standing", "n_assignments", "created_at"]
    list_display_links = None
    list_filter = ["source", "standing"]
    search_fields = ["worker_id"]
    search_help_text = "By id, or by pseudonym from its first four letters on."

    def get_queryset(self, request: HttpRequest) -> QuerySet[Worker]:
        workers: QuerySet[Worker] = super().get_queryset(request)
        return workers.annotate(n_assignments=n_of(Assignment.objects.all()))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Worker], search_term: str
    ) -> tuple[QuerySet[Worker], bool]:
        """Find workers by their pseudonyms too, which are in no column."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        same = called(search_term.strip(), among=queryset)
        either = queryset.filter(Q(pk__in=found.order_by().values("pk")) | Q(pk__in=same))
        return (either if same else found), may_repeat

    def pseudonym(self, worker: Worker) -> str:
        return pseudonym(worker.worker_id)

    @admin.display(description="worker")
    def name(self, worker: Worker) -> str:
        return format_html('<a href="{}">{}</a>', reverse("worker", args=[worker.pk]), worker.worker_id)

    @admin.display(description="assignments")
    def n_assignments(self, worker: Any) -> int:
        return int(worker.n_assignments)


class HITTypeAdmin(ReadOnlyAdmin):
    list_display = ["hit_type_id", "title", "endpoint", "reward"]
    list_filter = ["endpoint"]
    search_fields = ["hit_type_id", "title"]


class HITAdmin(LongListAdmin, ReadOnlyAdmin):
    list_display = [
        "hit_id",
        "endpoint",
        "status",
        "max_assignments",
        "created_at",
        "expires_at",
        "synced_at",
    ]
    list_filter = ["hit_type__endpoint", "status"]
    list_select_related = ["hit_type"]
    search_fields = ["hit_id"]

    def endpoint(self, hit: HIT) -> str:
        return hit.hit_type.endpoint


class AssignmentAdmin(LongListAdmin, ReadOnlyAdmin):
    list_display = ["assignment_id", "worker", "hit", "status", "submitted_at", "auto_approval_at"]
    list_filter = ["status", "hit__hit_type__endpoint"]
    list_select_related = ["worker", "hit"]
    search_fields = ["assignment_id", "worker__worker_id", "hit__hit_id"]
    exclude = ["nonce"]


class UnsettledFilter(admin.SimpleListFilter):
    """Calls whose outcome is not known, or that wait to be made again."""

    title = "outcome"
    parameter_name = "unsettled"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("1", "Not known or left")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Call]) -> QuerySet[Call]:
        return queryset.filter(pk__in=journal.unsettled()) if self.value() else queryset


class CallAdmin(LongListAdmin, ReadOnlyAdmin):
    """The outbox. Calls without an outcome come first, unknown ones marked; the sweep settles them."""

    list_display = [
        "created_at",
        "operation",
        "endpoint",
        "amount",
        "outcome",
        "attempts",
        "hit",
        "assignment_id_there",
        "token",
        "error",
    ]
    list_filter = [UnsettledFilter, "state", "operation", "endpoint"]
    list_select_related = ["hit", "assignment"]
    search_fields = ["token", "hit__hit_id", "assignment__assignment_id"]
    ordering = (OPEN_FIRST, "-created_at")

    @admin.display(description="state")
    def outcome(self, call: Call) -> str:
        label = Call.State(call.state).label
        if call.state != Call.State.UNKNOWN:
            return str(label)
        return format_html("<strong>⚠ {}</strong>", label)

    @admin.display(description="AssignmentId")
    def assignment_id_there(self, call: Call) -> str:
        return call.assignment.assignment_id if call.assignment else ""
