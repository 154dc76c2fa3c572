"""A project is a repository with its worktrees, and has a bank of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from simonides.surfaces.agents.projects import bank_of, checkout_root, project_root


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=Ivo", "-c", "user.email=ivo@example.org", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "work" / "shop"
    (root / "src" / "deep").mkdir(parents=True)
    _git(root, "init", "-q")
    _git(root, "commit", "-q", "--allow-empty", "-m", "first")
    return root.resolve()


@pytest.mark.fault("N69")
def test_a_sub_folder_and_a_worktree_are_the_same_project(repository: Path, tmp_path: Path) -> None:
    _git(repository, "worktree", "add", "-q", str(tmp_path / "elsewhere" / "shop-fix"))
    worktree = tmp_path / "elsewhere" / "shop-fix"
    (worktree / "src").mkdir()
    link = tmp_path / "link"
    link.symlink_to(repository)
    folders = (repository, repository / "src" / "deep", worktree, worktree / "src", link, link / "src")
    assert {project_root(each) for each in folders} == {repository}
    # What a project's own files are for is the checkout at hand.
    assert checkout_root(worktree / "src") == worktree.resolve()


@pytest.mark.fault("N69")
def test_two_repositories_of_one_name_have_two_banks(tmp_path: Path) -> None:
    roots = [tmp_path / owner / "shop" for owner in ("ivo", "tove")]
    for root in roots:
        root.mkdir(parents=True)
        _git(root, "init", "-q")
    banks = [bank_of(project_root(root)) for root in roots]
    assert len(set(banks)) == 2
    assert all(bank.startswith("shop-") for bank in banks)
    assert bank_of(project_root(roots[0])) == banks[0]


def test_a_submodule_is_a_project_of_its_own(repository: Path) -> None:
    inner = repository / "vendored"
    inner.mkdir()
    (repository / ".git" / "modules" / "vendored").mkdir(parents=True)
    (inner / ".git").write_text("gitdir: ../.git/modules/vendored\n")
    assert project_root(inner) == inner


def test_outside_of_a_repository_a_folder_is_a_project(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    assert checkout_root(tmp_path / "notes") is None
    assert project_root(tmp_path / "notes") == (tmp_path / "notes").resolve()


@pytest.mark.parametrize("kind", [".hg", ".jj"])
def test_other_version_control_marks_a_root_too(tmp_path: Path, kind: str) -> None:
    (tmp_path / kind).mkdir()
    (tmp_path / "src").mkdir()
    assert project_root(tmp_path / "src") == tmp_path.resolve()


@pytest.mark.fault("N69")
@pytest.mark.parametrize(
    "content",
    [
        "gitdir: {shop}/.git/worktrees/borrowed\n",
        "gitdir: {shop}/.git\n",
        "gitdir: {shop}/.git/worktrees/absent\n",
        "gitdir: \n",
        "gitdir: a\nb\n",
        "nothing",
        "",
    ],
)
def test_a_file_that_claims_to_be_a_worktree_gets_no_other_projects_bank(
    repository: Path, tmp_path: Path, content: str
) -> None:
    _git(repository, "worktree", "add", "-q", str(tmp_path / "borrowed"))
    taken = tmp_path / "downloaded"
    taken.mkdir()
    (taken / ".git").write_text(content.format(shop=repository))
    assert project_root(taken) == taken.resolve()


def test_a_worktree_of_a_bare_repository_belongs_to_it(tmp_path: Path, repository: Path) -> None:
    bare = tmp_path / "shop.git"
    _git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    _git(bare, "worktree", "add", "-q", str(tmp_path / "one"))
    _git(bare, "worktree", "add", "-q", "-b", "second", str(tmp_path / "two"))
    assert {project_root(tmp_path / "one"), project_root(tmp_path / "two")} == {bare.resolve()}


@pytest.mark.parametrize(
    ("name", "begins"),
    [("Größe & Maß", "gr-e-ma-"), ("日本", "project-"), ("a" * 300, f"{'a' * 40}-"), ("", "project-")],
)
def test_every_folder_has_a_bank_name_that_a_store_takes(tmp_path: Path, name: str, begins: str) -> None:
    bank = bank_of(Path("/") / name)
    assert bank.startswith(begins)
    assert len(bank) <= 60
    assert bank.isascii()
