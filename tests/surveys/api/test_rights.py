"""The API asks for the rights of the page that does the same, and shows nobody another team's rows."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from surveys.api.document import api
from surveys.models import Survey
from tests.attacks.test_rights import World
from tests.factories import make_draft
from tests.made_once import made_once
from tests.people import role_of
from tests.surveys.api.asking import Asking, person_of, problem, token_of

pytestmark = pytest.mark.django_db
Address = Callable[["Lab"], tuple[str, str]]
# Of each operation: its page's least role and an address of that operation.
OPERATIONS: dict[str, tuple[str, Address]] = {
    "list_studies": ("Assistant", lambda w: ("get", "/studies")),
    "create_study": ("Researcher", lambda w: ("post", "/studies")),
    "read_study": ("Assistant", lambda w: ("get", f"/studies/{w.slug}")),
    "list_items": ("Assistant", lambda w: ("get", f"/studies/{w.slug}/items")),
    "import_items": ("Researcher", lambda w: ("post", f"/studies/{w.slug}/items")),
    "attach_pictures": ("Researcher", lambda w: ("post", f"/studies/{w.slug}/pictures")),
    "list_batches": ("Assistant", lambda w: ("get", f"/studies/{w.slug}/batches")),
    "draft_batch": ("Researcher", lambda w: ("post", f"/studies/{w.slug}/batches")),
    "read_batch": ("Assistant", lambda w: ("get", f"/batches/{w.batch.pk}")),
    "change_draft": ("Researcher", lambda w: ("patch", f"/batches/{w.draft.pk}")),
    "publish_batch": ("Researcher", lambda w: ("post", f"/batches/{w.draft.pk}/publish")),
    "simulate_people": ("Researcher", lambda w: ("post", f"/batches/{w.draft.pk}/simulate")),
    "plan_rest": ("Researcher", lambda w: ("post", f"/batches/{w.batch.pk}/rest")),
    "stop_batch": ("Researcher", lambda w: ("post", f"/batches/{w.batch.pk}/stop")),
    "raise_budget": ("Researcher", lambda w: ("post", f"/batches/{w.batch.pk}/budget")),
    "read_progress": ("Assistant", lambda w: ("get", f"/batches/{w.batch.pk}/progress")),
    "read_report": ("Assistant", lambda w: ("get", f"/batches/{w.batch.pk}/report")),
    "list_files": ("Assistant", lambda w: ("get", f"/batches/{w.batch.pk}/files")),
    "read_file": ("Assistant", lambda w: ("get", f"/batches/{w.batch.pk}/files/tidy")),
    "list_invitations": ("Researcher", lambda w: ("get", f"/batches/{w.link_batch.pk}/invitations")),
    "invite_people": ("Researcher", lambda w: ("post", f"/batches/{w.link_batch.pk}/invitations")),
    "list_assignments": ("Assistant", lambda w: ("get", f"/batches/{w.batch.pk}/assignments")),
    "read_assignment": (
        "Assistant",
        lambda w: ("get", f"/batches/{w.batch.pk}/assignments/{w.assignment.pk}"),
    ),
    "decide": (
        "Assistant",
        lambda w: ("post", f"/batches/{w.batch.pk}/assignments/{w.assignment.pk}/decision"),
    ),
    "list_survey_types": ("Assistant", lambda w: ("get", "/survey-types")),
    "read_survey_type": ("Assistant", lambda w: ("get", "/survey-types/xai")),
    "upload_survey_type": ("Researcher", lambda w: ("post", "/survey-types")),
}
OF_NO_STUDY = {"list_studies", "create_study", "list_survey_types", "read_survey_type", "upload_survey_type"}
OF_A_STUDY = sorted(set(OPERATIONS) - OF_NO_STUDY)
BODIES = {
    "create_study": {"name": "Mine", "survey_type": "xai"},
    "publish_batch": {"total": {"amount": "1.00"}},
    "raise_budget": {"budget": {"amount": "100.00"}},
    "decide": {"action": "approve"},
    "invite_people": {"people": [{"name": "Eve"}]},
}


class Lab(World):
    """A study of Ada's that only she sees, with a draft."""

    def __init__(self) -> None:
        super().__init__()
        self.slug = self.batch.survey.slug
        self.draft = make_draft(self.batch.survey)
        Survey.objects.update(is_shared=False)

    def ask(self, script: Asking, name: str) -> Any:
        method, path = OPERATIONS[name][1](self)
        if name in ("import_items", "attach_pictures", "upload_survey_type"):
            return script.upload(path)
        return getattr(script, method)(path, *([BODIES.get(name, {})] if method != "get" else []))


made = made_once(Lab)


@pytest.fixture
def lab(made: Lab) -> Lab:
    return made


def script_of(role: str, lab: Lab | None = None) -> Asking:
    user = person_of(role)
    for survey in Survey.objects.all() if lab else ():
        survey.team.add(user)
    return Asking(token_of(user))


def test_every_operation_has_its_line() -> None:
    names = [one.view_func.__name__ for _, router in api._routers for view in router.path_operations.values()
             for one in view.operations]  # fmt: skip
    assert sorted(names) == sorted(OPERATIONS)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_strangers_learn_and_change_nothing(lab: Lab, name: str) -> None:
    before = lab.facts()
    assert problem(lab.ask(Asking("assent_none"), name)) == (401, "not-signed-in")
    assert lab.facts() == before


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_staff_without_a_role_learn_and_change_nothing(lab: Lab, name: str) -> None:
    before = lab.facts()
    assert problem(lab.ask(script_of("", lab), name)) == (403, "not-allowed")
    assert lab.facts() == before


@pytest.mark.parametrize(
    "name", sorted(name for name, (role, _) in OPERATIONS.items() if role == "Researcher")
)
def test_assistants_do_nothing_of_the_researchers(lab: Lab, name: str) -> None:
    before = lab.facts()
    assert problem(lab.ask(script_of("Assistant", lab), name)) == (403, "not-allowed")
    assert lab.facts() == before


@pytest.mark.parametrize("name", OF_A_STUDY)
def test_nothing_of_another_teams_study_is_there(lab: Lab, name: str) -> None:
    before, file = lab.facts(), {"import_items": "items", "attach_pictures": "archive"}.get(name)
    script = script_of("Researcher")
    path = OPERATIONS[name][1](lab)[1]
    answer = script.upload(path, **{file: _csv()}) if file else lab.ask(script, name)
    assert problem(answer) == (404, "not-found")
    assert lab.facts() == before


@pytest.mark.parametrize("name", OF_A_STUDY)
def test_to_the_team_it_is(lab: Lab, name: str) -> None:
    role = OPERATIONS[name][0]
    assert lab.ask(script_of(role, lab), name).status_code not in (401, 403, 404)


def test_lists_leave_out_what_is_hidden(lab: Lab) -> None:
    assert script_of("Researcher").get("/studies").json()["results"] == []


def test_raw_files_are_for_those_who_may_export_them(lab: Lab) -> None:
    path = f"/batches/{lab.batch.pk}/files"
    assistant = script_of("Assistant", lab)
    assert problem(assistant.get(f"{path}/raw")) == (403, "not-allowed")
    assert not any(one["is_raw"] for one in assistant.get(path).json()["results"])
    user = person_of("", "rosa")
    user.groups.add(role_of("Researcher"))
    for survey in Survey.objects.all():
        survey.team.add(user)
    assert any(one["is_raw"] for one in Asking(token_of(user)).get(path).json()["results"])


def test_what_is_no_address_is_a_problem_too() -> None:
    for path in ("nowhere", "", "studies/a%0Ab", "studies/%00"):
        assert problem(Client().get(f"/api/v1/{path}")) == (404, "not-found")
    answer = Client().delete("/api/v1/studies")
    assert (problem(answer), answer["Allow"]) == ((405, "other"), "GET, POST")


def _csv() -> SimpleUploadedFile:
    return SimpleUploadedFile("items.csv", b"item_id\n1\n")
