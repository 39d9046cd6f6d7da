"""Texts of a protocol on a page: in which language each is, where that is not the page's."""

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import mark_safe
from django.utils.translation import get_language

from surveys.answering.presentation import shown_definition
from surveys.models import Batch
from surveys.protocols.languages import TextIn, direction, is_in

register = template.Library()


@register.filter
def with_lang(text: str) -> str:
    """Return a text with the attributes of its language around it, if the page is in another."""
    if not isinstance(text, TextIn) or is_in(text.language, get_language() or ""):
        return text
    return format_html(
        '<span lang="{}" dir="{}">{}</span>', text.language, direction(text.language), str(text)
    )


@register.filter
def exact(text: str) -> str:
    """Return a text for a page to hold to the character: HTML makes one line end of CR and LF, unless CR is named."""
    return mark_safe(escape(text).replace("\r", "&#13;"))  # noqa: S308 (escaped)


@register.filter
def text_dir(text: str) -> str:
    """Return the direction of a text: its language's or else, where that is not known, auto."""
    return direction(text.language) if isinstance(text, TextIn) else "auto"


@register.filter
def dir_attribute(text: str) -> str:
    """Return the attribute for what stands around a text, if that runs against the page; else nothing."""
    if not isinstance(text, TextIn) or direction(text.language) == direction(get_language() or ""):
        return ""
    return format_html(' dir="{}"', direction(text.language))


@register.filter
def shown_title(batch: Batch) -> str:
    """Return a batch's title: the protocol's in the language of the page, unless it was given one of its own."""
    title = batch.title
    return shown_definition(batch).title if title == batch.definition.title else title
