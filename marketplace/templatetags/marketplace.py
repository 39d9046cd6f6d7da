"""How money and spans of time are written on the worker site."""

from django import template

from marketplace.money import ledger

register = template.Library()
UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@register.filter
def dollars(cents: int) -> str:
    return ledger.dollars(cents)


@register.filter
def timespan(seconds: int) -> str:
    """Write seconds with their two largest units: `1 hour 30 minutes`."""
    parts = []
    for length, name in UNITS:
        number, seconds = divmod(max(0, seconds), length)
        if number:
            parts.append(f"{number} {name}{'' if number == 1 else 's'}")
    return " ".join(parts[:2]) or "0 seconds"
