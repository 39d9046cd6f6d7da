"""The marketplace's facts and the ledger, to read. Only a worker's standing can be changed by hand."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest

from annotators.models import HIT, Assignment, Call, HITType, Worker

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class KeptAdmin(ModelAdmin):
    """Rows that are written by the system and stay: nobody adds or deletes them by hand."""

    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(KeptAdmin):
    """Rows nobody changes by hand either."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Worker)
class WorkerAdmin(KeptAdmin):
    list_display = ["worker_id", "source", "standing", "n_assignments", "created_at"]
    list_filter = ["source", "standing"]
    search_fields = ["worker_id"]
    readonly_fields = ["worker_id", "source", "created_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Worker]:
        workers: QuerySet[Worker] = super().get_queryset(request)
        return workers.annotate(n_assignments=Count("assignments"))

    @admin.display(description="assignments", ordering="n_assignments")
    def n_assignments(self, worker: Any) -> int:
        return int(worker.n_assignments)


@admin.register(HITType)
class HITTypeAdmin(ReadOnlyAdmin):
    list_display = ["hit_type_id", "title", "endpoint", "reward"]
    list_filter = ["endpoint"]
    search_fields = ["hit_type_id", "title"]


@admin.register(HIT)
class HITAdmin(ReadOnlyAdmin):
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
    date_hierarchy = "created_at"

    @admin.display(ordering="hit_type__endpoint")
    def endpoint(self, hit: HIT) -> str:
        return hit.hit_type.endpoint


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ["assignment_id", "worker", "hit", "status", "submitted_at", "auto_approval_at"]
    list_filter = ["status", "hit__hit_type__endpoint"]
    list_select_related = ["worker", "hit"]
    search_fields = ["assignment_id", "worker__worker_id", "hit__hit_id"]
    exclude = ["nonce"]


@admin.register(Call)
class CallAdmin(ReadOnlyAdmin):
    list_display = [
        "created_at",
        "operation",
        "endpoint",
        "amount",
        "state",
        "hit",
        "assignment_id_there",
        "error",
    ]
    list_filter = ["state", "operation", "endpoint"]
    list_select_related = ["hit", "assignment"]
    search_fields = ["token", "hit__hit_id", "assignment__assignment_id"]
    date_hierarchy = "created_at"
    ordering = ["-created_at"]

    @admin.display(description="AssignmentId")
    def assignment_id_there(self, call: Call) -> str:
        return call.assignment.assignment_id if call.assignment else ""
