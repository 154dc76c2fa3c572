"""Notes of an Obsidian vault: the name is the title, a daily note has a day, and tags stand in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simonides.retain.importing.formats import detect, named_file, read_file

if TYPE_CHECKING:
    from pathlib import Path


def note(folder: Path, name: str, text: str) -> Path:
    (folder / ".obsidian").mkdir(exist_ok=True)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def items(path: Path) -> list[dict[str, object]]:
    return [item.item for item in read_file(path, detect(path), named_file(path))]


def test_a_daily_note(samples: Path) -> None:
    path = samples / "vault" / "2026-04-02.md"
    assert detect(path) == "obsidian"
    first, second = items(path)
    assert first["event_time"] == second["event_time"] == "2026-04-02"
    assert first["context"] == "Also known as Second of April\n2026-04-02\n2 April 2026"
    assert (first["tags"], second["tags"]) == (["diary", "garden/figs"], ["diary"])
    assert first["text"] == "Ilse planted the fig in the [[North bed|north bed]]. #garden/figs"


@pytest.mark.parametrize(
    ("name", "head", "title", "day"),
    [
        ("Fig yard.md", "", "Fig yard", None),
        ("Fig yard.md", "title: Orchard\n", "Orchard", None),
        ("diary/2026-04-02.md", "date: 2026-05-01\n", "2026-04-02", "2026-05-01"),
        ("diary/2026-13-45.md", "", "2026-13-45", None),
    ],
)
def test_name_and_day(tmp_path: Path, name: str, head: str, title: str, day: str | None) -> None:
    (item,) = items(note(tmp_path, name, f"---\n{head}x: y\n---\nThe figs came."))
    assert str(item["context"]).startswith(title)
    assert item.get("event_time") == day


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#fig and (#pear) #2026 #y2026 a#b", ["fig", "y2026"]),
        ("# Heading\n\nNo tag.", None),
        ("`#code` stays code", None),
        ("#über/grün #a-b_c.", ["über/grün", "a-b_c"]),
    ],
)
def test_tags_in_the_text(tmp_path: Path, text: str, tags: list[str] | None) -> None:
    (item,) = items(note(tmp_path, "a.md", text))
    assert item.get("tags") == tags


def test_outside_of_a_vault_it_is_markdown(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("The figs came. #fig")
    assert detect(tmp_path / "a.md") == "markdown"
    (item,) = items(tmp_path / "a.md")
    assert "tags" not in item
    assert item["context"] == ""
