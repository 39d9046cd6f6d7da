"""The QuestionFormAnswers document MTurk makes of a submitted form."""

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

from marketplace.questions import documents

NAMESPACE = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
)
DROPPED = frozenset({"assignmentId", "hitId"})


def fields_of(form: Iterable[tuple[str, list[str]]]) -> dict[str, str]:
    """Return what counts as an answer, in order: repeated names joined with |, MTurk's own fields dropped."""
    return {name: "|".join(values) for name, values in form if name not in DROPPED}


def document(fields: dict[str, str]) -> str:
    """Write the answer document of a task's own form, where every field is a FreeText."""
    return written((name, [("FreeText", value)]) for name, value in fields.items())


def written(answers: Iterable[tuple[str, Sequence[tuple[str, str]]]]) -> str:
    """Write identifiers with their (element, value) pairs: one line, declared ASCII, the rest as references."""
    body = "".join(
        f"<Answer>{_element('QuestionIdentifier', name)}"
        f"{''.join(_element(tag, value) for tag, value in given)}</Answer>"
        for name, given in answers
    )
    return (
        '<?xml version="1.0" encoding="ASCII"?>'
        f'<QuestionFormAnswers xmlns="{NAMESPACE}">{body}</QuestionFormAnswers>'
    )


def _element(tag: str, value: str) -> str:
    return f"<{tag}>{_text(value)}</{tag}>"


def _text(value: str) -> str:
    # A bare carriage return would be read back as a line feed (XML 1.0, section 2.11).
    escaped = escape(documents.legal(value), {"\r": "&#13;"})
    return escaped.encode("ascii", "xmlcharrefreplace").decode("ascii")
