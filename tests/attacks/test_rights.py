"""Every address, asked for by whoever has no right to it. A new address without a line here fails."""

import copy
import uuid
from collections.abc import Callable
from http.cookies import SimpleCookie
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import (
    Appeal,
    AuditEntry,
    Batch,
    ConsentText,
    Decision,
    Importing,
    Inclusion,
    Invitation,
    Item,
    PersonLabel,
    ProblemReport,
    SharedResults,
    Survey,
    TeamInvitation,
    TeamRole,
    Webhook,
)
from surveys.studies import drafts
from surveys.urls import urlpatterns
from tests.factories import make_published, submitted
from tests.link_people import invite_one, make_batch
from tests.made_once import made_once
from tests.people import client_of
from tests.surveys.operations.backup_state import stored

pytestmark = pytest.mark.django_db
BrowserOf = Callable[[str], Client]
ANYBODY, ASSISTANT, RESEARCHER, SUPERUSER = "anybody", "Assistant", "Researcher", "superuser"

# What somebody at least has to be: {name: (who, method, arguments)}.
ADDRESSES: dict[str, tuple[str, str, Callable[["World"], list[Any]]]] = {
    "appeals": (ANYBODY, "get", lambda w: []),
    "appeal": (ANYBODY, "get", lambda w: ["x"]),
    "open_appeals": (ASSISTANT, "get", lambda w: []),
    "answer_appeal": (ASSISTANT, "post", lambda w: [1]),
    "batch": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "batch_progress": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "batch_results": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "batch_responses": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "disputed": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "batch_texts": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "result_figure": (ASSISTANT, "get", lambda w: [w.batch.pk, "means", "justifies", "svg"]),
    "result_table": (ASSISTANT, "get", lambda w: [w.batch.pk, "systems", "tex"]),
    "label_person": (RESEARCHER, "post", lambda w: [w.batch.pk, w.assignment.worker_id]),
    "share_results": (RESEARCHER, "post", lambda w: [w.batch.pk]),
    "withdraw_results": (RESEARCHER, "post", lambda w: [w.batch.pk, w.shared.pk]),
    "shared_results": (ANYBODY, "get", lambda w: ["x"]),
    "batch_files": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "study": (ASSISTANT, "get", lambda w: [w.batch.survey.slug]),
    "study_items": (ASSISTANT, "get", lambda w: [w.batch.survey.slug]),
    "item_page": (ASSISTANT, "get", lambda w: [w.batch.survey.slug, w.problem.item_id]),
    "study_design": (ASSISTANT, "get", lambda w: [w.batch.survey.slug]),
    "study_settings": (RESEARCHER, "get", lambda w: [w.batch.survey.slug]),
    "launch": (RESEARCHER, "get", lambda w: [w.batch.survey.slug]),
    "launch_price": (RESEARCHER, "post", lambda w: [w.batch.survey.slug]),
    "batch_launch": (RESEARCHER, "get", lambda w: [w.batch.pk]),
    "new_batch": (RESEARCHER, "get", lambda w: []),
    "batch_results_progress": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "compare": (ASSISTANT, "get", lambda w: []),
    "compare_progress": (ASSISTANT, "get", lambda w: []),
    "draw_sample": (RESEARCHER, "get", lambda w: []),
    "sample": (RESEARCHER, "get", lambda w: ["x"]),
    "sample_progress": (RESEARCHER, "get", lambda w: ["x"]),
    "sample_file": (RESEARCHER, "get", lambda w: ["x", "eligibility.csv"]),
    "batch_publish": (RESEARCHER, "post", lambda w: [w.batch.pk]),
    "batch_stop": (RESEARCHER, "post", lambda w: [w.batch.pk]),
    "batch_pilot": (RESEARCHER, "get", lambda w: [w.batch.pk]),
    "batch_simulate": (RESEARCHER, "post", lambda w: [w.batch.pk]),
    "batch_retry": (RESEARCHER, "post", lambda w: [w.batch.pk]),
    "batch_sync": (ASSISTANT, "post", lambda w: [w.batch.pk]),
    "prepared_file": (ASSISTANT, "get", lambda w: [w.batch.pk, "table"]),
    "file_progress": (ASSISTANT, "get", lambda w: [w.batch.pk, "table"]),
    "batch_download": (ASSISTANT, "get", lambda w: [w.batch.pk, "tidy"]),
    "batch_download_ids": (RESEARCHER, "post", lambda w: [w.batch.pk, "raw"]),
    "assignments": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "decide_many": (ASSISTANT, "post", lambda w: [w.batch.pk]),
    "undo_many": (ASSISTANT, "post", lambda w: [w.batch.pk]),
    "undo_many_of_study": (ASSISTANT, "post", lambda w: [w.batch.survey.slug]),
    "assignment": (ASSISTANT, "get", lambda w: [w.batch.pk, w.assignment.pk]),
    "decide": (ASSISTANT, "post", lambda w: [w.batch.pk, w.assignment.pk]),
    "batch_budget": (RESEARCHER, "post", lambda w: [w.batch.pk]),
    "batch_policy": (ASSISTANT, "get", lambda w: [w.batch.pk]),
    "use": (ASSISTANT, "post", lambda w: [w.batch.pk, w.assignment.pk]),
    "worker_standing": (RESEARCHER, "post", lambda w: [w.assignment.worker_id]),
    "worker_data": (SUPERUSER, "post", lambda w: [w.assignment.worker_id]),
    "worker_forget": (SUPERUSER, "post", lambda w: [w.assignment.worker_id]),
    "give_bonus": (RESEARCHER, "post", lambda w: [w.batch.pk, w.assignment.pk]),
    "batch_trail": (RESEARCHER, "get", lambda w: [w.batch.pk]),
    "batch_trail_csv": (RESEARCHER, "get", lambda w: [w.batch.pk]),
    "people": (RESEARCHER, "get", lambda w: [w.link_batch.pk]),
    "invite_people": (RESEARCHER, "post", lambda w: [w.link_batch.pk]),
    "links_csv": (RESEARCHER, "get", lambda w: [w.link_batch.pk]),
    "earned_csv": (RESEARCHER, "get", lambda w: [w.link_batch.pk]),
    "save_panel": (RESEARCHER, "post", lambda w: [w.link_batch.pk]),
    "renew_link": (RESEARCHER, "post", lambda w: [w.link_batch.pk, w.invitation.pk]),
    "revoke_link": (RESEARCHER, "post", lambda w: [w.link_batch.pk, w.invitation.pk]),
    "free_places": (RESEARCHER, "post", lambda w: [w.link_batch.pk, w.invitation.worker_id]),
    "books": (RESEARCHER, "get", lambda w: []),
    "settle_books": (RESEARCHER, "post", lambda w: []),
    "hit": (ANYBODY, "get", lambda w: [uuid.uuid4()]),
    "draft": (ANYBODY, "post", lambda w: [uuid.uuid4()]),
    "coming": (ANYBODY, "post", lambda w: [uuid.uuid4()]),
    "import_items": (RESEARCHER, "get", lambda w: []),
    "import_pictures": (RESEARCHER, "get", lambda w: []),
    "import_preview": (RESEARCHER, "get", lambda w: ["x"]),
    "put_note_away": (ANYBODY, "post", lambda w: [1]),  # of staff, whatever their rights, and only their own
    "import_job": (RESEARCHER, "get", lambda w: [w.importing.pk]),
    "look_progress": (RESEARCHER, "get", lambda w: ["x"]),
    "pictures_job": (RESEARCHER, "get", lambda w: ["x"]),
    "pictures_progress": (RESEARCHER, "get", lambda w: ["x"]),
    "import_progress": (RESEARCHER, "get", lambda w: [w.importing.pk]),
    "import_columns": (RESEARCHER, "get", lambda w: ["x"]),
    "import_template": (ASSISTANT, "get", lambda w: ["xai"]),
    "link_sign_in": (ANYBODY, "get", lambda w: [w.link_batch.pk]),
    "link": (ANYBODY, "get", lambda w: ["x"]),
    "link_finish": (ANYBODY, "get", lambda w: ["x"]),
    "link_work": (ANYBODY, "get", lambda w: ["x", 1]),
    "link_draft": (ANYBODY, "post", lambda w: ["x", 1]),
    "link_consent": (ANYBODY, "post", lambda w: ["x"]),
    "own_data": (ANYBODY, "get", lambda w: ["x"]),
    "own_data_download": (ANYBODY, "get", lambda w: ["x"]),
    "own_data_delete": (ANYBODY, "post", lambda w: ["x"]),
    "panel": (ANYBODY, "get", lambda w: ["x"]),
    "picture": (ANYBODY, "get", lambda w: ["x"]),
    "survey_types": (ASSISTANT, "get", lambda w: []),
    "write_survey_type": (RESEARCHER, "get", lambda w: []),
    "new_survey_type": (RESEARCHER, "get", lambda w: []),
    "builder": (RESEARCHER, "post", lambda w: [w.draft.pk]),
    "builder_preview": (RESEARCHER, "get", lambda w: [w.draft.pk]),
    "builder_text": (RESEARCHER, "post", lambda w: [w.draft.pk]),
    "builder_versions": (RESEARCHER, "get", lambda w: [w.draft.pk]),
    "builder_version": (RESEARCHER, "post", lambda w: [w.draft.pk, 1]),
    "discard_draft": (RESEARCHER, "post", lambda w: [w.draft.pk]),
    "survey_type_file": (ASSISTANT, "get", lambda w: ["xai"]),
    "survey_type_package": (ASSISTANT, "get", lambda w: ["xai"]),
    "picture_copy": (ANYBODY, "get", lambda w: ["x", 320]),
    "type_picture": (ANYBODY, "get", lambda w: ["x.png"]),
    "oidc_there": (ANYBODY, "get", lambda w: []),
    "oidc_authentication_callback": (ANYBODY, "get", lambda w: []),
    "second_factor_code": (ANYBODY, "get", lambda w: []),
    "leave_sign_in": (ANYBODY, "post", lambda w: []),
    # Every member of staff has these for themselves; tests/surveys/api/test_tokens.py says who has not.
    "api_tokens": (ANYBODY, "get", lambda w: []),
    "revoke_token": (ANYBODY, "post", lambda w: [1]),
    "study_people": (ASSISTANT, "get", lambda w: [w.batch.survey.slug]),
    "study_review": (ASSISTANT, "get", lambda w: [w.batch.survey.slug]),
    "decide_many_of_study": (ASSISTANT, "post", lambda w: [w.batch.survey.slug]),
    "study_files": (ASSISTANT, "get", lambda w: [w.batch.survey.slug]),
    "study_results": (ASSISTANT, "get", lambda w: [w.batch.survey.slug]),
    "study_results_of": (ASSISTANT, "get", lambda w: [w.batch.survey.slug, str(w.batch.pk)]),
    "study_results_progress": (ASSISTANT, "get", lambda w: [w.batch.survey.slug, str(w.batch.pk)]),
    "study_responses": (ASSISTANT, "get", lambda w: [w.batch.survey.slug, str(w.batch.pk)]),
    "study_texts": (ASSISTANT, "get", lambda w: [w.batch.survey.slug, str(w.batch.pk)]),
    "study_disputed": (ASSISTANT, "get", lambda w: [w.batch.survey.slug, str(w.batch.pk)]),
    "study_result_figure": (
        ASSISTANT,
        "get",
        lambda w: [w.batch.survey.slug, str(w.batch.pk), "means", "justifies", "svg"],
    ),
    "study_result_table": (
        ASSISTANT,
        "get",
        lambda w: [w.batch.survey.slug, str(w.batch.pk), "systems", "tex"],
    ),
    "invite_colleague": (RESEARCHER, "post", lambda w: [w.batch.survey.slug]),
    "add_colleague": (RESEARCHER, "post", lambda w: [w.batch.survey.slug]),
    "change_role": (RESEARCHER, "post", lambda w: [w.batch.survey.slug, w.colleague.pk]),
    "remove_colleague": (RESEARCHER, "post", lambda w: [w.batch.survey.slug, w.colleague.pk]),
    "revoke_invitation": (RESEARCHER, "post", lambda w: [w.batch.survey.slug, w.team_invitation.pk]),
    "join_team": (ANYBODY, "get", lambda w: ["x"]),
    "join_with_account": (ANYBODY, "post", lambda w: ["x"]),
    "save_consent": (RESEARCHER, "post", lambda w: [w.batch.survey.slug]),
    "settle_problem": (ASSISTANT, "post", lambda w: [w.batch.survey.slug, w.problem.item_id]),
    "study_webhooks": (RESEARCHER, "get", lambda w: [w.batch.survey.slug]),
    "try_webhook": (RESEARCHER, "post", lambda w: [w.batch.survey.slug, w.webhook.pk]),
    "remove_webhook": (RESEARCHER, "post", lambda w: [w.batch.survey.slug, w.webhook.pk]),
    "study_script": (ASSISTANT, "get", lambda w: [w.batch.survey.slug]),
    "second_factor": (ANYBODY, "get", lambda w: []),
    "worker": (ASSISTANT, "get", lambda w: [w.assignment.worker_id]),
}
PROTECTED = [name for name, (who, _, _) in ADDRESSES.items() if who != ANYBODY]
FOR_RESEARCHERS = [name for name, (who, _, _) in ADDRESSES.items() if who == RESEARCHER]
FOR_SUPERUSERS = [name for name, (who, _, _) in ADDRESSES.items() if who == SUPERUSER]
FACTS = (
    Assignment,
    Appeal,
    Batch,
    ConsentText,
    Decision,
    Inclusion,
    Invitation,
    Item,
    PersonLabel,
    ProblemReport,
    SharedResults,
    Survey,
    AuditEntry,
    TeamInvitation,
    TeamRole,
    Webhook,
)


class World:
    """A study with one submitted assignment, and one by link with one invited person."""

    def __init__(self) -> None:
        self.assignment = submitted(make_published())
        self.batch = self.assignment.hit.questionnaire.batch
        self.shared = SharedResults.objects.create(
            batch=self.batch, token_hash="0" * 64, name="Reviewers", content="{}", numbers_at=timezone.now()
        )
        self.problem = ProblemReport.objects.create(
            assignment=self.assignment, item=self.batch.survey.items.first(), text="No picture."
        )
        self.webhook = Webhook.objects.create(survey=self.batch.survey, url="https://lab.example/told")
        self.team_invitation = TeamInvitation.objects.create(
            survey=self.batch.survey,
            name="Ada",
            role="reader",
            token_hash="1" * 64,
            expires_at=timezone.now(),
        )
        writer = User.objects.create_user("writer")
        self.draft = drafts.begin("title: Mine", by=writer)
        self.importing = Importing.objects.create(folder="staged", filename="items.csv", asked_by=writer)
        self.colleague = User.objects.create_user("colleague", is_staff=True)
        self.batch.survey.team.add(self.colleague)
        self.link_batch = make_batch()
        self.invitation = invite_one(self.link_batch).invitation
        self.before = self.facts()

    def ask(self, client: Client, name: str) -> Any:
        _, method, arguments = ADDRESSES[name]
        return getattr(client, method)(reverse(name, args=arguments(self)), ATTEMPT)

    def facts(self) -> list[Any]:
        with connection.cursor() as cursor:
            return [stored(cursor, model) for model in FACTS]


ATTEMPT = {
    "action": "approve", "reason": "Mine.", "selected": "1", "people": "Eve", "expires_at": "2099-01-01",
    "is_standing": "excluded", "standing": "excluded", "include": "0", "confirm": "yes", "text": "Mine.",
    "last": "999999",
}  # fmt: skip


def sign_in() -> dict[str, SimpleCookie]:
    """Return what browsers of people with a role send, and that of somebody who is no staff."""
    guest = Client()
    guest.force_login(User.objects.create_user("guest"))
    roles = ("", "Assistant", "Researcher")
    return {"guest": guest.cookies, **{role: client_of(role).cookies for role in roles}}


world = made_once(World)
signed_in = made_once(sign_in)


@pytest.fixture
def browser_of(signed_in: dict[str, SimpleCookie]) -> BrowserOf:
    """A function that returns a browser, which is new, of somebody who is signed in."""

    def browser(who: str) -> Client:
        client = Client()
        client.cookies = copy.deepcopy(signed_in[who])
        return client

    return browser


@pytest.fixture
def researcher(browser_of: BrowserOf) -> Client:
    return browser_of("Researcher")


def test_every_address_has_its_line() -> None:
    assert sorted(str(pattern.name) for pattern in urlpatterns) == sorted(ADDRESSES)


@pytest.mark.parametrize("name", PROTECTED)
def test_strangers_are_sent_to_the_login(world: World, name: str) -> None:
    answer = world.ask(Client(), name)
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/admin/login/")
    assert world.facts() == world.before


@pytest.mark.parametrize("name", PROTECTED)
def test_people_who_are_no_staff_are_sent_there_too(world: World, name: str, browser_of: BrowserOf) -> None:
    assert world.ask(browser_of("guest"), name).status_code == 302


@pytest.mark.parametrize("name", PROTECTED)
def test_staff_without_any_right_change_and_see_nothing(
    world: World, name: str, browser_of: BrowserOf
) -> None:
    assert world.ask(browser_of(""), name).status_code == 403
    assert world.facts() == world.before


@pytest.mark.parametrize("name", FOR_RESEARCHERS)
def test_assistants_do_not_launch_download_raw_or_invite(
    world: World, name: str, browser_of: BrowserOf
) -> None:
    assert world.ask(browser_of("Assistant"), name).status_code == 403
    assert world.facts() == world.before


@pytest.mark.parametrize("name", FOR_SUPERUSERS)
def test_researchers_neither_take_nor_delete_what_is_kept_about_a_person(
    world: World, name: str, researcher: Client
) -> None:
    """A person is one over all studies, of which a researcher sees some."""
    assert world.ask(researcher, name).status_code == 403
    assert world.facts() == world.before


def test_assistants_try_a_policy_out_and_do_not_apply_it(world: World, browser_of: BrowserOf) -> None:
    address = reverse("batch_policy", args=[world.batch.pk])
    assert browser_of("Assistant").post(address, ATTEMPT).status_code == 403
    assert world.facts() == world.before


@pytest.mark.parametrize("name", PROTECTED)
def test_no_post_is_taken_from_another_site(world: World, name: str, researcher: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = researcher.cookies
    _, _, arguments = ADDRESSES[name]
    answer = strict.post(reverse(name, args=arguments(world)), ATTEMPT)
    assert answer.status_code in (403, 405)
    assert world.facts() == world.before


@pytest.mark.parametrize("name", ["assignment", "decide"])
def test_an_assignment_is_not_reached_through_another_batch(
    world: World, name: str, researcher: Client
) -> None:
    address = reverse(name, args=[world.link_batch.pk, world.assignment.pk])
    method = researcher.get if name == "assignment" else researcher.post
    assert method(address, ATTEMPT).status_code == 404
    assert world.facts() == world.before


@pytest.mark.parametrize("name", ["renew_link", "revoke_link"])
def test_an_invitation_is_not_reached_through_another_batch(
    world: World, name: str, researcher: Client
) -> None:
    address = reverse(name, args=[make_batch().pk, world.invitation.pk])
    assert researcher.post(address, ATTEMPT).status_code == 404
