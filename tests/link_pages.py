"""What a person reads on the pages of a link, and what is stored of what they answered."""

import json
import re
from typing import Any

from surveys.models import Rating, Response
from tests.link_study import SCORES, Visitor


def text(response: Any) -> str:
    """What is to be read on a page, without markup."""
    body = response.content.decode().partition("<body>")[2]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def target(response: Any) -> tuple[int, str]:
    """Where an answer leads, without the token."""
    return response.status_code, re.sub(r"^/links/[^/]+/", "/", response.headers["Location"])


def listed(response: Any) -> list[tuple[str, str]]:
    """The annotations of the list, with their states."""
    return re.findall(r'>(Annotation \d+)</a> <span class="mark \w+">([^<]+)<', response.content.decode())


def checked(page: Any) -> list[tuple[str, str]]:
    """What is chosen about the first item, by question."""
    return re.findall(
        r'name="i1-(?:\w+-)?(\w+)" value="(\w+)"(?: id="[^"]+")? checked', page.content.decode()
    )


def scores() -> list[tuple[str, str]]:
    """All that is stored as a rating."""
    return sorted(Rating.objects.values_list("criterion", "value"))


def given(**changes: str) -> list[tuple[str, str]]:
    """The scores a visitor gives unless told otherwise, as they are stored."""
    return sorted((SCORES | changes).items())


def drafted() -> dict[str, Any]:
    """The one draft there is, by question."""
    draft = Response.objects.exclude(draft={}).get().draft
    return {name.rpartition("-")[2]: value for name, value in draft.items()}


def save_draft(visitor: Visitor, page: Any, *, version: int = 1, **answers: str) -> Any:
    """What the page's script sends while somebody chooses on annotation 1."""
    html = page.content.decode()
    names = {name.rpartition("-")[2]: name[3:] for name in re.findall(r'type="radio" name="([^"]+)"', html)}
    body = {
        "token": re.search(r'name="token" value="([^"]+)"', html)[1],
        "position": 1,
        "version": version,
        "seconds": 1,
        "answers": {names[key]: value for key, value in answers.items()},
    }
    return visitor.client.post(visitor.at(1) + "draft", json.dumps(body), content_type="text/plain")
