"""HTML templates with `${column}`: what they ask for, the page a row of values makes of them, and what they lack.

MTurk's Developer Guide ("Templating") calls the filling a find and replace and speaks of no escaping; a quote or `<` in
a value would then break the page. Here a value is escaped for the place it stands in; `Template.is_raw` turns that off.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from django.utils.html import escape, escapejs

PLACEHOLDER = re.compile(r"\$\{([^{}\r\n]{1,200})\}")
# No part may run on past the beginning of the next, so that the time stays in proportion to the template's length.
SCRIPT = re.compile(r"<script\b([^<>]*)>((?:(?!<script\b).)*?)</script\s*>", re.DOTALL | re.IGNORECASE)
# A script element of another type is a piece of text or markup that no engine runs.
INERT = re.compile(
    r"(?<![\w-])type\s*=\s*[\"']?(?![^\"'>\s]*(?:javascript|ecmascript|json|module))\w", re.IGNORECASE
)
TAG = re.compile(r"<[a-z](?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|[^'\"<>]){0,2000}>", re.IGNORECASE)
HANDLER = re.compile(r"\son\w+\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
QUOTED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`", re.DOTALL
)
# The elements static/marketplace/site/crowd.js makes, and the parts of them that show their text.
CROWD_ELEMENTS = frozenset(
    f"crowd-{name}"
    for name in (
        "button", "checkbox", "classifier", "classifier-multi-select", "form", "input", "instructions",
        "radio-button", "radio-group", "slider", "text-area", "toggle-button",
    )
)  # fmt: skip
ELEMENT = re.compile(r"<(crowd-[a-z-]+)", re.IGNORECASE)
REMOTE = re.compile(
    r"<(?:script|link)\b[^<>]*\b(?:src|href)\s*=\s*[\"']?(?:https?:)?//([^\"'\s>/]+)", re.IGNORECASE
)
CROWD_HOST = "assets.crowd.aws"
LIQUID = re.compile(r"\{\{\s*task\.input\b")
Writer = Callable[[str], str]
Span = tuple[int, int]


@dataclass(frozen=True)
class Areas:
    """A document, and where in it scripts, tags outside of scripts, and handlers in tags are."""

    html: str
    scripts: list[Span]
    tags: list[Span]
    handlers: list[Span]


@dataclass(frozen=True)
class Place:
    """One placeholder: its column, where it stands, how a value is written there."""

    name: str
    start: int
    end: int
    write: Writer
    may_be_script: bool


def in_string(value: str) -> str:
    """Write a value inside a JavaScript or JSON string, or between backticks."""
    return escapejs(value).replace("$", "\\u0024")


def in_tag(value: str) -> str:
    """Write a value inside a tag, where a space would end an attribute without quotes."""
    return re.sub(r"\s", lambda match: f"&#{ord(match[0])};", escape(value))


def as_expression(value: str) -> str:
    """Write a value where JavaScript expects an expression: JSON as it is, anything else as a string."""
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return f'"{in_string(value)}"'
    return value.translate({ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&\u2028\u2029"})


@dataclass(frozen=True)
class Template:
    """A template as it was given. With `is_raw` values go in as they are."""

    html: str
    is_raw: bool = False

    def names(self, columns: list[str]) -> list[str]:
        """Return the names the template asks for, each once.

        `${...}` between backticks in a script is JavaScript's own, unless it names a column.
        """
        asked = (place for place in self._places if place.name in columns or not place.may_be_script)
        return list(dict.fromkeys(place.name for place in asked))

    def line_of(self, name: str) -> int:
        """Return the line, from 1, on which the template first asks for a name."""
        place = next(place for place in self._places if place.name == name)
        return self.html.count("\n", 0, place.start) + 1

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the page of one row; what is no column stays as it is."""
        pieces, position = [], 0
        for place in self._places:
            if place.name in values:
                value = values[place.name]
                pieces += [self.html[position : place.start], value if self.is_raw else place.write(value)]
                position = place.end
        return "".join([*pieces, self.html[position:]])

    @cached_property
    def _places(self) -> list[Place]:
        scripts = [match.span(2) for match in SCRIPT.finditer(self.html) if not INERT.search(match[1])]
        tags = [tag.span() for tag in TAG.finditer(self.html) if _around(tag.start(), scripts) is None]
        areas = Areas(self.html, scripts, tags, [span for tag in tags for span in _handlers(self.html, tag)])
        return [_place(match, areas) for match in PLACEHOLDER.finditer(self.html)]


def _handlers(html: str, tag: Span) -> Iterator[Span]:
    """Yield where in the document the scripts of a tag's handlers are."""
    for handler in HANDLER.finditer(html, *tag):
        yield handler.span(1 if handler[1] is not None else 2)


def _around(position: int, spans: list[Span]) -> Span | None:
    """Return the span around a position, of spans in order that do not overlap."""
    before = bisect_right(spans, position, key=lambda span: span[0]) - 1
    return spans[before] if before >= 0 and position < spans[before][1] else None


def _place(match: re.Match[str], areas: Areas) -> Place:
    start, end = match.span()
    name = match[1].strip()
    if span := _around(start, areas.scripts):
        write, is_literal = _script_writer(areas.html[slice(*span)], start - span[0])
        return Place(name, start, end, write, is_literal)
    if span := _around(start, areas.handlers):
        write, is_literal = _script_writer(areas.html[slice(*span)], start - span[0])
        return Place(name, start, end, lambda value: escape(write(value)), is_literal)
    return Place(name, start, end, in_tag if _around(start, areas.tags) else escape, may_be_script=False)


def _script_writer(code: str, position: int) -> tuple[Writer, bool]:
    """Return how to write a value at a position of a script, and whether that is between backticks."""
    span = _around(position, _quoted(code))
    return (in_string, code[span[0]] == "`") if span else (as_expression, False)


@lru_cache(maxsize=64)
def _quoted(code: str) -> list[Span]:
    """Return where the strings and comments of a script are, in order."""
    return [part.span() for part in QUOTED.finditer(code)]


def remarks(html: str) -> list[str]:
    """Return sentences about what a template counts on that the marketplace does not bring, for its researcher."""
    unknown = sorted({name.lower() for name in ELEMENT.findall(html)} - CROWD_ELEMENTS)
    hosts = sorted({host.lower() for host in REMOTE.findall(html)} - {CROWD_HOST})
    sentences = []
    if unknown:
        names = ", ".join(f"<{name}>" for name in unknown)
        sentences.append(f"Only the text inside these elements is shown: {names}.")
    if hosts:
        sentences.append(
            f"Scripts or styles come from elsewhere and may be out of reach: {', '.join(hosts)}."
        )
    if LIQUID.search(html):
        sentences.append("{{ task.input }} is Ground Truth's way to write a column; here it is ${column}.")
    return sentences
