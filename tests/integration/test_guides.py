"""The snippets of the start page and the task guides print what the pages say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "start.md", *sorted((DOCS / "tasks").glob("*.md"))]


@pytest.fixture(scope="module")
def snippets() -> ModuleType:
    spec = importlib.util.spec_from_file_location("snippets", DOCS / "snippets.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_its_snippets_print(snippets: ModuleType, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    done = snippets.printed(text)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == snippets.shown(text)
    assert snippets.shown(text)


def test_every_page_is_in_the_site() -> None:
    site = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]
    assert [page for page in pages if f" {page}\n" not in site] == []
