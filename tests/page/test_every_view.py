"""What holds for every view: accessible, dark and light, wide and narrow; hostile memories stay text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

import simonides
from simonides.surfaces.page.exporting import write_page

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.page.conftest import Opener, Served

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[2] / "scripts/page/node_modules/axe-core/axe.min.js"
NARROW_WIDTH = 360
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def places(served: Served) -> dict[str, str]:
    """Every view, with something in it."""
    [hit] = served.call("recall", query="Where does Mara live?")["hits"][:1]
    [entity] = served.call("entities", limit=1)["entities"]
    return {
        "ask": "ask?q=Where+does+Mara+live%3F&hit=" + hit["id"],
        "ask, wide": "ask?q=heron&precision=wide",
        "ask, nothing": "ask?q=opera",
        "memories": "memories",
        "memories, searched": "memories?q=Mara",
        "memory": f"memory?id={hit['id']}",
        "live": "live",
        "inbox": "inbox",
        "time": "time",
        "names": "names",
        "names, one": f"names?entity={entity['number']}",
        "health": "health",
    }


def settle(page: Page) -> None:
    """Wait until nothing is loading."""
    page.wait_for_timeout(300)
    expect(page.locator(".busy")).to_have_count(0)
    page.wait_for_timeout(100)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_view_hinders_anybody(served: Served, open_page: Opener, dark: bool) -> None:
    """Zero violations of axe-core on every view; no view is wider than a narrow screen."""
    page = open_page(served, dark=dark)
    found: dict[str, Any] = {}
    for name, place in places(served).items():
        page.goto(served.at(place))
        settle(page)
        page.evaluate(AXE.read_text("utf-8"))
        told = page.evaluate(f"axe.run({{runOnly: {json.dumps(RULES)}}})")
        if told["violations"]:
            found[name] = [
                (each["id"], [node["html"][:160] for node in each["nodes"][:3]])
                for each in told["violations"]
            ]
    page.set_viewport_size({"width": NARROW_WIDTH, "height": 780})
    for name, place in places(served).items():
        page.goto(served.at(place))
        settle(page)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > NARROW_WIDTH:
            found[f"{name}, narrow"] = f"{width} pixels wide"
    assert found == {}


MARKUP = [
    "<script>globalThis.ran = {n}</script>",
    "<img src=x onerror='globalThis.ran = {n}'>",
    "<svg onload='globalThis.ran = {n}'><animate onbegin='globalThis.ran = {n}'/></svg>",
    "<a href='javascript:globalThis.ran={n}'>click</a> [click](javascript:globalThis.ran={n})",
    "<iframe src='https://evil.example/{n}'></iframe><link rel=stylesheet href=//evil.example/{n}.css>",
    "![x](https://evil.example/{n}.png) <img src=https://evil.example/{n}.png>",
    "<style>body{{display:none}}</style><meta http-equiv=refresh content='0;url=https://evil.example/{n}'>",
    "${{globalThis.ran = {n}}} {{{{constructor.constructor('globalThis.ran={n}')()}}}}",
    "\u202egnirts desrever {n}\u202c and \u2066isolated\u2069 \u200bzero\u200dwidth\ufeff",
    "\x1b[31mred {n}\x1b]0;title\x07\x1b[2J \x08\x7f",
    "'\"><svg/onload=globalThis.ran={n}>",
    "</textarea><script>globalThis.ran={n}</script>",
    "<math><mi xlink:href='data:x,<script>globalThis.ran={n}</script>'>",
    "data:text/html,<script>globalThis.ran={n}</script>",
    "\U000e0041\U000e0042 invisible tags {n}",
    "A very long line {n} " + "wide" * 4_000,
]


def test_two_hundred_hostile_memories_stay_text(empty: Served, open_page: Opener) -> None:
    """In texts, tags, projects, speakers and names: no script runs, no request leaves the host."""
    items: list[dict[str, Any]] = [
        {
            "text": f"Evil note {n} says: {MARKUP[n % len(MARKUP)].format(n=n)}",
            "tags": [f"<b onclick=globalThis.ran={n}>{n % 7}"],
            "project": f"<img src=x onerror=globalThis.ran={n % 5}>",
            "context": f"<script>globalThis.ran={n}</script>",
            "deduplicate": False,
        }
        for n in range(200)
    ]
    items[7]["text"] = "One line of a mebibyte: " + "x" * (1024 * 1024 - 100)
    for start in range(0, 200, 50):
        empty.call("retain", items=items[start : start + 50])
    names = empty.call("entities", limit=1)["entities"]
    page = open_page(empty)
    memories = empty.memories()
    assert len(memories) == 200
    visited = [
        "ask?q=evil+note&precision=wide&limit=100",
        *(f"ask?q=evil+note+{n}" for n in range(0, 200, 40)),
        "memories",
        "memories?q=evil",
        *(f"memory?id={each['id']}" for each in memories[::7]),
        "live",
        "inbox",
        "time?q=evil",
        "names",
        *(f"names?entity={each['number']}" for each in names),
        "health",
    ]
    for place in visited:
        page.goto(empty.at(place))
        settle(page)
        assert page.evaluate("globalThis.ran") is None, place
        assert page.locator("main script, main iframe, main img, main style, main link").count() == 0, place
        assert page.get_by_role("navigation", name="Views").is_visible(), place
    [turned] = [each for each in memories if "gnirts" in each["text"]][:1]
    page.goto(empty.at(f"memory?id={turned['id']}"))
    settle(page)
    assert "U+202E" in page.locator(".statement").inner_text()
    assert "\u202e" not in page.locator("main").inner_text()


def test_the_exported_page_opens_from_disk(served: Served, open_page: Opener, tmp_path: Path) -> None:
    with simonides.open(served.store) as store:
        write_page(store.bank(served.bank), tmp_path / "bank.html")
    opened = open_page(served).context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda told: errors.append(told.text) if told.type == "error" else None)
    opened.goto((tmp_path / "bank.html").as_uri() + f"#/{served.bank}/ask?q=heron+port")
    opened.locator(".line").first.wait_for()
    assert "9090" in opened.locator(".hits").inner_text()
    assert opened.get_by_text("read-only").is_visible()
    opened.goto((tmp_path / "bank.html").as_uri() + f"#/{served.bank}/memories")
    opened.get_by_text("rye bread").wait_for()
    assert errors == []
