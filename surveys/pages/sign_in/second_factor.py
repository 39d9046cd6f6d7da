"""The pages of a second factor: giving a code after the password, setting an app up, and looking after it."""

import logging
from base64 import b32encode
from typing import Any
from urllib.parse import urlencode

import segno
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST
from django_otp import login as remember_factor

from surveys.pages.access import address_of
from surveys.pages.sign_in import factors
from surveys.pages.sign_in.doors import Closed, closed, count, doors_of

KEY = "second_factor_key"  # of an app that is being set up; a secret of this session alone until its code was right
NOT_RIGHT = "This code is not right, or was used before. Take the one that the app shows now."
NOT_THEIRS = "This is not the password of your account."
NOT_OF_APP = "This is not the code that the app shows now. Is the time on that device right?"
logger = logging.getLogger(__name__)


class CodeForm(forms.Form):
    """One code: of the app, or a recovery code where the user has a factor already."""

    code = forms.CharField(
        max_length=20,
        error_messages={"required": "Enter the code."},
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    wait = 0  # seconds

    def take(self, user: User) -> factors.Devices | None:
        """Take the code once; None and an error where it is not right, or must wait after wrong ones."""
        if not self.is_valid():
            return None
        code = self.cleaned_data["code"]
        self.wait = factors.wait_of(user, code=code)
        device = None if self.wait else factors.take(user, code=code)
        if self.wait:
            self.add_error(None, f"Too many wrong codes. Wait for {in_words(self.wait)}, then try again.")
        elif device is None:
            logger.warning("A wrong code for the second factor of %s.", user.get_username())
            self.add_error(None, NOT_RIGHT)
        return device


class ProofForm(forms.Form):
    """The password once more. Wrong ones count as at the sign-in."""

    password = forms.CharField(strip=False, error_messages={"required": "Enter your password."})
    closed: Closed | None = None

    def is_right(self, user: User, *, address: str) -> bool:
        """Say whether the password is the user's; an error says why not."""
        if not self.is_valid():
            return False
        doors = doors_of(user.get_username(), address=address)
        self.closed = closed(doors)
        if self.closed:
            self.add_error("password", self.closed.text)
        elif not user.check_password(self.cleaned_data["password"]):
            count(doors)
            logger.warning("A wrong password of %s before setting up a second factor.", user.get_username())
            self.add_error("password", NOT_THEIRS)
        return self.is_valid()


@never_cache
def give_code(request: HttpRequest) -> HttpResponse:
    """Ask for the code after the password. Who has no factor yet sets one up; who owes none goes on."""
    user = factors.entering(request)
    if user is None or not factors.has_factor(user):
        return redirect(next_step(request) or target(request))
    form = CodeForm(request.POST or None)
    if request.method == "POST" and (device := form.take(user)):
        remember(request, user, device=device)
        return redirect(target(request))
    context = {"form": form, "entering": user, "next": target(request), "title": "Second factor"}
    return render(request, "sign_in/code.html", context, status=429 if form.wait else 200)


@never_cache
def second_factor(request: HttpRequest) -> HttpResponse:
    """Set a second factor up, or look after the one there is."""
    if entering := factors.entering(request):
        if factors.has_factor(entering):
            return redirect(with_next("second_factor_code", request))
        return set_up(request, entering)
    if not isinstance(request.user, User) or not request.user.is_staff:
        return redirect(f"{reverse('admin:login')}?{urlencode({'next': request.path})}")
    if factors.has_factor(request.user):
        return look_after(request, request.user)
    return set_up(request, request.user)


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    """Forget a password that was right, to sign in as somebody else."""
    logout(request)
    return redirect("admin:login")


def set_up(request: HttpRequest, user: User) -> HttpResponse:
    """Show a secret for an app as a QR code; once a code of it is right, show the recovery codes.

    Only to whom has just shown who they are: with an app of their own, who finds a session open locks its owner out.
    """
    if not factors.is_proven(request):
        return prove_first(request, user)
    form, key = CodeForm(request.POST or None), request.session.setdefault(KEY, factors.new_key())
    if request.method == "POST" and form.is_valid():
        if device := factors.enrol(user, key=key, code=form.cleaned_data["code"]):
            return enrolled(request, user, device=device)
        form.add_error(None, NOT_OF_APP)
    address = factors.address_of(key, user=user)
    context: dict[str, Any] = {"form": form, "qr": picture_of(address), "key": in_fours(key)}
    context |= {"is_required": settings.REQUIRE_SECOND_FACTOR, "next": target(request)}
    context |= {"entering": factors.entering(request), "title": "Set up a second factor"}
    return render(request, "sign_in/set_up.html", context)


def prove_first(request: HttpRequest, user: User) -> HttpResponse:
    """Ask for the password, or lead to the university, and then on to setting up."""
    form = ProofForm(request.POST if "password" in request.POST else None)
    if form.is_bound and form.is_right(user, address=address_of(request)):
        factors.prove(request)
        return redirect(with_next("second_factor", request))
    back = {"again": "1", "next": with_next("second_factor", request)}
    context: dict[str, Any] = {"form": form, "next": target(request), "title": "Set up a second factor"}
    context |= {"has_password": user.has_usable_password(), "entering": factors.entering(request)}
    context |= {"university": settings.OIDC_LABEL if settings.OIDC_IS_ON else ""}
    context |= {"there": f"{reverse('oidc_there')}?{urlencode(back)}"}
    response = render(request, "sign_in/prove.html", context)
    if form.closed:
        form.closed.mark(response)
    return response


def enrolled(request: HttpRequest, user: User, *, device: factors.Devices) -> HttpResponse:
    logger.info("%s has set up a second factor.", user.get_username())
    remember(request, user, device=device)
    return show_codes(request, user)


def look_after(request: HttpRequest, user: User) -> HttpResponse:
    """Make new recovery codes or remove the app, both for a code: a session alone must not be enough."""
    form = CodeForm(request.POST or None)
    if request.method == "POST" and (device := form.take(user)):
        if request.POST.get("do") == "remove":
            return removed(request, user)
        remember(request, user, device=device)
        return show_codes(request, user)
    context = {**admin.site.each_context(request), "title": "Second factor", "form": form}
    context |= {"n_codes": factors.n_recovery_codes(user), "is_required": settings.REQUIRE_SECOND_FACTOR}
    return render(request, "sign_in/look_after.html", context, status=429 if form.wait else 200)


def removed(request: HttpRequest, user: User) -> HttpResponse:
    factors.remove(user)
    logger.info("%s has removed their second factor.", user.get_username())
    messages.success(request, "The app is removed. Its codes and the recovery codes open nothing any more.")
    return redirect("second_factor")


def show_codes(request: HttpRequest, user: User) -> HttpResponse:
    """Show new recovery codes, for this once."""
    context = {"codes": factors.new_recovery_codes(user), "next": target(request), "title": "Recovery codes"}
    return render(request, "sign_in/recovery_codes.html", context)


def remember(request: HttpRequest, user: User, *, device: factors.Devices) -> None:
    """Let the session have its second factor; from here on it is that user's on every page."""
    request.session.pop(KEY, None)
    request.session.cycle_key()
    request.user = user
    remember_factor(request, device)


def next_step(request: HttpRequest) -> str:
    """Return where somebody goes on whose password was right; "" where nothing is missing, or the password is."""
    user = factors.entering(request)
    if user is None:
        return ""
    return with_next("second_factor_code" if factors.has_factor(user) else "second_factor", request)


def with_next(page: str, request: HttpRequest) -> str:
    return f"{reverse(page)}?{urlencode({'next': target(request)})}"


def target(request: HttpRequest) -> str:
    """Return the page that was asked for before, if it is one of ours; else the first one."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_ours else reverse("admin:index")


def picture_of(address: str) -> SafeString:
    """Return a QR code as SVG, without a style or script in it; black on white, as scanners want it in the dark too."""
    code = segno.make(address, error="m", micro=False)
    return mark_safe(code.svg_inline(scale=5, light="#fff", svgclass="qr", lineclass=None))  # noqa: S308


def in_fours(key: str) -> str:
    """Return a secret as apps take it by hand: base 32, in groups of four."""
    letters = b32encode(bytes.fromhex(key)).decode()
    return " ".join(letters[i : i + 4] for i in range(0, len(letters), 4))


def in_words(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} minutes"
