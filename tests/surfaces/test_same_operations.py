"""Every door lists the same operations with the same parameters; each difference stands here with its reason."""

from __future__ import annotations

import pytest
import typer.main

from simonides.surfaces.cli.main import app
from simonides.surfaces.mcp.tools import NOT_TOOLS, TOOLS
from simonides.surfaces.operations.local import LOCAL_COMMANDS
from simonides.surfaces.operations.table import OPERATIONS

# Operation → command, where that has another name.
COMMANDS = {
    # An option of it.
    "explain": "recall",
    # A file of documents.
    "retain_document": "retain",
    # Whatever the file holds: an export, or the memories of another program.
    "import_bank": "import",
    # Of a group that has local ones, too.
    "audit_entries": "audit entries",
    "audit_verify": "audit verify",
}
# Parameter → option, where that differs.
OPTIONS = {
    "ids": "memory_ids", "job": "job_id", "items": "sources", "text": "sources", "window": "start",
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
            "get_entity",
            "history",
            "source",
            "diff",
            "invalidate",
            "list_memories",
            "update_memory",
            "activity",
            "review",
        )
    },
    # What a context is called there: --context prints it, and models read what a door for them gives.
    "recall": {"form"},
    # The command works off all that waits, step by step.
    "settle": {"most"},
    "get_job": {"form"},
}


# Frameworks keep their records by these; a person sees them as memories, by the commands there are.
NO_COMMAND = {"list_records", "put_records", "move_records", "pop_record", "forget_records"}

# Commands that hold others which are operations; the others hold what is local.
GROUPS = ("audit",)


def _commands() -> dict[str, set[str]]:
    group = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    flat = {name: command for name, command in group.items() if name not in GROUPS}
    for name in GROUPS:
        inner = group[name].commands
        flat |= {f"{name} {each}": command for each, command in inner.items() if not command.hidden}
    return {name: {str(each.name) for each in command.params} for name, command in flat.items()}


@pytest.mark.spec("ME-11")
@pytest.mark.parametrize("name", [name for name in OPERATIONS if name not in NO_COMMAND])
def test_a_command_takes_what_its_operation_takes(name: str) -> None:
    options = _commands()[COMMANDS.get(name, name.replace("_", "-"))]
    absent = NO_OPTION.get(name, set())
    for each in OPERATIONS[name].parameters:
        assert (OPTIONS.get(each.name, each.name) in options or each.name in options) == (
            each.name not in absent
        ), each.name


def test_every_command_is_an_operation_or_local() -> None:
    known = {COMMANDS.get(name, name.replace("_", "-")) for name in OPERATIONS if name not in NO_COMMAND}
    assert known.isdisjoint(LOCAL_COMMANDS)
    assert set(_commands()) == known | set(LOCAL_COMMANDS)


def test_every_operation_is_a_tool_or_says_why_not() -> None:
    tools = {tool.operation.name for tool in TOOLS.values()}
    assert tools.isdisjoint(NOT_TOOLS)
    assert tools | set(NOT_TOOLS) == set(OPERATIONS)
