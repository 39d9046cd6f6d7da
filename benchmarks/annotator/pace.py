"""How long does an e-ViL item take by keyboard, besides reading? Fifteen in a row, three HITs, by link.

Run `python benchmarks/annotator/pace.py [--checkout DIR] [--items N] [--slow]`. What a person does is timed by the
keystroke-level model (Card, Moran and Newell 1980, https://doi.org/10.1145/358886.358895): a key of an average typist
takes 0.28 s, making up one's mind to act 1.35 s, once for each question; moving the eyes is part of it. Reading is
left out. What the page does is measured: from each key until it can take the next, and from Submit until the next
item can take one. Keys are drawn, so that no page is quick for one answer alone: one in ten is a slip that is put
right. The page is that of `report.py`; `--slow` adds 400 ms and 400 kbit/s, and lets all of the
person's time pass, as what is fetched ahead needs some. It fails where the median item takes more than 20 s.
"""

import argparse
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright
from report import LAPTOP, SLOW_3G, chromium, served, tab

KEY_S, MIND_S = 0.28, 1.35
SLIPS = 0.1
MOST_S = 20.0
STEPS = 400  # of a HIT, before something is wrong
# The question whose turn it is: its name, whether it is answered or ticked in part, and the keys of its choices.
TURN = """() => {
  const group = document.querySelector(".item:not([hidden]) .group.active");
  if (!group || !document.querySelector("#hit:not([inert])")) return null;
  const inputs = [...group.querySelectorAll("input")], isNumeral = group.classList.contains("numeral");
  return {
    name: inputs[0].name, isTicks: inputs[0].type === "checkbox",
    isAnswered: inputs.some((input) => input.checked),
    keys: inputs.map((input, n) => (isNumeral ? input.value : String(n + 1))),
  };
}"""
READY = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


@dataclass
class Item:
    """One item: keys pressed, decisions made, and seconds the page took for each."""

    keys: int = 0
    decisions: int = 0
    waits: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        return self.keys * KEY_S + self.decisions * MIND_S + sum(self.waits)


def press(page: Page, key: str, item: Item, *, pause: float = 0) -> None:
    page.wait_for_timeout(1000 * pause)
    started = time.perf_counter()
    page.keyboard.press(key)
    page.evaluate(READY)
    item.waits.append(time.perf_counter() - started)
    item.keys += 1


def answer(page: Page, keys: list[str], item: Item, drawn: random.Random, *, pause: float) -> None:
    """Make up one's mind, press a key, and put a slip right: that takes another thought."""
    chosen = drawn.choice(keys)
    item.decisions += 1
    if len(keys) > 1 and drawn.random() < SLIPS:
        press(page, drawn.choice([key for key in keys if key != chosen]), item, pause=pause)
        item.decisions += 1
    press(page, chosen, item, pause=pause)


def judge(page: Page, drawn: random.Random, *, is_live: bool) -> list[Item]:
    """Do one HIT by keyboard, item by item. The wait for what comes after it belongs to its last item."""
    items: dict[str, Item] = {}
    last, before = Item(), page.url
    for _ in range(STEPS):
        turn = page.evaluate(TURN)
        if turn:
            last = items.setdefault(turn["name"].partition("-")[0], Item())
        if turn and not turn["isAnswered"]:
            answer(page, turn["keys"], last, drawn, pause=(KEY_S + MIND_S) * is_live)
        elif not turn:
            last.decisions += 1  # an optional question is passed over: that is a decision, too
        press(page, "Enter", last, pause=KEY_S * is_live)
        if page.locator("#hit[inert]").count() or page.url != before:
            break
    started = time.perf_counter()
    page.wait_for_url(lambda url: url != before, wait_until="commit")
    page.wait_for_selector("html.js #hit, main.card h1")
    last.waits.append(time.perf_counter() - started)
    return list(items.values())


def through(page: Page, *, n_items: int, drawn: random.Random, is_live: bool) -> list[Item]:
    """Go on from HIT to HIT until enough items are done, or nothing is left."""
    items: list[Item] = []
    while len(items) < n_items and page.locator("#hit").count():
        page.wait_for_selector("html.js #hit")
        items += judge(page, drawn, is_live=is_live)
    return items[:n_items]


def measured(browser: Browser, home: str, *, n_items: int, is_slow: bool) -> list[Item]:
    with tab(browser, LAPTOP) as page:
        if is_slow:
            devtools = page.context.new_cdp_session(page)
            devtools.send("Network.enable")
            devtools.send("Network.emulateNetworkConditions", SLOW_3G)
        page.set_default_timeout(60_000)
        page.goto(home)
        page.locator("form.start button.main").click()
        page.wait_for_selector("html.js #hit")
        close = page.locator("[data-begin]")
        close.click() if close.is_visible() else None
        return through(page, n_items=n_items, drawn=random.Random(7), is_live=is_slow)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--checkout", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--items", type=int, default=15)
    parser.add_argument("--slow", action="store_true", help="over slow 3G")
    chosen = parser.parse_args()
    with served(chosen.checkout.resolve()) as serving, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        items = measured(browser, serving.link(), n_items=chosen.items, is_slow=chosen.slow)
        browser.close()
    print(f"{'item':>5}{'keys':>6}{'decisions':>11}{'waits s':>9}{'in all s':>10}")
    for n, item in enumerate(items, 1):
        print(f"{n:>5}{item.keys:>6}{item.decisions:>11}{sum(item.waits):>9.2f}{item.seconds:>10.1f}")
    middle = median(item.seconds for item in items)
    print(f"median {middle:.1f} s an item besides reading (at most {MOST_S:.0f})")
    sys.exit(middle > MOST_S)


if __name__ == "__main__":
    main()
