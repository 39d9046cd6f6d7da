"""MTurk's two XML documents: the ExternalQuestion we send and the QuestionFormAnswers we get back."""

from xml.etree import ElementTree

EXTERNAL_QUESTION_NS = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
)


class AnswerError(ValueError):
    """The answer document can't be read."""


def external_question(url: str) -> str:
    """Return the ExternalQuestion document for `url`; its frame is as high as the window (MTurk: FrameHeight 0)."""
    root = ElementTree.Element("ExternalQuestion", xmlns=EXTERNAL_QUESTION_NS)
    ElementTree.SubElement(root, "ExternalURL").text = url
    ElementTree.SubElement(root, "FrameHeight").text = "0"
    return ElementTree.tostring(root, encoding="unicode")


def parse_answers(document: str) -> dict[str, str]:
    """Return {QuestionIdentifier: FreeText} of a QuestionFormAnswers document; AnswerError if it is none.

    Elements are found by local name, because the namespace carries a date that changed over the years.
    """
    if "<!DOCTYPE" in document:
        raise AnswerError("The answer document declares a DOCTYPE, which MTurk never does.")
    try:
        root = ElementTree.fromstring(document)  # noqa: S314 (no DOCTYPE, so no entities to expand)
    except (ElementTree.ParseError, UnicodeError) as error:
        raise AnswerError(f"The answer document is not XML: {error}") from error
    return dict(_identifier_and_text(answer) for answer in root if _local(answer) == "Answer")


def _identifier_and_text(answer: ElementTree.Element) -> tuple[str, str]:
    fields = {_local(child): child.text or "" for child in answer}
    return fields.get("QuestionIdentifier", ""), fields.get("FreeText", "")


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
