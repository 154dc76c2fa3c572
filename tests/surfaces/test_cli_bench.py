"""`simonides bench quality`, on a conversation of four turns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from typer.testing import Result

    Cli = Callable[..., Result]
    CliJson = Callable[..., Any]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    texts = ("The kiln is mended.", "I glazed two blue pots.", "Lovely colour!", "My sister sells candles.")
    turns = [{"speaker": "Odile", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(texts, 1)]
    questions = [
        {"question": "Which pots did Odile glaze?", "answer": "blue", "evidence": ["D1:2"], "category": 4},
        {"question": "Who sells candles?", "answer": "sister", "evidence": ["D1:4"], "category": 1},
        {"question": "Who sang?", "adversarial_answer": "x", "evidence": ["D1:1"], "category": 5},
    ]
    conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    samples = [{"sample_id": "conv-1", "conversation": conversation, "qa": questions}]
    (tmp_path / "data" / "locomo").mkdir(parents=True)
    (tmp_path / "data" / "locomo" / "locomo10.json").write_text(json.dumps(samples), encoding="utf-8")
    return tmp_path / "data"


def test_one_json_object_with_the_measures(cli_json: CliJson, data: Path) -> None:
    answer = cli_json("bench", "quality", "--dataset", "locomo", "--data", str(data), "--profile", "lexical")
    assert {"dataset", "profile", "questions", "metrics", "by_category", "seconds"} <= answer.keys()
    assert answer["questions"] == 2
    assert {"recall@5", "recall@10", "recall@20", "ndcg@10", "mrr", "all@10"} <= answer["metrics"].keys()
    assert answer["metrics"]["recall@5"] == 1
    assert set(answer["by_category"]) == {"1", "4"}
    assert answer["window"] == 2


def test_the_window_can_be_chosen(cli_json: CliJson, data: Path) -> None:
    options = ("--dataset", "locomo", "--data", str(data), "--profile", "lexical", "--window", "0")
    assert cli_json("bench", "quality", *options)["window"] == 0


def test_a_table_for_people_and_a_run_for_tools(cli: Cli, data: Path, tmp_path: Path) -> None:
    run = tmp_path / "run.txt"
    result = cli(
        *("bench", "quality", "--dataset", "locomo", "--data", str(data), "--profile", "lexical"),
        *("--limit", "1", "--run", str(run), "--embedder", "none"),
    )
    assert result.exit_code == 0, result.stderr
    assert "recall@10" in result.stdout
    assert "1 questions" in result.stdout
    first = run.read_text(encoding="utf-8").splitlines()[0].split()
    assert first[1:4] == ["Q0", "D1:2", "1"] or first[2].endswith("D1:2")


@pytest.mark.parametrize(
    ("options", "field"),
    [
        (["--dataset", "locomoto"], "did you mean 'locomo'?"),
        (["--dataset", "musique"], "musique"),
        (["--limit", "0"], "limit"),
        (["--limit", "-1"], "limit"),
        (["--window", "-1"], "window"),
        (["--data", "no-such-folder"], "no-such-folder"),
        (["--profile", "no-such-profile"], "profile"),
    ],
)
def test_bad_input(cli: Cli, data: Path, options: list[str], field: str) -> None:
    given = {"--dataset": "locomo", "--data": str(data), "--profile": "lexical"}
    given.update(zip(options[::2], options[1::2], strict=True))
    result = cli("bench", "quality", *(word for pair in given.items() for word in pair))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert field in result.stderr


def test_changes_are_reported_by_kind_and_in_total(cli: Cli, cli_json: CliJson, tmp_path: Path) -> None:
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
    command = ("bench", "changes", "--data", str(tmp_path), "--half", "held", "--embedder", "none")
    answer = cli_json(*command)
    assert answer["changes"]["all"]["cases"] == answer["coexisting"]["place"]["cases"] == 1
    assert answer["wrong"] == []
    shown = cli(*command)
    assert shown.exit_code == 0, shown.stderr
    for word in ("unmarked", "both told", "wrongly closed or marked: none"):
        assert word in shown.stdout
    missing = cli("bench", "changes", "--data", str(tmp_path))
    assert missing.exit_code == 2
    assert "changes_development.jsonl: No such file" in missing.stderr


def test_standing_facts_are_reported_by_mode(cli: Cli, cli_json: CliJson, tmp_path: Path) -> None:
    bank = {
        "id": "cook",
        "standing": [{"id": "s1", "kind": "preference", "text": "I am allergic to shellfish."}],
        "facts": [{"id": "f1", "text": "The kiln is red."}],
        "queries": [{"id": "q1", "query": "Which kiln?", "standing": ["s1"], "gold": ["f1"]}],
    }
    (tmp_path / "everyday").mkdir()
    (tmp_path / "everyday" / "always.json").write_text(json.dumps({"banks": [bank]}), encoding="utf-8")
    command = ("bench", "standing", "--data", str(tmp_path), "--embedder", "none", "--profile", "lexical")
    answer = cli_json(*command)
    assert [answer[mode]["present"] for mode in ("plain", "pinned", "standing")] == [0.0, 0.0, 1.0]
    assert "100.0 %" in cli(*command).stdout
    assert cli("bench", "standing", "--data", str(tmp_path / "elsewhere")).exit_code == 2


def test_relevance_reports_calibration_and_what_is_given(cli: Cli, cli_json: CliJson, data: Path) -> None:
    short = {
        "banks": {"b": [{"id": "f1", "text": "Deploys run at noon.", "context": "release"}]},
        "cases": [{"id": "b1", "bank": "b", "query": "release time", "gold": ["f1"]}],
    }
    (data / "shortbanks").mkdir()
    (data / "shortbanks" / "cases.json").write_text(json.dumps(short), encoding="utf-8")
    command = ("bench", "relevance", "--data", str(data), "--embedder", "none")
    answer = cli_json(*command)
    assert answer["embedder"] is None
    assert {"calibration", "auc", "precision", "min_relevance", "fitted_on"} <= answer.keys()
    assert set(answer["calibration"]["relevance"]) == {"all", "locomo", "short"}
    assert set(answer["precision"]["all"]) == {"wide", "balanced", "high"}
    assert {"adversarial", "locomo", "short", "people"} <= answer["questions"].keys()
    shown = cli(*command)
    assert shown.exit_code == 0, shown.stderr
    for word in ("calibration", "AUC", "adversarial", "balanced", "fitted on chat, facts, musique, short"):
        assert word in shown.stdout
    refused = cli(*command, "--profile", "lexical")
    assert refused.exit_code == 2
    assert "profile: 'lexical' has no stage 'relevance'" in refused.stderr
    nothing = cli("bench", "relevance", "--data", str(data / "shortbanks"))
    assert nothing.exit_code == 2
    assert "locomo, musique, everyday, shortbanks" in nothing.stderr


def test_the_former_command_says_what_it_became(cli: Cli, data: Path) -> None:
    for options in ((), ("--data", str(data), "--json")):
        said = cli("bench", "abstention", *options)
        assert (said.exit_code, said.stdout) == (2, "")
        assert "`bench abstention` became `bench relevance`" in said.stderr
    assert "abstention" not in cli("bench", "--help").stdout


def test_runs_are_kept_and_compared(cli: Cli, cli_json: CliJson, data: Path, tmp_path: Path) -> None:
    runs, banks = tmp_path / "runs", tmp_path / "banks"
    common = ("--dataset", "locomo", "--data", str(data), "--embedder", "none", "--keep-banks", str(banks))
    for _ in range(2):  # The second time, from the banks that were kept.
        cli_json("bench", "quality", *common, "--profile", "lexical", "--runs", str(runs))
    assert len(list(banks.iterdir())) == 1
    assert {path.name for path in runs.iterdir()} == {
        f"locomo-lexical{end}" for end in (".json", ".run", ".qrels")
    }
    same = cli_json("bench", "compare", str(runs / "locomo-lexical.json"), str(runs / "locomo-lexical.run"))
    assert [line["p_holm"] for line in same["overall"]] == [1.0] * 4
    found = cli_json("bench", "compare", "lexical", "default", *common)
    assert {line["category"] for line in found["by_category"]} == {"1", "4"}
    shown = cli("bench", "compare", "lexical", str(runs / "locomo-lexical.json"), *common)
    assert shown.exit_code == 0, shown.stderr
    assert "p (Holm)" in shown.stdout
    assert len(list(banks.iterdir())) == 1
    refused = cli("bench", "compare", "lexical", "default")
    assert refused.exit_code == 2
    assert "--dataset" in refused.stderr


def test_banks_of_a_run_that_was_cut_off_are_refused(cli: Cli, data: Path, tmp_path: Path) -> None:
    common = ("--dataset", "locomo", "--data", str(data), "--embedder", "none")
    command = ("bench", "quality", *common, "--profile", "lexical", "--keep-banks", str(tmp_path / "banks"))
    assert cli(*command).exit_code == 0
    next((tmp_path / "banks").glob("*/keys.json")).unlink()
    refused = cli(*command)
    assert refused.exit_code == 2
    assert "cut off" in refused.stderr


def test_variants_gold_and_distractors(cli: Cli, cli_json: CliJson, data: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps({"conv-1-q1": {"drop": True}}), encoding="utf-8")
    common = ("--dataset", "locomo", "--data", str(data), "--embedder", "none")
    options = ("--without", "graph_rank", "--set", "score_sum.weights.lexical=0.9", "--distractors", "30")
    answer = cli_json("bench", "quality", *common, *options, "--gold", str(gold))
    assert answer["questions"] == 1
    assert answer["profile"] == "default -graph_rank score_sum.weights.lexical=0.9"
    for wrong, named in (
        ("--without=fusion", "fusion"),
        ("--without=score_sum", "score_sum"),
        ("--set=lexical", "STAGE.OPTION=VALUE"),
        ("--set=nothing.k=1", "nothing"),
        ("--set=lexical.k1=high", "TOML"),
        ("--set=lexical.kk=1", "kk"),
    ):
        refused = cli("bench", "quality", *common, wrong)
        assert (refused.exit_code, named in refused.stderr) == (2, True), refused.stderr


def test_every_stage_is_left_out_once(cli: Cli, cli_json: CliJson, data: Path) -> None:
    common = ("--dataset", "locomo", "--data", str(data), "--embedder", "none")
    answer = cli_json("bench", "ablation", *common)
    rows = set(answer["rows"]) | set(answer["refused"])
    assert {"random", "bm25", "oracle@100", "default", "without lexical", "without relevance"} <= rows
    assert not {"without score_sum", "without token_budget"} & rows
    assert answer["rows"]["oracle@100"]["recall@10"] >= answer["rows"]["default"]["recall@10"]
    # The one channel and the fuser stay.
    assert "without lexical" not in cli_json("bench", "ablation", *common, "--profile", "lexical")["rows"]
    shown = cli("bench", "ablation", *common, "--stage", "graph_rank")
    assert shown.exit_code == 0, shown.stderr
    assert "without graph_rank" in shown.stdout


def test_ids_lead_nowhere(cli: Cli, cli_json: CliJson, data: Path) -> None:
    common = ("--dataset", "locomo", "--data", str(data), "--embedder", "none")
    answer = cli_json("bench", "leaks", *common)
    assert (answer["questions"], answer["ids_changed"]) == (3, [])
    assert set(answer["names"]["conv-1"]) == {"Odile"}
    shown = cli("bench", "leaks", *common)
    assert shown.exit_code == 0, shown.stderr
    assert "0 of 3 rankings changed" in shown.stdout
