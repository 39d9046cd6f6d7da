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
from surveys.pages.sign_in.doors import Closed, closed, count, doors_of
from surveys.pages.sign_in.second_factor import next_step


class SignInForm(AdminAuthenticationForm):
    """Name and password of a researcher. After too many wrong ones the right one is refused too, unread."""

    closed: Closed | None = None

    def clean(self) -> dict[str, Any]:
        address = address_of(self.request) if self.request else ""
        doors = doors_of(self.cleaned_data.get("username", ""), address=address)
        self.closed = closed(doors)
        if self.closed:
            raise ValidationError(self.closed.text, code="throttled")
        try:
            return super().clean()
        except ValidationError:
            count(doors)
            raise


def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the admin's sign-in, or what comes after the password; 429 or 503 where it is held up."""
    if request.method == "GET" and (step := next_step(request)):
        return redirect(step)
    response = admin.site.login(request)
    if isinstance(response, HttpResponseRedirect) and request.method == "POST":
        factors.prove(request)
    if isinstance(response, TemplateResponse):
        form = (response.context_data or {})["form"]
        if isinstance(form, SignInForm) and form.closed:
            form.closed.mark(response)
    return response
