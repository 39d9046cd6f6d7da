"""The door of researchers: the admin's sign-in, where guessing is held up as at every other door."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from surveys.answering.throttling import Throttle
from surveys.pages.access import address_of
from surveys.pages.sign_in.second_factor import next_step

QUARTER = 15 * 60  # seconds
# Guessing from one place is stopped before it keeps a person out who signs in from elsewhere.
OF_NAME_FROM_ADDRESS = Throttle("staff:name-address", limit=10, seconds=QUARTER)
FROM_ADDRESS = Throttle("staff:address", limit=50, seconds=QUARTER)
OF_NAME = Throttle("staff:name", limit=100, seconds=QUARTER)
TOO_MANY = "Too many attempts have failed. Wait a quarter of an hour."


class SignInForm(AdminAuthenticationForm):
    """Name and password of a researcher. After too many wrong ones the right one is refused too, unread."""

    is_throttled = False

    def clean(self) -> dict[str, Any]:
        address = address_of(self.request) if self.request else ""
        doors = _doors(self.cleaned_data.get("username", ""), address)
        if any(throttle.is_closed(key) for throttle, key in doors):
            self.is_throttled = True
            raise ValidationError(TOO_MANY, code="throttled")
        try:
            return super().clean()
        except ValidationError:
            for throttle, key in doors:
                throttle.count(key)
            raise


def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the admin's sign-in, or what comes after the password; 429 where it is held up."""
    if request.method == "GET" and (step := next_step(request)):
        return redirect(step)
    response = admin.site.login(request)
    if isinstance(response, TemplateResponse):
        form = (response.context_data or {})["form"]
        response.status_code = 429 if getattr(form, "is_throttled", False) else response.status_code
    return response


def _doors(name: str, address: str) -> list[tuple[Throttle, str]]:
    """Return what a wrong password counts for; an address that is not known would be everybody's."""
    name = name.casefold()
    of_address = [(OF_NAME_FROM_ADDRESS, f"{address} {name}"), (FROM_ADDRESS, address)] if address else []
    return [(OF_NAME, name), *of_address]
