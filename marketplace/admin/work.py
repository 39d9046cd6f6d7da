"""What happens on the marketplace, to be read only."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from marketplace.admin.base import ReadOnlyAdmin, own_requesters
from marketplace.models import (
    HIT,
    Assignment,
    Block,
    Bonus,
    Entry,
    HITType,
    QualificationType,
)
from marketplace.money import ledger
from statements.long_lists import LongListAdmin


class OwnRequesters(admin.SimpleListFilter):
    """The accounts somebody may see, without looking which of them have rows."""

    title = "requester"
    parameter_name = "requester"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(one.pk), str(one)) for one in own_requesters(request)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        asked = self.value() or ""
        return queryset.filter(requester__id=asked) if asked.isdecimal() else queryset


@admin.register(HITType)
class HITTypeAdmin(LongListAdmin, ReadOnlyAdmin):
    list_display = ["type_id", "title", "requester", "reward", "created_at"]
    list_select_related = ["requester"]
    list_filter = [OwnRequesters]
    search_fields = ["type_id", "title"]

    @admin.display(description="Reward ($)")
    def reward(self, hit_type: HITType) -> str:
        return ledger.dollars(hit_type.reward_cents)


@admin.register(HIT)
class HITAdmin(LongListAdmin, ReadOnlyAdmin):
    list_display = [
        "hit_id",
        "hit_type",
        "max_assignments",
        "pending",
        "submitted",
        "approved",
        "rejected",
        "expires_at",
        "disposed_at",
    ]
    list_select_related = ["hit_type"]
    list_filter = [OwnRequesters]
    search_fields = ["hit_id", "annotation"]


@admin.register(Assignment)
class AssignmentAdmin(LongListAdmin, ReadOnlyAdmin):
    owner = "hit__requester"
    list_display = ["assignment_id", "hit", "worker", "status", "accepted_at", "submitted_at"]
    list_select_related = ["hit", "worker"]
    list_filter = ["status"]
    search_fields = ["assignment_id", "worker__worker_id", "hit__hit_id"]


@admin.register(Entry)
class EntryAdmin(LongListAdmin, ReadOnlyAdmin):
    list_display = ["id", "requester", "source", "target", "amount", "assignment", "created_at"]
    list_select_related = ["requester", "assignment"]
    list_filter = [OwnRequesters, "source", "target"]

    @admin.display(description="Amount ($)")
    def amount(self, entry: Entry) -> str:
        return ledger.dollars(entry.cents)


@admin.register(Bonus)
class BonusAdmin(LongListAdmin, ReadOnlyAdmin):
    owner = "assignment__hit__requester"
    list_display = ["assignment", "worker", "amount", "reason", "paid_at"]
    list_select_related = ["assignment__worker"]
    search_fields = ["assignment__assignment_id", "assignment__worker__worker_id"]

    @admin.display(description="Worker")
    def worker(self, bonus: Bonus) -> str:
        return bonus.assignment.worker.worker_id

    @admin.display(description="Amount ($)")
    def amount(self, bonus: Bonus) -> str:
        return ledger.dollars(bonus.cents)


@admin.register(QualificationType)
class QualificationTypeAdmin(ReadOnlyAdmin):
    list_display = ["type_id", "name", "requester", "status", "auto_granted", "created_at", "disposed_at"]
    list_select_related = ["requester"]
    list_filter = ["status"]
    search_fields = ["type_id", "name"]


@admin.register(Block)
class BlockAdmin(ReadOnlyAdmin):
    list_display = ["worker", "requester", "reason"]
    list_select_related = ["worker", "requester"]
    search_fields = ["worker__worker_id"]
