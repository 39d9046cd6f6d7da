"""Survey types nobody here has, on a phone: what is judged fits, and words in another language stay whole."""

from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_playwright.pytest_playwright import CreateContextCallback

from tests.accessible import faults
from tests.market_site import eager
from tests.people import client_of
from tests.services_site import Site
from tests.surveys.protocols.test_strangers import STRANGERS, imported, invited, launched, uploaded

__all__ = ["eager"]


def video(page: Page) -> bytes:
    """Return some tenths of a second that this browser has recorded, and so can play."""
    recorded: str = page.evaluate(
        """async () => {
          const canvas = document.createElement("canvas"), drawing = canvas.getContext("2d"), parts = [];
          const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: "video/webm" });
          recorder.ondataavailable = ({ data }) => parts.push(data);
          const stopped = new Promise((resolve) => { recorder.onstop = resolve; });
          recorder.start();
          for (let n = 0; n < 8; n += 1) {
            drawing.fillRect(n * 10, n * 10, 40, 40);
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
          recorder.stop();
          await stopped;
          const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
          return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
        }"""
    )
    return b64decode(recorded)


@pytest.mark.parametrize(("name", "judged"), [("mos", "audio"), ("video", "video"), ("dialogue", "ol li")])
def test_on_a_phone_in_russian(
    name: str,
    judged: str,
    site: Site,
    new_context: CreateContextCallback,
    eager: None,
    settings: Any,
    tmp_path: Path,
) -> None:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    client = client_of("Researcher")
    phone = {"width": 390, "height": 844}
    page = new_context(base_url=site.app_url, viewport=phone, locale="ru-RU").new_page()
    stranger = STRANGERS[name]
    if judged == "video":
        stranger = replace(stranger, files=dict.fromkeys(stranger.files, video(page)))
    survey = imported(client, stranger, key=uploaded(client, name))
    page.goto(invited(client, launched(client, survey))[0])
    page.locator("main button").first.click()
    expect(page.locator(f".item {judged}").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    labels = [box.bounding_box() for box in page.locator(".choices label:visible > span > span").all()]
    assert [box["height"] for box in labels if box and box["height"] > 30] == []
    assert len(labels) >= 3
    assert faults(page) == []
    page.wait_for_load_state("networkidle")
    page.close()
