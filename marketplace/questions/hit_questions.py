"""Question documents in, what the worker's frame shows out."""

from dataclasses import dataclass
from urllib.parse import parse_qs, quote, urlsplit
from xml.etree import ElementTree

from marketplace.questions import question_forms
from marketplace.questions.documents import SCHEMAS, BadQuestion, well_formed
from marketplace.questions.question_forms import QuestionForm

EXTERNAL = f"{{{SCHEMAS}/2006-07-14/ExternalQuestion.xsd}}"
HTML = f"{{{SCHEMAS}/2011-11-11/HTMLQuestion.xsd}}"
PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"
LONGEST_URL = 2048


class BadAddress(BadQuestion):
    """The ExternalURL is none that workers may be sent to."""

    def __init__(self, url: str, why: str = "") -> None:
        super().__init__(why)
        self.url = url


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


def parse(document: str) -> ExternalQuestion | HTMLQuestion | QuestionForm:
    """Read a HIT's question document. Raises BadQuestion."""
    root = well_formed(document)
    if root.tag == f"{EXTERNAL}ExternalQuestion":
        url = (root.findtext(f"{EXTERNAL}ExternalURL") or "").strip()
        return ExternalQuestion(url=url, frame_height=_height(root, EXTERNAL))
    if root.tag == f"{HTML}HTMLQuestion":
        html = root.findtext(f"{HTML}HTMLContent") or ""
        if not html.strip():
            raise BadQuestion("The HTMLContent is empty.")
        return HTMLQuestion(html=html, frame_height=_height(root, HTML))
    if root.tag.endswith("QuestionForm"):
        return question_forms.read(document)
    raise BadQuestion("The Question is no ExternalQuestion, HTMLQuestion or QuestionForm.")


def is_form(document: str) -> bool:
    """Tell whether the marketplace itself asks and checks the questions of a valid document."""
    return "QuestionForm.xsd" in document and isinstance(parse(document), QuestionForm)


def _height(root: ElementTree.Element, namespace: str) -> int:
    height = (root.findtext(f"{namespace}FrameHeight") or "").strip()
    if not height.isascii() or not height.isdigit() or len(height) > 5:
        raise BadQuestion("FrameHeight is a whole number of pixels.")
    return int(height)


def check(document: str, *, allow_http: bool) -> None:
    """Raise BadQuestion for a document that cannot be shown, BadAddress for an ExternalURL that must not be."""
    question = parse(document)
    if isinstance(question, ExternalQuestion):
        check_url(question.url, allow_http=allow_http)


def check_url(url: str, *, allow_http: bool) -> None:
    """Raise BadAddress unless the address is absolute, short enough and HTTPS."""
    try:
        parts = urlsplit(url)
        is_absolute = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_absolute = False
    if not is_absolute or parts.scheme not in {"http", "https"} or len(url) > LONGEST_URL:
        raise BadAddress(url)
    if parts.scheme == "http" and not allow_http:
        raise BadAddress(url, "This URL must use the HTTPS protocol.")


def frame_url(
    url: str,
    *,
    hit_id: str,
    assignment_id: str = PREVIEW_ID,
    worker_id: str = "",
    submit_to: str = "",
    language: str = "",
) -> str:
    """Return the ExternalURL with MTurk's parameters appended; a preview has no workerId.

    `language` is ours: what the worker chose on the worker site, "" where nothing was chosen. An address that says
    one by itself keeps it.
    """
    parameters = {"assignmentId": assignment_id, "hitId": hit_id}
    if language and "language" not in parse_qs(urlsplit(url).query, keep_blank_values=True):
        parameters["language"] = language
    if worker_id:
        parameters |= {"workerId": worker_id, "turkSubmitTo": submit_to}
    address, mark, fragment = url.partition("#")
    joint = "&" if "?" in address else "?"
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in parameters.items())
    return f"{address}{joint}{query}{mark}{fragment}"
