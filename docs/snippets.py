"""Run the Python snippets of pages, one page after another in folders of their own.

A page's ``python`` blocks are one program. Of ``PAGES`` what a block prints is what the ``text`` block below
it shows; of ``RUN`` it is enough that the program runs, since what it prints depends on what is in your bank.
A page that speaks to a server (``ADDRESS``, ``TOKEN``) is given a real one by who runs it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import simonides

DOCS = Path(__file__).parent
PAGES = (DOCS.parent / "README.md", DOCS / "start.md", *sorted((DOCS / "tasks").glob("*.md")))

RUN = (
    *sorted((DOCS / "guide").glob("*.md")),
    *sorted((DOCS / "profiles").glob("*.md")),
    DOCS / "reference" / "file-format.md",
)
ADDRESS, TOKEN = "http://127.0.0.1:8765", "smn_…"

_BLOCK = re.compile(r"^```(console|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    """Each block's language and text, in order."""
    return _BLOCK.findall(page)


def program(page: str) -> str:
    """The page's ``python`` blocks, one after another."""
    return "\n".join(text for language, text in blocks(page) if language == "python")


def printed(page: str) -> subprocess.CompletedProcess[str]:
    """What the page's program prints when it runs in an empty folder."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(simonides.__file__).parents[1]),
        "PYTHONUTF8": "1",
        # Pages that start a server of their own ask it directly.
        "NO_PROXY": "127.0.0.1",
        "SIMONIDES_OFFLINE": "1",
    }
    with TemporaryDirectory(prefix="simonides-docs-") as folder:
        return subprocess.run(  # noqa: S603 -- the program is that of our own page
            [sys.executable, "-W", "error", "-c", program(page)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


def shown(page: str) -> str:
    """What the page says that is printed."""
    return "".join(text for language, text in blocks(page) if language == "text")
