"""The commands of the command line, each built when it is first asked for.

Listing them needs a name and a sentence; building one needs its module and what Typer makes of its
parameters, 1 to 4 ms each. So `simonides --help` builds none, and a command only itself.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from simonides.surfaces.cli.plain_values import spare_conversions

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "retain": (
        "retain:retain",
        "Store memories; print their ids, one a line.",
    ),
    "retain-conversation": (
        "retain_conversation:retain_conversation",
        "Store a conversation by turns; print one id a turn. Turns that are there already stay as they are.",
    ),
    "recall": (
        "recall:recall",
        "Recall what helps; exit code 1 when nothing does.",
    ),
    "reflect": (
        "reflect:reflect",
        "Answer a question from memory, with citations; exit code 1 when memory holds no answer.",
    ),
    "show": (
        "show:show",
        "Show one memory; exit code 1 when it is not there.",
    ),
    "list-memories": (
        "list_memories:list_memories",
        "List what a bank holds, in the order of ids; exit code 1 when there is nothing.",
    ),
    "history": (
        "history:history",
        (
            "Show what a memory stated, when that held, and when the bank learned it; "
            "exit code 1 when not there."
        ),
    ),
    "source": (
        "source:source",
        "Print the raw text that a memory comes from, verbatim; exit code 1 when it is not there.",
    ),
    "diff": (
        "diff:diff",
        (
            "Compare what a bank believed at two moments: what ended (-), began (+) "
            "and changed (~) between them."
        ),
    ),
    "update-memory": (
        "update_memory:update_memory",
        "Change what is noted about a memory, as a new version; its words stay. Exit code 1 when not there.",
    ),
    "invalidate": (
        "invalidate:invalidate",
        "End a memory: recall no longer finds it, but for an earlier moment; exit code 1 when not there.",
    ),
    "forget": (
        "forget:forget",
        "Forget memories; exit code 1 when one was not there, or a purge is not complete yet.",
    ),
    "quarantine": (
        "quarantine:quarantine",
        "Set memories aside: only a recall of the kind quarantine sees them.",
    ),
    "release": (
        "quarantine:release",
        "Take memories out of quarantine.",
    ),
    "used": (
        "used:used",
        "Count memories as accessed, now; exit code 1 when none of them is there.",
    ),
    "entities": (
        "entities:entities",
        "List people, places and things with how many memories mention them.",
    ),
    "alias": (
        "alias:alias",
        "Let another name stand for an entity from now on; exit code 1 when there is no such entity.",
    ),
    "merge": (
        "merge:merge",
        "Let one entity count as another; exit code 1 when one of them is not there.",
    ),
    "unmerge": (
        "merge:unmerge",
        "Undo a merge: its two entities are told apart again; exit code 1 when there is none to undo.",
    ),
    "settle": (
        "settle:settle",
        "Link memories that were stored in large batches to their neighbours; recall works meanwhile.",
    ),
    "enrich": (
        "enrich:enrich",
        "Queue memories and ask a language model about them; exit code 1 when a request failed.",
    ),
    "reembed": (
        "reembed:reembed",
        "Let a bank go over to another embedding model; it is read and written meanwhile.",
    ),
    "maintain": (
        "maintain:maintain",
        "Move memories up, put old ones away, sum up what is said again; nothing is deleted.",
    ),
    "moves": (
        "moves:moves",
        "Show what maintenance and newer memories did to memories; exit code 1 when there is no such one.",
    ),
    "undo": (
        "moves:undo",
        "Take back a promotion, an archiving or an end; exit code 1 when there is none to take back.",
    ),
    "pin": (
        "pin:pin",
        "Keep a memory from decay, and first in a brief; exit code 1 when it is not there.",
    ),
    "unpin": (
        "pin:unpin",
        "Let a pinned memory age like any other; exit code 1 when it is not there.",
    ),
    "set-ttl": (
        "set_ttl:set_ttl",
        "Give memories that are retained without a time to live one from now on; print all that is set.",
    ),
    "check": (
        "check:check",
        (
            "Find memories that name paths, commands or packages that are not there; "
            "exit code 1 when there are any."
        ),
    ),
    "brief": (
        "brief:brief",
        "Print what the next session should know, with the memories it comes from; exit code 1 when nothing.",
    ),
    "list-banks": (
        "banks:list_banks",
        "List the banks of a store, one a line; exit code 1 when there is none.",
    ),
    "create-bank": (
        "banks:create_bank",
        "Make a bank; one that is there stays as it is, but for a zone that is given.",
    ),
    "delete-bank": (
        "banks:delete_bank",
        "Delete a bank with everything in it, for good; exit code 1 when there is none of this name.",
    ),
    "export": (
        "export:export",
        "Write everything in a bank to a file, without loss and in plain form; `simonides import` reads it.",
    ),
    "backup": (
        "backup:backup",
        "Copy a bank to one file, while others use it.",
    ),
    "restore": (
        "backup:restore",
        "Replace everything in a bank by a backup; it is verified first.",
    ),
    "tune": (
        "tune:tune",
        "Look for better numbers for a profile, and adopt them only if held-out queries bear them out.",
    ),
    "stats": (
        "stats:stats",
        "Show what a bank holds.",
    ),
    "verify": (
        "verify:verify",
        "Check a bank; exit code 1 when it is not whole.",
    ),
    "when": (
        "when:when",
        "Say what times a text speaks of; exit code 1 when it speaks of none.",
    ),
    "serve": (
        "serve:serve",
        "Serve a store over HTTP; every request but /health/live needs a token.",
    ),
    "mcp": (
        "mcp:mcp",
        "Serve a store to an MCP client over standard input and output; a client starts this itself.",
    ),
    "demo": (
        "demo:demo",
        "Retain a year's journal and ask it ten questions.",
    ),
    "import": (
        "import_:import_",
        "Import an export of a bank, notes, chats or the memory of another program.",
    ),
    "why-not": (
        "why_not:why_not",
        "Say which stage lost a memory, by how much, and what would keep it.",
    ),
    "train-reranker": (
        "train_reranker:train_reranker",
        "Train the learned reranker on what was said to be of use; kept if it does better on later recalls.",
    ),
    "audit": (
        "audit:audit",
        "The logs of who changed what and who was told what, sealed row by row.",
    ),
    "config": (
        "config:config",
        "Show the settings: option > SIMONIDES_* > simonides.toml > default.",
    ),
    "jobs": (
        "jobs:jobs",
        "Answers of recalls that take longer.",
    ),
    "models": (
        "models:models",
        "List, fetch and check the models that give texts their vectors.",
    ),
    "profiles": (
        "profiles:profiles",
        "List, show, compare and check profiles: which stages rank, in which order, with which options.",
    ),
    "token": (
        "token:token",
        "Make, list and revoke the tokens of a store's servers.",
    ),
    "install": (
        "install:install",
        "Write the memory into an agent's configuration: MCP server and hooks; shows the change and asks.",
    ),
    "uninstall": (
        "install:uninstall",
        "Take out of an agent's configuration what install wrote; shows the change and asks.",
    ),
    "hook": (
        "hook:hook",
        "Brief, recall or retain, as an event of a coding agent asks for; its hooks call this.",
    ),
    "bench": (
        "bench:bench",
        "Measure on public datasets.",
    ),
}
"""By name, in the order of the help: the module and what is in it, and the first paragraph of its help."""


class LazyCommands(MutableMapping[str, Any]):
    """Commands by name, as a Typer group holds them; each is built at its first use."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}
        self._names = list(COMMANDS)

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            if name not in COMMANDS:
                raise KeyError(name)
            self._built[name] = _build(name)
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._names += [] if name in self._names else [name]
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        self._names.remove(name)
        self._built.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def summaries() -> TyperGroup:
    """A group of the same names that can be listed, and do nothing."""
    return TyperGroup(
        commands={name: TyperCommand(name, help=sentence) for name, (_, sentence) in COMMANDS.items()}
    )


def _build(name: str) -> Any:
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"simonides.surfaces.cli.{module}"), attribute)
    # Alone in an app a command would be the whole of it, so it gets a group to stand in.
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback()(_nothing)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name)
    else:
        app.command(name)(found)
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]  # it is a group
    spare_conversions(command)
    return command


def _nothing() -> None:
    """A group that does nothing itself."""
