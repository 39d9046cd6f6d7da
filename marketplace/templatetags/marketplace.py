"""How money, spans of time and what requesters wrote are written on the worker site."""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from django import template
from django.utils.html import format_html
from django.utils.translation import get_language, ngettext_lazy

from marketplace.money import ledger

register = template.Library()
UNITS = (
    (86_400, ngettext_lazy("%(n)d day", "%(n)d days", "n")),
    (3600, ngettext_lazy("%(n)d hour", "%(n)d hours", "n")),
    (60, ngettext_lazy("%(n)d minute", "%(n)d minutes", "n")),
    (1, ngettext_lazy("%(n)d second", "%(n)d seconds", "n")),
)
ADDRESS = re.compile(r"\w+://\S+")
# The languages of these pages by their letters. MTurk's CreateHITType has no field for a title's language.
LANGUAGES = {"LATIN": "en", "CYRILLIC": "ru"}


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


@register.filter
def lang_attribute(text: str) -> str:
    """Return the attribute of an element with a requester's text, where its letters are not the page's; else nothing.

    By it a screen reader takes the voice that can read them (WCAG 2.2, 3.1.2).
    """
    language = _language_of(text)
    is_as_page = not language or language == (get_language() or "").partition("-")[0]
    return "" if is_as_page else format_html(' lang="{}"', language)


@register.filter
def in_its_language(text: str) -> str:
    """Return a requester's text, in an element of its language where that is not the page's."""
    attribute = lang_attribute(text)
    return format_html("<span{}>{}</span>", attribute, text) if attribute else text


@lru_cache(1024)
def _language_of(text: str) -> str:
    """Return the language of these pages that has most of the letters; none of those that none of them has."""
    letters = filter(str.isalpha, ADDRESS.sub("", text))
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    return LANGUAGES.get(scripts.most_common(1)[0][0], "") if scripts else ""
