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


def test_abstention_reports_rates_and_a_curve(cli: Cli, cli_json: CliJson, data: Path) -> None:
    (data / "musique").mkdir()
    paragraph = {"idx": 0, "title": "Kilns", "paragraph_text": "A kiln is an oven.", "is_supporting": True}
    question = {
        "id": "2hop__1",
        "question": "What is a kiln?",
        "question_decomposition": [{"id": 0}, {"id": 1}],
        "paragraphs": [paragraph],
    }
    (data / "musique" / "musique.json").write_text(json.dumps([question]), encoding="utf-8")
    corpus = [{"title": "Kilns", "text": "A kiln is an oven."}]
    (data / "musique" / "musique_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    answer = cli_json("bench", "abstention", "--data", str(data), "--embedder", "none")
    assert answer["embedder"] is None
    assert {"in_use", "fitted", "measured", "curve", "curve_words"} <= answer.keys()
    assert answer["curve_words"][0].keys() == {"least_coverage", "lost", "false"}
    shown = cli("bench", "abstention", "--data", str(data), "--embedder", "none")
    assert shown.exit_code == 0, shown.stderr
    assert "adversarial" in shown.stdout
    refused = cli("bench", "abstention", "--data", str(data), "--profile", "lexical", "--embedder", "none")
    assert refused.exit_code == 2
    assert "abstention" in refused.stderr
