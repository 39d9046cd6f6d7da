"""How money and spans of time are written on the worker site."""

from django import template
from django.utils.translation import ngettext_lazy

from marketplace.money import ledger

register = template.Library()
UNITS = (
    (86_400, ngettext_lazy("%(n)d day", "%(n)d days", "n")),
    (3600, ngettext_lazy("%(n)d hour", "%(n)d hours", "n")),
    (60, ngettext_lazy("%(n)d minute", "%(n)d minutes", "n")),
    (1, ngettext_lazy("%(n)d second", "%(n)d seconds", "n")),
)


@register.filter
def dollars(cents: int) -> str:
    return ledger.dollars(cents)


@register.filter
def timespan(seconds: int) -> str:
    """Write seconds with their two largest units: `1 hour 30 minutes`."""
    parts = []
    for length, words in UNITS:
        number, seconds = divmod(max(0, seconds), length)
        if number:
            parts.append(words % {"n": number})
    return " ".join(parts[:2]) or UNITS[-1][1] % {"n": 0}
