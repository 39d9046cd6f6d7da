"""Styles within workers' pages: what is seen first waits for no second file (benchmarks/annotator).

The pages' policy names each by its hash, so that no other style within a page counts
(https://www.w3.org/TR/CSP3/#match-element-to-source-list).
"""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from django import template
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

FILES = ("answering/hits/hit.css", "answering/links/links.css")
register = template.Library()


@register.simple_tag
def style(name: str) -> SafeString:
    """Return a file of FILES as an element; its address is for a page that another policy governs (send.js)."""
    return format_html('<style data-file="{}">{}</style>', static(name), _text(name))


@cache
def style_sources() -> str:
    """Return the directive that allows our files, and those of FILES within a page."""
    hashes = (b64encode(sha256(_text(name).encode()).digest()).decode() for name in FILES)
    return " ".join(["style-src 'self'", *(f"'sha256-{one}'" for one in hashes)])


@cache
def _text(name: str) -> SafeString:
    found = finders.find(name)
    if not isinstance(found, str):
        raise FileNotFoundError(name)
    return mark_safe(Path(found).read_text())  # noqa: S308
