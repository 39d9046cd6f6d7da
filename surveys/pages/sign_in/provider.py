"""What a university says about its person (OpenID Connect), checked; and whose account here that is.

mozilla-django-oidc leads there and back, with state, nonce and PKCE, and fetches the token and its keys. It checks
neither issuer nor audience, takes an e-mail address that nobody verified, and keeps an account signed in that was
closed meanwhile: these are ours.
"""

import hmac
import logging
import re
import time
from hashlib import sha256
from typing import Any

import jwt
import requests
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.cache import cache
from django.core.exceptions import SuspiciousOperation
from django.db.models import QuerySet
from django.http import HttpRequest
from mozilla_django_oidc.auth import OIDCAuthenticationBackend
from mozilla_django_oidc.utils import import_from_settings

from surveys.studies.colleagues import invitation_under

JOINING = re.compile(r"/team/([^/]+)/")
ENDPOINTS = {
    "OIDC_OP_AUTHORIZATION_ENDPOINT": "authorization_endpoint",
    "OIDC_OP_TOKEN_ENDPOINT": "token_endpoint",
    "OIDC_OP_JWKS_ENDPOINT": "jwks_uri",
    "OIDC_OP_USER_ENDPOINT": "userinfo_endpoint",
}
NEEDED = {"issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"}
HOUR = 3600  # seconds for which the endpoints are known
# Signatures that only the university can make; with HS256 our own secret would be enough.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
CLAIMS = ["iss", "aud", "exp", "iat", "sub", "nonce"]
LEEWAY = 60  # seconds that two clocks may differ
UNSOUND = (SuspiciousOperation, jwt.PyJWTError, requests.RequestException, ValueError, KeyError, TypeError)
LONGEST_NAME = 150  # of Django's user names
logger = logging.getLogger(__name__)


class Refused(Exception):
    """Nobody is signed in; the text is for whoever tried."""

    def __init__(self, text: str, *, status: int = 403) -> None:
        super().__init__(text)
        self.status = status


class Discovered:
    """Endpoints come from the university itself, as https://openid.net/specs/openid-connect-discovery-1_0.html says."""

    @staticmethod
    def get_settings(name: str, *default: Any) -> Any:
        if name in ENDPOINTS:
            return discovered().get(ENDPOINTS[name], "")
        if name == "OIDC_TOKEN_USE_BASIC_AUTH":
            return "client_secret_post" not in discovered().get("token_endpoint_auth_methods_supported", [])
        return import_from_settings(name, *default)


class UniversityBackend(Discovered, OIDCAuthenticationBackend):
    """The account of whom a university's signed token names. Each page's session makes one to ask for its user."""

    def __init__(self) -> None:
        """Ask nobody yet: the library's own would ask for endpoints with every page."""

    get_user = ModelBackend.get_user  # whose account was closed is signed out

    def authenticate(  # type: ignore[override]
        self, request: HttpRequest, *, nonce: str, code_verifier: str
    ) -> User:
        """Return the account of whoever comes back. Raises Refused. A name and a password are not for this backend."""
        text = f"What {settings.OIDC_LABEL} sent can't be trusted."
        try:
            OIDCAuthenticationBackend.__init__(self)
            user: User | None = super().authenticate(  # type: ignore[no-untyped-call]
                request, nonce=nonce, code_verifier=code_verifier
            )
        except UNSOUND as error:
            logger.warning("What the university sent was refused: %s: %s", type(error).__name__, error)
            raise Refused(text) from error
        if user is None:
            raise Refused(text)
        return user

    def verify_token(self, token: str, **kwargs: Any) -> dict[str, Any]:
        """Return a token's claims: signed by the university, for us, for this very sign-in, now.

        https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation
        """
        client: str = settings.OIDC_RP_CLIENT_ID
        claims = jwt.decode(
            token,
            self.retrieve_matching_jwk(token),  # type: ignore[no-untyped-call]
            algorithms=ALGORITHMS,
            audience=client,
            issuer=settings.OIDC_ISSUER,
            leeway=LEEWAY,
            options={"require": CLAIMS},
        )
        if not hmac.compare_digest(str(claims["nonce"]).encode(), kwargs["nonce"].encode()):
            raise SuspiciousOperation("The nonce is another one.")
        has_others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", "" if has_others else client) != client:
            raise SuspiciousOperation("It is for another client.")
        return claims

    def get_or_create_user(self, access_token: str, id_token: str, payload: dict[str, Any]) -> User:
        """Return the account, with how the university knew its person (`amr`, RFC 8176) as `oidc_amr`.

        When it did is `oidc_auth_time`, in seconds since 1970; 0 where it does not say, or says what is to come.
        """
        claims = payload
        if "email" not in payload:
            claims = self.get_userinfo(access_token, id_token, payload)  # type: ignore[no-untyped-call]
            if claims["sub"] != payload["sub"]:  # OpenID Connect Core, 5.3.2
                raise SuspiciousOperation("The user info is of somebody else.")
        user, amr = account_of(claims, is_invited=self._is_invited()), payload.get("amr")
        user.oidc_amr = [str(method) for method in amr] if isinstance(amr, list) else []  # type: ignore[attr-defined]
        at: Any = payload.get("auth_time")
        is_past = isinstance(at, int) and 0 < at < time.time() + LEEWAY
        user.oidc_auth_time = float(at) if is_past else 0.0  # type: ignore[attr-defined]
        return user

    def _is_invited(self) -> bool:
        """Tell whether whoever comes back set out from a link into a study's team that is still good."""
        then = self.request.session.get("oidc_login_next") or ""
        found = JOINING.fullmatch(then)
        return bool(settings.INVITED_ACCOUNTS and found and invitation_under(found[1]))


def discovered() -> dict[str, Any]:
    """Return what the university publishes about its endpoints. Raises Refused where it does not, or is another."""
    key = f"oidc:{sha256(settings.OIDC_ISSUER.encode()).hexdigest()}"
    found: dict[str, Any] | None = cache.get(key)
    if found is None:
        found = _published()
        cache.set(key, found, timeout=HOUR)
    return found


def account_of(claims: dict[str, Any], *, is_invited: bool = False) -> User:
    """Return the one account of staff with the verified address; Refused where there is none, or several.

    Who is invited to a study gets one, which may do nothing else. One that this server made before, and that waits for
    its rights, is theirs; one with a password of its own could be of whoever claimed the address.

    Letters outside ASCII are refused: a database takes some of them for others when it ignores case.
    """
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str) or "@" not in email:
        raise Refused(f"{settings.OIDC_LABEL} does not say that it has verified an e-mail address of yours.")
    if not email.isascii():
        raise Refused("An e-mail address with letters outside ASCII can't be matched with an account.")
    users = User.objects.filter(email__iexact=email)
    staff = list(users.filter(is_active=True, is_staff=True)[:2])
    if len(staff) == 1:
        return staff[0]
    if staff:
        raise Refused(f"Several accounts here have the address {email}: ask whoever runs this installation.")
    if is_invited and (user := _invited(users, email=email)):
        return user
    if users.exists():
        raise Refused("Your account here has no rights: ask whoever runs this installation for some.")
    raise _without_account(email)


def _invited(users: QuerySet[User], *, email: str) -> User | None:
    """Return the account of who is invited, made if there is none; None where it is no longer to be opened."""
    user = users.first()
    if user is None and len(email) <= LONGEST_NAME:
        name, password = email.lower(), make_password(None)
        user, _ = User.objects.get_or_create(username=name, defaults={"email": name, "password": password})
    if (
        user is None
        or user.has_usable_password()
        or not user.is_active
        or user.email.lower() != email.lower()
    ):
        return None
    user.is_staff = True
    user.save(update_fields=["is_staff"])
    logger.info("%s has an account by an invitation to a study.", user)
    return user


def _without_account(email: str) -> Refused:
    """Return why nobody is signed in; make an account without any right where the settings say so."""
    name, ask = email.lower(), "ask whoever runs this installation"
    if not settings.OIDC_CREATE_ACCOUNTS or len(name) > LONGEST_NAME:
        return Refused(f"No researcher's account here has the address {email}: {ask} for one.")
    defaults = {"email": name, "password": make_password(None)}
    _, is_new = User.objects.get_or_create(username=name, defaults=defaults)
    if not is_new:
        return Refused(f"The name {name} is an account's with another e-mail address: {ask}.")
    logger.info("An account without rights was made for %s.", name)
    return Refused(f"An account was made for you. It has no rights yet: {ask} for some.")


def _published() -> dict[str, Any]:
    address = f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration"
    try:
        answer = requests.get(address, timeout=settings.OIDC_TIMEOUT)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        if missing := NEEDED - found.keys():
            raise ValueError(f"no {', '.join(sorted(missing))}")
        if found["issuer"] != settings.OIDC_ISSUER:
            raise ValueError(f"its issuer is {found['issuer']!r}")
    except (requests.RequestException, ValueError, AttributeError) as error:
        logger.warning("%s: %s", address, error)
        text = f"The sign-in of {settings.OIDC_LABEL} does not answer as it should. Try again later."
        raise Refused(text, status=503) from error
    return found
