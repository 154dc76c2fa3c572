"""bench/peers/run.py: what it measures and writes, with peers that need no packages."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from bench.peers import run
from bench.peers.adapters.dense import Dense
from bench.peers.catalogue import REQUIREMENTS, SYSTEMS, Fused, OwnProcess, SameProcess, System
from bench.peers.environments import PeerUnavailableError, make_environment, pinned_version, requirements_of
from bench.peers.lines import Text
from bench.peers.opening import SharedEncoder

from simonides.evaluation.datasets import Corpus, Dataset, Item, Question
from simonides.evaluation.results import read_run
from simonides.testing.embedder import StubEmbedder

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

ITEMS = (
    Item("D1", "Ann adopted a grey cat", datetime(2026, 1, 2, tzinfo=UTC), "s1"),
    Item("D2", "Bo repairs old clocks", datetime(2026, 1, 3, tzinfo=UTC), "s1"),
    Item("D2", "Bo repairs old clocks"),
    Item("D3", "Cleo sails on Sundays"),
)
QUESTIONS = (
    Question("q1", "Ann adopted a grey cat", ("D1",), "1"),
    Question("q2", "Bo repairs old clocks", ("D2",), "2"),
    Question("q3", "Who flies?", (), "5", answerable=False),
)
TALK = Dataset("locomo", ((Corpus("talk", ITEMS), QUESTIONS), (Corpus("mute", ITEMS), QUESTIONS[2:])))


class Wrong:
    """Finds the same text twice."""

    def __init__(self, encode: Any, folder: Path) -> None:
        pass

    def add(self, texts: Sequence[Text]) -> None:
        pass

    def ask(self, question: str, depth: int) -> list[int]:
        return [1, 1]


@pytest.fixture
def encoder() -> SharedEncoder:
    return SharedEncoder(StubEmbedder())


def run_main(monkeypatch: pytest.MonkeyPatch, folder: Path, *systems: str) -> int:
    monkeypatch.setattr(run, "load_dataset", lambda _name, _data: TALK)
    monkeypatch.setattr(run, "load_embedder", StubEmbedder)
    options = ["--data", str(folder), "--date", "2026-03-01", "--results", str(folder / "results")]
    monkeypatch.setattr(sys, "argv", ["run", *options, "--dataset", "locomo", "--system", *systems])
    return run.main()


def test_a_system_gets_a_result_and_a_run_over_the_answerable_questions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert run_main(monkeypatch, tmp_path, "dense") == 0

    page = json.loads((tmp_path / "results" / "peers-locomo-dense.json").read_text("utf-8"))
    assert page["run"]["date"] == "2026-03-01"
    result = page["result"]
    assert result["questions"] == 2
    assert result["metrics"]["recall@5"] == 1.0
    assert set(result["by_category"]) == {"1", "2"}
    assert result["cpu_includes_encoding"] is False
    ranked = read_run(tmp_path / "results" / "peers" / "locomo-dense.run")
    assert set(ranked) == {"q1", "q2"}
    assert ranked["q1"][0] == "D1"
    # Two items of one key count once.
    assert sorted(ranked["q2"]) == ["D1", "D2", "D3"]


def test_an_unavailable_peer_is_written_down_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unavailable(_name: str, _way: OwnProcess) -> Path:
        raise PeerUnavailableError("cannot be installed: no wheel")

    monkeypatch.setattr("bench.peers.opening.make_environment", unavailable)

    assert run_main(monkeypatch, tmp_path, "mem0", "dense") == 1

    page = json.loads((tmp_path / "results" / "peers-locomo-mem0.json").read_text("utf-8"))
    assert page["result"]["unavailable"] == "cannot be installed: no wheel"
    assert page["result"]["version"] == pinned_version("mem0", _own("mem0"))
    assert not (tmp_path / "results" / "peers" / "locomo-mem0.run").exists()
    assert (tmp_path / "results" / "peers-locomo-dense.json").is_file()


def test_an_answer_that_names_a_text_twice_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, encoder: SharedEncoder
) -> None:
    monkeypatch.setitem(run.SYSTEMS, "dense", System("wrong", SameProcess(Wrong), ""))  # type: ignore[attr-defined]
    result = run.measure("dense", run.answerable(TALK), encoder)
    assert "names no text or one twice" in result["unavailable"]


def test_other_questions_remove_what_was_measured_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    (results / "peers").mkdir(parents=True)
    (results / "peers" / "locomo.qrels").write_text("q9 0 D9 1\n", encoding="utf-8")
    stale = (results / "peers-locomo-bm25.json", results / "peers" / "locomo-bm25.run")
    kept = (results / "peers-musique-bm25.json", results / "quality-locomo-default.json")
    for file in (*stale, *kept):
        file.write_text("{}", encoding="utf-8")

    assert run_main(monkeypatch, tmp_path, "dense") == 0

    assert not any(file.exists() for file in stale)
    assert all(file.exists() for file in kept)


def test_peers_get_numbers_instead_of_keys_and_the_alone_row_nothing_but_texts() -> None:
    texts = run.texts_of(TALK.corpora[0][0])
    assert texts[0] == Text(0, "Ann adopted a grey cat", datetime(2026, 1, 2, tzinfo=UTC).timestamp(), "s1")
    assert [text.place for text in texts] == [0, 1, 2, 3]
    alone = run.texts_alone(TALK)
    assert {(item.event_time, item.session) for item in alone.corpora[0][0].items} == {(None, "")}
    assert run.texts_alone(alone) == alone


def test_each_text_is_encoded_once(encoder: SharedEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    real = StubEmbedder.encode

    def encode(embedder: StubEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
        asked.append(list(texts))
        return real(embedder, texts)

    monkeypatch.setattr(StubEmbedder, "encode", encode)
    first: list[array[float]] = encoder(["a", "b", "a"])
    assert first[0] == first[2]
    assert encoder(["b"]) == [first[1]]
    assert asked == [["a", "b"]]


def test_every_peer_has_pinned_requirements_and_every_fusion_known_members() -> None:
    peers = {name: way for name, system in SYSTEMS.items() if isinstance(way := system.way, OwnProcess)}
    assert {requirements_of(name) for name in peers} == set(REQUIREMENTS.iterdir())
    for name, way in peers.items():
        assert pinned_version(name, way)
        lines = requirements_of(name).read_text("utf-8").splitlines()
        assert all(line.startswith("#") or line.count("==") == 1 for line in lines)
    for system in SYSTEMS.values():
        if isinstance(system.way, Fused):
            assert set(system.way.members) <= set(SYSTEMS)
    assert isinstance(SYSTEMS["dense"].way, SameProcess)
    assert SYSTEMS["dense"].way.make is Dense


def test_a_peer_that_pip_refuses_is_unavailable_with_pips_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import subprocess  # noqa: PLC0415 - only its error

    def refuse(command: list[str]) -> None:
        said = "WARNING: x\nERROR: No matching distribution found for bm25s\n"
        raise subprocess.CalledProcessError(1, command, stderr=said)

    monkeypatch.setattr("bench.peers.environments._install", refuse)
    monkeypatch.setattr("venv.create", lambda folder, with_pip: folder.mkdir(parents=True))
    with pytest.raises(PeerUnavailableError, match="ERROR: No matching distribution found for bm25s"):
        make_environment("bm25", _own("bm25"), tmp_path)
    # The next run tries again.
    assert not (tmp_path / "bm25" / "requirements.sha256").exists()


def test_an_environment_is_made_once_per_requirements(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[list[str]] = []
    monkeypatch.setattr("bench.peers.environments._install", made.append)
    monkeypatch.setattr("venv.create", lambda folder, with_pip: folder.mkdir(parents=True))
    python = make_environment("engram-search", _own("engram-search"), tmp_path)
    assert make_environment("engram-search", _own("engram-search"), tmp_path) == python
    assert len(made) == 1
    assert "--no-deps" in made[0]
    (tmp_path / "engram-search" / "requirements.sha256").write_text("other", encoding="ascii")
    make_environment("engram-search", _own("engram-search"), tmp_path)
    assert len(made) == 2


def _own(name: str) -> OwnProcess:
    way = SYSTEMS[name].way
    assert isinstance(way, OwnProcess)
    return way
