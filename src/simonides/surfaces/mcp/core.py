"""The tools that an agent needs in every conversation, each with its usual parameters, defined in few tokens.

A client hands the definition of every tool to its model in every conversation. Here they are shorter than in
``tools``: fewer tools, fewer parameters, and schemas that state types and closed vocabularies alone. A call
is checked against the whole schema all the same, so a parameter that is not published works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.errors import InputError, UnknownNameError
from simonides.surfaces.mcp.compat import tools_for
from simonides.surfaces.mcp.tools import BANK, TOOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.json_schema import Schema
    from simonides.surfaces.mcp.tools import Tool

SETS = ("core", "all")
"""Values of ``--tools``."""

CORE: Mapping[str, tuple[str, ...]] = {
    "recall": ("query", "kinds", "tags", "project", "as_of", "limit", "max_tokens"),
    "retain": ("items", "kind", "tags", "project", "event_time", "source"),
    "brief": ("task", "project", "max_tokens"),
    "get_memory": ("memory",),
    "list_memories": ("kinds", "tags", "project", "limit", "cursor"),
    "invalidate": ("memory", "at"),
    "forget": ("ids",),
    "list_banks": (),
}
"""Tool → the parameters that are published, beside ``bank``."""

_WORDS: Mapping[str, Mapping[str, str]] = {
    "recall": {
        "tags": "Only with one of these tags, or with none.",
        "as_of": "What was known and true then: a date or moment. Default: now.",
        "limit": "Memories at most.",
        "max_tokens": "Tokens of the answer at most.",
    },
    "retain": {"items": "The sentences to remember.", "event_time": "When it happened: a date or moment."},
    "list_memories": {"tags": "Only with one of these tags, or with none."},
}
"""Tool → parameter → what it means here, where the whole help speaks of what is not published."""

_KEPT = frozenset({"type", "enum", "items", "properties", "required", "description", "default", "anyOf"})
_TEXT: Schema = {"type": "string"}


def chosen_tools(name: str | None, system: str | None) -> tuple[str, Mapping[str, Tool]]:
    """The set of tools that is meant, by its name in ``SETS``, and the tools in it.

    ``None`` = core, or all where there is a *system*, whose names and spellings are taken, too (``compat``).
    """
    if name is not None and name not in SETS:
        raise UnknownNameError("tools", name, SETS)
    if system is not None and name == "core":
        raise InputError("tools", f"core has no names of {system}; leave it out, or say all")
    if system is not None or name == "all":
        return "all", tools_for(system)
    return "core", {each: TOOLS[each] for each in CORE}


def core_schema(tool: Tool) -> Schema:
    """The published schema of a tool's arguments; narrower than what the tool takes."""
    whole = tool.schema
    names = (*CORE[tool.name], *((BANK,) if tool.in_bank else ()))
    words = _WORDS.get(tool.name, {})
    properties = {name: _plain(whole["properties"][name]) for name in names}
    for name, text in words.items():
        properties[name]["description"] = text
    return {
        "type": "object",
        "properties": properties,
        **({"required": whole["required"]} if whole["required"] else {}),
    }


def _plain(schema: Any) -> Any:
    """The schema without bounds; one that takes one or many takes many, and moments are texts."""
    short = {name: value for name, value in schema.items() if name in _KEPT}
    choices = short.pop("anyOf", [])
    many = next((each for each in choices if each.get("type") == "array"), None)
    if many is not None:
        short = {**many, **short}
    elif choices:
        short = {**_TEXT, **short}
    short = {name: value for name, value in short.items() if name in _KEPT}
    if "items" in short:
        short["items"] = _plain(short["items"])
    return short
