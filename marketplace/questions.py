"""ExternalQuestion in, the address of the worker's frame out."""

from dataclasses import dataclass
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree

NAMESPACE = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
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


def parse(document: str) -> ExternalQuestion:
    """Read an ExternalQuestion document. Raises BadQuestion."""
    root = _root(document)
    if root.tag != f"{{{NAMESPACE}}}ExternalQuestion":
        raise BadQuestion("The Question is not an ExternalQuestion document of 2006-07-14.", is_xml=True)
    url = (root.findtext(f"{{{NAMESPACE}}}ExternalURL") or "").strip()
    height = (root.findtext(f"{{{NAMESPACE}}}FrameHeight") or "").strip()
    if not height.isascii() or not height.isdigit() or len(height) > 5:
        raise BadQuestion("FrameHeight is a whole number of pixels.", is_xml=True)
    return ExternalQuestion(url=url, frame_height=int(height))


def _root(document: str) -> ElementTree.Element:
    # A document type is refused, so that no entity is ever expanded.
    if "<!DOCTYPE" in document:
        raise BadQuestion("The Question has a document type declaration.", is_xml=True)
    try:
        return ElementTree.fromstring(document.encode())  # noqa: S314
    except (ElementTree.ParseError, ValueError, LookupError) as error:
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
