"""What to write into the configuration of an MCP client, as text to be pasted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simonides.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

# Client → (where it goes, the key that servers stand under, whether it states the transport).
_CLIENTS = {
    "claude": (".mcp.json of a project, or claude_desktop_config.json", "mcpServers", False),
    "cursor": ("~/.cursor/mcp.json, or .cursor/mcp.json of a project", "mcpServers", False),
    "vscode": (".vscode/mcp.json of a workspace", "servers", True),
}
CLIENTS = tuple(_CLIENTS)


def client_config(client: str, command: str, arguments: Sequence[str]) -> tuple[str, str]:
    """Where the configuration of claude, cursor or vscode goes, and its JSON; else ``UnknownNameError``."""
    if client not in _CLIENTS:
        raise UnknownNameError("--print-config", client, CLIENTS)
    where, key, transport = _CLIENTS[client]
    server = {**({"type": "stdio"} if transport else {}), "command": command, "args": list(arguments)}
    return where, json.dumps({key: {"simonides": server}}, indent=2, ensure_ascii=False)
