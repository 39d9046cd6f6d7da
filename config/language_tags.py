"""What templates of workers' pages ask for beside Django's `i18n`, as `{% load language %}`: settings.TEMPLATES."""

import secrets
from decimal import Decimal
from functools import cache
from html import escape
from typing import Literal
from urllib.parse import urlencode

from django import template
from django.conf import settings
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.formats import number_format
from django.utils.html import json_script
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation.trans_real import DjangoTranslation

from config.languages import PARAMETER

register = template.Library()
# Stands for a page's query up to the code of a language, in the links that are rendered once for all pages.
A_QUERY = f"any-{secrets.token_hex(16)}"


@register.simple_tag
def language_links(query: QueryDict | Literal[""] | None) -> SafeString:
    """Return links to the page with this query in our other languages; a template without a `query` has none."""
    others = [
        (name, one) for name, values in (query or QueryDict()).lists() for one in values if name != PARAMETER
    ]
    up_to_code = urlencode([*others, (PARAMETER, "")])
    return SafeString(_links(translation.get_language()).replace(A_QUERY, escape(up_to_code)))


@cache
def _links(page_language: str) -> str:
    return render_to_string("languages.html", {"query_up_to": A_QUERY})


@register.simple_tag
def texts() -> SafeString:
    """Return the words of scripts as a block of data, which runs nothing; nothing in English, which they speak."""
    catalogue = _catalogue(translation.get_language())
    return json_script(catalogue, "texts") + SafeString("\n") if catalogue else SafeString("")


@cache
def _catalogue(language: str) -> dict[str, str]:
    of_scripts = DjangoTranslation(
        language, domain="djangojs", localedirs=[str(path) for path in settings.LOCALE_PATHS]
    )
    known = dict(of_scripts._catalog.items())  # type: ignore[attr-defined]
    return {text: told for text, told in known.items() if text and isinstance(text, str) and told}


@register.filter
def usd_cents(cents: int) -> str:
    """Write cents as dollars."""
    return usd(Decimal(cents) / 100)


@register.filter
def usd(amount: Decimal | int) -> str:
    """Write dollars as the language does, with cents: $1,234.50."""
    written = number_format(amount, decimal_pos=2, use_l10n=True, force_grouping=True)
    # Translators: an amount of US dollars; leave the sign, put it where it stands in your language.
    return gettext("$%(amount)s") % {"amount": written}
