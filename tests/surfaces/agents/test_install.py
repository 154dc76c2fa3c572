"""`simonides install` and `uninstall` in invented homes: each client's documented files, and nothing else in them."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simonides.errors import InputError
from simonides.surfaces.agents.clients import CLIENTS, Place, files_of
from simonides.surfaces.agents.hooks import HOOKS
from simonides.surfaces.agents.installing import plan_install, plan_uninstall, write

if TYPE_CHECKING:
    from tests.surfaces.conftest import Cli, CliJson

SERVER = ["/opt/bin/simonides", "mcp", "--project", "--store", "/home/u/mem ory"]
HOOK = "/opt/bin/simonides hook {client} --store '/home/u/mem ory'"
ENTRY = {"command": SERVER[0], "args": SERVER[1:]}
STDIO = {"type": "stdio", **ENTRY}


@pytest.fixture
def place(home: Path) -> Place:
    return Place(home, {}, "linux")


def _install(client: str, place: Place, hook: str = HOOK) -> list[Any]:
    changes = plan_install(client, place, SERVER, hook.format(client=client))
    write(changes)
    return changes


def _uninstall(client: str, place: Place) -> list[Any]:
    changes = plan_uninstall(client, place)
    write(changes)
    return changes


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in sorted(folder.rglob("*"))
        if each.is_file()
    }


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _grouped(client: str, **timeouts: int) -> dict[str, Any]:
    command = HOOK.format(client=client)
    return {
        event: [{"hooks": [{"type": "command", "command": command, "timeout": timeout}]}]
        for event, timeout in timeouts.items()
    }


# What each client's documents say: file → content. For a project the same entries in other files.
DOCUMENTED: dict[str, dict[str, Any]] = {
    "claude-code": {
        ".claude.json": {"mcpServers": {"simonides": STDIO}},
        ".claude/settings.json": {
            "hooks": _grouped("claude-code", SessionStart=20, UserPromptSubmit=20, Stop=60, PreCompact=60)
        },
    },
    "claude-desktop": {".config/Claude/claude_desktop_config.json": {"mcpServers": {"simonides": ENTRY}}},
    "cursor": {
        ".cursor/mcp.json": {"mcpServers": {"simonides": STDIO}},
        ".cursor/hooks.json": {
            "version": 1,
            "hooks": {
                event: [{"command": HOOK.format(client="cursor"), "timeout": timeout}]
                for event, timeout in {
                    "sessionStart": 20,
                    "beforeSubmitPrompt": 60,
                    "afterAgentResponse": 60,
                }.items()
            },
        },
    },
    "vscode": {".config/Code/User/mcp.json": {"servers": {"simonides": STDIO}}},
    "codex": {
        ".codex/config.toml": {"mcp_servers": {"simonides": ENTRY}},
        ".codex/hooks.json": {"hooks": _grouped("codex", SessionStart=20, UserPromptSubmit=60, Stop=60)},
    },
    "gemini": {
        ".gemini/settings.json": {
            "mcpServers": {"simonides": ENTRY},
            "hooks": _grouped("gemini", SessionStart=20_000, BeforeAgent=20_000, AfterAgent=60_000),
        }
    },
}
OF_A_PROJECT = {
    "claude-code": {".claude.json": ".mcp.json", ".claude/settings.json": ".claude/settings.json"},
    "cursor": {},
    "vscode": {".config/Code/User/mcp.json": ".vscode/mcp.json"},
    "codex": {},
    "gemini": {},
}


def _values(files: dict[str, bytes]) -> dict[str, Any]:
    return {
        name: tomllib.loads(raw.decode()) if name.endswith(".toml") else json.loads(raw)
        for name, raw in files.items()
    }


def test_there_are_six_clients_and_hooks_for_those_that_have_them() -> None:
    assert set(CLIENTS) == set(DOCUMENTED)
    assert {name for name, each in CLIENTS.items() if each.events} == set(HOOKS)
    for name, events in HOOKS.items():
        assert list(CLIENTS[name].events or ()) == list(events)


@pytest.mark.parametrize("client", DOCUMENTED)
def test_a_new_home_gets_what_the_clients_documents_say(client: str, place: Place) -> None:
    changes = _install(client, place)
    assert {change.kind for change in changes} == {"create"}
    assert _values(_files(place.home)) == DOCUMENTED[client]
    if os.name != "nt":
        assert {stat.S_IMODE(c.path.stat().st_mode) for c in changes} == {0o600}


@pytest.mark.parametrize("client", DOCUMENTED)
def test_twice_is_once_and_uninstalling_leaves_nothing(client: str, place: Place) -> None:
    _install(client, place)
    before = _files(place.home)
    assert {change.kind for change in _install(client, place)} == {"none"}
    assert _files(place.home) == before
    assert {change.kind for change in _uninstall(client, place)} == {"remove"}
    assert _files(place.home) == {}
    assert {change.kind for change in _uninstall(client, place)} == {"none"}


@pytest.mark.parametrize("client", OF_A_PROJECT)
def test_a_project_has_files_of_its_own(client: str, home: Path, tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    _install(client, Place(home, {}, "linux", project))
    renamed = OF_A_PROJECT[client]
    assert _values(_files(project)) == {
        renamed.get(name, name): value for name, value in DOCUMENTED[client].items()
    }
    assert _files(home) == {}


@pytest.mark.parametrize(
    ("platform", "environ", "client", "path"),
    [
        ("darwin", {}, "claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("darwin", {}, "vscode", "Library/Application Support/Code/User/mcp.json"),
        ("win32", {}, "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("win32", {"APPDATA": "{home}/roam"}, "vscode", "roam/Code/User/mcp.json"),
        ("linux", {"XDG_CONFIG_HOME": "{home}/xdg"}, "vscode", "xdg/Code/User/mcp.json"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, "vscode", ".config/Code/User/mcp.json"),
        ("linux", {"CODEX_HOME": "{home}/cx"}, "codex", "cx/config.toml"),
        ("linux", {"CLAUDE_CONFIG_DIR": "{home}/cc"}, "claude-code", "cc/.claude.json"),
        ("darwin", {}, "cursor", ".cursor/mcp.json"),
        ("win32", {}, "gemini", ".gemini/settings.json"),
    ],
)
def test_every_system_has_its_places(
    platform: str, environ: dict[str, str], client: str, path: str, home: Path
) -> None:
    filled = {name: value.format(home=home) for name, value in environ.items()}
    assert files_of(client, Place(home, filled, platform))[0] == home / path


FOREIGN_JSON = """{
    "numStartups": 1.50,
    "mcpServers": {"other": {"command": "npx", "args": ["-y", "x"], "env": {"K": "\\u00fc"}}},
    "hooks": {
        "Stop": [
            {"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}
        ]
    },
    "last" : null
}
"""


@pytest.mark.parametrize("name", [".claude.json", ".claude/settings.json"])
def test_what_others_wrote_stays_byte_for_byte(name: str, place: Place) -> None:
    path = place.home / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(FOREIGN_JSON, encoding="utf-8")
    path.chmod(0o640)
    _install("claude-code", place)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    added, theirs = _json(path), json.loads(FOREIGN_JSON)
    assert added != theirs
    assert "1.50" in path.read_text(encoding="utf-8")
    assert path.with_name(f"{path.name}.before-simonides").read_text(encoding="utf-8") == FOREIGN_JSON
    _uninstall("claude-code", place)
    assert path.read_text(encoding="utf-8") == FOREIGN_JSON


def test_a_hook_of_ours_among_others_goes_alone(place: Place) -> None:
    path = place.home / ".claude" / "settings.json"
    path.parent.mkdir()
    ours = {"type": "command", "command": "simonides hook claude-code"}
    theirs = {"type": "command", "command": "simonides-hook claude-code"}
    mixed = {"matcher": "auto", "hooks": [theirs, ours]}
    path.write_text(
        json.dumps({"hooks": {"PreCompact": [mixed, {"hooks": [ours]}], "Stop": [{"hooks": [theirs]}]}})
    )
    _uninstall("claude-code", place)
    assert _json(path) == {
        "hooks": {"PreCompact": [{"matcher": "auto", "hooks": [theirs]}], "Stop": [{"hooks": [theirs]}]}
    }


def test_a_new_path_of_the_program_replaces_the_old_one_and_keeps_what_was_added(place: Place) -> None:
    _install("gemini", place)
    path = place.home / ".gemini" / "settings.json"
    value = _json(path)
    value["mcpServers"]["simonides"] |= {"command": "/old/simonides", "trust": True}
    value["hooks"]["AfterAgent"][0]["hooks"][0] |= {"command": "/old/simonides hook gemini", "name": "memory"}
    path.write_text(json.dumps(value), encoding="utf-8")
    assert [change.kind for change in _install("gemini", place)] == ["change"]
    value["mcpServers"]["simonides"]["command"] = SERVER[0]
    value["hooks"]["AfterAgent"][0]["hooks"][0]["command"] = HOOK.format(client="gemini")
    assert _json(path) == value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", None),
        ('model = "x"  # mine\n', 'model = "x"  # mine\n'),
        ('model = "x"', 'model = "x"\n'),
        ('[mcp_servers.other]\ncommand = "y"\n\n# last\n', '[mcp_servers.other]\ncommand = "y"\n\n# last\n'),
        ("a = 1\r\n[b]\r\nc = 2\r\n", "a = 1\r\n[b]\r\nc = 2\r\n"),
    ],
)
def test_a_toml_file_keeps_its_lines(before: str, after: str | None, place: Place) -> None:
    path = place.home / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_bytes(before.encode())
    _install("codex", place, hook="")
    assert path.read_bytes().decode().startswith(before)
    assert tomllib.loads(path.read_bytes().decode())["mcp_servers"]["simonides"] == ENTRY
    _uninstall("codex", place)
    assert (path.read_bytes().decode() if path.exists() else None) == after


def test_a_toml_table_keeps_keys_tables_and_comments_around_it(place: Place) -> None:
    path = place.home / ".codex" / "config.toml"
    path.parent.mkdir()
    text = (
        '[mcp_servers."simonides"]\n# mine\ncommand = "simonides"\nstartup_timeout_sec = 9\nargs = ["mcp"]\n'
        '[mcp_servers.simonides.env]\nK = "v"\n\n# about b\n[b]\nc = 1\n'
    )
    path.write_text(text)
    _install("codex", place, hook="")
    changed = path.read_text()
    assert tomllib.loads(changed)["mcp_servers"]["simonides"] == {
        **ENTRY,
        "startup_timeout_sec": 9,
        "env": {"K": "v"},
    }
    assert "# mine\n" in changed
    _uninstall("codex", place)
    assert path.read_text() == "\n# about b\n[b]\nc = 1\n"


@pytest.mark.parametrize(
    ("client", "file", "text", "message"),
    [
        ("cursor", ".cursor/mcp.json", '{"mcpServers": {', r"mcp\.json:1:17: is not JSON .*correct it there"),
        (
            "cursor",
            ".cursor/mcp.json",
            '{"mcpServers": []}',
            r"mcp\.json: mcpServers: expected an object, got a list",
        ),
        ("cursor", ".cursor/mcp.json", "[]", r"mcp\.json: expected an object, got a list"),
        (
            "cursor",
            ".cursor/mcp.json",
            '{"mcpServers": {"simonides": {"url": "http://x"}}}',
            "starts another program",
        ),
        (
            "cursor",
            ".cursor/hooks.json",
            '{"hooks": {"sessionStart": {}}}',
            "hooks.sessionStart: expected a list",
        ),
        ("codex", ".codex/config.toml", "a = \n", r"config\.toml: is not TOML .*line 1"),
        ("codex", ".codex/config.toml", "mcp_servers = 3\n", "mcp_servers: expected an object"),
        ("codex", ".codex/config.toml", "mcp_servers = {}\n", "change it by hand"),
        ("vscode", ".config/Code/User/mcp.json", '{\n  // mine\n  "servers": {}\n}', "comments"),
        ("gemini", ".gemini/settings.json", "\udcff", "is not UTF-8"),
    ],
)
def test_what_cannot_be_changed_is_refused_and_stays(
    client: str, file: str, text: str, message: str, cli: Cli, home: Path
) -> None:
    path = home / file
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode(errors="surrogateescape"))
    before = _files(home)
    result = cli("install", client, "--yes")
    assert result.exit_code == 2
    place = Place(home, {}, "linux")
    with pytest.raises(InputError, match=message):
        plan_install(client, place, SERVER, HOOK.format(client=client))
    assert _files(home) == before


def test_for_a_file_with_comments_the_lines_are_shown(cli: Cli, home: Path) -> None:
    path = home / ".config" / "Code" / "User" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // mine\n  "servers": {}\n}\n', encoding="utf-8")
    result = cli("install", "vscode", "--yes")
    assert result.exit_code == 2
    assert '"simonides": {' in result.stderr
    # Written there by hand, it is what install would have written.
    lines = result.stderr[result.stderr.index("{") : result.stderr.rindex("}") + 1]
    path.write_text(f"// mine\n{lines}", encoding="utf-8")
    assert cli("install", "vscode", "--yes").exit_code == 0
    assert cli("uninstall", "vscode", "--yes").exit_code == 2
    path.write_text('{"servers": {} /* none */}', encoding="utf-8")
    assert cli("uninstall", "vscode", "--yes").exit_code == 0


def test_the_change_is_shown_and_written_only_when_agreed(cli: Cli, home: Path, monkeypatch: Any) -> None:
    shown = cli("install", "cursor", "--dry-run")
    assert shown.exit_code == 0
    assert "+++ " in shown.stdout
    assert '+    "simonides": {' in shown.stdout
    assert "to be made: " in shown.stderr
    refused = cli("install", "cursor")
    assert refused.exit_code == 2
    assert "--yes" in refused.stderr
    monkeypatch.setattr("simonides.surfaces.cli.install._asks", lambda: True)
    assert cli("install", "cursor", stdin="n\n").exit_code == 1
    assert _files(home) == {}
    assert cli("install", "cursor", stdin="y\n").exit_code == 0
    assert set(_files(home)) == {".cursor/mcp.json", ".cursor/hooks.json"}
    assert cli("uninstall", "cursor", "--dry-run").exit_code == 0
    assert set(_files(home)) == {".cursor/mcp.json", ".cursor/hooks.json"}


def test_a_program_reads_what_was_done(cli_json: CliJson, home: Path, store_path: Path) -> None:
    planned = cli_json("install", "claude-code", "--dry-run")
    assert (planned["written"], [each["change"] for each in planned["files"]]) == (False, ["create"] * 2)
    done = cli_json("install", "claude-code", "--yes")
    assert done["written"] is True
    assert [each["path"] for each in done["files"]] == [
        str(home / ".claude.json"),
        str(home / ".claude" / "settings.json"),
    ]
    entry = _json(home / ".claude.json")["mcpServers"]["simonides"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"] == ["mcp", "--project", "--store", str(store_path)]
    assert cli_json("install", "claude-code", "--yes")["written"] is False


def test_a_shared_file_names_no_folder_of_this_machine(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / "src").mkdir()
    monkeypatch.chdir(shop / "src")
    assert cli("install", "claude-code", "--project", "--yes", "--redact", "mask").exit_code == 0
    entry = _json(shop / ".mcp.json")["mcpServers"]["simonides"]
    assert entry == {
        "type": "stdio",
        "command": "simonides",
        "args": ["mcp", "--project", "--redact", "mask"],
    }
    assert str(tmp_path) not in (shop / ".claude" / "settings.json").read_text()
    assert _files(home) == {}
    assert cli("install", "claude-desktop", "--project", "--yes").exit_code == 2


def test_the_file_of_the_folder_at_hand_decides_nothing_for_the_user(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "simonides.toml").write_text('store = "theirs"\nbank = "theirs"\n')
    monkeypatch.delenv("SIMONIDES_STORE")
    assert cli("install", "cursor", "--yes").exit_code == 0
    assert "theirs" not in (home / ".cursor" / "mcp.json").read_text()
    assert "theirs" not in (home / ".cursor" / "hooks.json").read_text()


def test_one_bank_for_everything_and_no_hooks_when_asked(cli: Cli, home: Path) -> None:
    assert cli("install", "codex", "--bank", "work", "--no-hooks", "--yes").exit_code == 0
    assert set(_files(home)) == {".codex/config.toml"}
    entry = tomllib.loads((home / ".codex" / "config.toml").read_text())["mcp_servers"]["simonides"]
    assert entry["args"][:3] == ["mcp", "--bank", "work"]
    assert cli("install", "claude-desktop", "--yes").exit_code == 0
    desktop = _json(home / ".config" / "Claude" / "claude_desktop_config.json")
    assert desktop["mcpServers"]["simonides"]["args"][:3] == ["mcp", "--bank", "default"]
    refused = cli("install", "cursr", "--yes")
    assert refused.exit_code == 2
    assert "did you mean 'cursor'" in refused.stderr


def test_a_link_stays_a_link_and_a_key_of_others_is_not_shown(cli: Cli, home: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    key = "sk-ant-api03-" + "Ab3dEf6h" * 8
    real.write_text(json.dumps({"mcpServers": {"other": {"env": {"KEY": key}}}}, indent=2))
    (home / ".cursor").mkdir()
    (home / ".cursor" / "mcp.json").symlink_to(real)
    result = cli("install", "cursor", "--yes")
    assert result.exit_code == 0
    assert (home / ".cursor" / "mcp.json").is_symlink()
    assert set(_json(real)["mcpServers"]) == {"other", "simonides"}
    assert key in real.read_text()
    assert key not in result.output
    real.write_text("{}\n")
    assert cli("install", "cursor", "--yes").exit_code == 0
    assert cli("uninstall", "cursor", "--yes").exit_code == 0
    # The link would lead nowhere.
    assert _json(real) == {}


def test_a_file_that_changed_meanwhile_is_not_overwritten(place: Place) -> None:
    changes = plan_install("cursor", place, SERVER, "")
    path = place.home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text('{"mine": 1}')
    with pytest.raises(InputError, match="changed meanwhile"):
        write(changes)
    assert path.read_text() == '{"mine": 1}'


def test_a_byte_order_mark_stays(place: Place) -> None:
    path = place.home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    _install("cursor", place, hook="")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf{")
    _uninstall("cursor", place)
    assert path.read_bytes() == b'\xef\xbb\xbf{"a": 1}'
