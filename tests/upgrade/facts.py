"""What a study's data say, told in terms that outlast rows, keys and the names of modules.

The generator of an old version's data has imported this once, to write down as expected what that version's code told;
the tests ask today's code for the same, after the data were brought up to date. Models go by
their labels: where one is renamed, its new label stands here, and what is told stays.
"""

import json
from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.db.models import Count, QuerySet, Sum

OF_ASSIGNMENT = ("assignment_id", "worker__source", "worker__worker_id")


def facts() -> dict[str, Any]:
    """Return {what: rows}, as JSON gives them back."""
    of_everything: dict[str, Callable[[], list[Any]]] = {
        "assignments": assignments,
        "responses": responses,
        "ratings": ratings,
        "decisions": decisions,
        "audit": audit_entries,
        "calls": calls,
        "entries": entries,
        "sums": sums,
        "rights": rights,
    }
    return {what: in_order(tell()) for what, tell in of_everything.items()}


def of(label: str) -> QuerySet[Any]:
    """Return all rows of a model, in no order."""
    return apps.get_model(label)._default_manager.order_by()


def in_order(rows: list[Any]) -> list[Any]:
    """Return rows as JSON gives them back, in an order that hangs on nothing but what they say."""
    return [json.loads(text) for text in sorted(json.dumps(row, default=str, sort_keys=True) for row in rows)]


def assignments() -> list[Any]:
    work = ("hit__hit_id", "hit__questionnaire__batch__name", "channel", "status")
    texts = ("feedback", "comment", "answer_xml")
    times = (
        "loaded_at",
        "saved_at",
        "accepted_at",
        "submitted_at",
        "auto_approval_at",
        "approved_at",
        "rejected_at",
    )
    return list(of("annotators.Assignment").values_list(*OF_ASSIGNMENT, *work, *texts, *times))


def responses() -> list[Any]:
    """Tell what was shown by system, whatever an output's key is."""
    systems = dict(of("surveys.Output").values_list("pk", "system"))
    facts = ("position", "draft", "answer", "is_correct", "skip_reason", "active_seconds", "saved_at")
    return [
        [
            response.assignment.assignment_id,
            response.worker.worker_id,
            response.item.external_id,
            [systems[pk] for pk in response.shown.get("outputs", [])],
            response.shown.get("choices"),
            *(getattr(response, name) for name in facts),
        ]
        for response in of("surveys.Response").select_related("assignment", "worker", "item")
    ]


def ratings() -> list[Any]:
    where = [f"response__assignment__{name}" for name in OF_ASSIGNMENT]
    facts = ("response__item__external_id", "output__system", "criterion", "value", "score")
    return list(of("surveys.Rating").values_list(*where, *facts))


def decisions() -> list[Any]:
    """Tell every decision: about pay, use, standing, appeals and replacements."""
    work = [f"assignment__{name}" for name in OF_ASSIGNMENT]
    replaced = [f"replaces__{name}" for name in OF_ASSIGNMENT]
    pay = ("verdict", "reason", "flags", "policy", "rule_version", "decided_by__username", "decided_at")
    back = ("overturned_at", "overturned_by__username", "overturn_reason")
    use = ("is_included", "is_replaced", "reason", "decided_by__username", "decided_at")
    appeal = ("code", "text", "made_at", "outcome", "answer", "answered_at", "answered_by__username")
    standing = ("source", "worker_id", "standing", "purged_at")
    return [
        *(["pay", *row] for row in of("surveys.Decision").values_list(*work, *pay, *back)),
        *(["use", *row] for row in of("surveys.Inclusion").values_list(*work, *use)),
        *(["appeal", *row] for row in of("surveys.Appeal").values_list(*work, *appeal)),
        *(
            ["replaced", *row]
            for row in of("surveys.Replacement").values_list(*replaced, "opened_by", "opened_at")
        ),
        *(["standing", *row] for row in of("annotators.Worker").values_list(*standing)),
    ]


def audit_entries() -> list[Any]:
    facts = ("at", "kind", "outcome", "reason", "rule_version", "details", "actor__username", "batch__name")
    return list(
        of("surveys.AuditEntry").values_list(*facts, "assignment__assignment_id", "worker__worker_id")
    )


def calls() -> list[Any]:
    facts = ("token", "operation", "endpoint", "state", "amount", "attempts", "error", "arguments")
    return list(of("annotators.Call").values_list(*facts, "hit__hit_id", "assignment__assignment_id"))


def entries() -> list[Any]:
    facts = ("requester__name", "source", "target", "cents", "reference", "created_at")
    return list(of("marketplace.Entry").values_list(*facts, "hit__hit_id", "assignment__assignment_id"))


def rights() -> list[Any]:
    """Tell who may do what, whose survey it is, and what the admin's history is about."""
    role = ("username", "groups__name", "is_staff", "is_superuser")
    given = ("name", "permissions__content_type__app_label", "permissions__codename")
    return [
        *(
            ["may", user.username, sorted(user.get_all_permissions())]
            for user in of("auth.User").filter(is_superuser=False)
        ),
        *(["role", *row] for row in of("auth.User").values_list(*role)),
        *(["group", *row] for row in of("auth.Group").values_list(*given)),
        *(["team", *row] for row in of("surveys.Survey").values_list("slug", "is_shared", "team__username")),
        *(["history", *told(entry)] for entry in of("admin.LogEntry").select_related("user", "content_type")),
    ]


def told(entry: Any) -> list[Any]:
    """Tell an entry of the admin's history with the object that its content type leads to."""
    found = entry.get_edited_object()
    return [entry.action_time, entry.user.username, found._meta.label, str(found), entry.get_change_message()]


def sums() -> list[Any]:
    """Tell what the outbox spent, in dollars, what moved between the marketplace's accounts, and balances, in cents."""
    spent = (
        of("annotators.Call")
        .values_list("endpoint", "operation", "state")
        .annotate(Count("pk"), Sum("amount"))
    )
    moved = of("marketplace.Entry").values_list("requester__name", "source", "target")
    balances = ("requester__name", "available_cents", "held_cents")
    return [
        *(["outbox", *row[:-1], f"{row[-1]:.2f}"] for row in spent),
        *(["moved", *row] for row in moved.annotate(Count("pk"), Sum("cents"))),
        *(["balance", *row] for row in of("marketplace.Balance").values_list(*balances)),
    ]
