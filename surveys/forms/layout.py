"""Our crispy layout objects: one per group of choices, rendered by one template, not one field per choice.

A layout object is whatever has crispy's `render(form, context, template_pack, **kwargs)`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, cast

from django.forms import Form
from django.template import Context, Template
from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe

from surveys.forms.fields import GroupField
from surveys.presenting import ShownItem, ShownOutput

SMALL_GROUP = 4
SHORT_LABEL = 16


class LayoutObject(Protocol):
    def render(self, form: Form, context: Context, template_pack: str = ..., **kwargs: Any) -> SafeString: ...


@cache
def _template(name: str) -> Template:
    """Return the compiled template itself: a group needs neither request nor context processors."""
    return get_template(name).template  # type: ignore[attr-defined, no-any-return]


def _render(part: str, **values: Any) -> SafeString:
    return _template(f"assent/{part}.html").render(Context(values))


def _join(parts: Iterable[LayoutObject], form: Form, context: Context) -> SafeString:
    return mark_safe("".join(part.render(form, context) for part in parts))  # noqa: S308


@dataclass(frozen=True, slots=True)
class ChoiceGroup:
    """One question with all its choices, their states and its error."""

    name: str

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        group = cast(GroupField, form.fields[self.name])
        value = form[self.name].value() or ()
        chosen = {value} if isinstance(value, str) else set(value)
        return _render(
            "group",
            name=self.name,
            group=group,
            type="checkbox" if group.is_checklist else "radio",
            shape=_shape(group),
            exclusive=getattr(group, "exclusive", ""),
            choices=[(choice.value, choice.label, choice.value in chosen) for choice in group.choices],
            errors=form.errors.get(self.name),
        )


def _shape(group: GroupField) -> str:
    """Up to four choices find their own place; more make a row of short labels or a list of long ones."""
    if group.is_checklist or len(group.choices) <= SMALL_GROUP:
        return ""
    return " row" if all(len(choice.label) <= SHORT_LABEL for choice in group.choices) else " list"


@dataclass(frozen=True, slots=True)
class OutputBlock:
    """What a system said, and the criteria it is judged by."""

    output: ShownOutput
    position: int
    parts: Sequence[LayoutObject]

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        inner = _join(self.parts, form, context)
        return _render("output", output=self.output, position=self.position, inner=inner)


@dataclass(frozen=True, slots=True)
class ItemBlock:
    """Pictures and question of an item with everything asked about it, and how far it has come (for a resumed page)."""

    item: ShownItem
    question_label: str
    of: int
    parts: Sequence[LayoutObject]
    version: int
    active_seconds: float

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        inner = _join(self.parts, form, context)
        return _render("item", block=self, item=self.item, inner=inner)
