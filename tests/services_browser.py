"""A real browser for the tests: the machine's Chromium, installed by apt if root runs them, or a loud failure."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PLACES = (
    Path("/usr/bin/chromium"),
    Path("/snap/bin/chromium"),
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
)
# What Playwright turns off itself. Chromium heeds the last --disable-features alone, and that is ours:
# tests/browser/test_switches.py.
OFF_IN_PLAYWRIGHT = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
)
# Chromium 156 draws the suggestions of the address bar as hidden pages, and loads both for every window, headless too:
# half a second of a processor each time.
HIDDEN_PAGES = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup")
# With every page it starts a process for the next one; most windows here open none. A tenth of what a window costs.
NEXT_PAGE = "SpareRendererForSitePerProcess"
FLAGS = [
    f"--disable-features={','.join((*OFF_IN_PLAYWRIGHT, *HIDDEN_PAGES, NEXT_PAGE))}",
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


def driver_trouble() -> str:
    """Return why Playwright's driver, a Node in its wheel, does not run here; empty if it does."""
    node = Path(playwright.__file__).parent / "driver" / "node"
    return subprocess.run(
        [str(node), "--version"], capture_output=True, text=True, check=False
    ).stderr.strip()


def chromium() -> Path:
    """Return a browser that Playwright can drive, installed by apt if need be; RuntimeError says what is missing.

    One process at a time: apt refuses a second, and a browser that is still being unpacked looks like one.
    """
    with (Path(tempfile.gettempdir()) / f"assent-browser-{os.geteuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not find_chromium() or driver_trouble():
            install()
    if trouble := driver_trouble():
        raise RuntimeError(f"The browser tests need Playwright's driver to run: {trouble}")
    if browser := find_chromium():
        return browser
    raise RuntimeError(
        "The browser tests need Chromium: apt-get install chromium, or set CHROMIUM to its path."
    )


def install() -> None:
    """Install Debian's Chromium, and the library that Playwright's driver lacks on a bare Debian; root only."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    apt = ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0"]
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run([*apt, "update"], env=quiet, check=True)
    packages = ["chromium", "libatomic1"]
    subprocess.run([*apt, "install", "-y", "--no-install-recommends", *packages], env=quiet, check=True)
