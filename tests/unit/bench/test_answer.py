"""`python -m bench.answer` against a server in this process that answers and judges."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from bench import answer, command

from simonides.testing.chat_server import ChatServer, Reply, failed, said

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., "Ended"]
    CliJson = Callable[..., Any]

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("plain_http", "_key")]

KEY = "sk-never-shown-0123456789abcdef"
TURNS = ("The kiln was mended on Monday.", "I glazed two blue pots.", "My sister sells candles.")


@pytest.fixture
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SIMONIDES_LLM_MODEL", "SIMONIDES_LLM_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SIMONIDES_LLM_API_KEY", KEY)
    monkeypatch.setattr("time.sleep", lambda _seconds: None)  # between the client's own retries


@dataclass(frozen=True, slots=True)
class Ended:
    exit_code: object
    stdout: str
    stderr: str


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "none")
    monkeypatch.setenv("SIMONIDES_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments: str) -> Ended:
        monkeypatch.setattr("sys.argv", ["answer.py", *arguments])
        with pytest.raises(SystemExit) as ended:
            command.run(answer.main)
        return Ended(ended.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def cli_json(cli: Cli) -> CliJson:
    def run(*arguments: str, code: int = 0) -> Any:
        result = cli(*arguments, "--json")
        assert result.exit_code == code, result.stderr
        return json.loads(result.stdout)

    return run


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    turns = [{"speaker": "Odile", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(TURNS, 1)]
    questions = [
        {"question": "Which pots did Odile glaze?", "answer": "blue", "evidence": ["D1:2"], "category": 4},
        {"question": "How many pots?", "answer": 2, "evidence": ["D9:9"], "category": 4},
        {"question": "Who sells candles?", "answer": "her sister", "evidence": ["D1:3"], "category": 1},
        {"question": "Who sang?", "adversarial_answer": "x", "evidence": ["D1:1"], "category": 5},
    ]
    talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    file = tmp_path / "locomo10.json"
    file.write_text(json.dumps([{"sample_id": "conv-1", "conversation": talk, "qa": questions}]), "utf-8")
    return file


@pytest.fixture
def longmemeval(tmp_path: Path) -> Path:
    def row(qid: str, kind: str, question: str, answer: Any) -> dict[str, Any]:
        spoken = [
            [{"role": "user", "content": "I keep nine hens now.", "has_answer": True}],
            [
                {"role": "user", "content": "I bought seven hens today."},
                {"role": "assistant", "content": "Lovely! Hens like dry straw."},
                {"role": "user", "content": " "},
            ],
        ]
        return {
            "question_id": qid,
            "question_type": kind,
            "question": question,
            "answer": answer,
            "question_date": "2023/06/30 (Fri) 10:00",
            "haystack_dates": ["2023/06/20 (Tue) 02:21", "2023/05/20 (Sat) 18:05"],
            "haystack_session_ids": ["answer_1", "filler_1"],
            "haystack_sessions": spoken,
            "answer_session_ids": ["answer_1"],
        }

    rows = [
        row("q1", "knowledge-update", "How many hens do I keep?", 9),
        row("q2_abs", "multi-session", "How many ducks do I keep?", "Ducks are never mentioned."),
    ]
    file = tmp_path / "longmemeval_s.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    return file


def is_judge(body: dict[str, Any]) -> bool:
    return "correct" in body["response_format"]["json_schema"]["schema"]["properties"]


def model(body: dict[str, Any]) -> Reply:
    """Reads the answer out of the notes; judges by the words of the right answer."""
    told = body["messages"][1]["content"]
    if is_judge(body):
        right = told.split("Right answer: ")[1].split("\n")[0]
        return said({"correct": right.split()[-1] in told.split("Given answer: ")[1]})
    return said({"answer": "blue, and her sister." if "glazed" in told else "I cannot tell."})


def options(file: Path, server: ChatServer, out: Path, *more: str) -> tuple[str, ...]:
    dataset = "locomo" if file.name.startswith("locomo") else "longmemeval"
    given = ("--dataset", dataset, "--data", str(file), "--llm", server.url, "--out", str(out))
    return (*given, "--model", "a-model", "--judge", "a-judge", *more)


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


def test_each_question_is_answered_from_what_is_recalled_and_judged(
    cli_json: CliJson, cli: Cli, locomo: Path, tmp_path: Path
) -> None:
    out = tmp_path / "answers.jsonl"
    with ChatServer(model) as server:
        report = cli_json(*options(locomo, server, out, "--precision", "wide"), code=0)
        again = cli(*options(locomo, server, out, "--precision", "wide"))

    assert len(server.requests) == 6, "two a question, none of category 5, and nothing is asked twice"
    asked, judged = server.requests[0].body, server.requests[1].body
    assert (asked["model"], judged["model"]) == ("a-model", "a-judge")
    assert (asked["temperature"], judged["temperature"]) == (0.0, 0.0)
    assert "Odile: I glazed two blue pots." in asked["messages"][1]["content"]
    assert "blue" in judged["messages"][1]["content"]
    assert "Right answer" not in asked["messages"][1]["content"]
    assert (report["questions"], report["judged"], report["correct"]) == (3, 3, 2)
    assert report["by_category"]["1"] == {"judged": 1, "correct": 1, "accuracy": 1.0}
    assert report["by_category"]["4"] == {"judged": 2, "correct": 1, "accuracy": 0.5}
    assert report["tokens"] == {
        "context_mean": report["tokens"]["context_mean"],
        "input_tokens": 300,
        "output_tokens": 150,
        "judge_input_tokens": 300,
        "judge_output_tokens": 150,
    }
    assert report["tokens"]["context_mean"] > 0
    assert (report["failures"], report["waiting"], report["stopped"]) == ({}, 0, "")
    assert again.exit_code == 0
    for words in ("a-model answered, a-judge judged", "0.6667", "failed: none; not asked yet: 0"):
        assert words in again.stdout
    assert [row["qid"] for row in lines(out)[1:]] == ["conv-1-q1", "conv-1-q2", "conv-1-q3"]


def test_the_key_goes_to_the_server_and_nowhere_else(cli: Cli, locomo: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    with ChatServer(model) as server:
        result = cli(*options(locomo, server, out, "--json"))
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert KEY not in result.stdout + result.stderr
    assert KEY not in out.read_text("utf-8")
    assert out.stat().st_mode & 0o077 == 0, "answers quote private conversations"


def test_a_history_is_asked_at_its_date_and_judged_by_its_kind(
    cli_json: CliJson, longmemeval: Path, tmp_path: Path
) -> None:
    out = tmp_path / "answers.jsonl"
    with ChatServer(model) as server:
        report = cli_json(*options(longmemeval, server, out, "--precision", "wide"), code=0)
    answering, judging, _, abstaining = (request.body["messages"] for request in server.requests)
    notes = answering[1]["content"]
    assert "asked on 2023-06-30" in notes
    assert "(2023-06-20) user: I keep nine hens now." in notes
    assert "answer_1" not in json.dumps(answering), "the id of a session gives the evidence away"
    assert "newest value" in judging[0]["content"]
    assert "cannot be answered" in abstaining[0]["content"]
    assert report["abstention"]["judged"] == 1
    assert set(report["by_category"]) == {"knowledge-update", "multi-session"}


def test_what_failed_or_was_not_asked_is_asked_by_the_next_run(
    cli: Cli, cli_json: CliJson, locomo: Path, tmp_path: Path
) -> None:
    out = tmp_path / "answers.jsonl"
    unusable, down = said("no object"), failed(500)
    with ChatServer(unusable, model, said({"correct": "perhaps"}), down, down, model) as server:
        first = cli_json(*options(locomo, server, out, "--retries", "1"), code=1)
    assert first["failures"] == {"answer": 1, "judge": 1, "unavailable": 1}
    assert (first["judged"], first["accuracy"], first["waiting"]) == (0, None, 0)
    assert len(server.requests) == 5, "one retry, no more"
    with ChatServer(model) as server:
        second = cli_json(*options(locomo, server, out, "--retries", "1"), code=0)
    assert (second["judged"], second["failures"], len(server.requests)) == (3, {}, 6)
    assert len(lines(out)) == 7


def test_a_server_that_is_down_ends_the_run(cli: Cli, locomo: Path, tmp_path: Path) -> None:
    rows = json.loads(locomo.read_text("utf-8"))
    rows[0]["qa"] += rows[0]["qa"][:2]
    locomo.write_text(json.dumps(rows), encoding="utf-8")
    with ChatServer(failed(503)) as server:
        result = cli(*options(locomo, server, tmp_path / "answers.jsonl", "--retries", "0"))
    assert result.exit_code == 1
    assert len(server.requests) == 3
    assert "3 questions in a row got no answer" in result.stderr
    assert "not asked yet: 2" in result.stdout


def test_a_wrong_key_ends_the_run_at_once_and_loses_nothing(
    cli: Cli, cli_json: CliJson, locomo: Path, tmp_path: Path
) -> None:
    out = tmp_path / "answers.jsonl"
    with ChatServer(model, model, failed(401, "invalid_api_key")) as server:
        result = cli(*options(locomo, server, out))
    assert (result.exit_code, len(server.requests)) == (2, 3)
    assert "401 invalid_api_key" in result.stderr
    assert len(lines(out)) == 2
    with ChatServer(model) as server:
        assert cli_json(*options(locomo, server, out), code=0)["judged"] == 3
    assert len(server.requests) == 4


def test_a_line_that_a_crash_cut_off_is_asked_again(cli_json: CliJson, locomo: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    with ChatServer(model) as server:
        whole = cli_json(*options(locomo, server, out), code=0)
        out.write_bytes(out.read_bytes()[:-30])
        again = cli_json(*options(locomo, server, out), code=0)
    assert len(server.requests) == 8
    assert again == whole
    assert len(lines(out)) == 4


@pytest.mark.parametrize(
    ("more", "said_of_it"),
    [
        (("--limit", "0"), "limit"),
        (("--temperature", "hot"), "temperature"),
        (("--temperature", "3"), "temperature"),
        (("--dataset", "locomoto"), "did you mean 'locomo'?"),
        (("--data", "nowhere.json"), "nowhere.json"),
        (("--llm", "no-address"), "--llm"),
        (("--out", "no-folder/answers.jsonl"), "no folder no-folder"),
        (("--profile", "no-such-profile"), "no-such-profile"),
    ],
)
def test_bad_input_asks_nobody_and_writes_nothing(
    cli: Cli, locomo: Path, tmp_path: Path, more: tuple[str, ...], said_of_it: str
) -> None:
    out = tmp_path / "answers.jsonl"
    with ChatServer(model) as server:
        result = cli(*options(locomo, server, out, *more))
    assert (result.exit_code, server.requests) == (2, [])
    assert said_of_it in result.stderr
    assert not out.exists()


def test_a_file_of_another_run_or_kind_is_refused_and_kept(cli: Cli, locomo: Path, tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    with ChatServer(model) as server:
        cli(*options(locomo, server, out))
        before, requests = out.read_bytes(), len(server.requests)
        other = cli(*options(locomo, server, out, "--max-tokens", "100"))
        assert (other.exit_code, out.read_bytes(), len(server.requests)) == (2, before, requests)
        assert "made with recall" in other.stderr
        for content in (b"dear diary\n", b"dear diary", b'{"settings"', b"[]\n", before.partition(b"\n")[0]):
            out.write_bytes(content)
            refused = cli(*options(locomo, server, out))
            assert (refused.exit_code, out.read_bytes()) == (2, content)
            assert "name another file" in refused.stderr


def test_files_of_another_form_are_refused(cli: Cli, longmemeval: Path, tmp_path: Path) -> None:
    rows = json.loads(longmemeval.read_text("utf-8"))
    rows[0]["haystack_dates"][0] = "last Tuesday"
    longmemeval.write_text(json.dumps(rows), encoding="utf-8")
    with ChatServer(model) as server:
        result = cli(*options(longmemeval, server, tmp_path / "answers.jsonl"))
    assert result.exit_code == 2
    assert "'last Tuesday' must have the form" in result.stderr
