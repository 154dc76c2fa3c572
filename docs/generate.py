"""Write what can be read off the program and its results: reference pages, tables, and options in docstrings.

``--check`` only tells whether they are current. The numbers come from bench/results/, which ``make bench``
writes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from docstrings import MODULES, with_options
from reference_pages import cli_page, mcp_page, operations_page, replaced_names
from tables import concurrency, conformance, evidence, maintenance, quality, relevance, rights, scale
from tables.results import NotMeasuredError

if TYPE_CHECKING:
    from collections.abc import Callable

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "bench" / "results"

TABLES: dict[str, dict[str, Callable[[Path], str]]] = {
    "../README.md": {"measured": quality.headline},
    "guide/quality.md": {
        "measured": quality.measured,
        "compared": quality.compared,
        "ablation": quality.ablation,
        "variants": quality.variants,
        "peers": quality.peers,
    },
    "guide/evidence.md": {
        "complete": evidence.complete,
        "sessions": evidence.sessions,
    },
    "guide/conformance.md": {
        "profiles": conformance.profiles,
        "requirements": conformance.requirements,
    },
    "guide/maintenance.md": {
        "maintained": maintenance.maintained,
        "lasting": maintenance.lasting,
        "year": maintenance.year,
    },
    "guide/relevance.md": {
        "measured": relevance.relevance,
        "saved": relevance.saved,
        "among": relevance.among,
    },
    "guide/server.md": {"rights": rights.rights},
    "guide/scale.md": {
        "scale": scale.scale,
        "codes": scale.codes,
        "concurrency": concurrency.concurrency,
    },
    "guide/versions.md": {"replaced": lambda _results: replaced_names()},
}
"""Pages, and what stands between which marks in them."""


def main() -> int:
    """Write the pages, or with ``--check`` compare them; 1 means that one is out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 if a page is out of date"
    )
    check = parser.parse_args().check

    made = {"cli": cli_page, "mcp": mcp_page, "operations": operations_page}
    pages = {DOCS / "reference" / f"{name}.md": page() for name, page in made.items()}
    pages |= {DOCS / page: _with_tables(DOCS / page, tables) for page, tables in TABLES.items()}
    pages |= {module: with_options(module.read_text(encoding="utf-8")) for module in MODULES}
    stale = [page for page, text in pages.items() if not _says(page, text)]
    if not check:
        for page in stale:
            page.parent.mkdir(exist_ok=True)
            page.write_text(pages[page], encoding="utf-8")
        return 0
    for page in stale:
        print(f"{page.name} is out of date; run `make docs` and commit the result", file=sys.stderr)
    return 1 if stale else 0


def _says(page: Path, text: str) -> bool:
    return page.is_file() and page.read_text(encoding="utf-8") == text


def _with_tables(page: Path, tables: dict[str, Callable[[Path], str]]) -> str:
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        try:
            text = with_table(text, table(RESULTS), name)
        except NotMeasuredError:
            text = with_table(text, "Not measured.", name)
    return text


def with_table(page: str, table: str, name: str) -> str:
    """*page* with what stands between the two marks of that name replaced by *table*."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, rest = page.split(begin, 1)
    after = rest.split(end, 1)[1]
    return f"{before}{begin}\n{table}\n{end}{after}"


if __name__ == "__main__":
    sys.exit(main())
