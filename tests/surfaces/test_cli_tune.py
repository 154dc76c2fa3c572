"""`simonides tune` writes a profile only when held-out queries bear it out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import simonides
from simonides.testing.clock import FrozenClock

if TYPE_CHECKING:
    from tests.surfaces.conftest import Cli, CliJson

QUESTIONS = 40
# Context counts five times as much as text, and in the bank below context is always about another.
PROFILE = """
extends = "lexical"
[stages.lexical]
fields = { text = 1.0, context = 5.0 }
"""


def word(n: int) -> str:
    return f"zu{'bdfgklmnpr'[n // 5]}{'aeiou'[n % 5]}x"


@pytest.fixture
def judged(store_path: Path, tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(PROFILE, encoding="utf-8")
    items = [
        {
            "text": f"Odalys keeps {word(n)} there",
            "context": f"{word((n + 1) % QUESTIONS)} was asked for before",
        }
        for n in range(QUESTIONS)
    ]
    with simonides.open(store_path, clock=FrozenClock(), embedder=None, expander=None) as store:
        bank = store.bank("default")
        ids = bank.retain(items, deduplicate=False)
        lines = [{"query": f"where is {word(n)}", "relevant": [ids[n]]} for n in range(QUESTIONS - 1)]
        answer = bank.recall(f"where is {word(QUESTIONS - 1)}", profile="lexical")
        bank.used(ids[-1], recall_id=answer.id)
        feedback = {"query": answer.trace.query, "recall_id": answer.id}
    path = tmp_path / "judged.jsonl"
    path.write_text("\n".join(map(json.dumps, [*lines, feedback])) + "\n", encoding="utf-8")
    return path


def test_it_writes_a_profile_that_passes_the_check_and_can_be_used(
    cli: Cli, cli_json: CliJson, judged: Path, tmp_path: Path
) -> None:
    mine, out = str(tmp_path / "mine.toml"), tmp_path / "tuned.toml"
    arguments = ("tune", str(judged), "--profile", mine, "--out", str(out), "--trials", "16")

    answer = cli_json(*arguments)

    assert answer["adopted"]
    assert answer["written"] == [str(out), str(tmp_path / "tuned.evidence.json")]
    assert answer["queries"]["from_feedback"] == 1
    assert answer["held_out"]["difference"]["p"] < 0.01
    assert cli_json("profiles", "check", str(out))["ok"]
    first = cli_json("recall", f"where is {word(3)}", "--profile", str(out))["hits"][0]
    assert word(3) in first["text"]
    evidence = json.loads((tmp_path / "tuned.evidence.json").read_text("utf-8"))
    assert evidence["held_out"] == answer["held_out"]
    written = [path.read_bytes() for path in map(Path, answer["written"])]

    refused = cli(*arguments)
    assert refused.exit_code == 2
    assert "is there already" in refused.stderr
    assert cli(*arguments, "--force").exit_code == 0
    assert [path.read_bytes() for path in map(Path, answer["written"])] == written


def test_it_says_what_changed_and_without_out_writes_nothing(cli: Cli, judged: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    result = cli("tune", str(judged), "--profile", str(tmp_path / "mine.toml"), "--trials", "16")
    assert result.exit_code == 0, result.stderr
    assert "lexical.fields." in result.stdout
    assert "ndcg@10 on 16 held-out queries: " in result.stdout
    assert "adopted; nothing written: give --out" in result.stdout
    assert sorted(tmp_path.iterdir()) == before


def test_it_refuses_what_it_cannot_better(cli: Cli, judged: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned.toml"
    right = tmp_path / "right.toml"
    right.write_text('extends = "lexical"\n[stages.lexical]\nfields = { text = 1.0, context = 0.0 }\n')
    result = cli("tune", str(judged), "--profile", str(right), "--out", str(out), "--trials", "12")
    assert result.exit_code == 1
    assert "refused, nothing written: " in result.stdout
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--trials", "0"), "trials: 0 try nothing"),
        (("--measure", "ndcg"), "did you mean 'ndcg@10'"),
        (("--profile", "defualt"), "did you mean 'default'"),
        (("--as-of", "soon"), "as_of"),
        (("--bank", "other"), "there is no bank 'other'"),
        (("--out", "tuned.json"), "does not end in .toml"),
        (("--held-out", "0.05"), "are too few; at least "),
    ],
)
def test_wrong_use(cli: Cli, judged: Path, arguments: tuple[str, ...], problem: str) -> None:
    result = cli("tune", str(judged), *arguments)
    assert result.exit_code == 2
    assert problem in " ".join(result.stderr.split())


def test_wrong_files(cli: Cli, judged: Path, tmp_path: Path) -> None:
    assert "cannot be read" in cli("tune", str(tmp_path / "none.jsonl")).stderr
    (tmp_path / "latin.jsonl").write_bytes(b'{"query": "caf\xe9"}')
    assert "is not UTF-8" in cli("tune", str(tmp_path / "latin.jsonl")).stderr
    judged.write_text(judged.read_text("utf-8") + "{oops\n", encoding="utf-8")
    result = cli("tune", str(judged))
    assert result.exit_code == 2
    assert f"judged.jsonl, line {QUESTIONS + 1}: is not JSON" in result.stderr
