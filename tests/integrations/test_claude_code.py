"""The Claude Code plugin says what `simonides install claude-code` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

import simonides
from simonides.surfaces.agents.clients import CLIENTS
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


def test_its_server_and_hooks_are_those_that_install_writes() -> None:
    client = CLIENTS["claude-code"]
    server = _read(".mcp.json")["mcpServers"]["simonides"]
    assert {"type": "stdio", **server} == client.server("simonides", ["mcp", "--project"])
    assert _read("hooks/hooks.json")["hooks"] == {
        event: [{"hooks": [client.hook(event, "simonides hook claude-code")]}]
        for event in client.events or ()
    }


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


@pytest.mark.fault("N3")
def test_prompts_that_were_retained_come_behind_what_was_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMONIDES_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("SIMONIDES_EMBEDDER", "none")

    def hook(event: str, sent: dict[str, str]) -> Result:
        told = json.dumps({"hook_event_name": event, **sent})
        return CliRunner().invoke(app, ["hook", "claude-code", "--bank", "agent"], input=told)

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
