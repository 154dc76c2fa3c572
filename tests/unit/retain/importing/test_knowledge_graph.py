"""The MCP reference server's graph, in both its forms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from simonides.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.retain.importing.conftest import Read


@pytest.mark.parametrize("name", ["graph.jsonl", "graph.json"])
def test_a_graph(read: Read, samples: Path, name: str) -> None:
    found = read("knowledge-graph", samples / name)
    assert found.texts == [
        "Odalys Brandt rows on Sundays",
        "Odalys Brandt: Lives near the harbour",
        "Norrhav: boatyard",
        "Odalys Brandt works at Norrhav",
    ]
    assert found.all("context") == ["Odalys Brandt (person)"] * 2 + ["Norrhav (boatyard)", None]
    assert found.items[0].item["metadata"] == {"entity": "Odalys Brandt", "entity_type": "person"}
    statement = {key: found.items[3].item[key] for key in ("relation", "subject", "object", "metadata")}
    assert statement == {
        "relation": "works at",
        "subject": "Odalys Brandt",
        "object": "Norrhav",
        "metadata": {"relation": "works_at"},
    }
    assert set(found.all("source")) == {"knowledge-graph"}
    assert set(found.all("role")) == {"import"}


def test_an_observation_may_be_an_object_with_its_text(read: Read) -> None:
    entity = {"type": "entity", "name": "Mo", "entityType": "cat", "observations": [{"content": "Sleeps"}]}
    assert read("knowledge-graph", json.dumps(entity)).texts == ["Mo: Sleeps"]


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('{"type": "entity", "name": "", "entityType": "cat"}', "name: expected a text, got a text"),
        ('{"type": "entity", "name": "Mo"}', "entityType: expected a text, got null"),
        ('{"type": "entity", "name": "Mo", "entityType": "cat", "observations": {"x": 1}}', "observations"),
        (
            '{"type": "entity", "name": "Mo", "entityType": "cat", "observations": [5]}',
            "observations[0]: expected a text, got a number",
        ),
        ('{"type": "relation", "from": "Mo", "to": "Ilse"}', "relationType"),
        ('{"type": "thing"}', "neither entity nor relation"),
        ("{", "not JSON"),
        ('{"type": "entity", "name": "\xe9', "not JSON"),
    ],
)
def test_a_malformed_row_is_named_and_the_rest_is_read(read: Read, row: str, problem: str) -> None:
    good = '{"type": "relation", "from": "Mo", "to": "Ilse", "relationType": "belongs_to"}'
    found = read("knowledge-graph", f"{good}\n{row}\n{good}")
    assert found.texts == ["Mo belongs to Ilse"] * 2
    (said,) = found.problems
    assert said.startswith("x:2: ")
    assert problem in said


@pytest.mark.fault("N41")
def test_an_empty_observation_costs_no_other(read: Read) -> None:
    entity = {"type": "entity", "name": "Mo", "observations": ["Sleeps", "", None, {"content": "Purrs"}, 5]}
    found = read("knowledge-graph", json.dumps(entity))
    assert found.texts == ["Mo: Sleeps", "Mo: Purrs"]
    assert found.all("context") == ["Mo", "Mo"]
    assert [problem.split(": ")[1] for problem in found.problems] == [
        "observations[1]", "observations[2]", "observations[4]",
    ]  # fmt: skip


def test_malformed_rows_of_one_object_are_named_by_their_place(read: Read) -> None:
    found = read("knowledge-graph", '{"entities": [5], "relations": [{"from": "a"}]}')
    assert not found.items
    assert found.problems[0] == "x:1: entities[0]: expected an object, got a number"
    assert "relations[0]" in found.problems[1]


@pytest.mark.parametrize("text", ['{"rows": []}', '{"entities": {}}'])
def test_another_form_is_refused_as_a_whole(read: Read, text: str) -> None:
    with pytest.raises(InputError, match="entities"):
        read("knowledge-graph", text)
