"""Parts of workers' pages that are rendered once for many, as `{% load kept_parts %}`: settings.TEMPLATES."""

import re
import secrets
from contextvars import ContextVar
from functools import lru_cache
from itertools import count
from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.template.context import Context
from django.template.loader_tags import BlockNode
from django.utils.safestring import SafeString
from django.utils.translation import get_language

MOST_KEPT = 256
# While a part is rendered to be kept: what is fresh leaves its place open then.
IS_KEEPING = ContextVar("is_keeping", default=False)
A_PLACE = f"any-{secrets.token_hex(16)}-"  # and a number; no text can have it in it
register = template.Library()


class Kept(template.Node):
    """Renders what is in it once for each set of its values and each language; what is fresh within, each time."""

    child_nodelists = ()  # Django looks for blocks anew for each page that extends another; here there are none

    def __init__(self, nodelist: NodeList, values: list[FilterExpression]) -> None:
        self.nodelist, self.values = nodelist, values
        self.rendered = lru_cache(MOST_KEPT)(self._rendered)

    def render(self, context: Context) -> SafeString:
        values = tuple(value.resolve(context) for value in self.values)
        parts = self.rendered(_Key((get_language(), *values), context))
        return SafeString("".join(one if type(one) is str else one.render(context) for one in parts))

    def _rendered(self, key: "_Key") -> "list[Any]":
        """Return texts, and between them what is fresh."""
        before = IS_KEEPING.set(True)
        try:
            html = str(self.nodelist.render(key.spend_context()))
        finally:
            IS_KEEPING.reset(before)
        texts = re.split(rf"{A_PLACE}(\d+);", html)
        return [Fresh.known[int(one)] if n % 2 else one for n, one in enumerate(texts) if one]


class Fresh(template.Node):
    """Within what is kept, renders what is in it for each page anew, with what the kept part itself is given."""

    numbers = count()  # templates are read when they are asked for, by several threads
    known: "dict[int, Fresh]" = {}

    def __init__(self, nodelist: NodeList) -> None:
        number = next(self.numbers)
        self.nodelist, self.place = nodelist, f"{A_PLACE}{number};"
        self.known[number] = self

    def render(self, context: Context) -> SafeString:
        return SafeString(self.place) if IS_KEEPING.get() else self.nodelist.render(context)


class _Key:
    """The values that a part depends on, and the page that happens to show it."""

    def __init__(self, values: tuple[Any, ...], context: Context) -> None:
        self.values, self.context = values, context

    def spend_context(self) -> Context:
        """Return the page's context, which is not kept."""
        context, self.context = self.context, Context()
        return context

    def __hash__(self) -> int:
        return hash(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and other.values == self.values


@register.tag
def kept(parser: Parser, token: Token) -> Kept:
    """`{% kept value .. %}` .. `{% endkept %}`: nothing between them may depend on anything else, nor be a block."""
    values = [parser.compile_filter(bit) for bit in token.split_contents()[1:]]
    nodelist = parser.parse(("endkept",))
    parser.delete_first_token()
    if nodelist.get_nodes_by_type(BlockNode):
        raise template.TemplateSyntaxError("A block can't be kept: other templates put something else in it.")
    return Kept(nodelist, values)


@register.tag
def fresh(parser: Parser, token: Token) -> Fresh:
    """`{% fresh %}` .. `{% endfresh %}` in what is kept: what is set between the two (for, with) it does not see.

    No filter may be around it there, as it leaves its place open while the part is rendered to be kept.
    """
    nodelist = parser.parse(("endfresh",))
    parser.delete_first_token()
    return Fresh(nodelist)
