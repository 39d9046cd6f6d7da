"""What a worker sees of a page: read from its HTML, and from nothing else."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Self

from lxml.html import HtmlElement, document_fromstring

from surveys.simulating.views import Group, ItemView, Option, Output, UnexpectedPage, words_once


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a page, as lxml has read it."""

    node: HtmlElement

    @property
    def attributes(self) -> dict[str, str]:
        return {str(name): str(value) for name, value in self.node.attrib.items()}

    def all(self, tag: str = "*", *, css_class: str = "") -> Iterator["Element"]:
        """Yield the descendants of this tag and class ("" for any), in the order of the page."""
        for node in self.node.iterdescendants(tag):
            if not css_class or css_class in node.classes:
                yield Element(node)

    def find(self, tag: str = "*", *, id: str = "") -> "Element | None":
        """Return the first descendant of this tag (and id), or None."""
        return next((e for e in self.all(tag) if not id or e.attributes.get("id") == id), None)

    def text(self, *, without: str = "") -> str:
        """Return the text with white space as a browser collapses it, leaving out elements of one tag."""
        texts = self.node.xpath(".//text()[not(ancestor::*[name() = $tag])]", tag=without)
        return " ".join("".join(map(str, texts)).split())


def parse(html: str) -> Element:
    """Return the root of a page; an empty answer is an empty page."""
    return Element(document_fromstring(html.strip() or "<html></html>"))


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


@dataclass(frozen=True, slots=True)
class HitPage:
    """The working page: its form, where drafts go, and its items."""

    form: Form
    draft_url: str
    items: tuple[ItemView, ...]


def read_hit_page(root: Element) -> HitPage:
    """Return the working page. Raises UnexpectedPage if this is not one."""
    form = root.find("form", id="hit")
    if form is None:
        raise UnexpectedPage(f"No HIT to work on: {headline(root)}")
    items = tuple(_item(section) for section in form.all(css_class="item"))
    return HitPage(Form.of(form), form.attributes["data-draft"], items)


def read_quiz(root: Element) -> HitPage | None:
    """Return the quiz that stands before the work as a page with one item, None if this is no quiz."""
    for form in root.all("form"):
        read = Form.of(form)
        if "quiz" in read.hidden:
            groups = tuple(_groups(form))
            return HitPage(read, "", (ItemView(0, 0, "", (), groups),))
    return None


def read_consent(root: Element) -> Form | None:
    """Return the form that asks whether somebody agrees, None if this page asks nobody."""
    asks = (form for form in root.all("form") if any(_asks_to_agree(one) for one in form.all("button")))
    return next((Form.of(form) for form in asks), None)


def _asks_to_agree(button: Element) -> bool:
    return button.attributes.get("name") == "consent"


def read_last_form(root: Element) -> Form:
    """Return the form that tells the marketplace. Raises UnexpectedPage if the answers were not taken."""
    for form in root.all("form"):
        if form.attributes.get("action", "").endswith("/mturk/externalSubmit"):
            return Form.of(form)
    raise UnexpectedPage(f"The answers were not taken: {headline(root)}")


def headline(root: Element) -> str:
    """Return what a page says first, to quote it."""
    heading = root.find("h1") or root.find("title")
    paragraph = root.find("p")
    return " ".join(element.text() for element in (heading, paragraph) if element)[:300] or "an empty page"


def _item(section: Element) -> ItemView:
    steps = "\n".join(step.text(without="span") for step in section.all(css_class="step"))
    outputs = tuple(_output(part, steps=steps) for part in section.all(css_class="output"))
    skip = next((group for part in section.all(css_class="skip") for group in _groups(part)), None)
    elsewhere = {group.name for output in outputs for group in output.groups}
    elsewhere |= {skip.name} if skip else set()
    elsewhere |= {group.name for part in section.all(css_class="unseen") for group in _groups(part)}
    return ItemView(
        position=int(section.attributes["data-position"]),
        version=int(section.attributes["data-version"]),
        question="" if steps else _question(section),
        outputs=outputs,
        groups=tuple(group for group in _groups(section) if group.name not in elsewhere),
        pictures=tuple(image.attributes["src"] for image in section.all("img")),
        n_missing=sum(1 for _ in section.all("p", css_class="missing")),
        skip=skip,
    )


def _question(section: Element) -> str:
    heading = section.find("h2")
    return heading.text(without="span") if heading else ""


def _output(section: Element, *, steps: str) -> Output:
    """Return an output with its text: its own, or in a sequence what stands between the states."""
    quote = section.find("blockquote")
    files = [one.attributes["src"] for tag in ("img", "audio", "video") for one in section.all(tag)]
    code = section.attributes.get("aria-labelledby", "").rpartition("-")[2]
    return Output(quote.text() if quote else steps or " ".join(files), tuple(_groups(section)), code)


def _groups(section: Element) -> Iterator[Group]:
    for element in section.all(css_class="group"):
        yield _group(element)


def _group(element: Element) -> Group:
    condition = element.attributes.get("data-only-if", "")
    wanted = tuple(json.loads(element.attributes.get("data-values", "[]")))
    return replace(_asked(element), only_if=condition, wanted=wanted)


def _asked(element: Element) -> Group:
    is_optional = "optional" in element.attributes.get("class", "").split()
    text = element.find("textarea")
    if text and "data-severities" in text.attributes:
        return _marking(element, text.attributes, is_optional=is_optional)
    if text:
        return Group(text.attributes["name"], is_checklist=False, options=(), is_optional=is_optional)
    if field := next((one for one in element.all("input") if "data-sample" in one.attributes), None):
        return Group(
            field.attributes["name"],
            is_checklist=False,
            options=(),
            is_optional=is_optional,
            sample=field.attributes["data-sample"],
        )
    controls = [(label, control) for label in element.all("label") for control in label.all("input")]
    first = controls[0][1].attributes
    return Group(
        name=first["name"],
        is_checklist=first["type"] == "checkbox",
        options=tuple(_option(label, control) for label, control in controls),
        is_optional=is_optional,
    )


def _marking(element: Element, field: Mapping[str, str], *, is_optional: bool) -> Group:
    """Return a question that is answered by marks in the text that the field names."""
    text = Element(element.node.getroottree().getroot()).find(id=field["data-surface"])
    kinds = json.loads(field["data-categories"])
    return Group(
        field["name"],
        is_checklist=False,
        options=(),
        is_optional=is_optional,
        sample="[]",
        words=words_once(text.text() if text else ""),
        severities=tuple(one["value"] for one in json.loads(field["data-severities"])),
        categories=tuple(one["value"] for kind in kinds for one in kind["names"]),
    )


def _option(label: Element, control: Element) -> Option:
    return Option(control.attributes["value"], label.text(), "data-exclusive" in control.attributes)
