"""`simonides bench quality`, on a conversation of four turns."""

from __future__ import annotations

import importlib.util
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


@pytest.mark.parametrize("name", ["ablation", "changes", "ingest", "leaks", "scale", "standing", "view-cost"])
def test_benches_of_developers_say_where_they_are_now(cli: Cli, name: str) -> None:
    said = cli("bench", name, "--n", "5", "--json")
    assert (said.exit_code, said.stdout) == (2, "")
    module = name.replace("-", "_")
    assert f"python -m bench.{module}" in said.stderr
    assert importlib.util.find_spec(f"bench.{module}")
    assert name not in cli("bench", "--help").stdout


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


def test_a_profile_is_varied_by_options(cli: Cli, cli_json: CliJson, data: Path) -> None:
    common = ("--dataset", "locomo", "--data", str(data), "--embedder", "none")
    options = ("--without", "graph_rank", "--set", "score_sum.weights.lexical=0.9")
    answer = cli_json("bench", "quality", *common, *options)
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
