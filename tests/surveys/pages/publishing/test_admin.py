"""The admin: what may be changed, what is frozen, and that lists stay cheap."""

import re

import pytest
from django.contrib.admin import site
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call, Worker
from surveys import audit
from surveys.models import AuditEntry, Batch, Decision, Survey
from surveys.pages.publishing.admin import BatchAdmin
from surveys.publishing.questionnaires import start_publishing
from surveys.publishing.terms.batch_form import BatchForm
from tests.factories import make_draft, make_item, make_published, make_survey, submitted
from tests.people import client_of
from tests.policy_data import NEVER
from tests.surveys.pages.pages import queries_of, text_of
from tests.surveys.pages.publishing.test_batch_form import data_for

pytestmark = pytest.mark.django_db

LISTS = [
    "surveys_survey", "surveys_item", "surveys_batch", "surveys_questionnaire", "surveys_decision",
    "surveys_auditentry",
    "annotators_worker", "annotators_hittype", "annotators_hit", "annotators_assignment", "annotators_call",
]  # fmt: skip


@pytest.fixture
def researcher() -> Client:
    return client_of("Researcher")


@pytest.fixture
def superuser(admin_client: Client) -> Client:
    return admin_client


def change_url(batch: Batch) -> str:
    return reverse("admin:surveys_batch_change", args=[batch.pk])


def fill(n: int) -> None:
    for _ in range(n):
        questionnaire = make_published()
        assignment = submitted(questionnaire)
        Decision.objects.create(assignment=assignment, verdict="approve", decided_at=timezone.now())
        Call.objects.create(
            token=f"approve:{assignment.pk}", operation="ApproveAssignment", endpoint="embedded",
            hit=questionnaire.hit, assignment=assignment,
        )  # fmt: skip
        audit.record(audit.Kind.PAYMENT, "approve", assignment=assignment, reason="All right.")


def test_a_new_batch_is_a_draft_of_who_made_it(researcher):
    survey = make_survey(n_items=5)
    response = researcher.post(reverse("admin:surveys_batch_add"), data_for(survey))
    batch = Batch.objects.get()
    assert response.url == batch.get_absolute_url()
    assert (batch.status, batch.created_by) == (Batch.Status.DRAFT, User.objects.get(username="researcher"))


def test_the_form_starts_with_the_terms_of_the_survey_asked_for(researcher):
    make_survey()
    survey = make_survey(definition_key="evil-vcr")
    form = (
        researcher.get(reverse("admin:surveys_batch_add") + f"?survey={survey.pk}").context["adminform"].form
    )
    assert str(form["survey"].value()) == str(survey.pk)
    assert form["description"].value() == survey.definition.instructions.summary


def test_errors_keep_the_form_open(researcher):
    response = researcher.post(reverse("admin:surveys_batch_add"), data_for(make_survey(), endpoint=""))
    assert response.status_code == 200
    assert Batch.objects.count() == 0


def test_a_draft_can_be_changed(researcher):
    draft = make_draft(make_survey(n_items=5))
    researcher.post(change_url(draft), data_for(draft.survey, reward="2.00", policy_kind="never"))
    draft.refresh_from_db()
    assert (str(draft.reward), draft.review_policy, draft.name) == ("2.00", NEVER, "First")


def test_what_is_published_is_frozen(researcher):
    draft = make_draft(make_survey(n_items=5))
    start_publishing(draft)
    before = Batch.objects.values().get(pk=draft.pk)
    page = researcher.get(change_url(draft))
    assert sorted(page.context["adminform"].form.fields) == ["assumed_minutes", "name"]
    assert "Proposed for rejection: fewer than 3 of 5 answers right." in text_of(page)
    values = data_for(
        draft.survey, name="Renamed", reward="9.99", policy_kind="never", endpoint="production", seed=1
    )
    researcher.post(change_url(draft), values)
    after = Batch.objects.values().get(pk=draft.pk)
    assert after == {**before, "name": "Renamed"}


def test_a_form_that_was_open_while_the_batch_was_published_changes_nothing(rf):
    """The status moves on between reading the batch and writing it."""
    draft = make_draft(make_survey(n_items=5))
    form = BatchForm(data_for(draft.survey, reward="9.99"), instance=Batch.objects.get(pk=draft.pk))
    assert form.is_valid()
    start_publishing(draft)
    before = Batch.objects.values().get(pk=draft.pk)
    request = rf.post("/")
    request._messages = type("Messages", (), {"add": lambda self, *args: None})()
    BatchAdmin(Batch, site).save_model(request, form.save(commit=False), form, change=True)
    assert Batch.objects.values().get(pk=draft.pk) == before


def test_a_draft_can_be_deleted_and_what_is_published_not(superuser):
    draft, published = make_draft(make_survey()), make_published().batch
    for batch in (draft, published):
        superuser.post(reverse("admin:surveys_batch_delete", args=[batch.pk]), {"post": "yes"})
    chosen = {"action": "delete_selected", "_selected_action": [published.pk], "post": "yes"}
    superuser.post(reverse("admin:surveys_batch_changelist"), chosen)
    assert list(Batch.objects.all()) == [published]


def test_a_survey_with_batches_stays(superuser):
    used, unused = make_draft(make_survey()).survey, make_survey(n_items=2)
    for survey in (used, unused):
        superuser.post(reverse("admin:surveys_survey_delete", args=[survey.pk]), {"post": "yes"})
    assert used in Survey.objects.all()


@pytest.mark.parametrize("name", [name for name in LISTS if name not in {"surveys_survey", "surveys_batch"}])
def test_nobody_adds_what_the_system_writes(superuser, name):
    assert superuser.get(reverse(f"admin:{name}_add")).status_code == 403


@pytest.mark.parametrize("model", [Assignment, Call, Worker])
def test_nobody_deletes_facts(superuser, model):
    fill(1)
    name = model._meta.label_lower.replace(".", "_")
    for pk in model.objects.values_list("pk", flat=True):
        assert superuser.post(reverse(f"admin:{name}_delete", args=[pk]), {"post": "yes"}).status_code == 403
    assert model.objects.count() == 1


def test_the_ledger_is_read_only(superuser):
    fill(1)
    call = Call.objects.get()
    address = reverse("admin:annotators_call_change", args=[call.pk])
    assert superuser.get(address).status_code == 200
    assert superuser.post(address, {"state": "done"}).status_code == 403


def test_the_audit_trail_is_found_by_kind_day_and_words_and_never_changed(superuser, researcher):
    fill(2)
    entry = AuditEntry.objects.first()
    address = reverse("admin:surveys_auditentry_changelist")
    page = text_of(
        superuser.get(address, {"q": entry.batch.name, "kind__exact": "payment", "at__year": entry.at.year})
    )
    assert "1 audit entry" in page
    assert "0 audit trail" in text_of(superuser.get(address, {"kind__exact": "bonus"}))
    html = superuser.get(address).content.decode()
    for name, args in (("worker", [entry.worker_id]), ("assignment", [entry.batch_id, entry.assignment_id])):
        assert f'<a href="{reverse(name, args=args)}">' in html
    change = reverse("admin:surveys_auditentry_change", args=[entry.pk])
    assert superuser.post(change, {"reason": "x"}).status_code == 403
    User.objects.create_user("secretagent")  # of no study, and nobody's business
    seen = researcher.get(address)
    assert (seen.status_code, "secretagent" in seen.content.decode()) == (200, False)
    assert client_of("Assistant").get(address).status_code == 403


def test_no_worker_is_changed_here_but_on_a_page_of_their_own(superuser):
    fill(1)
    worker = Worker.objects.get()
    address = reverse("admin:annotators_worker_change", args=[worker.pk])
    assert superuser.post(address, {"standing": "excluded", "worker_id": "OTHER"}).status_code == 403
    assert Worker.objects.get().standing == "ok"
    page = superuser.get(reverse("admin:annotators_worker_changelist")).content.decode()
    assert f'<a href="{reverse("worker", args=[worker.pk])}">{worker.worker_id}</a>' in page


@pytest.mark.parametrize("name", LISTS)
def test_lists_open_and_search_in_constant_queries(superuser, name, django_assert_num_queries):
    address = reverse(f"admin:{name}_changelist")
    fill(1)
    n = queries_of(superuser, address)
    fill(3)
    with django_assert_num_queries(n):
        response = superuser.get(address)
    assert response.status_code == 200
    assert superuser.get(address, {"q": "x"}).status_code == 200


@pytest.mark.parametrize("name", LISTS)
def test_every_row_opens(superuser, name):
    fill(1)
    model = {m._meta.label_lower.replace(".", "_"): m for m in site._registry}[name]
    for pk in model.objects.values_list("pk", flat=True):
        assert superuser.get(reverse(f"admin:{name}_change", args=[pk])).status_code == 200


def test_gold_is_shown_and_not_changed(researcher):
    item = make_item(make_survey())
    address = reverse("admin:surveys_item_change", args=[item.pk])
    assert "Gold: yes" in text_of(researcher.get(address))
    assert researcher.post(address, {"gold": "no"}).status_code == 403


def test_a_picture_leads_to_where_it_is_served(researcher):
    item = make_item(make_survey())
    file = ContentFile(b"<svg/>", name="bus.svg")
    there = item.pictures.create(position=1, name="bus.svg", file=file, content_type="image/svg+xml")
    item.pictures.create(position=2, name="late.svg")
    page = researcher.get(reverse("admin:surveys_item_change", args=[item.pk]))
    links = re.findall(r'href="(/pictures/[^"]*)"', page.content.decode())
    assert links == [there.get_absolute_url()]
    assert researcher.get(links[0]).status_code == 200
    assert "has not arrived" in text_of(page)


def test_an_assistant_looks_at_a_draft_and_changes_nothing():
    draft = make_draft(make_survey(n_items=5))
    assistant = client_of("Assistant")
    assert assistant.get(change_url(draft)).status_code == 200
    assert assistant.post(change_url(draft), data_for(draft.survey)).status_code == 403
    assert assistant.get(reverse("admin:surveys_batch_add")).status_code == 403
