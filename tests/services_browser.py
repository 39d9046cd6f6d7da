"""A real browser for the tests: the machine's Chromium, installed by apt if root runs them, or a loud failure."""

import os
import shutil
import subprocess
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLACES = (
    Path("/usr/bin/chromium"),
    Path("/snap/bin/chromium"),
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium() -> Path | None:
    """Return Chromium or Chrome: CHROMIUM if set, else on PATH, else in a usual place."""
    if given := os.environ.get("CHROMIUM"):
        return Path(given)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return Path(found) if found else next(filter(Path.exists, PLACES), None)


def chromium() -> Path:
    """Return a browser, installing Debian's Chromium if need be and possible; RuntimeError says what to do."""
    if browser := find_chromium():
        return browser
    if os.geteuid() == 0 and shutil.which("apt-get"):
        apt = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run([*apt, "update"], env=quiet, check=True)
        subprocess.run([*apt, "install", "-y", "--no-install-recommends", "chromium"], env=quiet, check=True)
    if browser := find_chromium():
        return browser
    raise RuntimeError(
        "The browser tests need Chromium: apt-get install chromium, or set CHROMIUM to its path."
    )
