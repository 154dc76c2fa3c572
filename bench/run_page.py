"""How fast the page is: with a million memories, and for somebody who sees it for the first time.

    PYTHONPATH=. python -m bench.run_page --n 1000000 --date 2026-01-31

Opens a bank of that many invented memories (made once, below --keep) in Chromium: time until the first rows
stand there, the longest task of the browser while a person scrolls (from its own trace), and what *Ask*
adds to the recall. Then the first user's way on the demo's journal: find, see why, correct, see the changed
answer. Also the weight of the page. Writes bench/results/page.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from bench.command import ROOT, describe_run
from bench.scale_data import TextMaker
from playwright.sync_api import sync_playwright

import simonides
from simonides.models.cache import models_folder
from simonides.surfaces.page.routes import static_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

SEED = 7
_SCROLLS = 120
_LONG_TASKS = """
    globalThis.longest = 0;
    new PerformanceObserver((list) => {
      for (const each of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, each.duration);
    }).observe({type: "longtask", buffered: true});
"""


def main() -> int:
    """Measure; print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=1_000_000, help="memories")
    parser.add_argument("--date", required=True, help="today as YYYY-MM-DD")
    parser.add_argument("--keep", type=Path, default=models_folder().parent / "page", help="for the bank")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results", help="where to write")
    given = parser.parse_args()
    store = given.keep / str(given.n)
    if not (store / "bank-default").exists():
        fill(store, given.n)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        result: dict[str, Any] = {"memories": given.n, "page_gzip_bytes": weight()}
        with Opened(browser, ["--store", str(store)]) as page:
            result |= large(page)
        with Opened(browser, ["--demo"]) as page:
            result |= first_user(page)
        browser.close()
    report = {
        "run": describe_run(["python", "-m", "bench.run_page", f"--n {given.n}"], given.date),
        "result": result,
    }
    given.results.mkdir(parents=True, exist_ok=True)
    (given.results / "page.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    for name, value in result.items():
        print(f"{name.replace('_', ' ')}  {value}")
    return 0


def weight() -> int:
    """Bytes of every file of the page, compressed."""
    return sum(len(gzip.compress(body)) for body in static_files().values())


def fill(store: Path, n: int) -> None:
    """Store invented memories, each with a vector drawn at random: a question finds them by words."""
    maker, drawn = TextMaker(n, SEED), np.random.default_rng(SEED)

    def items() -> Iterator[dict[str, Any]]:
        for number in range(maker.blocks):
            yield from maker.block(number).items

    with simonides.open(store) as opened:
        assert opened.embedder is not None
        vectors = drawn.standard_normal((n, opened.embedder.dimension), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        opened.bank("default").load(
            items(), vectors, progress=lambda count: print(f"{count:,} of {n:,} stored", file=sys.stderr)
        )


class Opened:
    """`simonides ui` as a process, and its page."""

    def __init__(self, browser: Browser, arguments: list[str]) -> None:
        command = [sys.executable, "-m", "simonides", "ui", "--no-browser", *arguments]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._context = browser.new_context(viewport={"width": 1280, "height": 900})
        self._context.set_default_timeout(120_000)

    def __enter__(self) -> Page:
        assert self._process.stdout
        link = re.match(r"\S+", self._process.stdout.readline())
        assert link
        page = self._context.new_page()
        page.add_init_script(_LONG_TASKS)
        page.goto(link[0])
        page.get_by_role("navigation", name="Views").wait_for()
        return page

    def __exit__(self, *_: object) -> None:
        self._context.close()
        self._process.terminate()
        self._process.wait(60)


def large(page: Page) -> dict[str, Any]:
    """First rows, scrolling and asking in a large bank."""
    page.get_by_role("link", name="Memories", exact=True).click()
    page.locator(".virtual [role=listitem]").first.wait_for()
    page.get_by_role("link", name="Ask", exact=True).click()
    began = time.perf_counter()
    page.get_by_role("link", name="Memories", exact=True).click()
    page.locator(".virtual [role=listitem]").first.wait_for()
    first_rows = time.perf_counter() - began
    page.wait_for_timeout(1_000)
    page.evaluate("globalThis.longest = 0")
    box = page.locator(".virtual").bounding_box()
    assert box
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    for _ in range(_SCROLLS):
        page.mouse.wheel(0, 1_500)
        page.wait_for_timeout(40)
    page.wait_for_timeout(500)
    longest = page.evaluate("globalThis.longest")
    page.get_by_role("link", name="Ask", exact=True).click()
    beyond = []
    for number in range(7):
        page.get_by_role("searchbox", name="Question").fill(f"the report of week {number}")
        with page.expect_response(lambda answer: answer.url.endswith("/recall")) as coming:
            began = time.perf_counter()
            page.keyboard.press("Enter")
        page.locator(".band").wait_for()
        took = 1_000 * (time.perf_counter() - began)
        beyond.append(took - coming.value.json()["trace"]["milliseconds"])
        page.wait_for_timeout(300)
    return {
        "first_rows_seconds": round(first_rows, 3),
        "longest_task_while_scrolling_ms": longest,
        "ask_beyond_recall_ms": round(median(beyond[1:]), 1),
    }


def first_user(page: Page) -> dict[str, Any]:
    """Find, see why, correct, see the changed answer; seconds since the page stood there."""
    began = time.perf_counter()
    page.get_by_role("searchbox", name="Question").fill("Who is on the paramedic course?")
    page.keyboard.press("Enter")
    page.locator(".line").first.click()
    page.get_by_text("Why it came").wait_for()
    page.get_by_role("button", name="Correct").click()
    page.get_by_label("Text of the memory").fill(
        "Bramwell Oxtabree passed the last exam of his paramedic course."
    )
    page.get_by_role("button", name="Save").click()
    page.locator(".line", has_text="last exam").wait_for()
    return {"first_user_seconds": round(time.perf_counter() - began, 2)}


if __name__ == "__main__":
    sys.exit(main())
