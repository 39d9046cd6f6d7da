"""The pages of signing in by a university: there, and back."""

import logging
from collections.abc import Callable
from functools import wraps

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from mozilla_django_oidc.views import OIDCAuthenticationCallbackView, OIDCAuthenticationRequestView

from surveys.pages.sign_in.factors import AMR, FRESH, prove
from surveys.pages.sign_in.provider import Discovered, Refused

NOT_BEGUN = "This sign-in was not begun in this browser, or was used already. Begin again."
View = Callable[[HttpRequest], HttpResponseBase]
logger = logging.getLogger(__name__)


class There(Discovered, OIDCAuthenticationRequestView):
    """Remember state, nonce and PKCE's verifier in the session, and go to the university."""

    def get_extra_params(self, request: HttpRequest) -> dict[str, str]:
        """Have a person sign in there anew where they are asked `again`, and have the token say when they did.

        https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest: with max_age there is an `auth_time`.
        """
        longest = str(int(FRESH.total_seconds()))
        return {"prompt": "login", "max_age": longest} if request.GET.get("again") else {}


class Back(Discovered, OIDCAuthenticationCallbackView):
    """Sign in whom the university names, where the state is one of this session's."""

    user: User

    def login_success(self) -> HttpResponse:
        """How and when the university knew its person is said of the session only now that it is that person's."""
        target, amr = self.success_url, getattr(self.user, "oidc_amr", [])
        login(self.request, self.user)
        self.request.session[AMR] = amr
        prove(self.request, at=getattr(self.user, "oidc_auth_time", 0.0))
        return redirect(target)

    def login_failure(self) -> HttpResponse:
        raise Refused(NOT_BEGUN)


def with_refusals(view: View) -> View:
    """Answer 404 where no university is set, and a page that says why where nobody is signed in."""

    @wraps(view)
    def guarded(request: HttpRequest) -> HttpResponseBase:
        if not settings.OIDC_IS_ON:
            raise Http404("No university is set.")
        try:
            return view(request)
        except SuspiciousOperation as error:
            logger.warning("A sign-in by the university was refused: %s", error)
            return refusal(request, Refused(NOT_BEGUN))
        except Refused as refused:
            return refusal(request, refused)

    return never_cache(guarded)


def refusal(request: HttpRequest, refused: Refused) -> HttpResponse:
    context = {"title": "Nobody was signed in", "reason": str(refused)}
    return render(request, "sign_in/refused.html", context, status=refused.status)


@with_refusals
def there(request: HttpRequest) -> HttpResponseBase:
    """Send a visitor to the university's sign-in."""
    return There.as_view()(request)


@with_refusals
def back(request: HttpRequest) -> HttpResponseBase:
    """Take whoever comes back from there. An error of theirs changes nothing here, whoever is signed in."""
    if "error" in request.GET:
        raise Refused(f"{settings.OIDC_LABEL} did not sign you in.")
    return Back.as_view()(request)
