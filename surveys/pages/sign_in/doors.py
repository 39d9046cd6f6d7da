"""What a wrong password of a researcher counts for, wherever one is asked for."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpResponse

from surveys.answering.throttling import WAIT, NotCounting, Throttle

QUARTER = 15 * 60  # seconds
# Guessing from one place is stopped before it keeps a person out who signs in from elsewhere.
OF_NAME_FROM_ADDRESS = Throttle("staff:name-address", limit=10, seconds=QUARTER)
FROM_ADDRESS = Throttle("staff:address", limit=50, seconds=QUARTER)
OF_NAME = Throttle("staff:name", limit=100, seconds=QUARTER)
Doors = list[tuple[Throttle, str]]


@dataclass(frozen=True, slots=True)
class Closed:
    """Why a password is not looked at now, and after how many seconds it may be."""

    text: str
    status: int
    seconds: int

    def mark(self, response: HttpResponse) -> None:
        response.status_code = self.status
        response["Retry-After"] = str(self.seconds)


TOO_MANY = Closed("Too many attempts have failed. Wait a quarter of an hour.", 429, QUARTER)
NOT_COUNTING = Closed(
    "Nobody can sign in right now, as a part of this site does not answer. Your password was not looked at. Try again "
    "in a minute, and tell whoever runs this installation if it stays so.",
    503,
    WAIT,
)


def doors_of(name: str, *, address: str) -> Doors:
    """Return what a wrong password counts for; an address that is not known would be everybody's."""
    name = name.casefold()
    of_address = [(OF_NAME_FROM_ADDRESS, f"{address} {name}"), (FROM_ADDRESS, address)] if address else []
    return [(OF_NAME, name), *of_address]


def closed(doors: Iterable[tuple[Throttle, str]]) -> Closed | None:
    """Return why the right password is refused too by now, None where it is not."""
    try:
        return TOO_MANY if any(throttle.is_closed(key) for throttle, key in doors) else None
    except NotCounting:
        return NOT_COUNTING


def count(doors: Iterable[tuple[Throttle, str]]) -> None:
    """Count a wrong password."""
    for throttle, key in doors:
        throttle.count(key)
