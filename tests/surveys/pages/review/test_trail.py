"""The audit trail in words."""

import pytest
from django.template.loader import render_to_string

from surveys import audit
from surveys.models import AuditEntry
from surveys.templatetags.trail import facts, outcome
from tests.factories import make_published, submitted
from tests.policy_data import NEVER


def test_an_outcome_is_said_in_words() -> None:
    assert [outcome(name) for name in ("reject", "flag", "give", "raw")] == [
        "rejected",
        "waits for a person",
        "given",
        "raw",
    ]


def test_what_is_empty_or_false_is_left_out_and_zero_is_not() -> None:
    details = {"flags": [{"kind": "x"}], "n_correct": 0, "is_auto_approved": False, "budget": None, "was": ""}
    assert facts(details) == [("right answers", "0")]


def test_details_are_words() -> None:
    details = {"is_replaced": True, "payment": "approve", "before": "propose", "with_fee": "1.20"}
    assert facts(details) == [
        ("collected again", "yes"),
        ("payment", "approved"),
        ("before", "rejection proposed"),
        ("with fee", "1.20"),
    ]


def test_a_policy_is_told_as_on_its_page() -> None:
    details = {"after": {"policy": NEVER, "rejects_automatically": True}}
    assert facts(details) == [
        ("after, policy", "Never reject: everybody who submits is paid."),
        ("after, rejects automatically", "yes"),
    ]


@pytest.mark.django_db
def test_a_row_without_details_has_none_to_open() -> None:
    assignment = submitted(make_published())
    for details in ({}, {"n_graded": 5}):
        audit.record(audit.Kind.PAYMENT, "reject", assignment=assignment, details=details)
    rows = [
        render_to_string("review/trail_row.html", {"entry": entry})
        for entry in AuditEntry.objects.order_by("pk")
    ]
    assert ["<details" in row for row in rows] == [False, True]
    assert all("<strong>rejected</strong>" in row for row in rows)
