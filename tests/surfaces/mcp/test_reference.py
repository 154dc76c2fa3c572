from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_the_reference_is_what_the_tools_say() -> None:
    page = runpy.run_path(str(DOCS / "reference_pages.py"))["mcp_page"]()
    assert (DOCS / "reference" / "mcp.md").read_text(encoding="utf-8") == page
