"""What templates of workers' pages ask for beside Django's `i18n`, as `{% load language %}`: settings.TEMPLATES."""

from decimal import Decimal
from functools import cache

from django import template
from django.conf import settings
from django.utils import translation
from django.utils.formats import number_format
from django.utils.html import json_script
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation.trans_real import DjangoTranslation

register = template.Library()


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
