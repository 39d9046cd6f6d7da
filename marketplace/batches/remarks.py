"""What a template counts on that the marketplace does not bring."""

import re

# The elements static/marketplace/site/crowd.js makes, and the parts of them that show their text.
CROWD_ELEMENTS = frozenset(
    f"crowd-{name}"
    for name in (
        "button", "checkbox", "classifier", "classifier-multi-select", "form", "input", "instructions",
        "radio-button", "radio-group", "slider", "text-area", "toggle-button",
    )
)  # fmt: skip
ELEMENT = re.compile(r"<(crowd-[a-z-]+)", re.IGNORECASE)
REMOTE = re.compile(
    r"<(?:script|link)\b[^<>]*\b(?:src|href)\s*=\s*[\"']?(?:https?:)?//([^\"'\s>/]+)", re.IGNORECASE
)
CROWD_HOST = "assets.crowd.aws"
LIQUID = re.compile(r"\{\{\s*task\.input\b")


def remarks(html: str) -> list[str]:
    """Return sentences for the researcher who looks at a draft."""
    unknown = sorted({name.lower() for name in ELEMENT.findall(html)} - CROWD_ELEMENTS)
    hosts = sorted({host.lower() for host in REMOTE.findall(html)} - {CROWD_HOST})
    found = []
    if unknown:
        names = ", ".join(f"<{name}>" for name in unknown)
        found.append(f"Only the text inside these elements is shown: {names}.")
    if hosts:
        found.append(f"Scripts or styles come from elsewhere and may be out of reach: {', '.join(hosts)}.")
    if LIQUID.search(html):
        found.append("{{ task.input }} is Ground Truth's way to write a column; here it is ${column}.")
    return found
