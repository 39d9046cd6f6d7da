"""A problem with an item, reported from the page it is worked on: by a script, by the whole form, or along."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext

from annotators.models import Assignment
from surveys.answering.problems import TooMany, report
from surveys.models import Response


@dataclass(frozen=True, slots=True)
class Told:
    """What is said about a report of the item at `position`; `text` is to be sent again where it was refused."""

    position: int
    message: str
    text: str = ""


def is_report(request: HttpRequest) -> bool:
    return request.method == "POST" and "report" in request.POST


def is_by_script(request: HttpRequest) -> bool:
    """Tell whether only the report was sent, and its page stays where it is."""
    return "by_script" in request.POST


def take(request: HttpRequest, assignment: Assignment) -> Told:
    """Write down the report that was posted, and say what became of it."""
    position = _position(request)
    text = request.POST.get(f"i{position}-problem", "").strip()
    try:
        if not text:
            return Told(position, gettext("Write what is wrong, and send it again."))
        report(assignment, position=position, text=text)
    except TooMany:
        wait = gettext(
            "You have reported a lot within an hour. Please keep this one, and send it a little later."
        )
        return Told(position, wait, text)
    except Response.DoesNotExist:
        return Told(position, gettext("There is no such question on this page."), text)
    return Told(position, gettext("Reported, with this question. Thank you! You can carry on."))


def answer(told: Told) -> HttpResponse:
    """Return what a script is told."""
    return JsonResponse({"message": told.message, "is_kept": not told.text})


def take_along(request: HttpRequest, assignment: Assignment, *, positions: Iterable[int]) -> None:
    """What was typed and never sent arrives with the answers."""
    for position in positions:
        if text := request.POST.get(f"i{position}-problem", "").strip():
            with suppress(TooMany):
                report(assignment, position=position, text=text)


def _position(request: HttpRequest) -> int:
    given = request.POST["report"]
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 5 else 0
