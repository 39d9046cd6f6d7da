"""A researcher with every right of the role, at the survey of a team that is not theirs."""

import copy
import io
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import HIT, Assignment, Call
from surveys import audit, teams
from surveys.models import Appeal, Batch, Decision, Picture, Questionnaire, Survey, create_token
from surveys.operations import alarms
from surveys.urls import urlpatterns
from tests.attacks.test_rights import ADDRESSES, ANYBODY, World
from tests.factories import make_draft, make_hit, make_item, make_survey
from tests.made_once import made_once
from tests.people import role_of
from tests.surveys.pages.pages import text_of

pytestmark = pytest.mark.django_db
OF_NO_BATCH = {
    "open_appeals",
    "new_batch",
    "compare",
    "compare_progress",
    "draw_sample",
    "sample",
    "sample_progress",
    "sample_file",
    "books",
    "settle_books",
    "import_items",
    "import_pictures",
    "import_preview",
    "import_columns",
    "import_job",
    "import_progress",
    "look_progress",
    "pictures_job",
    "pictures_progress",
    "import_template",
    "survey_types",
    "survey_type_file",
    "survey_type_package",
    "write_survey_type",
    "new_survey_type",
    "builder",
    "builder_preview",
    "builder_text",
    "builder_versions",
    "builder_version",
    "discard_draft",
    "worker",
    "worker_data",
    "worker_forget",
    "worker_standing",
}
OF_A_BATCH = [name for name, (who, _, _) in ADDRESSES.items() if who != ANYBODY and name not in OF_NO_BATCH]
LISTS = ("surveys_survey", "surveys_item", "surveys_batch", "surveys_questionnaire", "surveys_decision",
         "surveys_auditentry", "annotators_hittype", "annotators_hit", "annotators_assignment",
         "annotators_call")  # fmt: skip


def researcher(name: str) -> tuple[User, Client]:
    user = User.objects.create_user(name, email=f"{name}@lab.example", is_staff=True)
    user.groups.add(role_of("Researcher"))
    client = Client()
    client.force_login(user)
    return user, client


class Lab(World):
    """Two studies of Ada's, an appeal and a call in them, and Eve, who has the same role."""

    def __init__(self) -> None:
        super().__init__()
        self.ada, self.adas = researcher("ada")
        self.eve, self.eves = researcher("eve")
        Decision.objects.create(
            assignment=self.assignment, verdict="reject", reason="No.", decided_at=timezone.now()
        )
        self.appeal = Appeal.objects.create(
            assignment=self.assignment, code="x", text="Why?", made_at=timezone.now()
        )
        Assignment.objects.update(status="Rejected", rejected_at=timezone.now())
        Call.objects.create(token="reject:1", operation="RejectAssignment", hit=self.assignment.hit,
                            assignment=self.assignment, endpoint="embedded")  # fmt: skip
        audit.record(audit.Kind.PAYMENT, "reject", assignment=self.assignment, by=self.ada)
        Survey.objects.update(is_shared=False)
        for survey in Survey.objects.all():
            make_item(survey, position=99)
            survey.team.set([self.ada, self.colleague])

    def address(self, name: str) -> str:
        arguments = [self.appeal.pk] if name == "answer_appeal" else ADDRESSES[name][2](self)
        return reverse(name, args=arguments)

    def ask(self, client: Client, name: str) -> Any:
        return getattr(client, ADDRESSES[name][1])(
            self.address(name), {"action": "approve", "reason": "Mine."}
        )


made = made_once(Lab)


@pytest.fixture
def lab(made: Lab) -> Lab:
    """The lab with browsers and first rows of the test's own: what it changes in memory is nobody else's."""
    lab = copy.copy(made)
    lab.adas, lab.eves = copy.deepcopy((made.adas, made.eves))
    lab.batch = copy.copy(made.batch)
    return lab


def test_every_protected_address_is_of_a_batch_or_study_or_has_a_test_here() -> None:
    keys = ("<int:pk>", "<slug:slug>")
    of_one = {str(p.name) for p in urlpatterns if any(key in str(p.pattern) for key in keys)}
    assert {*OF_A_BATCH} == of_one | {"answer_appeal"}


@pytest.mark.parametrize("name", OF_A_BATCH)
def test_nothing_of_another_teams_batch_is_there(lab: Lab, name: str) -> None:
    before = lab.facts()
    assert lab.ask(lab.eves, name).status_code == 404
    assert lab.facts() == before


class Asked(Exception):
    """Somebody asked whose a batch is."""


@pytest.mark.parametrize("name", sorted({*OF_A_BATCH} - {"answer_appeal"}))
def test_a_page_of_a_batch_asks_whose_it_is_before_anything_else(
    lab: Lab, name: str, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that reads the number in its address by itself goes on here, and fails."""

    def ask(*_: object) -> None:
        raise Asked

    monkeypatch.setattr(teams, "batch_for", ask)
    monkeypatch.setattr(teams, "study_for", ask)
    answers = []
    for method in (admin_client.get, admin_client.post):
        try:
            answers.append(method(lab.address(name)).status_code)
        except Asked:
            answers.append(Asked)
    assert Asked in answers
    assert set(answers) <= {Asked, 405}


@pytest.mark.parametrize("name", OF_A_BATCH)
def test_to_the_team_it_is(lab: Lab, name: str) -> None:
    assert lab.ask(lab.adas, name).status_code != 404


@pytest.mark.parametrize("model", LISTS)
def test_the_admin_lists_it_to_the_team_only(lab: Lab, model: str) -> None:
    of_eve, of_ada = (
        client.get(reverse(f"admin:{model}_changelist")).context["cl"].queryset.count()
        for client in (lab.eves, lab.adas)
    )
    assert (of_eve, of_ada > 0) == (0, True)


def test_the_admin_opens_and_deletes_it_for_the_team_only(lab: Lab) -> None:
    draft = make_draft(lab.batch.survey)
    for model, pk in (("survey", draft.survey_id), ("batch", draft.pk)):
        for deed in ("change", "delete", "history"):
            page = lab.eves.post(reverse(f"admin:surveys_{model}_{deed}", args=[pk]), {"post": "yes"})
            assert (page.status_code, page.headers.get("Location")) == (302, reverse("admin:index"))
    assert Batch.objects.filter(pk=draft.pk).exists()
    chosen = {"action": "delete_selected", "_selected_action": [draft.pk], "post": "yes"}
    lab.eves.post(reverse("admin:surveys_batch_changelist"), chosen)
    assert Batch.objects.filter(pk=draft.pk).exists()


def test_no_name_of_it_stands_in_a_filter_or_a_choice(lab: Lab) -> None:
    Survey.objects.update(name="Ada’s secret")
    pages = ["surveys_batch_changelist", "surveys_item_changelist", "surveys_batch_add"]
    addresses = [*(reverse(f"admin:{page}") for page in pages), reverse("import_items")]
    for address in addresses:
        assert "Ada’s secret" not in text_of(lab.eves.get(address))
        assert "Ada’s secret" in text_of(lab.adas.get(address))


def test_no_batch_of_it_can_be_made_and_nothing_imported(lab: Lab) -> None:
    form = lab.eves.get(reverse("admin:surveys_batch_add")).context["adminform"].form
    assert not form.fields["survey"].queryset.exists()
    items = io.BytesIO(b"id_0,question_0\n1,Why?\n")
    items.name = "items.csv"
    sent = {"survey": lab.batch.survey_id, "items": items, "system": "model"}
    page = lab.eves.post(reverse("import_items"), sent)
    assert (page.status_code, "survey" in page.context["form"].errors) == (422, True)


def test_a_workers_page_shows_what_the_reader_may_see(lab: Lab) -> None:
    address = reverse("worker", args=[lab.assignment.worker_id])
    assert lab.batch.name not in text_of(lab.eves.get(address))
    assert lab.batch.name in text_of(lab.adas.get(address))


def test_an_appeal_waits_for_the_team(lab: Lab) -> None:
    address = reverse("open_appeals")
    assert (len(lab.eves.get(address).context["page"]), len(lab.adas.get(address).context["page"])) == (0, 1)


def test_the_first_page_shows_the_teams_studies_and_appeals_only(lab: Lab) -> None:
    of_eve, of_ada = (text_of(client.get(reverse("admin:index"))) for client in (lab.eves, lab.adas))
    assert (lab.batch.survey.name in of_eve, lab.batch.survey.name in of_ada) == (False, True)
    assert ("1 appeal" in of_eve, "1 appeal" in of_ada) == (False, True)


def test_who_left_the_team_is_mailed_no_more(lab: Lab) -> None:
    lab.batch.created_by = lab.ada
    assert alarms.recipients(lab.batch) == ["ada@lab.example"]
    lab.batch.survey.team.set([lab.eve])
    assert alarms.recipients(lab.batch) == []


def test_a_team_without_members_lets_superusers_in_only(lab: Lab, admin_client: Client) -> None:
    lab.batch.survey.team.clear()
    address = lab.address("batch")
    assert (lab.eves.get(address).status_code, admin_client.get(address).status_code) == (404, 200)


def test_what_is_shared_is_everybodys(lab: Lab) -> None:
    Survey.objects.update(is_shared=True)
    assert lab.eves.get(lab.address("batch")).status_code == 200


@pytest.mark.parametrize("ticked", [{}, {"team": "other"}])
def test_whoever_makes_a_survey_stays_in_its_team(lab: Lab, ticked: dict[str, str]) -> None:
    sent = {"name": "New", "slug": "new", "definition_key": "xai", **({"team": lab.ada.pk} if ticked else {})}
    assert lab.eves.post(reverse("admin:surveys_survey_add"), sent).status_code == 302
    made = Survey.objects.get(slug="new")
    assert (made.is_shared, lab.eve in made.team.all()) == (False, True)


def test_a_new_survey_is_its_makers_unless_they_share_it(lab: Lab) -> None:
    form = lab.eves.get(reverse("admin:surveys_survey_add")).context["adminform"].form
    assert (form["is_shared"].value(), form["team"].value()) == (False, [lab.eve.pk])


def test_who_ends_the_sharing_does_not_shut_the_others_out(lab: Lab) -> None:
    survey = lab.batch.survey
    Survey.objects.update(is_shared=True)
    survey.team.clear()
    Batch.objects.filter(survey=survey).update(created_by=lab.ada)
    sent = {"name": "Mine", "slug": survey.slug, "definition_key": survey.definition_key}
    assert lab.eves.post(reverse("admin:surveys_survey_change", args=[survey.pk]), sent).status_code == 302
    assert set(survey.team.all()) == {lab.ada, lab.eve}


def test_who_is_away_stays_in_the_team(lab: Lab) -> None:
    survey = lab.batch.survey
    User.objects.filter(pk=lab.eve.pk).update(is_active=False)
    survey.team.set([lab.ada, lab.eve])
    page = lab.adas.get(reverse("study_settings", args=[survey.slug]))
    assert [(one.person, one.label) for one in page.context["members"]] == [
        (lab.ada, "Owner"),
        (lab.eve, "Away"),
    ]


def test_the_admins_redirect_to_any_row_is_closed(lab: Lab) -> None:
    kinds = ContentType.objects.filter(app_label="surveys", model__in=["picture", "batch", "questionnaire"])
    for kind in kinds:
        for row in (lab.batch.pk, "abc"):
            assert lab.adas.get(f"/admin/r/{kind.pk}/{row}/").status_code == 404


def test_calls_and_hits_not_yet_linked_are_known_by_their_tokens(lab: Lab) -> None:
    of_ada, of_all = make_survey(), make_survey()
    Survey.objects.filter(pk=of_ada.pk).update(is_shared=False)
    of_ada.team.set([lab.ada])
    for survey in (of_ada, of_all):
        batch = make_draft(survey)
        token = create_token(Questionnaire.objects.create(batch=batch, position=1, target_assignments=5).pk)
        Call.objects.create(token=token, operation="CreateHIT", endpoint="embedded")
        make_hit(requester_annotation=token)
    for model in (Call, HIT):
        of_eve, of_both = (
            client.get(reverse(f"admin:annotators_{model._meta.model_name}_changelist"))
            .context["cl"]
            .queryset
            for client in (lab.eves, lab.adas)
        )
        assert (of_eve.count(), of_both.count()) == (1, model._default_manager.count())


def test_the_list_of_workers_counts_what_is_seen(lab: Lab) -> None:
    address = reverse("admin:annotators_worker_changelist")
    of_eve, of_ada = (
        client.get(address).context["cl"].queryset.get(pk=lab.assignment.worker_id).n_assignments
        for client in (lab.eves, lab.adas)
    )
    assert (of_eve, of_ada) == (0, 1)
    assert lab.eves.get(address, {"assignments": lab.assignment.pk}).status_code == 400


def test_pictures_can_be_brought_by_the_team_only(lab: Lab) -> None:
    Picture.objects.create(item=lab.batch.survey.items.first(), name="a.png", position=9)
    for client, surveys in ((lab.eves, []), (lab.adas, [lab.batch.survey])):
        answer = client.post(reverse("import_pictures"), {"attach-survey": lab.batch.survey_id})
        assert answer.status_code == 422
        form = answer.context["attach_form"]
        assert list(form.fields["survey"].queryset if form else []) == surveys


def test_a_preview_ends_with_the_membership(lab: Lab) -> None:
    items = SimpleUploadedFile("items.csv", b"id,system,text,question,gold\n")
    survey = lab.batch.survey
    sent = {"survey": survey.pk, "items": items, "system": "model", "layout": "auto"}
    preview = lab.adas.post(reverse("import_items"), sent)
    assert (preview.status_code, lab.adas.get(preview["Location"]).status_code) == (302, 200)
    survey.team.set([lab.eve])
    assert lab.adas.get(preview["Location"]).status_code == 404
