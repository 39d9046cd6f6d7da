"""Question documents in, what the worker's frame shows out."""

from dataclasses import dataclass
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
EXTERNAL = f"{{{SCHEMAS}/2006-07-14/ExternalQuestion.xsd}}"
HTML = f"{{{SCHEMAS}/2011-11-11/HTMLQuestion.xsd}}"
PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"
LONGEST_URL = 2048


class BadQuestion(ValueError):
    """The question document is not one this marketplace can show; `is_xml` tells which part failed."""

    def __init__(self, message: str, *, is_xml: bool) -> None:
        super().__init__(message)
        self.is_xml = is_xml


@dataclass(frozen=True)
class ExternalQuestion:
    """`frame_height` is in pixels, 0 for as high as the window."""

    url: str
    frame_height: int


@dataclass(frozen=True)
class HTMLQuestion:
    """A whole HTML document that the marketplace serves itself; `frame_height` as above."""

    html: str
    frame_height: int


class _WithoutDoctype(ElementTree.TreeBuilder):
    """Builds a tree of a document without a document type, so that no entity is ever expanded."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise BadQuestion("The Question has a document type declaration.", is_xml=True)


def parse(document: str) -> ExternalQuestion | HTMLQuestion:
    """Read an ExternalQuestion or HTMLQuestion document. Raises BadQuestion."""
    root = _root(document)
    if root.tag == f"{EXTERNAL}ExternalQuestion":
        url = (root.findtext(f"{EXTERNAL}ExternalURL") or "").strip()
        return ExternalQuestion(url=url, frame_height=_height(root, EXTERNAL))
    if root.tag == f"{HTML}HTMLQuestion":
        html = root.findtext(f"{HTML}HTMLContent") or ""
        if not html.strip():
            raise BadQuestion("The HTMLContent is empty.", is_xml=True)
        return HTMLQuestion(html=html, frame_height=_height(root, HTML))
    raise BadQuestion("The Question is neither an ExternalQuestion nor an HTMLQuestion.", is_xml=True)


def _height(root: ElementTree.Element, namespace: str) -> int:
    height = (root.findtext(f"{namespace}FrameHeight") or "").strip()
    if not height.isascii() or not height.isdigit() or len(height) > 5:
        raise BadQuestion("FrameHeight is a whole number of pixels.", is_xml=True)
    return int(height)


def _root(document: str) -> ElementTree.Element:
    parser = ElementTree.XMLParser(target=_WithoutDoctype())  # noqa: S314
    try:
        return ElementTree.fromstring(document.encode(), parser=parser)  # noqa: S314
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        if isinstance(error, BadQuestion):
            raise
        raise BadQuestion(f"The Question is not well-formed XML: {error}", is_xml=True) from error


def check_url(url: str, *, allow_http: bool) -> None:
    """Raise BadQuestion unless the address is absolute, short enough and HTTPS."""
    try:
        parts = urlsplit(url)
        is_absolute = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_absolute = False
    if not is_absolute or parts.scheme not in {"http", "https"} or len(url) > LONGEST_URL:
        raise BadQuestion("", is_xml=False)
    if parts.scheme == "http" and not allow_http:
        raise BadQuestion("This URL must use the HTTPS protocol.", is_xml=False)


def frame_url(
    url: str, *, hit_id: str, assignment_id: str = PREVIEW_ID, worker_id: str = "", submit_to: str = ""
) -> str:
    """Return the ExternalURL with MTurk's parameters appended; a preview has no workerId."""
    parameters = {"assignmentId": assignment_id, "hitId": hit_id}
    if worker_id:
        parameters |= {"workerId": worker_id, "turkSubmitTo": submit_to}
    address, mark, fragment = url.partition("#")
    joint = "&" if "?" in address else "?"
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items())
    return f"{address}{joint}{query}{mark}{fragment}"
