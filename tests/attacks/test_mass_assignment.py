"""Forms that are posted more than they ask for: what the system writes is not written by hand."""

from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from annotators.models import Assignment, Worker
from surveys.models import Batch, Decision, Item, Survey
from surveys.publishing.questionnaires import start_publishing
from tests.factories import make_draft, make_hit_type, make_published, make_survey, submitted
from tests.people import client_of
from tests.surveys.pages.publishing.test_batch_form import data_for

pytestmark = pytest.mark.django_db
SYSTEM_WRITES = ("status", "snapshot", "hit_type", "created_by", "created_at", "published_at", "error", "id")


def smuggled() -> dict[str, Any]:
    """What a batch form never asks for, under the names of its columns."""
    return {
        "status": "complete",
        "snapshot": '{"key": "forged"}',
        "hit_type": make_hit_type().pk,
        "created_by": User.objects.create_user("somebody").pk,
        "created_by_id": 1,
        "created_at_0": "2020-01-01",
        "published_at_0": "2020-01-01",
        "published_at": "2020-01-01 00:00",
        "error": "none",
        "id": 999,
        "pk": 999,
        "is_superuser": "on",
        "_state": "x",
    }


def system_columns(batch: Batch) -> dict[str, Any]:
    row = Batch.objects.filter(pk=batch.pk).values().get()
    names = {f"{name}_id" if f"{name}_id" in row else name for name in SYSTEM_WRITES}
    return {name: row[name] for name in names}


def test_a_new_batch_takes_nothing_the_system_writes(researcher: Client) -> None:
    data = data_for(make_survey(n_items=5)) | smuggled()
    researcher.post(reverse("admin:surveys_batch_add"), data)
    batch = Batch.objects.get()
    assert (batch.status, batch.snapshot, batch.hit_type, batch.published_at, batch.error) == (
        "draft", None, None, None, "",
    )  # fmt: skip
    assert (batch.created_by.username, batch.pk == 999) == ("researcher", False)


def test_a_draft_takes_nothing_the_system_writes(researcher: Client) -> None:
    draft = make_draft(make_survey(n_items=5))
    before = system_columns(draft)
    data = data_for(draft.survey, name="Renamed") | smuggled()
    researcher.post(reverse("admin:surveys_batch_change", args=[draft.pk]), data)
    assert Batch.objects.get().name == "Renamed"
    assert system_columns(draft) == before


def test_a_published_batch_takes_its_name_and_no_terms(researcher: Client) -> None:
    draft = make_draft(make_survey(n_items=5))
    start_publishing(draft)
    before = Batch.objects.values().get()
    terms = {
        "survey": make_survey(n_items=1).pk, "endpoint": "production", "title": "x", "description": "x",
        "keywords": "x", "items_per_hit": 1, "assignments_per_hit": 99, "reward": "99.99", "budget": "99999.99",
        "assignment_duration_number": 9, "lifetime_number": 9, "auto_approval_delay_number": 9, "seed": 1,
        "review_policy": '{"rules": []}', "rejects_automatically": "on", "replaces_auto_approved": "",
        "takes_links": "on", "uses_quiz": "on",
    }  # fmt: skip
    data = data_for(draft.survey, name="Renamed") | smuggled() | terms
    researcher.post(reverse("admin:surveys_batch_change", args=[draft.pk]), data)
    after = Batch.objects.values().get()
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"name", "budget"}
    assert (after["reward"], after["endpoint"], after["status"]) == (
        before["reward"], before["endpoint"], before["status"],
    )  # fmt: skip


def test_a_list_can_not_be_edited_in_bulk(researcher: Client) -> None:
    batch = make_published().batch
    data = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": batch.pk, "form-0-status": "draft"}
    researcher.post(reverse("admin:surveys_batch_changelist"), data | {"_save": "Save"})
    assert Batch.objects.get(pk=batch.pk).status == "open"


def test_a_survey_with_items_keeps_its_type(researcher: Client) -> None:
    survey = make_survey(n_items=1)
    data = {"name": "Renamed", "slug": survey.slug, "definition_key": "vtt"}
    researcher.post(reverse("admin:surveys_survey_change", args=[survey.pk]), data)
    assert (Survey.objects.get().name, Survey.objects.get().definition_key) == ("Renamed", "evil-vqax")


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (Assignment, {"status": "Approved", "worker": 1, "feedback": "x", "comment": "x"}),
        (Decision, {"verdict": "reject", "reason": "x"}),
        (Item, {"gold": "no", "external_id": "x"}),
        (Worker, {"worker_id": "AFORGED", "standing": "excluded", "purged_at_0": "2020-01-01"}),
    ],
)
def test_facts_are_not_changed_through_the_admin(
    researcher: Client, model: type[Model], changes: Any
) -> None:
    assignment = submitted(make_published())
    Decision.objects.create(assignment=assignment, verdict="approve", decided_at=assignment.submitted_at)
    row = model._default_manager.values().first()
    assert row is not None
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    answer = researcher.post(reverse(name, args=[row["id"]]), changes | {"_save": "Save"})
    assert answer.status_code in (302, 403)
    assert model._default_manager.values().get(pk=row["id"]) == row


def test_nobody_makes_themselves_a_superuser() -> None:
    for role in ("Researcher", "Assistant"):
        client = client_of(role)
        person = User.objects.get(username=role.lower())
        data = {"username": person.username, "is_superuser": "on", "is_staff": "on", "is_active": "on"}
        assert client.post(reverse("admin:auth_user_change", args=[person.pk]), data).status_code == 403
        assert client.get(reverse("admin:auth_user_password_change", args=[person.pk])).status_code == 403
        person.refresh_from_db()
        assert person.is_superuser is False


def test_the_trail_is_nobodys_to_change(admin_client: Client) -> None:
    """Not even a superuser finds a form for it."""
    from django.contrib import admin

    model = apps.get_model("surveys", "AuditEntry")
    if model_admin := admin.site._registry.get(model):
        request = admin_client.get("/admin/").wsgi_request
        allowed = [
            model_admin.has_add_permission(request),
            model_admin.has_change_permission(request),
            model_admin.has_delete_permission(request),
        ]
        assert allowed == [False, False, False]
