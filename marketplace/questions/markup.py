"""FormattedContent: the subset of XHTML that MTurk's API reference lists, checked and written as HTML."""

import re
from html.entities import html5

from django.utils.safestring import SafeString, mark_safe
from lxml import etree

from marketplace.questions.documents import BadForm, Element

EVERYWHERE = frozenset({"title", "dir", "lang"})
CELL = "abbr align axis bgcolor char charoff colspan headers height nowrap rowspan scope valign width"
ROWS, COLUMNS = "align char charoff valign", "align char charoff span valign width"
# Tag: its attributes besides those of every tag (API reference, Formatted Content: XHTML).
TAGS: dict[str, str] = {
    **dict.fromkeys(("b", "big", "br", "center", "cite", "code", "dd", "dl", "dt", "em"), ""),
    **dict.fromkeys(("i", "small", "strong", "sub", "sup", "u"), ""),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "p"), "align"),
    **dict.fromkeys(("blockquote", "q"), "cite"),
    **dict.fromkeys(("del", "ins"), "cite datetime"),
    **dict.fromkeys(("col", "colgroup"), COLUMNS),
    **dict.fromkeys(("tbody", "tfoot", "thead"), ROWS),
    **dict.fromkeys(("td", "th"), CELL),
    "a": "accesskey charset coords href hreflang name rel rev shape tabindex target type",
    "area": "alt coords href nohref shape target",
    "font": "color face size",
    "hr": "align noshade size width",
    "img": "align alt border height hspace ismap longdesc src usemap vspace width",
    "li": "type value",
    "map": "name",
    "ol": "compact start type",
    "pre": "width",
    "table": "align bgcolor border cellpadding cellspacing frame rules summary width",
    "tr": "bgcolor " + ROWS,
    "ul": "compact type",
}
NEEDED = {"img": ("src", "alt"), "area": ("alt",), "map": ("name",)}
ADDRESSES = frozenset({"href", "src", "cite", "longdesc"})
SCHEMES = re.compile(r"(?:https?|ftp|news|nntp|gopher|telnet)://|mailto:")
# Left out when written: they would take the keyboard or the window from the page around.
UNWRITTEN = frozenset({"accesskey", "tabindex", "target", "rel"})
ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)(\w+;)")


def html(content: str, *, line: int) -> SafeString:
    """Return the content as HTML that holds nothing but listed tags. Raises BadForm XHTMLParseError."""
    root = _parsed(content, line=line)
    for element in root.iterdescendants():
        _check(element, line=line)
        _settle(element)
    written = etree.tostring(root, method="html", encoding="unicode")
    return mark_safe(written.removeprefix("<div>").removesuffix("</div>"))  # noqa: S308


def _parsed(content: str, *, line: int) -> Element:
    """Read the content as MTurk did, in an element of its own. HTML's named characters are understood."""
    spelled = ENTITY.sub(lambda found: html5.get(found[1], found[0]), content)
    if "<!" in spelled or "<?" in spelled:
        raise _bad("Comments, CDATA and processing instructions are not allowed.", line=line)
    parser = etree.XMLParser(resolve_entities=False)
    try:
        return etree.fromstring(f"<div>{spelled}</div>", parser)
    except etree.XMLSyntaxError as error:
        raise _bad(f"{error.msg}.", line=line) from error


def _check(element: Element, *, line: int) -> None:
    tag = element.tag
    if not isinstance(tag, str) or tag not in TAGS:
        name = str(tag) if isinstance(tag, str) else "entity"
        raise _bad(f"<{name}> is not a supported tag.", line=line)
    allowed = EVERYWHERE.union(TAGS[tag].split())
    for name, value in element.items():
        if name not in allowed:
            raise _bad(f"<{tag}> takes no attribute {name}.", line=line)
        if name in ADDRESSES and not SCHEMES.match(str(value).strip()):
            raise _bad(f"The {name} of <{tag}> is not an address of a supported kind.", line=line)
    for name in NEEDED.get(tag, ()):
        if name not in element.attrib:
            raise _bad(f"<{tag}> needs the attribute {name}.", line=line)


def _settle(element: Element) -> None:
    for name in UNWRITTEN.intersection(element.keys()):
        del element.attrib[name]
    if "href" in element.attrib:
        element.set("target", "_blank")
        element.set("rel", "noopener noreferrer")


def _bad(message: str, *, line: int) -> BadForm:
    return BadForm(f"FormattedContent: {message}", line=line, code="XHTMLParseError")
