"""Every door lists the same operations with the same parameters; each difference stands here with its reason."""

from __future__ import annotations

import pytest
import typer.main

from simonides.surfaces.cli.main import app
from simonides.surfaces.operations.table import OPERATIONS

# Operation → command, where the command line has had another word for it.
COMMANDS = {
    "get_memory": "show",
    "add_alias": "alias",
    "merge_entities": "merge",
    "undo_merge": "unmerge",
    "explain": "recall",
    "retain_document": "retain",
}
# Commands that are no operation: they are about this machine, not about a bank that others may use.
LOCAL = {
    "when", "demo", "models", "profiles", "bench", "train-reranker", "enrich", "serve", "token",
    "mcp", "claude-code", "config",
}  # fmt: skip
# What the owner does at the machine that holds the bank; no other door offers it yet (docs/guide/limits.md).
AT_THE_MACHINE = {
    "audit", "backup", "restore", "brief", "check", "maintain", "moves", "undo", "pin", "unpin", "quarantine",
    "reembed", "release", "tune",
}  # fmt: skip
# Parameter → option, where one value of a list is given at a time or the word is shorter.
OPTIONS = {
    "tags": "tag", "kinds": "kind", "aliases": "alias", "entity_hints": "entity_hint", "memory": "memory_id",
    "ids": "memory_ids", "items": "sources", "text": "sources", "window": "start", "merge": "number",
    "deduplicate": "no_deduplicate", "explain": "trace",
}  # fmt: skip
# Parameters that no option sets, by operation, and why.
_IN_A_LINE = {
    "layer", "recorded_at", "metadata", "context", "relation", "path", "salience", "confidence", "document_id",
    "session", "speaker", "role", "expansion", "subject", "object", "single_valued",
}  # fmt: skip
NO_OPTION: dict[str, set[str]] = {
    # A key of a .jsonl line; a key for a whole command would cover batches that differ.
    "retain": _IN_A_LINE | {"idempotency_key"},
    "retain_document": _IN_A_LINE | {"idempotency_key", "title"},
    # What is said of each turn stands in its line; the rest is for programs, by another door.
    "retain_conversation": _IN_A_LINE - {"session"} | {"kind", "deduplicate"},
    # For models, which read what they are given; a person reads what is on the screen.
    **{
        name: {"max_tokens"}
        for name in (
            "get_memory",
            "history",
            "source",
            "diff",
            "invalidate",
            "list_memories",
            "update_memory",
        )
    },
    # What a context is called there: --context prints it, and models read what a door for them gives.
    "recall": {"form"},
    # The command works off all that waits, step by step.
    "settle": {"most"},
}


def _commands() -> dict[str, set[str]]:
    group = typer.main.get_command(app)
    return {
        name: {str(each.name) for each in command.params}
        for name, command in group.commands.items()  # type: ignore[attr-defined]
    }


@pytest.mark.spec("ME-11")
@pytest.mark.parametrize("name", list(OPERATIONS))
def test_a_command_takes_what_its_operation_takes(name: str) -> None:
    options = _commands()[COMMANDS.get(name, name.replace("_", "-"))]
    absent = NO_OPTION.get(name, set())
    for each in OPERATIONS[name].parameters:
        assert (OPTIONS.get(each.name, each.name) in options or each.name in options) == (
            each.name not in absent
        ), each.name


def test_every_command_is_an_operation_or_local() -> None:
    known = {COMMANDS.get(name, name.replace("_", "-")) for name in OPERATIONS}
    assert set(_commands()) == known | LOCAL | AT_THE_MACHINE
