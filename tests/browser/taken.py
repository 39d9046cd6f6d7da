"""Pictures of the documentation, taken by a test, and what stood on their pages: none may be out of date."""

import json
import os
import re
from collections.abc import Collection
from pathlib import Path

from django.conf import settings
from playwright.sync_api import Page

DOCS = Path(settings.BASE_DIR) / "docs"
WRITES = bool(os.environ.get("WRITE_TUTORIAL"))
# Times, addresses, pseudonyms, access codes: other ones each time.
CHANGES = re.compile(
    r"\d{1,2} \w+(?: \d{4})?, \d{2}:\d{2}(?::\d{2})?|https?://\S+|\b[0-9a-f]{12}\b|(?<=\t)[a-z0-9]{10}$"
    r"|(?<=\t)L[0-9a-f]{32}(?=\t)|(?<=saved )\d{2}:\d{2}:\d{2}|Version \d+(?=, saved)"
)
MINUTES = re.compile(r"(?<=minutes, median)(\s+)[0-9.]+")  # how long the test's own people took


class Pictures:
    """Takes the pictures of a page of the documentation; `name` is that of the file beside them."""

    def __init__(self, name: str) -> None:
        self.shown: dict[str, list[str]] = {}
        self.file = DOCS / "tutorial" / name

    def take(self, page: Page, name: str, *, drawn: Collection[str] = ()) -> None:
        """Take a picture; lines that are one of `drawn` may be another of them the next time."""
        text = MINUTES.sub(r"\1*", page.locator("main").inner_text())
        lines = [line.strip() for line in text.splitlines()]
        self.shown[name] = ["*" if line in drawn else CHANGES.sub("*", line) for line in lines if line]
        if WRITES:
            page.screenshot(path=self.file.parent / f"{name}.png")

    @property
    def kept(self) -> dict[str, list[str]]:
        """Return what the pages said when the pictures were taken: just now, if they are being taken again."""
        if WRITES:
            self.file.write_text(json.dumps(self.shown, indent=1, ensure_ascii=False) + "\n")
        kept: dict[str, list[str]] = json.loads(self.file.read_text())
        return kept
