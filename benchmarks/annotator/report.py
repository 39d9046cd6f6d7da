"""What does a HIT cost the person who does it? Taps, keys, heights, bars, bytes and first paint, in real Chromium.

Run `python benchmarks/annotator/report.py [--checkout DIR] [--only taps heights ...] [--pictures DIR]`. The pages
are served by `serve.py` in `--checkout` (any commit's worktree with an environment in `.venv`, or this one's); the
browser is the machine's Chromium or CHROMIUM. It prints one table for each question and leaves nothing behind;
`--pictures` keeps what each question of the first item looks like when its turn has come.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Frame, Locator, Page, sync_playwright
from playwright.sync_api import Error as PlaywrightError

HERE = Path(__file__).resolve().parent
TYPES = ("evil", "xai", "vtt")
OTHERS = ("pairwise", "ranking", "translation", "arabic")  # where the checkout has them
# A zoom of 400 % in a window of 1280 x 800 leaves 320 x 200 CSS pixels.
SIZES = {
    "390x844": (390, 844),
    "844x390": (844, 390),
    "1280x800": (1280, 800),
    "200 %": (640, 400),
    "400 %": (320, 200),
}
PHONE, LAPTOP = SIZES["390x844"], SIZES["1280x800"]
# "Slow 3G": 400 kbit/s and 400 ms, https://github.com/WPO-Foundation/webpagetest/blob/master/www/settings/connectivity.ini.sample
SLOW_3G = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
SLOWER_CPU = 4
PAINTS = 3
NUMBERS = count(1)

UNANSWERED = """() => [...document.querySelectorAll(".item:not([hidden]) .group:not([hidden]):not(.optional)")]
  .filter((group) => group.checkVisibility() && group.querySelector("input[type=radio]"))
  .filter((group) => !group.querySelector("input:checked"))
  .map((group) => group.querySelector("input").name)"""
# The key for the first choice of the question whose turn it is: its place, or itself where it is a numeral; else "".
KEY = """() => {
  const group = document.querySelector(".group.active");
  if (!group || group.querySelector("input:checked")) return "";
  return group.classList.contains("numeral") ? group.querySelector("input").value : "1";
}"""
# What covers the window's upper and lower edge while one is in the middle of an item.
BARS = """() => {
  const isNear = (edge, inset) => Math.abs(edge - parseFloat(inset)) < 2;
  const stuck = [...document.querySelectorAll("body *")].filter((node) => {
    const { position, top, bottom } = getComputedStyle(node), box = node.getBoundingClientRect();
    const isAtEdge = isNear(box.top, top) || isNear(innerHeight - box.bottom, bottom);
    const isStuck = position === "fixed" || (position === "sticky" && isAtEdge);
    return isStuck && box.width > innerWidth * 0.6 && box.height && node.checkVisibility();
  });
  const rows = new Set();
  for (const node of stuck) {
    const box = node.getBoundingClientRect();
    for (let y = Math.max(0, Math.round(box.top)); y < Math.min(innerHeight, box.bottom); y += 1) rows.add(y);
  }
  return rows.size;
}"""

# Of a question whose turn it is: which of what is judged can be seen from it, in its place, repeated or in the bar.
SEEN = """(name) => {
  const group = document.querySelector(`[name="${name}"]`).closest(".group"), item = group.closest(".item");
  const bar = document.querySelector(".bar"), isStuck = getComputedStyle(bar).position === "sticky";
  const edge = isStuck ? bar.getBoundingClientRect().bottom : 0, glance = document.querySelector(".glance");
  const inView = (node) => {
    const { top, bottom } = node.getBoundingClientRect();
    return Math.min(bottom, innerHeight) - Math.max(top, edge) >= Math.min(20, bottom - top);
  };
  const isGlance = glance && !glance.hidden && glance.getBoundingClientRect().bottom > 0;
  const part = group.closest(".ranked") ?? group, small = [...part.querySelectorAll("small, .help")];
  const again = small.filter(inView).map((one) => one.textContent);
  const repeated = [isGlance ? glance.textContent : "", ...again];
  const isTold = (node) => inView(node) || repeated.some((text) => text.includes(node.textContent.trim().slice(0, 40)));
  const pictures = [...item.querySelectorAll(":is(.look, .states, .block, .output) img")];
  const judged = name.endsWith("-answer") ? null : (group.closest(".output") ?? item);
  const texts = [...(judged?.querySelectorAll(".output > blockquote, :scope > blockquote") ?? [])];
  const asked = item.querySelector(".asked"), hasAsked = Boolean(asked?.textContent.trim());
  return {
    picture: pictures.every(inView) || Boolean(isGlance && glance.querySelector("img")),
    text: texts.every(isTold) && (!hasAsked || isTold(asked)),
  };
}"""


@dataclass
class Serving:
    """The addresses of one checkout's pages."""

    addresses: dict[str, Any]

    def frame(self, kind: str) -> str:
        """Return the address of a HIT's frame for somebody new."""
        n = next(NUMBERS)
        given = self.addresses[kind]
        address = given["frame"] if isinstance(given, dict) else given
        return f"{address}&assignmentId=3REPORT{n}&workerId=AREPORT{n}"

    def link(self) -> str:
        return str(self.addresses["links"].pop())


@dataclass
class Hands:
    """What a person did: fingers on glass, fingers that move the page, keys."""

    taps: int = 0
    flicks: int = 0
    keys: int = 0
    seconds: list[float] = field(default_factory=list)


@contextmanager
def served(checkout: Path) -> Iterator[Serving]:
    python = next(path for path in (checkout / ".venv/bin/python", Path(sys.executable)) if path.exists())
    quiet = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DJANGO_SETTINGS_MODULE", "PYTHONPATH"}
    }
    process = subprocess.Popen(
        [str(python), str(HERE / "serve.py")], cwd=checkout, env=quiet, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdin is not None
        line = process.stdout.readline()
        if not line:
            raise SystemExit("The pages could not be served.")
        yield Serving(json.loads(line))
    finally:
        process.stdin.close()
        process.wait(timeout=30)


@contextmanager
def tab(browser: Browser, size: tuple[int, int], *, touch: bool = False) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, has_touch=touch, is_mobile=touch, locale="en-GB"
    )
    context.set_default_timeout(8000)
    try:
        yield context.new_page()
    finally:
        context.close()


# -- Taps -------------------------------------------------------------------------------------------------------------


def tap(page: Page, target: Locator, hands: Hands) -> None:
    """Bring a control into view as a finger would, and tap it."""
    _bring(page, target, hands).tap()
    hands.taps += 1


def _bring(page: Page, target: Locator, hands: Hands) -> Locator:
    """Wait until the page has moved by itself, and move it where that did not bring the control into view."""
    label = target.locator("xpath=ancestor-or-self::*[self::label or self::button or self::summary][1]")
    page.wait_for_timeout(600)
    if not _is_in_view(label):
        hands.flicks += 1
        label.evaluate("node => node.scrollIntoView({block: 'center', behavior: 'instant'})")
        page.wait_for_timeout(100)
    return label


def _is_in_view(label: Locator) -> bool:
    return bool(
        label.evaluate(
            """node => {
                const box = node.getBoundingClientRect();
                const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
                return Boolean(at && (node.contains(at) || at.contains(node)));
            }"""
        )
    )


def taps(browser: Browser, url: str) -> Hands:
    """Do a HIT by finger: the instructions closed, every question that must be answered, submitted."""
    hands = Hands()
    with tab(browser, PHONE, touch=True) as page:
        page.goto(url)
        page.wait_for_selector("html.js")
        begin = page.locator("[data-begin]")
        if begin.is_visible():
            tap(page, begin, hands)
        while True:
            for name in page.evaluate(UNANSWERED):
                tap(page, page.locator(f'input[name="{name}"]').first, hands)
            if page.evaluate(UNANSWERED):
                continue
            following = page.locator("[data-go=next]")
            if not following.is_visible():
                break
            tap(page, following, hands)
        tap(page, page.locator("[data-go=submit]"), hands)
        page.wait_for_url("**/mturk/externalSubmit")
    return hands


# -- Keys -------------------------------------------------------------------------------------------------------------


def keys(browser: Browser, url: str) -> Hands:
    """Do a HIT by keyboard alone, and measure how long the page takes to be ready for the next key."""
    hands = Hands()
    with tab(browser, LAPTOP) as page:
        page.goto(url)
        page.wait_for_selector("html.js")
        begin = page.locator("[data-begin]")
        if begin.is_visible():
            begin.focus()
            press(page, "Enter", hands)
        for _ in range(400):
            if "externalSubmit" in page.url:
                break
            try:
                key, is_over = page.evaluate(KEY), not page.evaluate(UNANSWERED)
            except PlaywrightError:  # the page was submitted
                page.wait_for_url("**/mturk/externalSubmit")
                break
            press(page, key or "Enter", hands)
            if is_over:
                page.wait_for_timeout(150)
    return hands


def press(page: Page, key: str, hands: Hands) -> None:
    started = time.perf_counter()
    page.keyboard.press(key)
    with suppress(PlaywrightError):  # the page was submitted
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    hands.seconds.append(time.perf_counter() - started)
    hands.keys += 1


# -- Heights and bars -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Extent:
    """An item's px: mean and most in height, its highest step, where its first question and its way past begin, bars.

    A step is a question with what stands above it since the one before: a finger's answer brings the next to the top.
    """

    mean: float
    tallest: int
    step: int
    asked_at: int
    skip_at: int
    bars: int


def height(browser: Browser, url: str, size: tuple[int, int]) -> Extent:
    with tab(browser, size) as page:
        page.goto(url)
        page.evaluate("() => document.querySelector('#instructions')?.removeAttribute('open')")
        page.wait_for_timeout(400)
        heights, step, asked_at, skip_at = page.evaluate(
            """() => {
                const items = [...document.querySelectorAll(".item")], was = items.map((item) => item.hidden);
                items.forEach((item) => (item.hidden = false));
                const [first] = items, topOf = (node) => node.getBoundingClientRect().top;
                const from = (name) => Math.round(topOf(first.querySelector(name) ?? first) - topOf(first));
                const steps = items.flatMap((item) => {
                    const marks = [item, ...item.querySelectorAll(":not(.skip) > .group, .skip, .report")].map(topOf);
                    const tops = [...marks, topOf(item) + item.offsetHeight].sort((a, b) => a - b);
                    return tops.slice(1).map((top, n) => Math.round(top - tops[n]));
                });
                const heights = items.map((item) => item.offsetHeight);
                const found = [heights, Math.max(...steps), from(".group"), from(".skip")];
                items.forEach((item, n) => (item.hidden = was[n]));
                return found;
            }"""
        )
        worst = 0
        for share in (0.35, 0.6, 0.85):
            page.evaluate(
                """share => {
                    const most = document.documentElement.scrollHeight - innerHeight;
                    scrollTo({top: most * share, behavior: "instant"});
                }""",
                share,
            )
            page.wait_for_timeout(200)
            worst = max(worst, page.evaluate(BARS))
        return Extent(sum(heights) / len(heights), max(heights), step, asked_at, skip_at, worst)


# -- What is in view --------------------------------------------------------------------------------------------------


@dataclass
class Views:
    """Of an item's questions: how many there are, from how many one sees the pictures and the texts; moves by hand."""

    questions: int = 0
    picture: int = 0
    text: int = 0
    flicks: int = 0


def views(browser: Browser, url: str, size: tuple[int, int], *, keep: Path | None = None) -> Views:
    """Answer the first item by finger, and look from each question at what is judged before answering it."""
    hands, found = Hands(), Views()
    with tab(browser, size, touch=True) as page:
        page.goto(url)
        page.wait_for_selector("html.js")
        if (begin := page.locator("[data-begin]")).is_visible():
            begin.tap()
        item = page.locator(".item").first
        for name in [one for one in page.evaluate(UNANSWERED) if one.startswith(_prefix(item))]:
            choice = page.locator(f'input[name="{name}"]').first
            before = hands.flicks
            _bring(page, choice, hands)
            seen = page.evaluate(SEEN, name)
            found.questions += 1
            found.picture += seen["picture"]
            found.text += seen["text"]
            found.flicks += hands.flicks - before
            if keep:
                page.screenshot(path=keep.with_name(f"{keep.name}-{found.questions}.png"))
            tap(page, choice, hands)
    return found


def _prefix(item: Locator) -> str:
    return f"i{item.get_attribute('data-position')}-"


# -- Bytes and paint --------------------------------------------------------------------------------------------------


def paint(browser: Browser, url: str, *, slow: bool = True) -> tuple[float, dict[str, float]]:
    """Return when the first contents are seen, in seconds, and kB sent by kind of file, at a first visit."""
    with tab(browser, PHONE, touch=True) as page:
        devtools = page.context.new_cdp_session(page)
        devtools.send("Network.enable")
        kinds: dict[str, str] = {}
        sent: dict[str, float] = {}
        devtools.on(
            "Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]})
        )

        def arrived(event: dict[str, Any]) -> None:
            kind = kinds.get(event["requestId"], "Other")
            sent[kind] = sent.get(kind, 0) + event["encodedDataLength"] / 1000

        devtools.on("Network.loadingFinished", arrived)
        if slow:
            devtools.send("Network.emulateNetworkConditions", SLOW_3G)
            devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER_CPU})
        page.goto(url, wait_until="load", timeout=90_000)
        page.wait_for_timeout(300)
        seen = page.evaluate(
            "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
        )
        return seen / 1000, sent


def first_annotation(browser: Browser, home: str) -> str:
    """Return the address of somebody's first annotation, by their personal link."""
    with tab(browser, PHONE) as page:
        page.goto(home)
        page.locator("form.start button.main").click()
        page.wait_for_selector("#hit")
        return page.url


# -- The marketplace around it ----------------------------------------------------------------------------------------


def scrollers(browser: Browser, serving: Serving, size: tuple[int, int]) -> tuple[int, int]:
    """Return how many parts of a HIT's page at the marketplace scroll, and px that stay of the window's height."""
    worker = serving.addresses["worker"]
    with tab(browser, size) as page:
        page.goto(worker["sign_in"])
        page.fill("[name=worker_id]", worker["worker_id"])
        page.fill("[name=access_code]", worker["code"])
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: "sign-in" not in url)
        page.goto(serving.addresses["evil"]["offer"])
        page.locator("#accept button").click()
        page.wait_for_selector("iframe#task")
        task = page.wait_for_selector("iframe#task").content_frame()
        assert task
        task.wait_for_selector("#hit")
        task.evaluate("() => document.querySelector('#instructions')?.removeAttribute('open')")
        page.wait_for_timeout(700)
        found = sum(_scrolls(part) for part in (page.main_frame, task))
        task.evaluate("() => document.querySelector('.item:not([hidden]) .output')?.scrollIntoView()")
        page.wait_for_timeout(500)
        covered = page.evaluate(
            """() => {
                const box = document.getElementById("task").getBoundingClientRect();
                return Math.max(0, innerHeight - (Math.min(innerHeight, box.bottom) - Math.max(0, box.top)));
            }"""
        )
        bars = covered + task.evaluate(BARS)
        page.locator("#return button").evaluate("button => button.form.submit()")
        page.wait_for_timeout(300)
        return found, bars


def _scrolls(part: Page | Frame) -> bool:
    return bool(part.evaluate("() => document.scrollingElement.scrollHeight > innerHeight + 1"))


# -- The tables -------------------------------------------------------------------------------------------------------


def show_taps(browser: Browser, serving: Serving, **_: object) -> None:
    print(f"\n{'a whole HIT':16}{'taps':>8}{'flicks':>8}{'keys':>8}{'ms a key':>10}")
    for kind in TYPES:
        by_hand, by_key = taps(browser, serving.frame(kind)), keys(browser, serving.frame(kind))
        wait = 1000 * median(by_key.seconds)
        print(f"{kind:16}{by_hand.taps:>8}{by_hand.flicks:>8}{by_key.keys:>8}{wait:>10.0f}")


def show_views(
    browser: Browser, serving: Serving, *, studies: list[str], pictures: Path | None = None
) -> None:
    names = "window", "questions", "picture", "text", "flicks"
    print(f"\n{'in view from':16}" + "".join(f"{name:>11}" for name in names))
    for kind in studies:
        for name, size in SIZES.items():
            keep = pictures / f"{kind}-{size[0]}x{size[1]}" if pictures else None
            n = views(browser, serving.frame(kind), size, keep=keep)
            print(f"{kind:16}{name:>11}{n.questions:>11}{n.picture:>11}{n.text:>11}{n.flicks:>11}")


def show_heights(browser: Browser, serving: Serving, *, studies: list[str], **_: object) -> None:
    names = "window", "px", "tallest", "screens", "a step", "asked at", "skip at", "bars px", "bars %"
    print(f"\n{'an item':16}" + "".join(f"{name:>10}" for name in names))
    for kind in studies:
        for name, size in SIZES.items():
            px = height(browser, serving.frame(kind), size)
            print(
                f"{kind:16}{name:>10}{px.mean:>10.0f}{px.tallest:>10}{px.tallest / size[1]:>10.2f}"
                f"{px.step / size[1]:>10.2f}{px.asked_at:>10}{px.skip_at:>10}{px.bars:>10}"
                f"{100 * px.bars / size[1]:>10.0f}"
            )


def show_paint(browser: Browser, serving: Serving, **_: object) -> None:
    print(f"\n{'first visit':16}{'paint s':>9}{'HTML kB':>9}{'CSS':>7}{'scripts':>9}{'pictures':>10}")
    pages: dict[str, Callable[[], str]] = {
        "link, e-ViL": lambda: first_annotation(browser, serving.link()),
        **{kind: lambda kind=kind: serving.frame(kind) for kind in TYPES},
    }
    for name, address in pages.items():
        runs = [paint(browser, address()) for _ in range(PAINTS)]
        sent = runs[-1][1]
        print(
            f"{name:16}{median(seen for seen, _ in runs):>9.2f}{sent.get('Document', 0):>9.1f}"
            f"{sent.get('Stylesheet', 0):>7.1f}{sent.get('Script', 0):>9.1f}{sent.get('Image', 0):>10.1f}"
        )


def show_market(browser: Browser, serving: Serving, **_: object) -> None:
    print(f"\n{'in the market':16}{'scrollers':>10}{'bars px':>9}{'bars %':>8}")
    for name, size in SIZES.items():
        found, bars = scrollers(browser, serving, size)
        print(f"{name:16}{found:>10}{bars:>9.0f}{100 * bars / size[1]:>8.0f}")


TABLES = {
    "taps": show_taps,
    "views": show_views,
    "heights": show_heights,
    "paint": show_paint,
    "market": show_market,
}


def chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if not found:
        raise SystemExit("Set CHROMIUM to a browser's path.")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--checkout", type=Path, default=HERE.parent.parent, help="whose pages (default: these)"
    )
    parser.add_argument("--only", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--studies", nargs="+", default=[*TYPES, *OTHERS], help="of which (heights, views)")
    parser.add_argument("--pictures", type=Path, help="a folder for what the questions look like (views)")
    chosen = parser.parse_args()
    if chosen.pictures:
        chosen.pictures.mkdir(parents=True, exist_ok=True)
    with served(chosen.checkout.resolve()) as serving, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for name in chosen.only:
            studies = [one for one in chosen.studies if one in serving.addresses]
            TABLES[name](browser, serving, studies=studies, pictures=chosen.pictures)
        browser.close()


if __name__ == "__main__":
    main()
