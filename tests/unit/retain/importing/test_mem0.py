"""mem0's exports, in every layout."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.retain.importing.conftest import Read


def test_an_export(read: Read, samples: Path) -> None:
    found = read("mem0", samples / "mem0.json")
    assert found.texts == ["Prefers oat milk", "Keeps bees on the roof"]
    assert found.items[0].item == {
        "text": "Prefers oat milk",
        "document_id": "mem0:9f3a",
        "session": "r7",
        "event_time": "2026-01-05T08:27:23.508123-07:00",
        "tags": ["food"],
        "metadata": {"mood": "calm", "id": "9f3a", "user_id": "ilse"},
        "source": "mem0",
        "role": "import",
    }
    assert found.items[1].part == "memory 1"


@pytest.mark.parametrize("layout", ["list", "results", "memories", "lines", "one"])
@pytest.mark.parametrize("key", ["memory", "text", "data"])
def test_layouts(read: Read, layout: str, key: str) -> None:
    rows = [{"id": "a", key: "one\u2028line"}, {"id": "b", key: "two"}]
    text = {
        "list": json.dumps(rows),
        "results": json.dumps({"results": rows, "relations": []}, indent=1),
        "memories": json.dumps({"memories": rows}),
        "lines": "\n".join(json.dumps(row, ensure_ascii=False) for row in rows),
        "one": json.dumps(rows[0], indent=1),
    }[layout]
    found = read("mem0", text)
    assert found.texts == ["one\u2028line", "two"][: 1 if layout == "one" else 2]
    assert not found.errors


def test_times_may_be_numbers(read: Read) -> None:
    found = read("mem0", json.dumps([{"id": "a", "memory": "x", "created_at": 1772000000}]))
    assert found.all("event_time") == [datetime.fromtimestamp(1772000000, UTC)]


def test_without_an_id_it_is_no_document(read: Read) -> None:
    assert read("mem0", '[{"memory": "x"}]').all("document_id") == [None]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (5, "expected an object, got a number"),
        ({"id": "a"}, "has no text"),
        ({"id": "a", "memory": "  "}, "has no text"),
    ],
)
def test_a_malformed_row_is_named_and_the_rest_is_read(read: Read, row: Any, problem: str) -> None:
    found = read("mem0", json.dumps([{"id": "g", "memory": "good"}, row, {"id": "h", "memory": "fine"}]))
    assert found.texts == ["good", "fine"]
    (said,) = found.problems
    assert said.startswith("x:1: memory 1: ")
    assert problem in said


@pytest.mark.fault("N41")
@pytest.mark.parametrize(
    ("part", "kept", "problem"),
    [
        ({"metadata": [1]}, {}, "metadata: expected an object"),
        ({"categories": {"a": 1}}, {}, "categories: expected a list"),
        ({"categories": ["Food", "", None, "x" * 300]}, {"tags": ["Food"]}, "categories: 3 of 4"),
        ({"created_at": [1]}, {}, "created_at: expected a time"),
        ({"created_at": True}, {}, "created_at: expected a time"),
        ({"created_at": "noon"}, {}, "created_at: 'noon'"),
        ({"created_at": 1e300}, {}, "created_at: 1e+300 is no time"),
    ],
)
def test_a_wrong_part_costs_no_memory(
    read: Read, part: dict[str, Any], kept: dict[str, Any], problem: str
) -> None:
    found = read("mem0", json.dumps([{"id": "a", "memory": "x", **part}]))
    whole = {
        "text": "x",
        "document_id": "mem0:a",
        "metadata": {"id": "a"},
        "source": "mem0",
        "role": "import",
    }
    assert [item.item for item in found.items] == [whole | kept]
    assert not found.errors
    (said,) = found.cleanings
    assert said.startswith(f"x:1: memory 0: {problem}")


def test_a_category_may_stand_alone(read: Read) -> None:
    assert read("mem0", '[{"id": "a", "memory": "x", "categories": "food"}]').all("tags") == [["food"]]
