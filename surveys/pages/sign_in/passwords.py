"""The door of researchers: the admin's sign-in, where guessing is held up as at every other door."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.template.response import TemplateResponse

from surveys.pages.access import address_of
from surveys.pages.sign_in import factors
from surveys.pages.sign_in.doors import TOO_MANY, are_closed, count, doors_of
from surveys.pages.sign_in.second_factor import next_step


class SignInForm(AdminAuthenticationForm):
    """Name and password of a researcher. After too many wrong ones the right one is refused too, unread."""

    is_throttled = False

    def clean(self) -> dict[str, Any]:
        address = address_of(self.request) if self.request else ""
        doors = doors_of(self.cleaned_data.get("username", ""), address=address)
        if are_closed(doors):
            self.is_throttled = True
            raise ValidationError(TOO_MANY, code="throttled")
        try:
            return super().clean()
        except ValidationError:
            count(doors)
            raise


def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the admin's sign-in, or what comes after the password; 429 where it is held up."""
    if request.method == "GET" and (step := next_step(request)):
        return redirect(step)
    response = admin.site.login(request)
    if isinstance(response, HttpResponseRedirect) and request.method == "POST":
        factors.prove(request)
    if isinstance(response, TemplateResponse):
        form = (response.context_data or {})["form"]
        response.status_code = 429 if getattr(form, "is_throttled", False) else response.status_code
    return response
