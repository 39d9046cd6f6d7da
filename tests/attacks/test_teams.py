"""A researcher with every right of the role, at the survey of a team that is not theirs."""

import io
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys import alarms, auditing
from surveys.models import Appeal, Batch, Decision, Survey
from surveys.teams import found_team
from tests.attacks.test_rights import ADDRESSES, ANYBODY, World
from tests.factories import make_draft, make_item
from tests.surveys.views.pages import text_of

pytestmark = pytest.mark.django_db
OF_NO_BATCH = {
    "open_appeals",
    "import_items",
    "import_pictures",
    "import_preview",
    "worker",
    "worker_standing",
}
OF_A_BATCH = [name for name, (who, _, _) in ADDRESSES.items() if who != ANYBODY and name not in OF_NO_BATCH]
LISTS = ("surveys_survey", "surveys_item", "surveys_batch", "surveys_questionnaire", "surveys_decision",
         "surveys_auditentry", "annotators_hit", "annotators_assignment", "annotators_call")  # fmt: skip


def researcher(name: str) -> tuple[User, Client]:
    call_command("create_roles", stdout=io.StringIO())
    user = User.objects.create_user(name, email=f"{name}@lab.example", is_staff=True)
    user.groups.add(Group.objects.get(name="Researcher"))
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
        auditing.record(auditing.Kind.PAYMENT, "reject", assignment=self.assignment, by=self.ada)
        for survey in Survey.objects.all():
            make_item(survey, position=99)
            found_team(survey, founder=self.ada)

    def address(self, name: str) -> str:
        arguments = [self.appeal.pk] if name == "answer_appeal" else ADDRESSES[name][2](self)
        return reverse(name, args=arguments)

    def ask(self, client: Client, name: str) -> Any:
        return getattr(client, ADDRESSES[name][1])(
            self.address(name), {"action": "approve", "reason": "Mine."}
        )


@pytest.fixture
def lab() -> Lab:
    return Lab()


@pytest.mark.parametrize("name", OF_A_BATCH)
def test_nothing_of_another_teams_batch_is_there(lab: Lab, name: str) -> None:
    before = lab.facts()
    assert lab.ask(lab.eves, name).status_code == 404
    assert lab.facts() == before


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


def test_the_first_page_shows_the_teams_batches_and_appeals_only(lab: Lab) -> None:
    of_eve, of_ada = (text_of(client.get(reverse("admin:index"))) for client in (lab.eves, lab.adas))
    assert (lab.batch.name in of_eve, lab.batch.name in of_ada) == (False, True)
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
