"""What does a HIT ask of a hand and an eye? Taps, heights, bytes, and what is in view at each item's last question.

Run `python benchmarks/annotator/journeys.py`. It serves the demo studies as `served_pages.py` does and walks through
the first HIT of each in Chromium, tapping the first choice of every question that has to be answered. A screen is the
window's height; `sticky` is the share of it that stuck lines take at the last question of an item.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import Browser, Page, Response, sync_playwright

from benchmarks.served_pages import DEMO, frames, served
from tests.services_browser import FLAGS, chromium

STUDIES = {
    "evil-vqax": DEMO / "items.csv",
    "xai": DEMO / "xai" / "items.csv",
    "vtt": DEMO / "vtt" / "items.jsonl",
}
WINDOWS = [(390, 844), (844, 390), (1280, 800)]
CLAIMS = "&workerId=AJOURNEY{0}&assignmentId=3JOURNEY{0}"
LOOK = """() => {
  const item = document.querySelector(".item:not([hidden])");
  const last = [...item.querySelectorAll(".output .group:not(.optional)")].at(-1);
  last.scrollIntoView({ block: "center" });
  const seen = (node) => {
    const box = node?.getBoundingClientRect();
    return Boolean(box && box.height && box.top > -box.height / 2 && box.bottom < innerHeight + box.height / 2);
  };
  const stuck = [...document.querySelectorAll(".bar, .js .move, .stays, .reminder")].filter((node) => {
    const style = getComputedStyle(node), { top, bottom } = node.getBoundingClientRect();
    const isStuck = Math.abs(top - parseFloat(style.top)) < 2 || Math.abs(innerHeight - bottom) < 2;
    return node.offsetHeight && style.position === "sticky" && isStuck;
  });
  const again = document.querySelector(".again:not([hidden])");
  const text = last.closest(".output").querySelector("blockquote");
  return {
    height: item.offsetHeight / innerHeight,
    sticky: stuck.reduce((sum, node) => sum + node.offsetHeight, 0) / innerHeight,
    question: Boolean(again) || seen(item.querySelector("h2")),
    picture: Boolean(again) || [...item.querySelectorAll(".look img, .states img")].some(seen),
    text: text ? seen(text) : Boolean(again) || [...item.querySelectorAll(".step")].some(seen),
  };
}"""


@dataclass(frozen=True, slots=True)
class Journey:
    """One HIT in one window: heights and what is stuck in its shares, `in_view` what last questions had beside them."""

    n_items: int
    taps: int
    bytes: int
    height: float
    sticky: float
    in_view: list[str]


def main() -> None:
    print("| study | window | items | taps | kB | screens an item | sticky | in view at the last question |")
    print("|---|---|---|---|---|---|---|---|")
    with served():
        urls = {key: frames(key, items)[0] for key, items in STUDIES.items()}
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=str(chromium()), args=FLAGS)
            for number, (key, window) in enumerate((key, window) for key in STUDIES for window in WINDOWS):
                print(line(key, window, walk(browser, urls[key] + CLAIMS.format(number), window=window)))
            browser.close()


def walk(browser: Browser, url: str, *, window: tuple[int, int]) -> Journey:
    """Answer a whole HIT up to the button that submits it."""
    context = browser.new_context(viewport={"width": window[0], "height": window[1]}, has_touch=True)
    page, received = context.new_page(), list[Response]()
    page.on("response", lambda response: received.append(response))
    page.goto(url, wait_until="networkidle")
    if not page.locator("#hit").count():
        raise SystemExit(f"No HIT but: {page.title()}")
    if page.locator("[data-begin]").is_visible():
        page.locator("[data-begin]").tap()
    looks, n_items = [], page.locator(".item").count()
    taps = sum(answer(page, looks) for _ in range(n_items))
    n_bytes = sum(one.request.sizes()["responseBodySize"] for one in received if one.request.method == "GET")
    context.close()
    return Journey(
        n_items=n_items,
        taps=taps,
        bytes=n_bytes,
        height=max(look["height"] for look in looks),
        sticky=max(look["sticky"] for look in looks),
        in_view=[part for part in ("picture", "question", "text") if all(look[part] for look in looks)],
    )


def answer(page: Page, looks: list[dict[str, object]]) -> int:
    """Answer the item that is shown, look at its last question, go on. Return how many taps it took, with that."""
    item = page.locator(".item:not([hidden])")
    for _ in range(2):  # the bar changes once what it stands for is away
        page.evaluate(LOOK)
        page.wait_for_timeout(150)
    looks.append(page.evaluate(LOOK))
    groups = item.locator(".group:not(.optional):not(.skip .group)")
    for group in groups.all():
        group.locator("label").first.tap()
    if page.locator("[data-go=next]").is_visible():
        page.locator("[data-go=next]").tap()
    return groups.count() + 1


def line(key: str, window: tuple[int, int], journey: Journey) -> str:
    cells: Iterator[str] = iter(
        [
            key,
            f"{window[0]}x{window[1]}",
            str(journey.n_items),
            str(journey.taps),
            f"{journey.bytes / 1000:.0f}",
            f"{journey.height:.1f}",
            f"{journey.sticky:.0%}",
            ", ".join(journey.in_view) or "nothing",
        ]
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
