"""The marketplace's back office: accounts and keys, workers, and what happens, to be read only."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from marketplace import clock, keys, ledger
from marketplace.models import (
    HIT,
    AccessKey,
    Assignment,
    Block,
    Bonus,
    Entry,
    HITType,
    QualificationType,
    Requester,
    Worker,
)

DEPOSIT_CENTS = 100_000

# Django's own classes take no type arguments at run time.
if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
else:
    ModelAdmin = admin.ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """Rows that only the engine writes."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Requester)
class RequesterAdmin(ModelAdmin):
    """An account starts without money: deposit, then make a key."""

    list_display = ["name", "available", "held", "created_at"]
    list_select_related = ["balance"]
    search_fields = ["name"]
    actions = ["deposit", "make_key"]

    def has_delete_permission(self, request: HttpRequest, obj: Requester | None = None) -> bool:
        return False

    @admin.display(description="Available ($)")
    def available(self, requester: Requester) -> str:
        return ledger.dollars(_balance(requester, "available_cents"))

    @admin.display(description="Held ($)")
    def held(self, requester: Requester) -> str:
        return ledger.dollars(_balance(requester, "held_cents"))

    @admin.action(description=f"Deposit ${ledger.dollars(DEPOSIT_CENTS)}")
    def deposit(self, request: HttpRequest, requesters: QuerySet[Requester]) -> None:
        for requester in requesters:
            ledger.deposit(requester, cents=DEPOSIT_CENTS, now=clock.now())
        self.message_user(request, f"Deposited ${ledger.dollars(DEPOSIT_CENTS)} each.", messages.SUCCESS)

    @admin.action(description="Make an access key (the secret is shown once)")
    def make_key(self, request: HttpRequest, requesters: QuerySet[Requester]) -> None:
        for requester in requesters:
            key, secret = keys.create_key(requester)
            self.message_user(request, f"{requester}: {key.key_id} / {secret}", messages.WARNING)


def _balance(requester: Requester, column: str) -> int:
    balance = getattr(requester, "balance", None) or ledger.balance_of(requester)
    cents: int = getattr(balance, column)
    return cents


@admin.register(AccessKey)
class AccessKeyAdmin(ModelAdmin):
    """Keys are made from the requester's row; here they are only closed and opened."""

    list_display = ["key_id", "requester", "is_active", "loopback_only", "created_at"]
    list_select_related = ["requester"]
    fields = ["key_id", "requester", "is_active"]
    readonly_fields = ["key_id", "requester"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


@admin.register(Worker)
class WorkerAdmin(ModelAdmin):
    """A new worker gets an id and an access code, shown once after saving."""

    list_display = ["worker_id", "is_active", "created_at"]
    list_filter = ["is_active"]
    search_fields = ["worker_id"]
    fields = ["is_active", "country", "subdivision"]
    actions = ["new_code"]

    def has_delete_permission(self, request: HttpRequest, obj: Worker | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Worker, form: "ModelForm[Worker]", change: bool) -> None:
        code = None if change else keys.give_new_code(obj)
        super().save_model(request, obj, form, change)
        if code:
            self._show(request, obj, code)

    @admin.action(description="Give a new access code (shown once)")
    def new_code(self, request: HttpRequest, workers: QuerySet[Worker]) -> None:
        for worker in workers:
            code = keys.give_new_code(worker)
            worker.save(update_fields=["code_digest"])
            self._show(request, worker, code)

    def _show(self, request: HttpRequest, worker: Worker, code: str) -> None:
        self.message_user(request, f"{worker.worker_id} / {code}", messages.WARNING)


@admin.register(HITType)
class HITTypeAdmin(ReadOnlyAdmin):
    list_display = ["type_id", "title", "requester", "reward", "created_at"]
    list_select_related = ["requester"]
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
    list_filter = ["requester"]
    search_fields = ["hit_id", "annotation"]


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ["assignment_id", "hit", "worker", "status", "accepted_at", "submitted_at"]
    list_select_related = ["hit", "worker"]
    list_filter = ["status"]
    search_fields = ["assignment_id", "worker__worker_id", "hit__hit_id"]
    show_full_result_count = False


@admin.register(Entry)
class EntryAdmin(ReadOnlyAdmin):
    list_display = ["id", "requester", "source", "target", "amount", "assignment", "created_at"]
    list_select_related = ["requester", "assignment"]
    list_filter = ["requester", "source", "target"]
    show_full_result_count = False

    @admin.display(description="Amount ($)")
    def amount(self, entry: Entry) -> str:
        return ledger.dollars(entry.cents)


@admin.register(Bonus)
class BonusAdmin(ReadOnlyAdmin):
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
