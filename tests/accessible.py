"""What axe-core finds on a page, in light and dark, on a desk and on a phone; and whether the page fits."""

from collections.abc import Sequence

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# axe-core's names of the rules behind WCAG 2.2, levels A and AA, and its own good practice.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Colours go by the scheme and layout by the width, so that each is seen both ways.
WAYS = [("light", 1280, 900), ("dark", 360, 740)]

# The admin's links fade from one scheme's colours to the other's, and axe would measure colours in between.
SETTLED = (
    "() => Promise.allSettled(document.getAnimations()"
    ".filter((animation) => animation instanceof CSSTransition).map((fading) => fading.finished))"
)


def faults(page: Page, *, ways: Sequence[tuple[str, int, int]] = WAYS) -> list[str]:
    """Return every violation with where it is; nothing on a page that is as it should be."""
    return [
        f"{scheme} {width}: {fault}"
        for scheme, width, height in ways
        for fault in _look(page, scheme, width, height)
    ]


def _look(page: Page, scheme: str, width: int, height: int) -> list[str]:
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": height})
    # Where a page stands in another width is chance, and axe takes a row half under a sticky bar for a small target.
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    page.evaluate(SETTLED)
    for frame in page.frames:
        frame.wait_for_load_state()  # axe fails in a frame that has no document yet
    # Preloading, the fetching of every style sheet once more, serves none of these rules.
    options = {"resultTypes": ["violations"], "runOnly": TAGS, "preload": False}
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    violations = page.evaluate("options => axe.run(options)", options)["violations"]
    found = [f"{v['id']} at {node['html']}" for v in violations for node in v["nodes"]]
    too_wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [*found, f"{too_wide} px too wide"] if too_wide > 0 else found
