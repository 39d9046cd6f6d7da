"""What a text of a protocol may be, in whatever language: shown on a page, and sent to a marketplace."""

import re

MOST_TEXT = 10_000
MOST_TITLE, MOST_SUMMARY = 128, 2000  # MTurk's CreateHITType
NOT_SHOWN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def why_not(text: str) -> str:
    """Return a sentence on what is wrong with any text, "" if nothing is."""
    if len(text) > MOST_TEXT:
        return f"The text has more than {MOST_TEXT:,} characters."
    if NOT_SHOWN.search(text):
        return "The text holds a character that can't be shown."
    return ""


def why_no_title(text: str) -> str:
    """Return a sentence on what is wrong with a title, "" if nothing is."""
    return f"A marketplace takes titles of up to {MOST_TITLE} characters." if len(text) > MOST_TITLE else ""


def why_no_summary(text: str) -> str:
    """Return a sentence on what is wrong with a description, "" if nothing is."""
    if len(text) > MOST_SUMMARY:
        return f"A marketplace takes descriptions of up to {MOST_SUMMARY} characters."
    return ""
