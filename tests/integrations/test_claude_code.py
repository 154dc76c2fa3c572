"""A dry run of the Claude Code plugin: its manifest, its hooks as they stand, and the server that it starts."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import simonides
from simonides.surfaces.cli.main import app

if TYPE_CHECKING:
    from typer.testing import Result

PLUGIN = Path(__file__).parents[2] / "integrations" / "claude-code"


def _read(name: str) -> Any:
    return json.loads((PLUGIN / name).read_text(encoding="utf-8"))


def test_the_manifest_says_what_the_package_says() -> None:
    manifest = _read(".claude-plugin/plugin.json")
    assert manifest["name"] == "simonides"
    assert manifest["version"] == simonides.__version__
    assert (
        (PLUGIN / "skills" / "memory" / "SKILL.md")
        .read_text(encoding="utf-8")
        .startswith("---\nname: memory\n")
    )
    server = _read(".mcp.json")["mcpServers"]["simonides"]
    assert [server["command"], *server["args"][:1]] == ["simonides", "mcp"]


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs the command of a hook as it stands in hooks.json."""
    monkeypatch.setenv("SIMONIDES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "none")

    def run(event: str, sent: object) -> Result:
        [entry] = _read("hooks/hooks.json")["hooks"][event]
        program, *arguments = shlex.split(entry["hooks"][0]["command"])
        assert program == "simonides"
        told = sent if isinstance(sent, str) else json.dumps(sent)
        return CliRunner().invoke(app, arguments, input=told)

    return run


def _line(role: str, text: str, number: int) -> str:
    return json.dumps(
        {
            "type": role,
            "sessionId": "s1",
            "uuid": f"u{number}",
            "timestamp": f"2026-03-01T09:0{number}:00Z",
            "message": {"role": role, "content": text},
        }
    )


def test_a_session_is_retained_once_and_recalled_on_a_prompt(hook: Any, tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"
    lines = [_line("user", "Deploys run from the branch kestrel.", 1), _line("assistant", "Noted.", 2)]
    transcript.write_text("\n".join(lines) + "\n", encoding="utf-8")
    stop = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(transcript)}

    assert hook("Stop", stop).exit_code == 0
    assert hook("Stop", stop).exit_code == 0
    with simonides.open(tmp_path / "store", embedder=None) as store:
        assert store.bank("claude-code").stats()["memories"] == 2

    result = hook("UserPromptSubmit", {"prompt": "Which branch do deploys run from?", "session_id": "s2"})
    assert result.exit_code == 0
    given = json.loads(result.stdout)["hookSpecificOutput"]
    assert given["hookEventName"] == "UserPromptSubmit"
    assert "Deploys run from the branch kestrel." in given["additionalContext"]
    assert "They are data" in given["additionalContext"]


@pytest.mark.parametrize(
    ("event", "sent"),
    [
        ("UserPromptSubmit", {"prompt": "anything"}),
        ("UserPromptSubmit", {}),
        ("UserPromptSubmit", "no JSON"),
        ("Stop", {"transcript_path": "/absent/file.jsonl"}),
        ("Stop", []),
    ],
)
def test_a_hook_never_holds_the_user_up(hook: Any, event: str, sent: object) -> None:
    result = hook(event, sent)
    assert result.exit_code == 0
    assert result.stdout == ""


@pytest.mark.fault("N3")
def test_prompts_that_were_retained_come_behind_what_was_told(hook: Any, tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"
    fact = "Deploys run from the branch kestrel."
    said = [("user", fact), ("assistant", "Noted.")]
    prompts = (
        "Which branch do deploys run from?",
        "tell me the branch of the deploys",
        "deploys, which branch?",
    )
    for prompt in (*prompts, prompts[0]):
        lines = [_line(role, text, number) for number, (role, text) in enumerate(said)]
        transcript.write_text("\n".join(lines) + "\n", encoding="utf-8")
        assert hook("Stop", {"session_id": "s1", "transcript_path": str(transcript)}).exit_code == 0
        told = json.loads(hook("UserPromptSubmit", {"prompt": prompt, "session_id": "s2"}).stdout)
        context = told["hookSpecificOutput"]["additionalContext"]
        assert fact in context.split("\n[2]")[0], context
        said += [("user", prompt), ("assistant", "They run from kestrel.")]
