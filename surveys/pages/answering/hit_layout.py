"""Our crispy layout objects: one per group of choices, rendered by one template, not one field per choice.

A layout object is whatever has crispy's `render(form, context, template_pack, **kwargs)`.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, lru_cache
from html import escape
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol, cast

from crispy_forms.helper import FormHelper
from crispy_forms.layout import Layout
from django.forms import Form
from django.template import Context, Template
from django.template.loader import get_template
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from surveys.answering.presentation import ShownBlock, ShownItem, ShownOutput, ShownPicture, word_of
from surveys.answering.quizzes import Marked
from surveys.pages.answering.hit_fields import Asked, GroupField, MarkedText
from surveys.pages.answering.problems import Told
from surveys.protocols.definition import Definition, QuizQuestion

SMALL_GROUP = 4
SHORT_LABEL = 16
NUMERALS = tuple("123456789")


class LayoutObject(Protocol):
    def render(self, form: Form, context: Context, template_pack: str = ..., **kwargs: Any) -> SafeString: ...


def helper_of(parts: Iterable[LayoutObject]) -> FormHelper:
    """Return the crispy helper that renders these parts and no form tag: the page writes it, a preview has none."""
    helper = FormHelper()
    helper.form_tag = False
    helper.disable_csrf = True
    helper.include_media = False
    helper.layout = Layout(*parts)
    return helper


@cache
def _template(name: str) -> Template:
    """Return the compiled template itself: a group needs neither request nor context processors."""
    return get_template(name).template  # type: ignore[attr-defined, no-any-return]


def _render(part: str, **values: Any) -> SafeString:
    return _template(f"assent/{part}.html").render(Context(values))


def _join(parts: Iterable[LayoutObject], form: Form, context: Context) -> SafeString:
    return SafeString("".join(part.render(form, context) for part in parts))


@dataclass(frozen=True, slots=True)
class Question:
    """One question with all its choices or its text, their states and its error."""

    name: str
    is_optional: bool = False

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        group = cast(GroupField, form.fields[self.name])
        is_given = form.is_bound or self.name in form.initial
        value = (form[self.name].value() or ()) if is_given else ()
        is_optional = self.is_optional or group.is_optional
        if not value and self.name not in form.errors and group.template == "group" and not group.only_if:
            unanswered = _unanswered if _is_asked_often(group) else _unanswered_of_item
            return _named(unanswered(group.asked, is_optional, get_language()), self.name)
        chosen = {value} if isinstance(value, str) else set(value)
        return _render(
            group.template,
            name=self.name,
            group=group,
            shape=_shape(group),
            exclusive=getattr(group, "exclusive", ""),
            choices=[(choice, choice.value in chosen) for choice in group.choices],
            value=value,
            errors=form.errors.get(self.name),
            is_optional=is_optional,
            only_if_values=json.dumps(group.only_if.values) if group.only_if else "",
            rows=group.rows(str(value or "")) if isinstance(group, MarkedText) else (),
        )


# Stand for a question's name, and for all that says where an item stands, in what is rendered once for many; no text
# can have them in it.
A_NAME, A_PLACE, A_NUMBER, AMONG = (f"any-{secrets.token_hex(16)}" for _ in range(4))


def _is_asked_often(group: GroupField) -> bool:
    """Tell whether the same is asked of many outputs: choices say nothing of one item."""
    return not any(choice.description for choice in group.choices)


@lru_cache(1024)
def _unanswered(asked: Asked, is_optional: bool, page_language: str | None) -> str:
    """Return a question that nobody has answered yet, called `A_NAME`. A page is half made of these."""
    return _render(
        "group",
        name=A_NAME,
        group=asked,
        shape=_shape(asked),
        exclusive=asked.exclusive,
        choices=[(choice, False) for choice in asked.choices],
        is_optional=is_optional,
    )


@lru_cache(1024)
def _unanswered_of_item(asked: Asked, is_optional: bool, page_language: str | None) -> str:
    """Return what asks for one of an item's own outputs: kept apart, as items are many and push out one another."""
    return _unanswered.__wrapped__(asked, is_optional, page_language)


def _named(html: str, name: str) -> SafeString:
    return SafeString(html.replace(A_NAME, escape(name)))


def _shape(group: GroupField | Asked) -> str:
    """Up to four bare choices find their own place; others make a row of short texts or a list of long ones.

    The key of a choice that is a numeral is that numeral.
    """
    texts = [choice.label + choice.description for choice in group.choices]
    is_bare = not any(choice.description for choice in group.choices)
    numeral = " numeral" if all(choice.value in NUMERALS for choice in group.choices) else ""
    if group.type == "checkbox" or (is_bare and len(texts) <= SMALL_GROUP):
        return numeral
    return numeral + (" row" if all(len(text) <= SHORT_LABEL for text in texts) else " list")


@lru_cache(1024)
def _around_output(
    output: ShownOutput,
    position: int,
    has_text: bool,
    can_skip: bool,
    language: str,
    page_language: str | None,
) -> str:
    """Return an output as several workers see it at the same place, `A_NAME` for what is asked about it."""
    shown = {"output": output, "position": position, "has_text": has_text, "can_skip": can_skip}
    return _render("output", **shown, inner=A_NAME)


@dataclass(frozen=True, slots=True)
class OutputBlock:
    """What a system said (unless it stands between the states of a sequence), and the criteria it is judged by."""

    output: ShownOutput
    position: int
    parts: Sequence[LayoutObject]
    has_text: bool = True
    can_skip: bool = False

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        language = getattr(self.output.label, "language", "")
        place = (self.output, self.position, self.has_text, self.can_skip, language, get_language())
        return SafeString(_around_output(*place).replace(A_NAME, _join(self.parts, form, context)))


@dataclass(frozen=True, slots=True)
class Together:
    """Questions one after the other."""

    parts: Sequence[LayoutObject]

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        return _join(self.parts, form, context)


@dataclass(frozen=True, slots=True)
class Ranked:
    """The places of all outputs under one heading. Without ties, a script exchanges the places of two."""

    name: str
    label: str
    hint: str
    parts: Sequence[LayoutObject]
    has_ties: bool

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        return _render("ranked", ranked=self, inner=_join(self.parts, form, context))


@dataclass(frozen=True, slots=True)
class SkipBlock:
    """The way past an item that can't be judged: closed until it is wanted, with a button of its own."""

    name: str
    position: int

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        is_open = bool(form[self.name].value() or form.errors.get(self.name))
        inner = Question(self.name, is_optional=True).render(form, context)
        return _render("skip", position=self.position, is_open=is_open, inner=inner)


@dataclass(frozen=True, slots=True)
class UnseenBlock:
    """The way past an item that lacks a file. Where a browser alone finds that out, a script makes it (look.js)."""

    name: str

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        return _render("unseen", inner=Question(self.name, is_optional=True).render(form, context))


@dataclass(frozen=True, slots=True)
class ItemBlock:
    """Pictures and question of an item with everything asked about it, and how far it has come (for a resumed page)."""

    item: ShownItem
    definition: Definition
    of: int
    parts: Sequence[LayoutObject]
    version: int
    active_seconds: float
    saved_at: datetime | None = None
    takes_reports: bool = False
    told: Told | None = None

    @property
    def heading(self) -> str:
        if self.definition.is_sequence:
            return self.item.outputs[0].label
        return self.definition.shown_question(self.item.question)

    @property
    def word(self) -> str:
        """Return what the item is called where nothing else names it."""
        return word_of(self.definition)

    @property
    def place(self) -> str:
        """Return "2 of 5"; "" where there is one item."""
        return gettext("%(n)d of %(of)d") % {"n": self.item.place, "of": self.of} if self.of > 1 else ""

    @property
    def number(self) -> str:
        """Return where it is, as the page writes it: what is rendered once for all places has another."""
        return str(self.item.place)

    @property
    def states(self) -> Iterator[tuple[ShownPicture | None, str | None]]:
        """Yield each numbered state of a sequence with the transformation that follows it, None after the last."""
        return zip_longest(self.item.pictures, self.item.outputs[0].steps)

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        inner = _join(self.parts, form, context)
        has_begun = self.version or self.active_seconds or self.saved_at
        if has_begun or self.told or self.item.stays_judged:
            return _render("item", block=self, item=self.item, definition=self.definition, inner=inner)
        around = _around_item(_Around.of_block(self), Same(self.definition), get_language())
        placed = around.replace(A_PLACE, escape(self.place)).replace(A_NUMBER, self.number)
        return SafeString(placed.replace(AMONG, escape(self.item.among)).replace(A_NAME, inner))


class _Anywhere(ItemBlock):
    """An item wherever on a page it may stand."""

    @property
    def place(self) -> str:
        return A_PLACE if self.of > 1 else ""

    @property
    def number(self) -> str:
        return A_NUMBER


@dataclass(frozen=True, slots=True)
class Same:
    """A definition that is only ever the same as itself.

    What is read again is one object (`Definition.from_snapshot`); another of the same text would be rendered once more.
    """

    definition: Definition

    def __hash__(self) -> int:
        return id(self.definition)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.definition is self.definition


class _Around(NamedTuple):
    """What an item shows besides what is asked about it, before somebody begins to answer."""

    position: int
    is_below: bool
    of: int
    question: str
    pictures: tuple[ShownPicture, ...]
    blocks: tuple[tuple[ShownBlock, ...], ...]
    sequence: tuple[ShownOutput, ...]
    takes_reports: bool

    @classmethod
    def of_block(cls, block: ItemBlock) -> "_Around":
        item = block.item
        return cls(
            position=item.position,
            is_below=item.is_below,
            of=block.of,
            question=item.question,
            pictures=_anywhere(item.pictures),
            blocks=tuple(
                tuple(replace(one, files=_anywhere(one.files)) for one in row) for row in item.blocks
            ),
            sequence=item.outputs if block.definition.is_sequence else (),
            takes_reports=block.takes_reports,
        )


def _anywhere(files: tuple[ShownPicture, ...]) -> tuple[ShownPicture, ...]:
    """Return files as those of an item wherever it stands."""
    return tuple(replace(file, among=AMONG) if file.among else file for file in files)


@lru_cache(1024)
def _around_item(around: _Around, same: Same, page_language: str | None) -> str:
    """Return an item as several workers see it: `A_NAME` for what is asked about it, the others for where it is."""
    item = ShownItem(
        position=around.position,
        place=2 if around.is_below else 1,
        question=around.question,
        pictures=around.pictures,
        choices=(),
        outputs=around.sequence,
        draft={},
        blocks=around.blocks,
    )
    block = _Anywhere(item, same.definition, around.of, (), 0, 0.0, takes_reports=around.takes_reports)
    return _render("item", block=block, item=item, definition=same.definition, inner=A_NAME)


@dataclass(frozen=True, slots=True)
class QuizBlock:
    """A question of the quiz with its scene, and what there is to say about the answer given before."""

    name: str
    number: int
    question: QuizQuestion
    before: Marked | None

    def render(self, form: Form, context: Context, template_pack: str = "", **kwargs: Any) -> SafeString:
        inner = Question(self.name).render(form, context)
        return _render("quiz", block=self, inner=inner)
