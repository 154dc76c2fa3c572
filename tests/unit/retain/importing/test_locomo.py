"""LoCoMo in its original form: an invented conversation, and the real ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from simonides.evaluation.datasets import load_locomo
from simonides.retain.importing.formats import detect

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.retain.importing.conftest import Read


def test_a_conversation(read: Read, samples: Path) -> None:
    found = read("locomo", samples / "locomo.json")
    assert found.texts == [
        "Odalys: Look! [image: a red kayak]",
        "Mo: Is it from Norrhav?",
        "Mo: The race is over.",
    ]
    assert found.all("session") == ["conv-99/session_2"] * 2 + ["conv-99/session_10"]
    assert found.all("speaker") == ["Odalys", "Mo", "Mo"]
    assert found.all("event_time")[0] == datetime(2026, 5, 8, 13, 56, tzinfo=UTC)
    assert found.all("metadata")[1] == {"dia_id": "D2:2", "sample_id": "conv-99"}
    assert found.all("context") == ["Mo: Is it from Norrhav?", "Odalys: Look! [image: a red kayak]", ""]
    assert found.items[1].part == "turn D2:2 of conv-99"


def test_the_real_conversations_read_as_the_measurement_reads_them(read: Read, data_folder: Path) -> None:
    path = data_folder / "locomo" / "locomo10.json"
    if not path.is_file():
        pytest.skip(f"missing: {path}")
    assert detect(path) == "locomo"
    found = read("locomo", path)
    assert not found.errors
    measured = {
        (corpus.name, item.key, item.text, item.event_time)
        for corpus, _ in load_locomo(path).corpora
        for item in corpus.items
    }
    imported = {
        (i.item["metadata"]["sample_id"], i.item["metadata"]["dia_id"], i.item["text"], i.item["event_time"])
        for i in found.items
    }
    assert imported == measured


@pytest.mark.parametrize(
    ("sample", "problem"),
    [
        ({"sample_id": "a"}, "a sample with a conversation"),
        ({"conversation": {"session_1": {}}}, "a list of turns"),
        ({"conversation": {"session_1": [{"speaker": "Mo"}]}}, "a turn with a text"),
    ],
)
def test_a_malformed_session_is_named(read: Read, sample: object, problem: str) -> None:
    found = read("locomo", json.dumps([sample]))
    assert not found.items
    (said,) = found.problems
    assert said.startswith("x:1: ")
    assert problem in said


def test_a_turn_without_words_is_passed_over(read: Read) -> None:
    turns = [{"speaker": "Mo", "text": " "}, {"text": "Who?"}]
    found = read("locomo", json.dumps({"sample_id": "a", "conversation": {"session_1": turns}}))
    assert found.texts == ["Who?"]


@pytest.mark.fault("N41")
def test_a_wrong_turn_or_date_costs_no_other_turn(read: Read) -> None:
    turns = [{"speaker": "Mo", "text": "One."}, {"speaker": "Mo"}, 5, {"speaker": "Mo", "text": "Two."}]
    conversation = {"session_1": turns, "session_1_date_time": "someday"}
    found = read("locomo", json.dumps({"sample_id": "a", "conversation": conversation}))
    assert found.texts == ["Mo: One.", "Mo: Two."]
    assert found.all("context") == ["Mo: Two.", "Mo: One."]
    assert [problem.split(":")[2] for problem in found.problems] == [" a/session_1[1]", " a/session_1[2]"]
    assert "'someday'" in found.cleanings[0]
