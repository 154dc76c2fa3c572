"""How arguments of `retain` become items."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError
from simonides.surfaces.cli.sources import Piece, read_pieces

if TYPE_CHECKING:
    from pathlib import Path


def texts(*arguments: object) -> list[str]:
    return [piece.item["text"] for piece in read_pieces([str(argument) for argument in arguments])]


def pipe(monkeypatch: pytest.MonkeyPatch, raw: bytes, *, terminal: bool = False) -> None:
    stream = io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8")
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr("sys.stdin", stream)


def test_a_plain_argument_is_the_text_itself() -> None:
    assert list(read_pieces(["Mira bakes bread", "x" * 5000])) == [
        Piece({"text": "Mira bakes bread"}, "argument 1"),
        Piece({"text": "x" * 5000}, "argument 2"),
    ]


def test_a_sentence_may_end_with_a_file_name() -> None:
    assert texts("Mira keeps her plans in plans.md") == ["Mira keeps her plans in plans.md"]


@pytest.mark.parametrize("argument", ["plans.md", "sub/plans.TXT", "./my plans.md", "/no/such/log.jsonl"])
def test_a_path_to_nothing_is_not_taken_for_a_text(argument: str) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_pieces([argument])


def test_a_file_of_another_sort_is_refused(tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    with pytest.raises(InputError, match=r"\*\.png are not read"):
        read_pieces([str(tmp_path / "photo.png")])


def test_lines_of_a_jsonl_file_are_items(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"text": "one", "kind": "code"}\n\n  {"text": "two"}', encoding="utf-8")
    assert list(read_pieces([str(path)])) == [
        Piece({"text": "one", "kind": "code"}, f"{path}:1"),
        Piece({"text": "two"}, f"{path}:3"),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"text": ', "not valid JSON"),
        (b'["text"]', "got list"),
        (b'"text"', "got str"),
        (b'{"text": "a", "salience": NaN}', "NaN is no JSON number"),
        (b'{"text": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "not valid JSON"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: bytes, problem: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"text": "one"}\n' + line + b'\n{"text": "three"}\n')
    pieces = read_pieces([str(path)])
    assert next(pieces).item == {"text": "one"}
    with pytest.raises(InputError, match=problem) as caught:
        next(pieces)
    assert caught.value.field == f"{path}:2"


def test_malformed_lines_and_files_can_be_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('nonsense\n{"text": "one"}\n', encoding="utf-8")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe")
    skipped: list[InputError] = []
    pieces = read_pieces([str(tmp_path / "a.jsonl"), str(tmp_path / "b.txt")], skipped=skipped.append)
    assert [piece.item["text"] for piece in pieces] == ["one"]
    assert [error.field for error in skipped] == [f"{tmp_path / 'a.jsonl'}:1", f"{tmp_path / 'b.txt'}:1"]


def test_a_folder_gives_its_notes_in_order_and_nothing_hidden(tmp_path: Path) -> None:
    for place in ("b.md", "a.txt", "sub/c.md", ".git/d.md", "sub/.e.md", "f.py", "g.jsonl"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(f"text of {place}", encoding="utf-8")
    pieces = list(read_pieces([str(tmp_path)]))
    assert [(piece.item["path"], piece.item["source"]) for piece in pieces] == [
        ("a.txt", "a.txt"),
        ("b.md", "b.md"),
        ("sub/c.md", "c.md"),
    ]
    assert [piece.item["text"] for piece in pieces] == ["text of a.txt", "text of b.md", "text of sub/c.md"]


def test_a_long_note_is_split_and_nothing_is_lost(tmp_path: Path) -> None:
    paragraphs = [f"Paragraph {n} tells of day {n}. " + "Rain fell. " * 40 for n in range(30)]
    (tmp_path / "diary.md").write_text("\n\n".join(paragraphs), encoding="utf-8")
    found = texts(tmp_path / "diary.md")
    assert len(found) > 1
    for n in range(30):
        assert any(f"Paragraph {n} tells" in text for text in found)


def test_a_folder_without_notes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no \.md or \.txt"):
        read_pieces([str(tmp_path)])


@pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege there")
@pytest.mark.parametrize("target", ["secret.md", "."])
def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path, target: str) -> None:
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.md").write_text("secret", encoding="utf-8")
    (inside / "a.md").write_text("open", encoding="utf-8")
    (inside / "link.md").symlink_to(outside / target)
    with pytest.raises(InputError, match="leads out of") as caught:
        read_pieces([str(inside)])
    assert caught.value.field == str(inside / "link.md")


@pytest.mark.skipif(os.name == "nt", reason="making links needs a privilege there")
def test_a_link_within_the_folder_is_not_read_twice(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("once", encoding="utf-8")
    (tmp_path / "again.md").symlink_to(tmp_path / "sub" / "a.md")
    (tmp_path / "round").symlink_to(tmp_path)
    assert texts(tmp_path) == ["once"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(InputError, match="not a regular file"):
        texts(tmp_path / "pipe.txt")


def test_standard_input_is_one_text(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"first line\nsecond line\n")
    assert texts("-") == ["first line\nsecond line\n"]


def test_standard_input_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"first\r\n\n  \nsecond")
    assert list(read_pieces([], by_line=True)) == [
        Piece({"text": "first"}, "standard input:1"),
        Piece({"text": "second"}, "standard input:4"),
    ]


def test_no_argument_on_a_terminal_asks_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"", terminal=True)
    with pytest.raises(InputError, match="nothing to retain"):
        read_pieces([])


def test_standard_input_must_be_utf_8(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe(monkeypatch, b"caf\xe9")
    with pytest.raises(InputError, match="byte 3"):
        texts("-")
