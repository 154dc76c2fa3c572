"""The Claude Code plugin says what `simonides install claude-code` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import simonides
from simonides.surfaces.agents.clients import CLIENTS

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
