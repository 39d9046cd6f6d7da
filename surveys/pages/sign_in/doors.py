"""What a wrong password of a researcher counts for, wherever one is asked for."""

from collections.abc import Iterable

from surveys.answering.throttling import Throttle

QUARTER = 15 * 60  # seconds
# Guessing from one place is stopped before it keeps a person out who signs in from elsewhere.
OF_NAME_FROM_ADDRESS = Throttle("staff:name-address", limit=10, seconds=QUARTER)
FROM_ADDRESS = Throttle("staff:address", limit=50, seconds=QUARTER)
OF_NAME = Throttle("staff:name", limit=100, seconds=QUARTER)
TOO_MANY = "Too many attempts have failed. Wait a quarter of an hour."
Doors = list[tuple[Throttle, str]]


def doors_of(name: str, *, address: str) -> Doors:
    """Return what a wrong password counts for; an address that is not known would be everybody's."""
    name = name.casefold()
    of_address = [(OF_NAME_FROM_ADDRESS, f"{address} {name}"), (FROM_ADDRESS, address)] if address else []
    return [(OF_NAME, name), *of_address]


def are_closed(doors: Iterable[tuple[Throttle, str]]) -> bool:
    """Tell whether the right password is refused too by now."""
    return any(throttle.is_closed(key) for throttle, key in doors)


def count(doors: Iterable[tuple[Throttle, str]]) -> None:
    """Count a wrong password."""
    for throttle, key in doors:
        throttle.count(key)
