"""A finished study of long ago, and what its tables say about a worker."""

from datetime import timedelta
from typing import Any

from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db.models import CharField, F, JSONField, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from annotators.models import Assignment, Call, Worker
from surveys import audit
from surveys.answering import collection
from surveys.models import (
    Appeal,
    Batch,
    Consent,
    Decision,
    Inclusion,
    Invitation,
    PanelVisit,
    QuizAttempt,
    Response,
)
from tests import factories

ANN = "A1ANNWORKER77"
YEAR = timedelta(days=365)
OURS = ("annotators", "surveys", "admin", "auth", "sessions")
TIMES: dict[Any, tuple[str, ...]] = {
    Worker: ("created_at",),
    Assignment: ("loaded_at", "saved_at", "accepted_at", "submitted_at", "approved_at", "rejected_at"),
    Invitation: ("created_at", "opened_at"),
    PanelVisit: ("created_at", "completed_at"),
    QuizAttempt: ("created_at",),
    Consent: ("given_at",),
}


def a_finished_study(*, worker: str = ANN, n_correct: int = 5) -> Assignment:
    """Somebody's approved work in a complete batch, a year ago."""
    questionnaire = factories.make_published()
    assignment = factories.submitted(questionnaire, worker=worker, n_correct=n_correct)
    Assignment.objects.filter(pk=assignment.pk).update(status="Approved", approved_at=timezone.now())
    Batch.objects.filter(pk=questionnaire.batch_id).update(status=Batch.Status.COMPLETE)
    a_year_ago()
    return Assignment.objects.get(pk=assignment.pk)


def a_year_ago() -> None:
    """Move everything people did into the past."""
    for model, names in TIMES.items():
        for name in names:
            model.objects.update(**{name: F(name) - YEAR})


def name_everywhere(assignment: Assignment) -> None:
    """Have everybody write the worker's id wherever something can be written."""
    person, worker_id = User.objects.create_user("carla"), assignment.worker.worker_id
    named = f"I am {worker_id}; {worker_id.lower()} too"
    Assignment.objects.filter(pk=assignment.pk).update(
        user_agent=f"Browser of {worker_id}", comment=named, feedback=named, answer_xml=f"<a>{worker_id}</a>"
    )
    Decision.objects.create(
        assignment=assignment,
        verdict="reject",
        reason=named,
        flags=[{"kind": "fast", "sentence": named}],
        decided_at=timezone.now(),
        overturned_at=timezone.now(),
        overturn_reason=named,
    )
    Inclusion.objects.create(
        assignment=assignment, is_included=False, reason=named, decided_at=timezone.now()
    )
    Appeal.objects.create(
        assignment=assignment,
        code="abc",
        text=named,
        made_at=timezone.now(),
        outcome="overturned",
        answer=named,
        answered_at=timezone.now(),
    )
    Call.objects.create(
        token=f"bonus:{assignment.pk}",
        operation="SendBonus",
        endpoint="embedded",
        assignment=assignment,
        arguments={"reason": named},
        state="done",
        error=named,
        finished_at=timezone.now(),
    )
    collection.revise_answers(
        Assignment.objects.get(pk=assignment.pk),
        answers=factories.answers_for(assignment, n_correct=2),
        comment=named,
    )
    Response.objects.filter(assignment=assignment).update(draft={"i1-answer": named}, answer=named)
    audit.record(
        audit.Kind.STANDING,
        "watch",
        worker=assignment.worker,
        by=person,
        reason=named,
        details={"of": named},
    )
    LogEntry.objects.create(
        user=person,
        content_type=ContentType.objects.get_for_model(Worker),
        object_id=str(assignment.worker.pk),
        object_repr=str(assignment.worker),
        action_flag=CHANGE,
        change_message=named,
    )
    a_year_ago()


def cells_with(text: str) -> list[str]:
    """Every column of our tables that holds a text, whatever the case: "table.column"."""
    found = []
    for model in (model for app in OURS for model in apps.get_app_config(app).get_models()):
        for field in model._meta.concrete_fields:
            if isinstance(field, CharField | TextField | JSONField):
                rows = model._default_manager.annotate(cell=Cast(field.name, TextField()))
                if rows.filter(cell__icontains=text).exists():
                    found.append(f"{model.__name__}.{field.name}")
    return sorted(found)
