"""Who still owes a second factor, and what is taken for one.

A session whose factor is missing is nobody's on every page: `SecondFactorMiddleware` puts an anonymous visitor in the
place of its user, so that what asks for a right gets none, the admin included. Only the pages of this room look at the
session itself (`entering`), and only for `FRESH` after the password.

A wrong code makes the next one wait for 1, 2, 4 ... seconds, at most a little over an hour; the count lies in the
database (django-otp's ThrottlingMixin), so it holds over processes and restarts. A code of the app is taken once, as
its time step is kept (RFC 6238, 5.2); a recovery code is deleted where it is used.
"""

import re
import time
from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django_otp.models import ThrottlingMixin
from django_otp.oath import TOTP
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice, default_key

FRESH = timedelta(minutes=15)
N_RECOVERY_CODES = 10
LONGEST_WAIT = 13  # wrong codes in a row; the wait is 2 ** 12 seconds from then on
OF_APP = re.compile(r"[0-9]{6}", re.ASCII)
SEPARATORS = re.compile(r"[\s-]")
PROVEN_AT = (
    "proven_at"  # in a session: when its person last gave the password, or signed in at the university
)
AMR = "oidc_amr"  # in a session: how the university knew its person (RFC 8176)
Devices = TOTPDevice | StaticDevice


class SecondFactorMiddleware:
    """Take whoever owes a second factor for nobody. After django-otp's middleware, which says who has given one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        signed_in = request.user
        request.user = SimpleLazyObject(  # type: ignore[assignment]
            lambda: AnonymousUser() if owes_factor(request, signed_in) else signed_in
        )
        return self.get_response(request)


def owes_factor(request: HttpRequest, user: User | AnonymousUser) -> bool:
    """Tell whether a session's user has one step before them: who has a factor, and all where it is required."""
    if not user.is_authenticated or is_given(request, user):
        return False
    return settings.REQUIRE_SECOND_FACTOR or has_factor(user)


def is_given(request: HttpRequest, user: User) -> bool:
    """Tell whether the session has a second factor: of a device that is still there, or of a kind the settings name.

    `otp_device` is set by django-otp's middleware.
    """
    is_verified = getattr(user, "otp_device", None) is not None
    return is_verified or not settings.OIDC_SECOND_FACTORS.isdisjoint(request.session.get(AMR, ()))


def entering(request: HttpRequest) -> User | None:
    """Return whose password was right a moment ago, if only the second factor is missing."""
    user = get_user(request)
    if not isinstance(user, User) or request.user.is_authenticated:
        return None
    is_fresh = user.last_login is not None and timezone.now() - user.last_login < FRESH
    return user if is_fresh and user.is_staff else None


def prove(request: HttpRequest, *, at: float | None = None) -> None:
    """Write down in the session that its person has just shown who they are, or did so `at`, in seconds since 1970."""
    request.session[PROVEN_AT] = time.time() if at is None else at


def is_proven(request: HttpRequest) -> bool:
    """Tell whether the session's person showed who they are a moment ago: in this session, not in another of theirs."""
    proven_at: float = request.session.get(PROVEN_AT, 0.0)
    return time.time() - proven_at < FRESH.total_seconds()


def has_factor(user: User) -> bool:
    return TOTPDevice.objects.filter(user=user, confirmed=True).exists()


def n_recovery_codes(user: User) -> int:
    return StaticToken.objects.filter(device__user=user, device__confirmed=True).count()


def wait_of(user: User, *, code: str) -> int:
    """Return for how many seconds no code of this kind is looked at, after wrong ones; 0: it is."""
    device = _kind(_plain(code)).objects.filter(user=user, confirmed=True).first()
    return _wait(device) if device else 0


def take(user: User, *, code: str) -> Devices | None:
    """Take a code of the app or a recovery code, once; return what it was of, or None where it is not right."""
    code = _plain(code)
    with transaction.atomic():
        device = _kind(code).objects.select_for_update().filter(user=user, confirmed=True).first()
        is_right = device is not None and not _wait(device) and device.verify_token(code)
    return device if is_right else None


def new_key() -> str:
    """Return a new secret for an app, in hex."""
    return str(default_key())


def address_of(key: str, *, user: User) -> str:
    """Return what a QR code says: otpauth://totp/..."""
    return str(TOTPDevice(user=user, key=key).config_url)


def enrol(user: User, *, key: str, code: str) -> TOTPDevice | None:
    """Make the app that has `key` the user's second factor if the code is one of it, and take that code.

    None where the code is wrong, or the user has a factor by now: another tab, or somebody else, was first.
    """
    totp = TOTP(bytes.fromhex(key))
    totp.time = time.time()
    code = _plain(code)
    if not OF_APP.fullmatch(code) or not totp.verify(int(code), 1):
        return None
    app = TOTPDevice(user=user, name="app", key=key, last_t=totp.t(), drift=totp.drift)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        if has_factor(user):
            return None
        app.save()
    return app


def new_recovery_codes(user: User) -> list[str]:
    """Return new recovery codes; the former ones are void."""
    codes = [str(StaticToken.random_token()) for _ in range(N_RECOVERY_CODES)]
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        device, _ = StaticDevice.objects.get_or_create(user=user, defaults={"name": "recovery codes"})
        device.token_set.all().delete()
        StaticToken.objects.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return [f"{code[:4]}-{code[4:]}" for code in codes]


def remove(user: User) -> bool:
    """Take a user's second factor away, recovery codes included; say whether there was one."""
    n_apps, _ = TOTPDevice.objects.filter(user=user).delete()
    n_codes, _ = StaticDevice.objects.filter(user=user).delete()
    return bool(n_apps or n_codes)


def _plain(code: str) -> str:
    """Return a code without what people put between its characters."""
    return SEPARATORS.sub("", code).lower()


def _kind(code: str) -> type[Devices]:
    """A wrong code of the app must not make recovery codes wait, nor the other way round."""
    return TOTPDevice if OF_APP.fullmatch(code) else StaticDevice


def _wait(device: ThrottlingMixin) -> int:
    """Return the seconds until the device may be asked. Without a longest wait a guesser could lock it for years."""
    device.throttling_failure_count = min(device.throttling_failure_count, LONGEST_WAIT)
    is_allowed, why = device.verify_is_allowed()
    if is_allowed:
        return 0
    seconds: float = (why["locked_until"] - timezone.now()).total_seconds()
    return max(1, round(seconds))
