"""JSON lines: items as they stand."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError
from simonides.retain.importing.sources import NamedFile, read_jsonl

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.retain.importing.conftest import Read


def test_items(read: Read, samples: Path) -> None:
    found = read("jsonl", samples / "items.jsonl")
    assert found.items[0].item == {
        "text": "Odalys chose the red kayak.",
        "kind": "decision",
        "event_time": "2026-03-10",
        "tags": ["boats"],
    }
    assert [item.line for item in found.items] == [1, 2]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"text": "a"', "is not JSON"),
        (b'"text"', "expected an object, got a text"),
        (b'{"kind": "code"}', "text: is missing"),
        (b'{"text": "caf\xe9"}', "not UTF-8"),
        (b'{"text": "a", "salience": Infinity}', "Infinity"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_malformed_line_is_named_and_the_rest_is_read(read: Read, line: bytes, problem: str) -> None:
    found = read("jsonl", b'\xef\xbb\xbf{"text": "one"}\r\n\r\n' + line + b'\n{"text": "two"}')
    assert found.texts == ["one", "two"]
    (said,) = found.problems
    assert said.startswith("x:3: ")
    assert problem in said


def test_a_stream_stops_at_the_first_fault_unless_told_otherwise() -> None:
    rows = read_jsonl(io.StringIO('{"text": "one"}\n{\n'), NamedFile("log"))
    assert next(rows).item == {"text": "one"}
    with pytest.raises(InputError, match=r"^log:2: is not JSON"):
        next(rows)
