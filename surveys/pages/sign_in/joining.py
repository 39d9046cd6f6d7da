"""The page a link into a study's team opens: join with an account, or make one where the site allows it.

The link is the key, and good once: looking at the page uses nothing up, posting does.
"""

import logging
from typing import Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import login
from django.contrib.auth.forms import BaseUserCreationForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from surveys.models import TeamInvitation
from surveys.pages.sign_in import factors
from surveys.studies import colleagues

BACKEND = "django.contrib.auth.backends.ModelBackend"
logger = logging.getLogger(__name__)


class AccountForm(BaseUserCreationForm):  # type: ignore[type-arg]
    """Name and password of a new account. It takes no e-mail address: nobody here has verified one."""

    class Meta:
        model = User
        fields = ["username", "first_name", "last_name"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Begin at the top of the page, where it says what this is: nobody is put into a field."""
        super().__init__(*args, **kwargs)
        self.fields["username"].widget.attrs.pop("autofocus", None)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def join_team(request: HttpRequest, token: str) -> HttpResponse:
    """Say which study somebody is invited to, and as what; posted by who is signed in, bring them in."""
    invitation = colleagues.invitation_under(token)
    if invitation is None:
        return _gone(request)
    if request.method != "POST":
        return _page(request, invitation, token=token)
    if not (isinstance(request.user, User) and request.user.is_staff):
        return redirect("join_team", token)
    if not colleagues.accept(invitation, by=request.user):
        return _gone(request)
    messages.success(request, f"You are in the team of {invitation.survey}.")
    return redirect("study", invitation.survey.slug)


@never_cache
@require_POST
def join_with_account(request: HttpRequest, token: str) -> HttpResponse:
    """Make an account and bring it into the team; it has no rights but its role there."""
    invitation = colleagues.invitation_under(token)
    if invitation is None or not settings.INVITED_ACCOUNTS:
        return _gone(request)
    form = AccountForm(request.POST)
    if not form.is_valid():
        return _page(request, invitation, token=token, form=form, status=422)
    user = _joined(form, invitation)
    if user is None:
        return _gone(request)
    logger.info("%s has made an account by an invitation to %s.", user, invitation.survey.slug)
    login(request, user, backend=BACKEND)
    factors.prove(request)
    return redirect("study", invitation.survey.slug)


def _joined(form: AccountForm, invitation: TeamInvitation) -> User | None:
    """Return the new account in the team; None, and no account, where somebody else was quicker."""
    with transaction.atomic():
        form.instance.is_staff = True
        user: User = form.save()
        if colleagues.accept(invitation, by=user):
            return user
        transaction.set_rollback(True)
    return None


def _page(
    request: HttpRequest,
    invitation: TeamInvitation,
    *,
    token: str,
    form: AccountForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "invitation": invitation,
        "token": token,
        "is_here": isinstance(request.user, User) and request.user.is_staff,
        "form": (form or AccountForm()) if settings.INVITED_ACCOUNTS else None,
    }
    return _rendered(request, "sign_in/join.html", context, title="You are invited", status=status)


def _gone(request: HttpRequest) -> HttpResponse:
    return _rendered(request, "sign_in/join_gone.html", {}, title="This link is good no more", status=404)


def _rendered(
    request: HttpRequest, template: str, context: dict[str, Any], *, title: str, status: int
) -> HttpResponse:
    """Render a page that tells its address to nobody."""
    common = {**admin.site.each_context(request), "title": title}
    response = render(request, template, {**common, **context}, status=status)
    response["Referrer-Policy"] = "same-origin"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response
