"""The agents that `simonides install` knows: where each keeps its configuration, and in which form.

Read off each client's documents; the programs themselves were not started. User-level files hold the whole
path of this program and of the store, since a client starts programs with an environment of its own. Files of
a project are shared with others, so they name the program alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVER = "simonides"
"""The name of the MCP server in every client's file."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where files are looked for.

    Attributes:
        platform: as ``sys.platform`` says.
        project: root of the project whose files are meant; ``None`` = the user's.
    """

    home: Path
    environ: Mapping[str, str]
    platform: str
    project: Path | None = None

    def settings(self) -> Path:
        """Where programs with windows keep settings, by the custom of the operating system."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming")
        xdg = self.environ.get("XDG_CONFIG_HOME", "")
        return Path(xdg) if Path(xdg).is_absolute() else self.home / ".config"

    def moved(self, variable: str, default: str) -> Path:
        """A folder in the home folder that a variable may move."""
        named = self.environ.get(variable, "")
        return Path(named) if Path(named).is_absolute() else self.home / default


@dataclass(frozen=True, slots=True)
class Client:
    """One agent.

    Attributes:
        servers: key that MCP servers stand under; its file is TOML where ``toml``.
        transport: whether an entry states ``"type": "stdio"``.
        events: hook events → seconds that a hook may take, in the order of a session.
        flat: whether a hook stands in the event's list itself, and not in a group there; with a version.
        ticks: of its time limits, per second.
        projects: whether it works on a project's folder.
        note: what the user has to do or to know, a sentence.
    """

    title: str
    servers: str = "mcpServers"
    toml: bool = False
    transport: bool = False
    events: Mapping[str, int] | None = None
    flat: bool = False
    ticks: int = 1
    projects: bool = True
    note: str = ""

    def server(self, command: str, arguments: list[str]) -> dict[str, Any]:
        """The entry of the MCP server."""
        kind = {"type": "stdio"} if self.transport else {}
        return {**kind, "command": command, "args": arguments}

    def hook(self, event: str, command: str) -> dict[str, Any]:
        """The entry of a hook, without the group around it."""
        kind = {} if self.flat else {"type": "command"}
        return {**kind, "command": command, "timeout": (self.events or {})[event] * self.ticks}


_FAST, _SLOW = 20, 60

CLIENTS: Mapping[str, Client] = {
    "claude-code": Client(
        "Claude Code",
        transport=True,
        events={"SessionStart": _FAST, "UserPromptSubmit": _FAST, "Stop": _SLOW, "PreCompact": _SLOW},
        note="Start a new session; /mcp and /hooks list what was written.",
    ),
    "claude-desktop": Client(
        "Claude Desktop", projects=False, note="Restart it; it has no hooks and knows no project."
    ),
    "cursor": Client(
        "Cursor",
        transport=True,
        events={"sessionStart": _FAST, "beforeSubmitPrompt": _SLOW, "afterAgentResponse": _SLOW},
        flat=True,
        note="Its hook on a prompt takes no context, so the agent recalls by the tool.",
    ),
    "vscode": Client(
        "VS Code",
        servers="servers",
        transport=True,
        note="It asks whether you trust the server. Its hooks take no context and are a preview, so none is "
        "written: the agent recalls and retains by the tools.",
    ),
    "codex": Client(
        "Codex",
        toml=True,
        events={"SessionStart": _FAST, "UserPromptSubmit": _SLOW, "Stop": _SLOW},
        note="It asks whether you trust the hooks (/hooks); a project's files count where it is trusted.",
    ),
    "gemini": Client(
        "Gemini CLI",
        events={"SessionStart": _FAST, "BeforeAgent": _FAST, "AfterAgent": _SLOW},
        ticks=1_000,
        note="A project's files count where its folder is trusted.",
    ),
}
"""By the name on the command line."""


def find_client(name: str) -> Client:
    """A client by name; ``UnknownNameError`` when there is none."""
    if name not in CLIENTS:
        raise UnknownNameError("CLIENT", name, CLIENTS)
    return CLIENTS[name]


def files_of(name: str, place: Place) -> tuple[Path, Path | None]:
    """Files of a client's MCP servers and of its hooks (``None`` = no hooks).

    ``InputError`` without a project's.
    """
    if place.project is not None:
        root = place.project
        if name == "claude-desktop":
            raise InputError("--project", "Claude Desktop has no file for a project; leave it out")
        return {
            "claude-code": (root / ".mcp.json", root / ".claude" / "settings.json"),
            "cursor": (root / ".cursor" / "mcp.json", root / ".cursor" / "hooks.json"),
            "vscode": (root / ".vscode" / "mcp.json", None),
            "codex": (root / ".codex" / "config.toml", root / ".codex" / "hooks.json"),
            "gemini": (root / ".gemini" / "settings.json",) * 2,
        }[name]
    home = place.home
    claude = place.moved("CLAUDE_CONFIG_DIR", ".claude")
    state = home if claude == home / ".claude" else claude
    codex = place.moved("CODEX_HOME", ".codex")
    return {
        "claude-code": (state / ".claude.json", claude / "settings.json"),
        "claude-desktop": (place.settings() / "Claude" / "claude_desktop_config.json", None),
        "cursor": (home / ".cursor" / "mcp.json", home / ".cursor" / "hooks.json"),
        "vscode": (place.settings() / "Code" / "User" / "mcp.json", None),
        "codex": (codex / "config.toml", codex / "hooks.json"),
        "gemini": (home / ".gemini" / "settings.json",) * 2,
    }[name]
