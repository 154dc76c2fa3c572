"""What the benches of developers print when they are run as modules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from bench import ablation, changed_datasets, changes, command, leaks, standing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TURNS = {
    "D1": ("Odile", "My kiln is down to 900 degrees."),
    "D2": ("Amara", "Did the glaze hold?"),
    "D3": ("Odile", "The glaze cracked in the cold."),
    "D4": ("Amara", "I will bring the beech wood on Friday."),
}


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    """A folder of datasets with one conversation of four turns."""
    turns = [
        {"dia_id": f"D1:{n}", "speaker": who, "text": text} for n, (who, text) in enumerate(TURNS.values(), 1)
    ]
    qa = [
        {"question": "What cracked in the cold?", "answer": "the glaze", "evidence": ["D1:3"], "category": 4},
        {"question": "Who brings beech wood?", "answer": "Amara", "evidence": ["D1:4"], "category": 1},
    ]
    conversation = {
        "speaker_a": "Odile",
        "speaker_b": "Amara",
        "session_1": turns,
        "session_1_date_time": "1:56 pm on 8 May, 2023",
    }
    folder = tmp_path / "data" / "locomo"
    folder.mkdir(parents=True)
    sample = [{"sample_id": "conv-1", "conversation": conversation, "qa": qa}]
    (folder / "locomo10.json").write_text(json.dumps(sample), encoding="utf-8")
    return folder.parent


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run a module's ``main`` with arguments; its JSON."""

    def run(module: Any, *arguments: str) -> Any:
        monkeypatch.setattr(
            "sys.argv", [f"{module.__name__.rpartition('.')[2]}.py", *arguments, "--embedder", "none"]
        )
        assert module.main() == 0
        return json.loads(capsys.readouterr().out)

    return run


def of(data: Path) -> tuple[str, ...]:
    return ("--dataset", "locomo", "--data", str(data))


def test_every_stage_is_left_out_once(bench: Callable[..., Any], locomo: Path) -> None:
    answer = bench(ablation, *of(locomo), "--stage", "lexical", "--stage", "relevance")
    rows = set(answer["rows"]) | set(answer["refused"])
    assert rows == {"random", "bm25", "oracle@100", "default", "without lexical", "without relevance"}
    assert answer["rows"]["oracle@100"]["recall@10"] >= answer["rows"]["default"]["recall@10"]


def test_ids_lead_nowhere(bench: Callable[..., Any], locomo: Path) -> None:
    answer = bench(leaks, *of(locomo))
    assert (answer["questions"], answer["ids_changed"]) == (2, [])
    assert set(answer["names"]["conv-1"]) == {"Odile", "Amara"}


def test_a_dataset_is_changed(bench: Callable[..., Any], locomo: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps({"conv-1-q1": {"drop": True}}), encoding="utf-8")
    answer = bench(changed_datasets, *of(locomo), "--gold", str(gold), "--distractors", "30")
    assert answer["questions"] == 1


def test_changes_are_reported_by_kind_and_in_total(bench: Callable[..., Any], tmp_path: Path) -> None:
    def row(key: str, *texts: str, outdated: list[int]) -> str:
        statements = [
            {"text": text, "event_time": f"2025-0{n}-01T09:00:00Z"} for n, text in enumerate(texts, 1)
        ]
        current = [place for place in range(len(texts)) if place not in outdated]
        queries = ["Where is the kiln?", "kiln"]
        about = {"id": key, "kind": "place", "current": current, "outdated": outdated, "queries": queries}
        return json.dumps({**about, "statements": statements, "others": ["The cat sleeps."]}) + "\n"

    chain = row("changes-001", "The kiln is in hall 4.", "The kiln is in the yard.", outdated=[0])
    pair = row("coexisting-001", "The kiln is hot.", "The kiln is in hall 4.", outdated=[])
    (tmp_path / "changes_held.jsonl").write_text(chain, encoding="utf-8")
    (tmp_path / "coexisting_held.jsonl").write_text(pair, encoding="utf-8")
    answer = bench(changes, "--data", str(tmp_path), "--half", "held")
    assert answer["changes"]["all"]["cases"] == answer["coexisting"]["place"]["cases"] == 1
    assert answer["wrong"] == []


def test_standing_facts_are_reported_by_mode(bench: Callable[..., Any], tmp_path: Path) -> None:
    bank = {
        "id": "cook",
        "standing": [{"id": "s1", "kind": "preference", "text": "I am allergic to shellfish."}],
        "facts": [{"id": "f1", "text": "The kiln is red."}],
        "queries": [{"id": "q1", "query": "Which kiln?", "standing": ["s1"], "gold": ["f1"]}],
    }
    (tmp_path / "everyday").mkdir()
    (tmp_path / "everyday" / "always.json").write_text(json.dumps({"banks": [bank]}), encoding="utf-8")
    answer = bench(standing, "--data", str(tmp_path), "--profile", "lexical")
    assert [answer[mode]["present"] for mode in ("plain", "pinned", "standing")] == [0.0, 0.0, 1.0]


def test_a_date_keeps_the_result(
    bench: Callable[..., Any], locomo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "commit", lambda _: "a commit")
    answer = bench(leaks, *of(locomo), "--date", "2026-03-01", "--results", str(tmp_path))
    page = json.loads((tmp_path / "leaks-locomo.json").read_text("utf-8"))
    assert page["result"] == answer
    assert page["run"]["command"].startswith("python -m bench.leaks --dataset locomo --data data --date")


def test_wrong_input_ends_with_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["changes.py", "--data", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        command.run(changes.main)
    assert ended.value.code == 2
    assert "changes_development.jsonl: No such file" in capsys.readouterr().err
