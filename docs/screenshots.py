"""Write the pictures of the page that the guide shows: wide, narrow and dark.

    PYTHONPATH=. python docs/screenshots.py        (`make screenshots`)

From the journal of `simonides demo`, with the clock of the browser at a fixed time.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Literal

from playwright.sync_api import ViewportSize, sync_playwright

GUIDE = Path(__file__).parent / "guide"
QUESTION = "demo/ask?q=Who+is+on+the+paramedic+course%3F"
WIDE, NARROW = ViewportSize(width=1280, height=900), ViewportSize(width=360, height=780)
PICTURES: dict[str, tuple[str, ViewportSize, Literal["light", "dark"], str]] = {
    "page-ask.png": (QUESTION, WIDE, "light", ".line"),
    "page-narrow.png": (QUESTION, NARROW, "dark", ""),
    "page-memories.png": ("demo/memories", WIDE, "light", ""),
    "page-time.png": ("demo/time", WIDE, "dark", ""),
    "page-names.png": ("demo/names", WIDE, "light", "main a[href*=entity]"),
}
"""Address, size, colours, and what is chosen then."""


def main() -> None:
    """Make each picture."""
    command = [sys.executable, "-m", "simonides", "ui", "--demo", "--no-browser"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603
    assert running.stdout
    try:
        link = re.match(r"(http://[^/]+)\S+", running.stdout.readline())
        assert link
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            first = browser.new_context()
            first.new_page().goto(link[0])
            first.pages[0].get_by_role("navigation", name="Views").wait_for()
            for name, (place, size, colours, choose) in PICTURES.items():
                context = browser.new_context(
                    viewport=size,
                    color_scheme=colours,
                    locale="en-GB",
                    timezone_id="UTC",
                    reduced_motion="reduce",
                    storage_state=first.storage_state(),
                )
                page = context.new_page()
                page.goto(f"{link[1]}/ui#/{place}")
                page.wait_for_timeout(2_000)
                if choose:
                    page.locator(choose).first.click()
                    page.wait_for_timeout(1_000)
                page.screenshot(path=GUIDE / name)
                print(GUIDE / name)
                context.close()
            browser.close()
    finally:
        running.terminate()
        running.wait(30)


if __name__ == "__main__":
    main()
