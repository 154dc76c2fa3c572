"""The commands of the command line, each built when it is first asked for.

Listing them needs a name and a sentence; building one needs its module and what Typer makes of its
parameters, 1 to 4 ms each. So `simonides --help` builds none, and a command only itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, MutableMapping
from copy import copy
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
import typer.main
from typer.core import TyperCommand, TyperGroup

from simonides.deprecations import COMMANDS as OLD_COMMANDS
from simonides.surfaces.cli.output import say
from simonides.surfaces.cli.plain_values import spare_conversions

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "retain": ("retain:retain", "Store memories; print their ids, one a line."),
    "retain-conversation": (
        "retain:retain_conversation",
        "Store a conversation by turns; print one id a turn. Turns that are there already stay as they are.",
    ),
    "recall": ("recall:recall", "Search the memories for an answer; exit code 1 when nothing matches."),
    "reflect": (
        "recall:reflect",
        "Answer a question from memory, with citations; exit code 1 when memory holds no answer.",
    ),
    "get-memory": ("memories:GET_MEMORY", "Show one memory; exit code 1 when it is not there."),
    "list-memories": (
        "memories:LIST_MEMORIES",
        "List what a bank holds, by id or the newest first; exit code 1 when there is nothing.",
    ),
    "facets": (
        "memories:FACETS",
        "Count what a bank holds by kind, tag, month and more; exit code 1 when there is nothing.",
    ),
    "history": (
        "memories:HISTORY",
        "Show every version of a memory: when it was true and when stored; exit code 1 when not there.",
    ),
    "source": (
        "memories:SOURCE",
        "Print the raw text that a memory comes from, verbatim; exit code 1 when it is not there.",
    ),
    "diff": (
        "memories:DIFF",
        (
            "Compare what a bank believed at two moments: what ended (-), began (+) "
            "and changed (~) between them."
        ),
    ),
    "update-memory": (
        "memories:UPDATE_MEMORY",
        "Change the text or the labels of a memory, as a new version. Exit code 1 when it is not there.",
    ),
    "invalidate": (
        "memories:INVALIDATE",
        "End a memory: it is found only for earlier moments; its history stays. Exit code 1 when not there.",
    ),
    "forget": (
        "memories:forget",
        "Delete memories with their history; exit code 1 when one was not there, or a purge is incomplete.",
    ),
    "archive": (
        "memories:ARCHIVE",
        "Archive memories: they are found on request only; exit code 1 when one is not there.",
    ),
    "quarantine": (
        "memories:QUARANTINE",
        "Quarantine memories: only a recall of the kind quarantine finds them.",
    ),
    "release": ("memories:RELEASE", "Take memories out of quarantine."),
    "used": ("memories:USED", "Record that memories were useful; exit code 1 when none of them is there."),
    "entities": ("entities:ENTITIES", "List people, places and things with how many memories mention them."),
    "get-entity": (
        "entities:GET_ENTITY",
        "Show an entity: memories, what they mention beside it, merges; exit code 1 when it is not there.",
    ),
    "add-alias": (
        "entities:ADD_ALIAS",
        "Add another name of an entity, used from now on; exit code 1 when there is no such entity.",
    ),
    "remove-alias": (
        "entities:REMOVE_ALIAS",
        "Remove another name of an entity; exit code 1 when it has none of this name.",
    ),
    "merge-entities": (
        "entities:MERGE_ENTITIES",
        "Merge one entity into another; exit code 1 when one of them is not there.",
    ),
    "undo-merge": (
        "entities:UNDO_MERGE",
        "Undo a merge of two entities; exit code 1 when there is none to undo.",
    ),
    "settle": (
        "maintenance:settle",
        "Link memories that were stored in large batches to their neighbours; recall works meanwhile.",
    ),
    "enrich": (
        "maintenance:enrich",
        "Queue memories and ask a language model about them; exit code 1 when a request failed.",
    ),
    "reembed": (
        "maintenance:reembed",
        "Migrate a bank to another embedding model; it is read and written meanwhile.",
    ),
    "maintain": (
        "maintenance:maintain",
        "Promote memories, archive old ones, summarise repeated statements; nothing is deleted.",
    ),
    "activity": (
        "watching:ACTIVITY",
        "Show what happens in a bank: what is written, and what is recalled; exit code 1 when nothing is.",
    ),
    "review": (
        "watching:REVIEW",
        "List what deserves a decision: ends, duplicates, conflicts, unsure days; exit code 1 if none.",
    ),
    "moves": (
        "maintenance:MOVES",
        "Show what was done to memories, and why; exit code 1 when there is no such one.",
    ),
    "undo-move": (
        "maintenance:UNDO_MOVE",
        "Undo a promotion, an archiving or the end of a memory; exit code 1 when there is none to undo.",
    ),
    "pin": (
        "memories:PIN",
        "Keep a memory from decay, and first in a brief; exit code 1 when it is not there.",
    ),
    "unpin": ("memories:UNPIN", "Let a pinned memory age like any other; exit code 1 when it is not there."),
    "set-ttl": (
        "maintenance:SET_TTL",
        "Give memories that are retained without a time to live one from now on; print all that is set.",
    ),
    "check": (
        "maintenance:check",
        (
            "Find memories that name paths, commands or packages that are not there; "
            "exit code 1 when there are any."
        ),
    ),
    "brief": (
        "recall:BRIEF",
        "Print a summary for the next session, with ids of memories; exit code 1 when there is nothing.",
    ),
    "list-banks": (
        "banks:list_banks",
        "List the banks of a store, one a line; exit code 1 when there is none.",
    ),
    "create-bank": ("banks:create_bank", "Create a bank, or set the time zone of one that exists."),
    "delete-bank": (
        "banks:delete_bank",
        "Delete a bank with everything in it, for good; exit code 1 when there is none of this name.",
    ),
    "export": (
        "banks:export",
        "Write everything in a bank to a file of JSON lines; `simonides import` reads it.",
    ),
    "backup": ("banks:backup", "Copy a bank to one file, also while it is in use."),
    "restore": ("banks:restore", "Replace everything in a bank by a backup; it is verified first."),
    "tune": (
        "tune:tune",
        "Search better numbers for a profile; adopt them only if they help on held-out queries.",
    ),
    "stats": ("banks:STATS", "Show what a bank holds."),
    "verify": ("banks:verify", "Check a bank for damage; exit code 1 when there is any."),
    "when": ("when:when", "Print the times that a text names; exit code 1 when it names none."),
    "ui": ("ui:ui", "Open the page of a store: ask, browse, correct and delete what it remembers."),
    "serve": (
        "serve:serve",
        "Serve a store over HTTP, and its page at /ui; every request but /health/live needs a token.",
    ),
    "mcp": (
        "mcp:mcp",
        "Serve a store to an MCP client over standard input and output; a client starts this itself.",
    ),
    "demo": ("demo:demo", "Retain a year's journal and ask it ten questions."),
    "import": ("import_:import_", "Import an export, notes, chats or the memories of another program."),
    "why-not": (
        "recall:WHY_NOT",
        "Explain why a recall did not return a memory: which stage dropped it, and what would keep it.",
    ),
    "train-reranker": (
        "maintenance:train_reranker",
        "Train the learned reranker on feedback; it is kept if it does better on later recalls.",
    ),
    "audit": ("banks:audit", "Show and check the audit logs: who changed what, and who read what."),
    "config": ("config:config", "Show the settings: option > SIMONIDES_* > simonides.toml > default."),
    "get-job": (
        "recall:get_job",
        "Print a job's answer; one that was broken off is begun again. Exit code 1 when nothing is recalled.",
    ),
    "models": ("models:models", "List, fetch and check the embedding models."),
    "profiles": (
        "profiles:profiles",
        "List, show, compare and check profiles: which stages rank, in which order, with which options.",
    ),
    "token": ("token:token", "Make, list and revoke the tokens of a store's servers."),
    "install": (
        "install:install",
        "Add the MCP server and hooks to an agent's configuration; shows the change and asks.",
    ),
    "uninstall": (
        "install:uninstall",
        "Remove from an agent's configuration what install wrote; shows the change and asks.",
    ),
    "hook": ("hook:hook", "Handle an event of a coding agent: brief, recall or retain. Its hooks call this."),
    "bench": ("bench:bench", "Measure on public datasets."),
}
"""By name, in the order of the help: the module and what is in it, and the first paragraph of its help."""

_CLAUSE = re.compile(r"[.;:] |[.]$")
"""Where the first clause of a sentence ends: a list of commands needs no more, and would cut it elsewhere."""


class LazyCommands(MutableMapping[str, Any]):
    """Commands by name, as a Typer group holds them; each is built at its first use."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}
        self._names = list(COMMANDS)

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = _build(name) if name in COMMANDS else _old(name)
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
        commands={
            name: TyperCommand(name, help=sentence, short_help=_CLAUSE.split(sentence, maxsplit=1)[0])
            for name, (_, sentence) in COMMANDS.items()
        }
    )


def _old(name: str) -> Any:
    """A command by an old name, or the group that it was in; said on standard error when it is run."""
    became = {old: new for old, new in OLD_COMMANDS.items() if old.split()[0] == name}
    if not became:
        raise KeyError(name)
    commands = {old.rpartition(" ")[2]: _said(old, new, _build(new)) for old, new in became.items()}
    return commands[name] if name in commands else TyperGroup(name=name, commands=commands, hidden=True)


def _said(old: str, new: str, command: Any) -> Any:
    invoke = command.invoke

    def run(context: Any) -> Any:
        say(f"`simonides {old}` is deprecated; use `simonides {new}`")
        return invoke(context)

    command.invoke, command.hidden = run, True
    return command


def _build(name: str) -> Any:
    group, _, inner = name.partition(" ")
    if inner:
        return _build(group).commands[inner]
    module, _, attribute = COMMANDS[name][0].partition(":")
    found = getattr(import_module(f"simonides.surfaces.cli.{module}"), attribute)
    # Alone in an app a command would be the whole of it, so it gets a group to stand in.
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback()(_nothing)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name)
    elif callable(found):
        app.command(name)(found)
    else:
        app.command(name)(found.function(COMMANDS[name][1]))
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]  # it is a group
    spare_conversions(command)
    for old, new in OLD_COMMANDS.items():
        # One of a group that has others still.
        if old.startswith(f"{name} "):
            inner = command.commands[new.removeprefix(f"{name} ")]
            command.commands[old.removeprefix(f"{name} ")] = _said(old, new, copy(inner))
    return command


def _nothing() -> None:
    """A group that does nothing itself."""
