"""A person's own API tokens: made for a code or a password, shown once, revoked by a button."""

import logging
from datetime import timedelta

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from surveys.api import tokens
from surveys.models import ApiToken
from surveys.pages.access import address_of, researcher
from surveys.pages.sign_in import factors
from surveys.pages.sign_in.second_factor import CodeForm, ProofForm

FOREVER = "0"
DAYS = [("30", "30 days"), ("90", "90 days"), ("365", "a year"), (FOREVER, "until I revoke it")]
logger = logging.getLogger(__name__)


class TokenForm(forms.Form):
    """What a new token is for."""

    name = forms.CharField(
        label="What is it for?", max_length=100, help_text="For yourself, as “nightly evaluation”."
    )
    days = forms.ChoiceField(label="It opens for", choices=DAYS, initial="90")
    is_read_only = forms.BooleanField(
        label="It only reads: nothing is made, published or decided", required=False
    )

    def make(self, user: User) -> str:
        """Make the token of a valid form and return it."""
        data = self.cleaned_data
        days = int(data["days"])
        expires_at = timezone.now() + timedelta(days=days) if days else None
        row, token = tokens.make(
            user, name=data["name"], expires_at=expires_at, is_read_only=data["is_read_only"]
        )
        logger.info("%s has made the API token %d.", user.get_username(), row.pk)
        return token


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@researcher()
def api_tokens(request: HttpRequest) -> HttpResponse:
    """List one's own tokens, and make one: for a code of the app, or the password where there is no app."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 (staff are signed in)
    form = TokenForm(request.POST or None)
    proof, is_proven = _proof(request, user, is_ready=form.is_bound and form.is_valid())
    token = form.make(user) if form.is_bound and form.is_valid() and is_proven else ""
    context = {
        **admin.site.each_context(request),
        "title": "API tokens",
        "form": TokenForm() if token else form,
        "proof": None if token else proof,
        "asks_code": isinstance(proof, CodeForm),
        "asks_password": isinstance(proof, ProofForm) and not factors.is_proven(request),
        "has_password": user.has_usable_password(),
        "university": settings.OIDC_LABEL if settings.OIDC_IS_ON else "",
        "token": token,
        "tokens": ApiToken.objects.filter(user=user, revoked_at=None),
        "now": timezone.now(),
        "address": settings.APP_URL,
    }
    response = render(request, "sign_in/api_tokens.html", context, status=_status(form, proof, token=token))
    if isinstance(proof, ProofForm) and proof.closed:
        proof.closed.mark(response)
    return response


@require_POST
@researcher()
def revoke_token(request: HttpRequest, token_pk: int) -> HttpResponse:
    """Close one of one's own tokens. Nobody else's is there."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101 (staff are signed in)
    if tokens.revoke(user, token_pk):
        logger.info("%s has revoked the API token %d.", user.get_username(), token_pk)
        messages.success(request, "The token is revoked: it opens nothing any more.")
    return redirect("api_tokens")


def _proof(request: HttpRequest, user: User, *, is_ready: bool) -> tuple[CodeForm | ProofForm, bool]:
    """Return the form that proves who somebody is, and whether they have.

    A code is taken, and so used up, only where all else is right.
    """
    if factors.has_factor(user):
        code = CodeForm(request.POST or None)
        return code, is_ready and code.take(user) is not None
    password = ProofForm(request.POST if "password" in request.POST else None)
    if factors.is_proven(request):
        return password, True
    is_right = is_ready and password.is_bound and password.is_right(user, address=address_of(request))
    if is_right:
        factors.prove(request)
    return password, is_right


def _status(form: TokenForm, proof: CodeForm | ProofForm, *, token: str) -> int:
    if isinstance(proof, CodeForm) and proof.wait:
        return 429
    return 422 if form.is_bound and not token else 200
