"""Texts that say they are Markdown, as HTML: paragraphs, emphasis, lists, quotations, code, and nothing that acts."""

from collections.abc import Sequence
from typing import Any

import nh3
from django import template
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

register = template.Library()

RULES = (
    "backticks",
    "blockquote",
    "code",
    "emphasis",
    "escape",
    "fence",
    "image",
    "link",
    "list",
    "newline",
)
OWN_DIRECTION = ("blockquote", "li", "ol", "p", "pre", "ul")
ELEMENTS = {*OWN_DIRECTION, "br", "code", "em", "strong"}


def _alternative(_: RendererHTML, tokens: Sequence[Token], place: int, *__: Any) -> str:
    return nh3.clean_text(tokens[place].content)


_reader = MarkdownIt("zero").enable(RULES)
_reader.add_render_rule("image", _alternative)


@register.filter
def markdown(text: str) -> SafeString:
    """Return a text as HTML. Links and pictures are their words; HTML stays what was written, as text."""
    html = nh3.clean(
        _reader.render(text),
        tags=ELEMENTS,
        attributes={"ol": {"start"}},
        set_tag_attribute_values={name: {"dir": "auto"} for name in OWN_DIRECTION},
    )
    return mark_safe(html)  # noqa: S308 (only ELEMENTS)
