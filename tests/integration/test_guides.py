"""The snippets of the start page and the task guides print what the pages say."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def need_packages(page: str) -> None:
    """Skip the test where a client or framework that the page shows is not installed."""
    for package in re.findall(
        r"^from (openai|anthropic|agents|langgraph|langchain_core)\b", page, re.MULTILINE
    ):
        pytest.importorskip(package)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_what_its_snippets_print(snippets: ModuleType, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    need_packages(text)
    done = snippets.printed(text)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == snippets.shown(text)
    assert snippets.shown(text)


@pytest.mark.model
@pytest.mark.usefixtures("user_cache")
def test_the_readme_shows_what_its_lines_print(snippets: ModuleType) -> None:
    test_a_page_shows_what_its_snippets_print(snippets, DOCS.parent / "README.md")


RUN = [
    page
    for page in (
        *sorted(DOCS.glob("guide/*.md")),
        *sorted(DOCS.glob("profiles/*.md")),
    )
    if "```python\n" in page.read_text(encoding="utf-8")
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Address and token of `simonides serve` with a bank that the pages name."""
    command = [sys.executable, "-c", "from simonides.surfaces.cli.main import main; main()"]
    store = str(tmp_path_factory.mktemp("served"))
    with subprocess.Popen(
        [*command, "serve", "--port", "0", "--store", store, "--bank", "assistant"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "SIMONIDES_EMBEDDER": "none", "PYTHONUNBUFFERED": "1"},
    ) as process:
        assert process.stdout
        address = re.match(r"http://\S+", process.stdout.readline())
        assert address
        yield address[0], process.stdout.readline().rpartition(" ")[2].strip()
        process.terminate()


def test_the_pages_that_are_run_are_all_there_are(snippets: ModuleType) -> None:
    with_python = {page for page in DOCS.rglob("*.md") if "```python\n" in page.read_text(encoding="utf-8")}
    assert with_python <= {*snippets.PAGES, *snippets.RUN}


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_the_program_of_a_page_runs(snippets: ModuleType, page: Path, request: pytest.FixtureRequest) -> None:
    text = page.read_text(encoding="utf-8")
    need_packages(text)
    if "store.embedder" in text:
        request.getfixturevalue("user_cache")
    if snippets.TOKEN in text:
        address, token = request.getfixturevalue("server")
        text = text.replace(snippets.ADDRESS, address).replace(snippets.TOKEN, token)
    done = snippets.printed(text)
    assert done.returncode == 0, done.stderr


def test_every_page_is_in_the_site() -> None:
    site = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]
    assert [page for page in pages if f" {page}\n" not in site] == []
