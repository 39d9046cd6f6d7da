"""Just enough of a browser's view of HTML: a tree of elements, their text, and the fields a form would send."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Self

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass(slots=True)
class Element:
    """One element; `children` are elements and texts in the order of the page."""

    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["Element | str"] = field(default_factory=list)

    def all(self, tag: str = "", *, css_class: str = "") -> Iterator["Element"]:
        """Yield the descendants of this tag and class ("" for any), in the order of the page."""
        for child in self.children:
            if isinstance(child, Element):
                classes = child.attributes.get("class", "").split()
                if tag in {"", child.tag} and (not css_class or css_class in classes):
                    yield child
                yield from child.all(tag, css_class=css_class)

    def find(self, tag: str, *, id: str = "") -> "Element | None":
        """Return the first descendant of this tag (and id), or None."""
        return next((e for e in self.all(tag) if not id or e.attributes.get("id") == id), None)

    def text(self, *, without: str = "") -> str:
        """Return the text with white space as a browser collapses it, leaving out elements of one tag."""
        return " ".join("".join(self._texts(without)).split())

    def _texts(self, without: str) -> Iterator[str]:
        for child in self.children:
            if isinstance(child, str):
                yield child
            elif child.tag != without:
                yield from child._texts(without)


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        for depth in range(len(self.open) - 1, 0, -1):
            if self.open[depth].tag == tag:
                del self.open[depth:]
                return

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parse(html: str) -> Element:
    """Return the root of a page."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    return builder.root


@dataclass(frozen=True, slots=True)
class Form:
    """Where a form goes, and its hidden fields."""

    action: str
    hidden: dict[str, str]

    @classmethod
    def of(cls, element: Element) -> Self:
        hidden = {
            e.attributes["name"]: e.attributes.get("value", "")
            for e in element.all("input")
            if e.attributes.get("type") == "hidden"
        }
        return cls(element.attributes.get("action", ""), hidden)
