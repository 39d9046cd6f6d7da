"""Parts of workers' pages that are rendered once for many, as `{% load kept_parts %}`: settings.TEMPLATES."""

from functools import lru_cache
from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.template.context import Context
from django.template.loader_tags import BlockNode
from django.utils.safestring import SafeString
from django.utils.translation import get_language

MOST_KEPT = 256
register = template.Library()


class Kept(template.Node):
    """Renders what is in it once for each set of the values it is given, and each language."""

    child_nodelists = ()  # Django looks for blocks anew for each page that extends another; here there are none

    def __init__(self, nodelist: NodeList, values: list[FilterExpression]) -> None:
        self.nodelist, self.values = nodelist, values
        self.rendered = lru_cache(MOST_KEPT)(lambda key: self.nodelist.render(key.spend_context()))

    def render(self, context: Context) -> SafeString:
        values = tuple(value.resolve(context) for value in self.values)
        return SafeString(self.rendered(_Key((get_language(), *values), context)))


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
