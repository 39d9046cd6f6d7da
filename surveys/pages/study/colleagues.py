"""A study's team: inviting by link, giving and changing roles, removing. All of it is its owners' to do."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from surveys.models import Role, Survey
from surveys.pages.access import researcher, study_for
from surveys.pages.study.settings import MAY, settings_page
from surveys.pages.study.team import AddForm, InviteForm, RoleForm, team_of
from surveys.studies import colleagues
from surveys.teams import sees


@never_cache
@require_POST
@researcher(*MAY)
def invite_colleague(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a link into the team. Its address is in this answer and nowhere else: only its hash is kept."""
    survey, form = study_for(request, slug), InviteForm(request.POST)
    if not form.is_valid():
        return settings_page(request, survey, status=422, **(team_of(survey) | {"invite_form": form}))
    until = timezone.now() + timedelta(days=form.cleaned_data["days"])
    name, role = form.cleaned_data["name"], form.cleaned_data["role"]
    token = colleagues.invite(survey, name=name, role=role, expires_at=until, by=_user(request))
    address = request.build_absolute_uri(reverse("join_team", args=[token]))
    return settings_page(request, survey, **team_of(survey), address=address, invited=name)


@require_POST
@researcher(*MAY)
def revoke_invitation(request: HttpRequest, slug: str, invitation_pk: int) -> HttpResponse:
    """Take a link back that nobody has used."""
    survey = study_for(request, slug)
    invitation = get_object_or_404(survey.team_invitations, pk=invitation_pk)
    if colleagues.revoke(invitation, by=_user(request)):
        messages.success(request, f"The link for {invitation.name} opens nothing any more.")
    else:
        messages.info(request, f"The link for {invitation.name} was used or taken back before.")
    return _to_team(slug)


@require_POST
@researcher(*MAY)
def add_colleague(request: HttpRequest, slug: str) -> HttpResponse:
    """Bring somebody with an account into the team."""
    survey = study_for(request, slug)
    form = AddForm(request.POST, survey=survey)
    if not form.is_valid():
        return settings_page(request, survey, status=422, **(team_of(survey) | {"add_form": form}))
    colleagues.add(survey, **form.cleaned_data, by=_user(request))
    messages.success(request, f"{form.cleaned_data['person']} is in the team.")
    return _to_team(slug)


@require_POST
@researcher(*MAY)
def change_role(request: HttpRequest, slug: str, person_pk: int) -> HttpResponse:
    """Give a member another role."""
    survey = study_for(request, slug)
    person, form = get_object_or_404(survey.team, pk=person_pk), RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "There is no such role.")
        return _to_team(slug)
    try:
        colleagues.change_role(survey, person=person, role=form.cleaned_data["role"], by=_user(request))
    except colleagues.CannotChange as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{person} is {Role(form.cleaned_data['role']).label.lower()} now.")
    return _after(request, survey)


@require_POST
@researcher(*MAY)
def remove_colleague(request: HttpRequest, slug: str, person_pk: int) -> HttpResponse:
    """Take somebody out of the team."""
    survey = study_for(request, slug)
    person = get_object_or_404(survey.team, pk=person_pk)
    try:
        colleagues.remove(survey, person=person, by=_user(request))
    except colleagues.CannotChange as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{person} is out of the team. What they did stays.")
    return _after(request, survey)


def _after(request: HttpRequest, survey: Survey) -> HttpResponse:
    """Lead back to the settings; who has given their own ownership up, to what is still theirs."""
    person = _user(request)
    if person.is_superuser or colleagues.owns(survey, person):
        return _to_team(survey.slug)
    return redirect("study", survey.slug) if sees(person, survey) else redirect("admin:index")


def _to_team(slug: str) -> HttpResponse:
    return redirect(reverse("study_settings", args=[slug]) + "#team")


def _user(request: HttpRequest) -> User:
    found: Any = request.user  # `researcher` lets nobody else in
    user: User = found
    return user
