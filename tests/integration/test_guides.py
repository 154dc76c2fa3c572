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
    from collections.abc import Callable, Iterator
    from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"
TASKS = sorted((DOCS / "tasks").glob("*.md"))


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


@pytest.fixture
def run_here(
    snippets: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_http: None
) -> Callable[[str], None]:
    """Runs a page's program in this process, which has loaded the engine already."""

    def run(page: str) -> None:
        monkeypatch.chdir(tmp_path)
        exec(compile(snippets.program(page), "page", "exec"), {"__name__": "__main__"})

    return run


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize("page", TASKS, ids=lambda page: page.name)
def test_a_page_shows_what_its_snippets_print(
    snippets: ModuleType, page: Path, run_here: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    text = page.read_text(encoding="utf-8")
    need_packages(text)
    run_here(text)
    assert capsys.readouterr() == (snippets.shown(text), "")
    assert snippets.shown(text)


@pytest.mark.parametrize(
    "page",
    [DOCS / "start.md", pytest.param(DOCS.parent / "README.md", marks=pytest.mark.model)],
    ids=lambda page: page.name,
)
def test_the_first_pages_show_what_their_programs_print(
    snippets: ModuleType, page: Path, request: pytest.FixtureRequest
) -> None:
    if page.name == "README.md":
        request.getfixturevalue("user_cache")
    text = page.read_text(encoding="utf-8")
    done = snippets.printed(text)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == snippets.shown(text)
    assert snippets.shown(text)


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


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_the_program_of_a_page_runs(
    snippets: ModuleType, page: Path, request: pytest.FixtureRequest, run_here: Callable[[str], None]
) -> None:
    text = page.read_text(encoding="utf-8")
    need_packages(text)
    if "store.embedder" in text:
        request.getfixturevalue("user_cache")
    if snippets.TOKEN in text:
        address, token = request.getfixturevalue("server")
        text = text.replace(snippets.ADDRESS, address).replace(snippets.TOKEN, token)
    run_here(text)


def test_every_page_is_in_the_site() -> None:
    site = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    pages = [page.relative_to(DOCS).as_posix() for page in sorted(DOCS.rglob("*.md"))]
    assert [page for page in pages if f" {page}\n" not in site] == []
