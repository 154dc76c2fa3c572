"""`simonides install` and `uninstall`: an agent's MCP server and hooks, in its own configuration files."""

import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simonides.errors import InputError, MissingExtraError
from simonides.surfaces.cli.opening import home_folder, program_path, redaction, store_path
from simonides.surfaces.cli.options import JsonOption, RedactOption, StoreOption, option
from simonides.surfaces.cli.output import NEGATIVE, fail, print_json, print_text, redacted, say

if TYPE_CHECKING:
    from simonides.surfaces.agents.clients import Place
    from simonides.surfaces.agents.installing import Change

_ClientArgument = Annotated[
    str,
    typer.Argument(
        metavar="CLIENT",
        help="claude-code, claude-desktop, cursor, vscode, codex or gemini.",
        show_default=False,
    ),
]
_ProjectOption = Annotated[
    bool, option("--project", "The files of the repository around the current folder, not the user's.")
]
_DryRunOption = Annotated[bool, option("--dry-run", "Show the change and write nothing.")]
_YesOption = Annotated[bool, option("--yes", "Write without asking.")]


def install(
    client: _ClientArgument,
    *,
    project: _ProjectOption = False,
    bank: Annotated[
        str | None,
        option("--bank NAME", "One bank for everything.", "one a repository; default for claude-desktop"),
    ] = None,
    hooks: Annotated[bool, option("--hooks/--no-hooks", "Also write hooks.")] = True,
    store: StoreOption = None,
    redact: RedactOption = None,
    dry_run: _DryRunOption = False,
    yes: _YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Add the MCP server and hooks to an agent's configuration; shows the change and asks.

    Everything else in the files stays as it is; what stood there before is kept beside each file. Doing it
    twice changes nothing. Exit code 1 when the answer is no.
    """
    from simonides.surfaces.agents.clients import find_client
    from simonides.surfaces.agents.installing import plan_install
    from simonides.surfaces.agents.json_edit import ByHandError

    found = find_client(client)
    if find_spec("mcp") is None:
        raise MissingExtraError("mcp is not installed; install it with: pip install 'simonides[mcp]'")
    place = _place(project=project)
    program = "simonides" if project else program_path()
    where = [] if project else ["--store", str(_store(store).absolute())]
    policy = redaction(redact)
    where += ["--redact", policy] if policy != "off" else []
    if not found.projects:
        bank = bank or "default"
    named = ["--bank", bank] if bank else []
    server = [program, "mcp", *(named or ["--project"]), *where]
    command = [program, "hook", client, *named, *where]
    hook = _command_line(command) if hooks else ""
    try:
        changes = plan_install(client, place, server, hook)
    except ByHandError as error:
        if error.lines:
            say(f"{error.field} needs these lines:\n{error.lines}")
        raise
    _carry_out(client, changes, found.note, dry_run=dry_run, yes=yes, as_json=as_json)
    if hooks and not as_json:
        _note_model()


def uninstall(
    client: _ClientArgument,
    *,
    project: _ProjectOption = False,
    dry_run: _DryRunOption = False,
    yes: _YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Remove from an agent's configuration what install wrote; shows the change and asks.

    Memories stay: `simonides delete-bank` deletes a bank. Exit code 1 when the answer is no.
    """
    from simonides.surfaces.agents.installing import plan_uninstall

    changes = plan_uninstall(client, _place(project=project))
    _carry_out(
        client, changes, "", dry_run=dry_run, yes=yes, as_json=as_json, unchanged="nothing of simonides"
    )


def _place(*, project: bool) -> "Place":
    from simonides.surfaces.agents.clients import Place
    from simonides.surfaces.agents.projects import checkout_root

    home = home_folder()
    if home is None:
        raise InputError("HOME", "no home folder is known here; set it")
    here = Path.cwd()
    root = (checkout_root(here) or here) if project else None
    return Place(home, os.environ, sys.platform, root)


def _store(option: str | None) -> Path:
    """The store of the user: what the folder at hand says about it counts for no other folder."""
    from simonides.surfaces.cli.configuration import user_value

    return store_path(option if option is not None else user_value("store"))


def _note_model() -> None:
    """Hooks have seconds, and fetching the embedder takes longer."""
    from simonides.models.catalogue import DEFAULT_EMBEDDER
    from simonides.models.resolve import embedder_status
    from simonides.surfaces.cli.opening import environment_embedder

    if environment_embedder() == "auto" and embedder_status(DEFAULT_EMBEDDER).state != "ready":
        say("note: the embedding model is not here yet; run `simonides models pull` before the first session")


def _command_line(command: list[str]) -> str:
    return subprocess.list2cmdline(command) if sys.platform == "win32" else shlex.join(command)


def _carry_out(
    client: str,
    changes: "list[Change]",
    note: str,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    unchanged: str = "unchanged",
) -> None:
    from simonides.surfaces.agents.installing import write

    due = [change for change in changes if change.kind != "none"]
    if due and not dry_run and not yes and (as_json or not _asks()):
        raise InputError("--yes", "is needed where nobody can be asked; look at the change with --dry-run")
    if not as_json:
        for change in due:
            print_text(redacted(change.diff()).rstrip("\n"))
    wanted = bool(due) and not dry_run
    if wanted and not yes and not typer.confirm(f"Write {_files(len(due))}?", err=True):
        fail("nothing is written", NEGATIVE)
    if wanted:
        write(changes)
    if as_json:
        print_json(_answer(client, changes, note, written=wanted))
        return
    for change in changes:
        kept = f", as it was: {change.backup}" if wanted and change.backup else ""
        said = unchanged if change.kind == "none" else _WORDS[wanted][change.kind]
        say(f"{said}: {change.path}{kept}")
    if wanted and note:
        say(note)


def _asks() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty()


_WORDS = {
    True: {"create": "made", "change": "changed", "remove": "removed"},
    False: {"create": "to be made", "change": "to be changed", "remove": "to be removed"},
}
"""Whether it is written → kind of a change → what is said."""


def _files(count: int) -> str:
    return "this file" if count == 1 else f"these {count} files"


def _answer(client: str, changes: "list[Change]", note: str, *, written: bool) -> dict[str, Any]:
    return {
        "client": client,
        "written": written,
        "files": [
            {
                "path": str(change.path),
                "change": change.kind,
                "diff": redacted(change.diff()),
                "backup": str(change.backup) if written and change.backup else None,
            }
            for change in changes
        ],
        "note": note,
    }
