"""The team's pages: what each role may open, and the way of an invitation from the settings to the study."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from surveys.models import Role, Survey, TeamInvitation, TeamRole
from surveys.studies import colleagues
from tests.factories import make_published, make_survey
from tests.surveys.pages.pages import text_of

pytestmark = pytest.mark.django_db
ACCOUNT = {"username": "ada", "password1": "a long enough one", "password2": "a long enough one"}


def client_in(survey: Survey, role: str) -> Client:
    """The client of a colleague whose account has no right of its own."""
    user = User.objects.create_user(f"a-{role}", is_staff=True)
    survey.team.add(user)
    TeamRole.objects.create(survey=survey, person=user, role=role)
    client = Client()
    client.force_login(user)
    return client


def link_from(client: Client, survey: Survey, *, role: str = "assistant") -> str:
    page = client.post(
        reverse("invite_colleague", args=[survey.slug]), {"name": "Ada", "role": role, "days": 3}
    )
    found = re.search(r"http://testserver(/team/[^/]+/)", page.content.decode())
    assert found
    return found[1]


def test_each_role_opens_what_it_may() -> None:
    batch = make_published().batch
    survey = batch.survey
    addresses = [
        ("get", "study", survey.slug),
        ("get", "study_items", survey.slug),
        ("get", "assignments", batch.pk),
        ("get", "batch_results", batch.pk),
        ("post", "decide_many", batch.pk),
        ("get", "launch", survey.slug),
        ("get", "batch_trail", batch.pk),
        ("get", "study_settings", survey.slug),
    ]
    opened = {}
    for role in Role.values:
        client = client_in(survey, role)
        answers = [getattr(client, how)(reverse(name, args=[about])) for how, name, about in addresses]
        opened[role] = [answer.status_code != 403 for answer in answers]
    assert opened == {
        "owner": [True] * 8,
        "researcher": [True] * 7 + [False],
        "assistant": [True] * 5 + [False] * 3,
        "reader": [True] * 4 + [False] * 4,
    }


def test_a_colleague_sees_their_study_and_no_other() -> None:
    mine, shared = make_survey(n_items=1), make_survey(n_items=1, is_shared=True)
    client = client_in(mine, Role.RESEARCHER)
    home = text_of(client.get("/admin/"))
    assert (mine.name in home, shared.name in home, "Plan a batch" in home) == (True, False, True)
    assert client.get(reverse("study", args=[shared.slug])).status_code == 403
    form = client.get(reverse("import_items")).context["form"]
    assert (list(form.fields["survey"].queryset), form.fields["survey"].required) == ([mine], True)
    assert client.get(reverse("new_batch")).url == reverse("launch", args=[mine.slug])
    assert client.get(reverse("admin:surveys_survey_changelist")).status_code == 403


def test_a_lower_role_in_one_study_is_held_to_in_the_admin_too(researcher: Client) -> None:
    batch = make_published().batch
    user = User.objects.get(username="researcher")
    batch.survey.team.add(user)
    TeamRole.objects.create(survey=batch.survey, person=user, role=Role.READER)
    address = reverse("admin:surveys_survey_change", args=[batch.survey_id])
    assert researcher.post(address, {"name": "Mine"}).status_code == 403
    assert researcher.get(reverse("batch_policy", args=[batch.pk])).status_code == 200
    assert researcher.post(reverse("batch_policy", args=[batch.pk]), {}).status_code == 403
    assert [
        one.pk for one in researcher.get(reverse("import_items")).context["form"]["survey"].field.queryset
    ] == []


def test_from_the_settings_to_the_study_with_an_account_of_ones_own(researcher: Client) -> None:
    survey = make_survey()
    link, newcomer = link_from(researcher, survey), Client()
    assert link not in text_of(researcher.get(reverse("study_settings", args=[survey.slug])))
    page = newcomer.get(link)
    assert "as assistant" in text_of(page)
    assert page["Referrer-Policy"] == "same-origin"
    assert newcomer.post(f"{link}account", {**ACCOUNT, "password2": "other"}).status_code == 422
    answer = newcomer.post(f"{link}account", {**ACCOUNT, "is_superuser": "1", "email": "x@lab.example"})
    assert answer["Location"] == reverse("study", args=[survey.slug])
    assert newcomer.get(answer["Location"]).status_code == 200
    ada = User.objects.get(username="ada")
    assert (ada.is_superuser, ada.email, ada.groups.count()) == (False, "", 0)
    assert [newcomer.get(link).status_code, Client().post(f"{link}account", ACCOUNT).status_code] == [
        404,
        404,
    ]
    assert [(one.person, one.role) for one in colleagues.members(survey)] == [(ada, "assistant")]


def test_no_account_is_made_where_the_site_does_not_allow_it(researcher: Client, settings) -> None:
    settings.INVITED_ACCOUNTS = False
    link = link_from(researcher, make_survey())
    assert "New here?" not in text_of(Client().get(link))
    assert Client().post(f"{link}account", ACCOUNT).status_code == 404
    assert not User.objects.filter(username="ada").exists()
    assert TeamInvitation.objects.get().used_at is None


def test_looking_and_strangers_posting_use_nothing_up(researcher: Client) -> None:
    link = link_from(researcher, make_survey(), role="reader")
    assert Client().post(link)["Location"] == link
    assert Client().head(link).status_code == 200
    assert TeamInvitation.objects.get().used_at is None


def test_with_a_second_factor_required_a_newcomer_sets_one_up_first(researcher: Client, settings) -> None:
    survey = make_survey()
    link, newcomer = link_from(researcher, survey), Client()
    settings.REQUIRE_SECOND_FACTOR = True
    answer = newcomer.post(f"{link}account", ACCOUNT, follow=True)
    assert answer.redirect_chain[-1][0].startswith(reverse("second_factor"))
    assert survey.team.filter(username="ada").exists()


def test_owners_change_roles_and_take_people_out(researcher: Client) -> None:
    survey = make_survey(is_shared=False)
    survey.team.add(User.objects.get(username="researcher"))
    ada = User.objects.create_user("ada", is_staff=True)
    page = researcher.post(
        reverse("add_colleague", args=[survey.slug]), {"person": ada.pk, "role": "reader"}, follow=True
    )
    assert "Ada is in the team." in text_of(page)
    page = researcher.post(
        reverse("change_role", args=[survey.slug, ada.pk]), {"role": "assistant"}, follow=True
    )
    assert "Ada is assistant now." in text_of(page)
    assert researcher.post(reverse("remove_colleague", args=[survey.slug, ada.pk])).status_code == 302
    own = reverse("remove_colleague", args=[survey.slug, User.objects.get(username="researcher").pk])
    assert "Somebody has to own the study" in text_of(researcher.post(own, follow=True))
    assert [one.person.username for one in colleagues.members(survey)] == ["researcher"]
