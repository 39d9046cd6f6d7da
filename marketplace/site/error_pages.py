"""Requests that no view has an answer to."""

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from marketplace.accounts.sessions import current_worker


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say what was wrong with the form; what a worker typed is still there one page back."""
    is_too_large = isinstance(exception, RequestDataTooBig | TooManyFieldsSent)
    return render(request, "marketplace/site/bad_request.html", {"is_too_large": is_too_large}, status=400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Lead back to the list; whoever is signed in stays so."""
    return render(request, "marketplace/site/not_found.html", {"worker": current_worker(request)}, status=404)
