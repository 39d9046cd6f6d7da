"""Somebody at a browser, and what that costs them: clicks, keys, and by these the time of somebody practised.

The time is that of S. K. Card, T. P. Moran & A. Newell, "The keystroke-level model for user performance time with
interactive systems", Communications of the ACM 23(7), 1980: 0.28 s a key (somebody who types
seldom), 1.1 s to point, 0.2 s to click, 0.4 s from keys to mouse and back, 1.35 s to make up one's mind each time.
"""

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import FilePayload, Locator, Page

TEN_MINUTES = 600
UNPRACTISED = 3  # how much longer than the model's somebody takes who reads as they go
KEY, POINT, CLICK, HOME, MIND = 0.28, 1.1, 0.2, 0.4, 1.35


@dataclass
class Person:
    """Does things one by one on a page, and counts them."""

    page: Page
    clicks: int = 0
    keys: int = 0
    files: int = 0
    fields: int = 0

    @property
    def seconds(self) -> float:
        """Return the model's time. A file is found by three clicks and a thought more."""
        clicks = self.clicks + self.fields + 3 * self.files
        return clicks * (MIND + POINT + CLICK) + self.fields * 2 * HOME + self.keys * KEY

    def press(self, name: str, *, within: Locator | None = None) -> None:
        """Press the one button or link of a name."""
        scope = within or self.page
        self.click(scope.get_by_role("button", name=name).or_(scope.get_by_role("link", name=name)).first)

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def write(self, target: Locator, text: str) -> None:
        """Go into a field and type a text in the place of what it says."""
        target.fill(text)
        self.fields += 1
        self.keys += len(text)

    def choose(self, target: Locator, value: str) -> None:
        target.select_option(value)
        self.clicks += 2

    def bring(self, target: Locator, file: Path | FilePayload) -> None:
        target.set_input_files(file)
        self.files += 1
