"""The reference pages, read off the program: command line and MCP tools."""

from __future__ import annotations

import enum
import json
from typing import TYPE_CHECKING, Any

import typer.main

from simonides import deprecations
from simonides.bank import Bank
from simonides.json_schema import TIME
from simonides.recall.registry import BECAME
from simonides.store import Store
from simonides.surfaces.cli.commands import COMMANDS
from simonides.surfaces.cli.main import app
from simonides.surfaces.mcp.compat import SYSTEMS, tools_for
from simonides.surfaces.mcp.core import CORE
from simonides.surfaces.mcp.tools import BANK, TOOLS
from simonides.surfaces.operations.table import OPERATIONS, Operation, Scope
from simonides.surfaces.rest.paths import old_place_of, place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simonides.json_schema import Schema
    from simonides.surfaces.mcp.tools import Tool

PROGRAM = "simonides"

_OPERATIONS_HEAD = """\
<!-- Written by `make docs`; edits here are lost. -->

# Operations

What a bank can be asked to do, by one name everywhere, and the options of each. In Python an option is an
argument, on the command line `--its-name` (or an argument, where it stands in bold), over HTTP a key of the
JSON body or of the query, over MCP a parameter. Options in bold must be given.
"""

_HEAD = f"""\
<!-- Written by `make docs`; edits here are lost. -->

# Command line reference

How to use it: [the guide](../guide/cli.md). `{PROGRAM} COMMAND --help` shows the same in a terminal.
"""


_MCP_HEAD = """\
<!-- Written by `make docs`; edits here are lost. -->

# MCP reference

How to use it: [the guide](../guide/mcp.md). Parameters in bold must be given. Tools of the set
core and parameters with a star are offered by default, the others with `--tools all`.
"""


def cli_page() -> str:
    """Every command with its options.

    Built from the parsed commands, not from the help screen, so that the width of a terminal and the version
    of the help renderer change nothing.
    """
    return "\n".join([_HEAD, *_command(typer.main.get_command(app), PROGRAM)])


# The command classes belong to typer or to click, depending on typer's version: hence Any.
def _command(command: Any, path: str) -> Iterator[str]:
    parameters = [p for p in command.params if not p.__dict__.get("hidden") and p.name != "help"]
    arguments = [p for p in parameters if p.param_type_name == "argument"]
    options = [p for p in parameters if p.param_type_name == "option"]
    subcommands = [c for _, c in sorted(getattr(command, "commands", {}).items()) if not c.hidden]

    yield f"## `{path}`\n"
    for text in filter(None, (command.help, command.epilog)):
        yield f"{_one_spaced(text)}\n"
    usage = [path, "[OPTIONS]", *map(_placeholder, arguments)] + ["COMMAND …"] * bool(subcommands)
    yield f"```console\n$ {' '.join(usage)}\n```\n"
    yield from _table("Argument", [(f"`{_placeholder(p)}`", p) for p in arguments])
    yield from _table("Option", [(_spelling(p), p) for p in options])
    for subcommand in subcommands:
        yield from _command(subcommand, f"{path} {subcommand.name}")


def _table(heading: str, rows: list[tuple[str, Any]]) -> Iterator[str]:
    if not rows:
        return
    yield f"| {heading} | Meaning | Default |\n|---|---|---|"
    for name, parameter in rows:
        cells = [name, _one_spaced(parameter.help or ""), _default(parameter)]
        yield " | ".join(["", *(cell.replace("|", "\\|") for cell in cells), ""]).strip()
    yield ""


def _placeholder(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper()).strip("[]")
    repeated = f"{name}…" if argument.nargs == -1 else name
    return repeated if argument.required else f"[{repeated}]"


def _spelling(option: Any) -> str:
    spellings = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if option.is_flag:
        return spellings
    return f"{spellings} `{option.metavar or option.name.upper()}`"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    parts = [f"`${parameter.envvar}`"] if parameter.envvar else []
    value = parameter.default.value if isinstance(parameter.default, enum.Enum) else parameter.default
    if isinstance(parameter.show_default, str):
        parts.append(parameter.show_default)
    # A flag's default says nothing, and one that is computed could differ between machines.
    elif parameter.show_default and _plain(value):
        parts.append(f"`{value}`")
    return ", else ".join(parts)


def _plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def mcp_page() -> str:
    """Every tool of the MCP server and its aliases."""
    return "\n".join([_MCP_HEAD, *_mcp_tools(), *_mcp_aliases()]) + "\n"


def _mcp_tools() -> Iterator[str]:
    for tool in TOOLS.values():
        core = CORE.get(tool.name)
        yield f"## {tool.name}\n"
        yield f"{tool.description}\n"
        yield f"*{_mcp_hints(tool)}*\n"
        schema = tool.schema
        if schema["properties"]:
            yield "| parameter | default | |\n|---|---|---|"
        for name, each in schema["properties"].items():
            shown = f"**{name}**" if name in schema["required"] else name
            shown += " *" if core is not None and name in (*core, BANK) else ""
            default = f"`{each['default']}`" if "default" in each else ""
            yield f"| {shown} | {default} | {each.get('description', '')} |"
        yield ""


def _mcp_hints(tool: Tool) -> str:
    operation = tool.operation
    words = ["core"] if tool.name in CORE else []
    words += ["writes" if operation.changes else "reads only"]
    words += ["destructive"] if operation.destructive else []
    words += ["the same twice is the same once"] if operation.changes and operation.idempotent else []
    return "; ".join([*words, f"needs the verb {operation.verb}"])


def _mcp_aliases() -> Iterator[str]:
    yield "## Aliases\n"
    yield "With `--compat`; every parameter is also taken in camelCase.\n"
    yield "| system | tool | does | other spellings |\n|---|---|---|---|"
    for system in SYSTEMS:
        for name, tool in tools_for(system).items():
            spelt = {
                theirs: ours for theirs, ours in tool.spellings.items() if theirs.islower() or "_" in theirs
            }
            if name not in TOOLS or spelt:
                words = ", ".join(f"`{theirs}` = {ours}" for theirs, ours in spelt.items())
                yield f"| {system} | `{name}` | {tool.operation.name} | {words} |"


def operations_page() -> str:
    """Every operation with its name everywhere, and its options."""
    return "\n".join([_OPERATIONS_HEAD, *(line for each in OPERATIONS.values() for line in _operation(each))])


def _operation(operation: Operation) -> Iterator[str]:
    name, place = operation.name, place_of(operation.name)
    kind: type = Bank if operation.scope is Scope.BANK else Store
    words = [f"Python `{kind.__name__}.{name}`"] if hasattr(kind, name) else []
    dashed, spaced = name.replace("_", "-"), name.replace("_", " ")
    words += [f"command `{PROGRAM} {dashed}`"] if dashed in COMMANDS else []
    words += [f"command `{PROGRAM} {spaced}`"] if spaced.startswith("audit ") else []
    words += [f"HTTP `{place.method} {place.path}`"]
    words += [f"MCP tool `{name}`"] if name in TOOLS else []
    yield f"## {name}\n"
    yield f"{operation.help}\n"
    yield f"{'; '.join(words)}. Needs the verb {' and '.join(operation.verbs)}.\n"
    if operation.parameters:
        yield "| option | values | default | meaning |\n|---|---|---|---|"
        for each in operation.parameters:
            shown = f"**{each.name}**" if each.required else each.name
            stated = "" if each.required or each.default is None else f"`{json.dumps(each.default)}`"
            default = each.otherwise or stated
            cells = (shown, _values(each.values), default, each.sentence)
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
        yield ""


def _values(schema: Schema) -> str:
    """What a schema takes, in words."""
    if schema == TIME:
        return "time"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_values(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    kind = str(schema.get("type", "any value"))
    lowest = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    above = "above " if "exclusiveMinimum" in schema else ""
    words = {
        "integer": "whole number",
        "number": "number",
        "array": "list",
        "string": f"text (up to {schema.get('maxLength', 0):,} characters)",
        "boolean": "true or false",
    }.get(kind, kind)
    if kind in {"integer", "number"}:
        words += f", {above}{lowest:,} to {schema['maximum']:,}"
    return f"list of {_values(schema['items'])}" if kind == "array" else words


def replaced_names() -> str:
    """A table of what former names became: those that still answer, then those that are refused."""
    became = [
        *((f"`simonides {old}`", f"`simonides {new}`") for old, new in deprecations.COMMANDS.items()),
        *((f"`Bank.{old}`", f"`Bank.{new}`") for old, new in deprecations.BANK_METHODS.items()),
        *((f"`Store.{old}`", f"`Store.{new}`") for old, new in deprecations.STORE_METHODS.items()),
        *((f"MCP tool `{old}`", f"`{new}`") for old, new in deprecations.TOOLS.items()),
    ]
    for old, new in deprecations.OPERATIONS.items():
        place, now = old_place_of(old), place_of(new)
        became.append((f"`{place.method} {place.path}`", f"`{now.method} {now.path}`"))
    refused = [
        *_hidden(typer.main.get_command(app), PROGRAM),
        *((f"stage `{name}`", now) for name, now in sorted(BECAME.items())),
    ]
    rows = [*((*each, "deprecated") for each in became), *((*each, "refused") for each in refused)]
    return "\n".join(
        ["| was | now | the old name is |", "|---|---|---|", *(f"| {' | '.join(row)} |" for row in rows)]
    )


def _hidden(command: Any, path: str) -> Iterator[tuple[str, str]]:
    for name, each in sorted(getattr(command, "commands", {}).items()):
        if each.hidden and f"{path} {name}".removeprefix(f"{PROGRAM} ") not in deprecations.COMMANDS:
            yield f"`{path} {name}`", _one_spaced(each.help)
        yield from _hidden(each, f"{path} {name}")


def _one_spaced(text: str) -> str:
    """Paragraphs kept, line breaks within a paragraph joined."""
    paragraphs = text.replace("\b", "").strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
