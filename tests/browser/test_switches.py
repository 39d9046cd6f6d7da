"""How the tests start Chromium takes nothing away from how Playwright does."""

import psutil
import pytest
from playwright.sync_api import BrowserType

from tests.services_browser import OFF_IN_PLAYWRIGHT, chromium

pytestmark = pytest.mark.processes
OFF = "--disable-features="


def test_what_playwright_turns_off_stays_off(browser_type: BrowserType) -> None:
    """Without them storage is cut apart by the page around a frame, and what the HIT page says of drafts is other."""
    browser = browser_type.launch(executable_path=str(chromium()), args=["--no-sandbox"])
    try:
        assert switched_off() == list(OFF_IN_PLAYWRIGHT)
    finally:
        browser.close()


def switched_off() -> list[str]:
    """Return what the browser that was started last was told to do without."""
    below = sorted(psutil.Process().children(recursive=True), key=lambda process: process.create_time())
    commands = [process.cmdline() for process in below]
    browsers = [words for words in commands if "--headless" in words and not is_part(words)]
    return next(word for word in browsers[-1] if word.startswith(OFF)).removeprefix(OFF).split(",")


def is_part(words: list[str]) -> bool:
    """Tell whether this is one of the processes a browser starts for itself."""
    return any(word.startswith("--type=") for word in words)
