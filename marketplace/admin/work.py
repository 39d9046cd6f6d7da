"""What happens on the marketplace, to be read only."""

from django.contrib import admin

from marketplace.admin.base import ReadOnlyAdmin
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

OWN_REQUESTERS = ("requester", admin.RelatedOnlyFieldListFilter)


@admin.register(HITType)
class HITTypeAdmin(ReadOnlyAdmin):
    list_display = ["type_id", "title", "requester", "reward", "created_at"]
    list_select_related = ["requester"]
    list_filter = [OWN_REQUESTERS]
    search_fields = ["type_id", "title"]

    @admin.display(description="Reward ($)")
    def reward(self, hit_type: HITType) -> str:
        return ledger.dollars(hit_type.reward_cents)


@admin.register(HIT)
class HITAdmin(ReadOnlyAdmin):
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
    list_filter = [OWN_REQUESTERS]
    search_fields = ["hit_id", "annotation"]


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    owner = "hit__requester"
    list_display = ["assignment_id", "hit", "worker", "status", "accepted_at", "submitted_at"]
    list_select_related = ["hit", "worker"]
    list_filter = ["status"]
    search_fields = ["assignment_id", "worker__worker_id", "hit__hit_id"]
    show_full_result_count = False


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    list_display = ["id", "requester", "source", "target", "amount", "assignment", "created_at"]
    list_select_related = ["requester", "assignment"]
    list_filter = [OWN_REQUESTERS, "source", "target"]
    show_full_result_count = False

    @admin.display(description="Amount ($)")
    def amount(self, entry: Entry) -> str:
        return ledger.dollars(entry.cents)


@admin.register(Bonus)
class BonusAdmin(ReadOnlyAdmin):
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
