"""Requesters, their money and keys, and the workers."""

from collections.abc import Iterable

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from marketplace import clock
from marketplace.accounts import keys
from marketplace.admin import statements
from marketplace.admin.base import ModelAdmin, OwnedAdmin, is_administrator, own_requesters, show_once
from marketplace.models import AccessKey, Requester, Worker
from marketplace.money import ledger

DEPOSIT_CENTS = 100_000
KEY_COLUMNS = ["Requester", "Access key id", "Secret access key"]
WORKER_COLUMNS = ["Worker id", "Access code"]


@admin.register(Requester)
class RequesterAdmin(OwnedAdmin):
    """An account starts without money: an administrator deposits, then its researchers make keys."""

    owner = "pk"
    list_display = ["name", "available", "held", "statement", "created_at"]
    list_select_related = ["balance"]
    search_fields = ["name"]
    filter_horizontal = ["researchers"]
    actions = ["deposit", "make_key"]

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view
        return [
            path("<int:pk>/statement/", page(statements.statement), name="marketplace_statement"),
            path("<int:pk>/statement.csv", page(statements.days_csv), name="marketplace_statement_days"),
            path("<int:pk>/entries.csv", page(statements.entries_csv), name="marketplace_statement_entries"),
            *super().get_urls(),
        ]

    def has_delete_permission(self, request: HttpRequest, obj: Requester | None = None) -> bool:
        return False

    def has_deposit_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    def has_change_permission(self, request: HttpRequest, obj: Requester | None = None) -> bool:
        """Only administrators say who runs an account."""
        return is_administrator(request) and super().has_change_permission(request, obj)

    @admin.display(description="Available ($)")
    def available(self, requester: Requester) -> str:
        return ledger.dollars(_balance(requester, "available_cents"))

    @admin.display(description="Held ($)")
    def held(self, requester: Requester) -> str:
        return ledger.dollars(_balance(requester, "held_cents"))

    @admin.display(description="Statement")
    def statement(self, requester: Requester) -> SafeString:
        address = reverse("admin:marketplace_statement", args=[requester.pk])
        return format_html('<a href="{}" aria-label="Statement of {}">Statement</a>', address, requester.name)

    @admin.action(description=f"Deposit ${ledger.dollars(DEPOSIT_CENTS)}", permissions=["deposit"])
    def deposit(self, request: HttpRequest, requesters: QuerySet[Requester]) -> None:
        for requester in requesters:
            ledger.deposit(requester, cents=DEPOSIT_CENTS, now=clock.now())
            self.log_change(request, requester, f"Deposited ${ledger.dollars(DEPOSIT_CENTS)}.")
        self.message_user(request, f"Deposited ${ledger.dollars(DEPOSIT_CENTS)} each.", messages.SUCCESS)

    @admin.action(description="Make an access key (the secret is shown once)", permissions=["make_key"])
    def make_key(self, request: HttpRequest, requesters: QuerySet[Requester]) -> HttpResponse:
        rows = []
        for requester in requesters:
            key, secret = keys.create_key(requester)
            self.log_change(request, requester, f"Made the access key {key.key_id}.")
            rows.append([requester.name, key.key_id, secret])
        return show_once(request, title="New access keys", columns=KEY_COLUMNS, rows=rows)

    def has_make_key_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("marketplace.add_accesskey")


def _balance(requester: Requester, column: str) -> int:
    balance = getattr(requester, "balance", None) or ledger.balance_of(requester)
    cents: int = getattr(balance, column)
    return cents


@admin.register(AccessKey)
class AccessKeyAdmin(OwnedAdmin):
    """Keys are made from the requester's row; here they are revoked, for good."""

    list_display = ["key_id", "requester", "is_active", "loopback_only", "created_at"]
    list_select_related = ["requester"]
    list_filter = ["is_active"]
    fields = ["key_id", "requester", "is_active", "created_at"]
    readonly_fields = ["key_id", "requester", "is_active", "created_at"]
    actions = ["revoke"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: AccessKey | None = None) -> bool:
        return False

    @admin.action(description="Revoke for good", permissions=["change"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[AccessKey]) -> None:
        for key in chosen.filter(is_active=True):
            self.log_change(request, key, "Revoked.")
        revoked = chosen.filter(is_active=True).update(is_active=False)
        self.message_user(request, f"Keys revoked: {revoked}.", messages.SUCCESS)


@admin.register(Worker)
class WorkerAdmin(ModelAdmin):
    """A new worker gets an id and an access code, shown once after saving.

    Workers belong to the whole marketplace: researchers may see who worked for them, and change nothing.
    """

    list_display = ["worker_id", "is_active", "created_at"]
    list_filter = ["is_active"]
    search_fields = ["worker_id"]
    fields = ["is_active", "country", "subdivision"]
    actions = ["new_code"]

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Worker]":
        workers = super().get_queryset(request)
        if is_administrator(request):
            return workers
        return workers.filter(assignments__hit__requester__in=own_requesters(request)).distinct()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return is_administrator(request)

    def has_change_permission(self, request: HttpRequest, obj: Worker | None = None) -> bool:
        return is_administrator(request)

    def has_delete_permission(self, request: HttpRequest, obj: Worker | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Worker, form: "ModelForm[Worker]", change: bool) -> None:
        if not change:
            keys.give_new_code(obj)
        super().save_model(request, obj, form, change)

    def response_add(
        self, request: HttpRequest, obj: Worker, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._with_new_codes(request, [obj], title="New worker")

    @admin.action(description="Give a new access code (shown once)", permissions=["change"])
    def new_code(self, request: HttpRequest, workers: QuerySet[Worker]) -> HttpResponse:
        return self._with_new_codes(request, workers, title="New access codes")

    def _with_new_codes(self, request: HttpRequest, workers: Iterable[Worker], *, title: str) -> HttpResponse:
        rows = []
        for worker in workers:
            code = keys.give_new_code(worker)
            worker.save(update_fields=["code_digest"])
            self.log_change(request, worker, "Gave a new access code.")
            rows.append([worker.worker_id, code])
        return show_once(request, title=title, columns=WORKER_COLUMNS, rows=rows)
