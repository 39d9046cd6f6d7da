"""What no browser sends to the admin, and what its lists would hand to the database as it came."""

from collections.abc import Callable

from django.core.exceptions import SuspiciousOperation, ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest

ADMIN = "/admin/"
CHOSEN_ROWS = "_selected_action"
NO_ROWS = (ValueError, ValidationError, OverflowError)
LONGEST_NUMBER = 18


class MalformedAdminRequestMiddleware:
    """Answer 400 to null bytes in an address of the admin, and to an action on rows whose numbers are none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(ADMIN) and any("\0" in text for text in _texts(request)):
            raise SuspiciousOperation("A null byte in an address of the admin.")
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Django asks for the chosen rows by whatever was posted, a text for a number too."""
        if not request.path.startswith(ADMIN) or not isinstance(exception, NO_ROWS):
            return None
        chosen = request.POST.getlist(CHOSEN_ROWS)
        are_numbers = all(text.isdecimal() and len(text) <= LONGEST_NUMBER for text in chosen)
        return None if are_numbers else HttpResponseBadRequest("There are no such rows.")


def _texts(request: HttpRequest) -> list[str]:
    return [request.path, *(text for values in request.GET.lists() for text in (values[0], *values[1]))]
