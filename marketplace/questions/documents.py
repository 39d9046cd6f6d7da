"""Requesters' XML documents: read without entities, held against a schema, refused by line."""

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import TypeAlias
from xml.etree import ElementTree

from lxml import etree

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
FOLDER = Path(__file__).parent / "schemas"
Element: TypeAlias = etree._Element
# Everything outside the Char production of XML 1.0, section 2.2.
ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class BadQuestion(ValueError):
    """The document is not one this marketplace can show."""


class BadForm(BadQuestion):
    """A QuestionForm or AnswerKey breaks its rules; the text names the line.

    `code` is the last part of TurkErrorCode: XMLParseError, or XHTMLParseError inside a FormattedContent.
    """

    def __init__(self, message: str, *, line: int, code: str = "XMLParseError") -> None:
        super().__init__(f"Line {line}: {message}")
        self.code = code


def legal(text: str) -> str:
    """Leave out the characters XML 1.0 does not allow, which no database need take either."""
    return ILLEGAL.sub("", text)


class _WithoutDoctype(ElementTree.TreeBuilder):
    """Builds a tree of a document without a document type, so that no entity is ever expanded."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise BadQuestion("The document has a document type declaration.")


def well_formed(document: str) -> ElementTree.Element:
    """Return the root of a well-formed document without a document type. Raises BadQuestion."""
    parser = ElementTree.XMLParser(target=_WithoutDoctype(), encoding="utf-8")  # noqa: S314
    try:
        return ElementTree.fromstring(document.encode(), parser=parser)  # noqa: S314
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        if isinstance(error, BadQuestion):
            raise
        raise BadQuestion(f"The document is not well-formed XML: {error}") from error


def tree(document: str) -> Element:
    """Return the root of a well-formed document, its lines known, without comments. Raises BadQuestion."""
    well_formed(document)
    parser = etree.XMLParser(encoding="utf-8", resolve_entities=False, remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(document.encode(), parser)
    except etree.XMLSyntaxError as error:
        raise BadQuestion(f"The document cannot be read: {error}") from error


def check(root: Element, *, file: str, namespaces: Collection[str]) -> None:
    """Raise BadForm for the first thing that is not as a schema of ours says."""
    namespace = etree.QName(root).namespace or ""
    if namespace not in namespaces:
        known = " or ".join(namespaces)
        raise BadForm(f"The namespace of the document is {known}.", line=line_of(root))
    # Not kept: a schema object notes the errors of its last document, whichever thread brought that.
    schema = etree.XMLSchema(etree.fromstring(_text(file).replace("NAMESPACE", namespace).encode()))
    if not schema.validate(root):
        first = schema.error_log[0]
        raise BadForm(first.message.replace(f"{{{namespace}}}", ""), line=first.line)


@cache
def _text(file: str) -> str:
    return (FOLDER / file).read_text(encoding="utf-8")


def line_of(element: Element) -> int:
    """Return the line of the document the element begins on, from 1."""
    return element.sourceline or 1


def child(element: Element, name: str) -> Element | None:
    """Return the first child of this local name."""
    return next((found for found in element if etree.QName(found).localname == name), None)


def children(element: Element, name: str) -> list[Element]:
    return [found for found in element if etree.QName(found).localname == name]


def text(element: Element, name: str, default: str = "") -> str:
    """Return the text of the first child of this local name, without space around it."""
    found = child(element, name)
    return default if found is None else (found.text or "").strip()
