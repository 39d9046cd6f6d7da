"""How tests ask for the researchers' pages, and how they read them."""

import re

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.models import Batch, Decision, Questionnaire
from surveys.review import decisions
from tests.factories import submitted

REASON = "You answered 2 of 5 questions correctly; at least 3 are needed."


def text_of(response) -> str:
    """The page as read: no tags, single spaces."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def url(name: str, batch: Batch) -> str:
    return reverse(name, args=[batch.pk])


def enqueued(callbacks) -> list[tuple[str, tuple]]:
    """What is sent to the worker; what waits a moment has its arguments as the first one."""
    sent = [(one.func.__self__.name, one.func.__name__, one.args) for one in callbacks]
    return [(task, args[0] if how == "apply_async" else args) for task, how, args in sent]


def queries_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        client.get(address)
    return len(captured)


def list_url(questionnaire: Questionnaire, query: str = "") -> str:
    return reverse("assignments", args=[questionnaire.batch_id]) + query


def detail_url(questionnaire: Questionnaire, assignment: Assignment, name: str = "assignment") -> str:
    return reverse(name, args=[questionnaire.batch_id, assignment.pk])


def decide(client: Client, questionnaire: Questionnaire, assignment: Assignment, **data: str):
    return client.post(detail_url(questionnaire, assignment, "decide"), data)


def verdict_of(assignment: Assignment) -> tuple[str, str, str | None]:
    decision = Decision.objects.get(assignment=assignment)
    return decision.verdict, decision.reason, decision.decided_by and decision.decided_by.get_username()


def rejected(questionnaire: Questionnaire) -> Assignment:
    assignment = submitted(questionnaire, n_correct=2)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    Assignment.objects.filter(pk=assignment.pk).update(
        status="Rejected", rejected_at=timezone.now(), feedback=REASON
    )
    assignment.refresh_from_db()
    return assignment


def refuse_overturn(assignment: Assignment) -> None:
    """As if the marketplace had refused to take a rejection back."""
    Call.objects.create(
        token=f"overturn:{assignment.pk}",
        operation=Call.Operation.OVERTURN,
        endpoint="embedded",
        assignment=assignment,
        state=Call.State.REFUSED,
        error="No money.",
        finished_at=timezone.now(),
    )
