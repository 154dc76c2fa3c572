"""Stores that earlier versions wrote answer with the same bytes as the commit that recorded their answers.

Each ``store-COMMIT.zip`` was written by ``fill.py`` on the code of that commit. ``answers-COMMIT.json`` holds
what the code of 48a5dc6 answered from it. A change that is meant to change answers records them again, says
why in CHANGELOG.md, and keeps the stores:

    .venv/bin/python -m pytest tests/compatibility --record-answers
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import simonides
from simonides.testing.clock import FrozenClock
from simonides.testing.embedder import StubTokenEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
STORES = ("2ee82be", "48a5dc6")
PROFILES = ("default", "engram", "memoria", "jeffs_brain", "hindsight", "helix", "lexical")
QUERIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Where does my sister live?", {}),
    ("Who has a dangerous allergy?", {}),
    ("staging database port", {}),
    ("wifi pasword", {}),
    ("Orla Penhallow", {}),
    ("Who leads Heron?", {"as_of": "2026-01-15"}),
    ("What happened in December?", {"window": ("2025-12-01", "2026-01-01")}),
    ("tide gauge firmware", {"project": "team", "limit": 5}),
    ("release review", {"tags": ["people"], "tags_match": "all"}),
    ("revert", {"kinds": ["semantic"], "max_tokens": 200}),
    ("hello", {}),
    ("E_TIDE_413", {"explain": True}),
)
DEFAULT_ONLY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Who leads Heron?", {"precision": "wide"}),
    ("Who leads Heron?", {"precision": "high"}),
    ("Where do I live?", {"standing": True}),
    ("staging database port", {"known_at": "2026-03-02T12:00+00:00"}),
)


@pytest.fixture(params=STORES)
def commit(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(commit: str, tmp_path: Path) -> Iterator[simonides.Store]:
    with zipfile.ZipFile(HERE / f"store-{commit}.zip") as archive:
        archive.extractall(tmp_path)
    clock = FrozenClock(datetime(2026, 4, 1, 9, tzinfo=UTC))
    with simonides.open(tmp_path, clock=clock, embedder=StubTokenEmbedder()) as opened:
        yield opened


def _asked() -> Iterator[tuple[str, str | None, str, dict[str, Any]]]:
    for profile in PROFILES:
        for query, options in QUERIES:
            for principal in (None, "orla") if query == "Orla Penhallow" else (None,):
                yield profile, principal, query, options
    for query, options in DEFAULT_ONLY:
        yield "default", None, query, options


def _answers(store: simonides.Store) -> list[dict[str, Any]]:
    found = []
    for profile, principal, query, options in _asked():
        arguments: dict[str, Any] = {"profile": profile, "max_tokens": 300, **options}
        answer = store.bank("main", principal=principal).recall(query, **arguments)
        found.append(
            {
                "asked": [profile, principal, query, {name: options[name] for name in sorted(options)}],
                "hits": [[hit.id, float(hit.score).hex(), _hex(hit.relevance)] for hit in answer.hits],
                "confidence": _hex(answer.confidence),
                "band": answer.band,
                "context": answer.context,
                "explanations": _digest([explanation.to_dict() for explanation in answer.explanations]),
            }
        )
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def _digest(record: object) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def _hex(number: float | None) -> str | None:
    return None if number is None else float(number).hex()


def _recorded(commit: str, name: str, found: object, *, record: bool) -> object:
    file = HERE / f"{name}-{commit}.json"
    if record:
        file.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8"))


def test_recalls_of_every_profile(store: simonides.Store, commit: str, record_answers: bool) -> None:
    found = _answers(store)
    for ours, theirs in zip(found, _recorded(commit, "answers", found, record=record_answers), strict=True):  # type: ignore[call-overload]
        assert ours == theirs


def test_what_is_listed_and_exported(store: simonides.Store, commit: str, record_answers: bool) -> None:
    bank = store.bank("main")
    exported = io.BytesIO()
    counts = bank.export(exported)
    found = {
        "memories": [[memory.id, memory.text, memory.kind] for memory in bank.list_memories(limit=1000)],
        "entities": [[entity.name, entity.mentions] for entity in bank.entities(limit=None)],
        "exported": str(counts),
        "export": hashlib.sha256(exported.getvalue()).hexdigest(),
    }
    assert json.loads(json.dumps(found)) == _recorded(commit, "listed", found, record=record_answers)
    assert bank.verify().ok
