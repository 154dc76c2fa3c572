from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.evaluation.asking import as_mapping, contexts_of
from simonides.evaluation.datasets import (
    Corpus,
    Item,
    Question,
    load_chats,
    load_facts,
    load_present,
    load_short_banks,
)

if TYPE_CHECKING:
    from pathlib import Path

FACTS = {
    "banks": [{"bank": "a", "facts": [{"id": "a1", "text": "The kiln is red.", "distractor": True}]}],
    "questions": [
        {
            "id": "q1",
            "bank": "a",
            "style": "full",
            "query": "Which colour?",
            "gold": ["a1"],
            "acceptable": ["a1"],
        }
    ],
    "unanswerable": [{"id": "u1", "bank": "a", "kind": "near_miss", "query": "Whose kiln?", "gold": []}],
}
SHORT = {
    "banks": {"b": [{"id": "f1", "text": "Deploys run at noon.", "context": "release"}]},
    "cases": [
        {"id": "b1", "bank": "b", "query": "release time", "gold": ["f1"]},
        {"id": "b2", "bank": "b", "query": "mongodb", "gold": []},
    ],
}
CHATS = {
    "conversations": [
        {
            "id": "c1",
            "sessions": [
                {
                    "session": "s1",
                    "turns": [
                        {
                            "id": "t1",
                            "speaker": "user",
                            "text": "Hello.",
                            "event_time": "2026-05-02T09:00:00Z",
                        },
                        {
                            "id": "t2",
                            "speaker": "tool",
                            "text": "17 °C",
                            "event_time": "2026-05-02T09:01:00Z",
                        },
                    ],
                }
            ],
            "queries": [{"id": "c1-q1", "query": "how warm", "gold": ["t2"], "acceptable": []}],
            "asked_at": "2026-05-03T09:00:00Z",
        }
    ]
}


def put(folder: Path, name: str, stored: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(stored), encoding="utf-8")
    return folder


def test_banks_of_facts(tmp_path: Path) -> None:
    found = load_facts(put(tmp_path, "facts.json", FACTS))
    assert found.name == "facts"
    assert found.corpora == (
        (
            Corpus("facts-a", (Item("a1", "The kiln is red."),)),
            (
                Question("q1", "Which colour?", ("a1",), "full", acceptable=("a1",)),
                Question("u1", "Whose kiln?", (), "near-miss", answerable=False),
            ),
        ),
    )


def test_short_banks_have_contexts(tmp_path: Path) -> None:
    ((corpus, questions),) = load_short_banks(put(tmp_path, "cases.json", SHORT)).corpora
    assert corpus == Corpus("short-b", (Item("f1", "Deploys run at noon.", context="release"),))
    assert [(q.answerable, q.category) for q in questions] == [(True, "any"), (False, "unanswerable")]
    assert contexts_of(corpus, 2) == ["release"]
    assert as_mapping(corpus.items[0], "release") == {"text": "Deploys run at noon.", "context": "release"}


def test_chats_have_speakers_times_and_a_day_of_asking(tmp_path: Path) -> None:
    ((corpus, questions),) = load_chats(put(tmp_path, "chats.json", CHATS)).corpora
    assert corpus.asked_at == datetime(2026, 5, 3, 9, tzinfo=UTC)
    assert [(item.session, item.speaker) for item in corpus.items] == [("s1", "user"), ("s1", "tool")]
    given = as_mapping(corpus.items[1], "")
    assert given["event_time"] == datetime(2026, 5, 2, 9, 1, tzinfo=UTC)
    assert (given["session"], given["speaker"]) == ("s1", "tool")
    assert [q.gold for q in questions] == [("t2",)]


@pytest.mark.parametrize(
    ("name", "stored"),
    [("facts.json", {"banks": []}), ("cases.json", []), ("chats.json", {"conversations": [{"id": "c"}]})],
)
def test_another_form_is_refused_by_the_file(tmp_path: Path, name: str, stored: Any) -> None:
    load = {"facts.json": load_facts, "cases.json": load_short_banks, "chats.json": load_chats}[name]
    with pytest.raises(InputError, match=f"{name} does not have the form of"):
        load(put(tmp_path, name, stored))
    with pytest.raises(InputError, match=f"{name} is not there"):
        load(tmp_path / "elsewhere")


def test_what_a_folder_holds_is_loaded_and_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds none of the folders locomo, musique, everyday, shortbanks"):
        load_present(tmp_path)
    put(tmp_path / "shortbanks", "cases.json", SHORT)
    assert [dataset.name for dataset in load_present(tmp_path)] == ["short"]
    put(tmp_path / "everyday", "facts.json", FACTS)
    put(tmp_path / "everyday", "chats.json", CHATS)
    assert [dataset.name for dataset in load_present(tmp_path)] == ["facts", "chat", "short"]
