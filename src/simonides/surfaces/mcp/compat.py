"""Tool names and argument spellings of other systems, as aliases for clients that were made for them.

An alias does what ours does, with our answer; what a system's tool takes beyond that is refused by name
rather than dropped. Every parameter may also be written in camelCase (``asOf``, ``entityHints``). A tool that
has the same name as one of ours stays ours and takes both spellings. In particular ``forget`` erases, also
where the other system's closes a memory: ``invalidate`` does that here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.errors import UnknownNameError
from simonides.surfaces.mcp.tools import TOOLS, Tool
from simonides.surfaces.operations.table import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

# System → tool → (operation, spelling there → here).
_ALIASES: Mapping[str, Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "hindsight": {
        "retain": ("retain", {"content": "items", "timestamp": "event_time", "bank_id": "bank"}),
        "recall": ("recall", {"bank_id": "bank", "query_timestamp": "question_date"}),
        "reflect": ("reflect", {"bank_id": "bank"}),
        "get_memory": ("get_memory", {"memory_id": "memory", "bank_id": "bank"}),
        "list_memories": ("list_memories", {"type": "types", "bank_id": "bank"}),
        "update_memory": ("update_memory", {"memory_id": "memory", "bank_id": "bank"}),
        "invalidate_memory": ("invalidate", {"memory_id": "memory", "bank_id": "bank"}),
        "delete_memory": ("forget", {"memory_id": "ids", "bank_id": "bank"}),
    },
    "memoria": {
        "remember": ("retain", {"content": "items", "text": "items"}),
        "recall_history": ("history", {"id": "memory"}),
        "recall": ("recall", {}),
        "forget": ("forget", {"id": "ids"}),
    },
    "jeffs-brain": {
        "memory_search": ("recall", {"top_k": "limit", "brain": "bank"}),
        "memory_recall": ("recall", {"top_k": "limit", "brain": "bank"}),
        "memory_ask": ("reflect", {"top_k": "limit", "brain": "bank"}),
        "memory_remember": ("retain", {"content": "items", "brain": "bank"}),
        "memory_list_brains": ("list_banks", {}),
    },
    "engram": {
        "remember": ("retain", {"content": "items", "importance": "salience"}),
        "recall": ("recall", {"top_k": "limit"}),
        "recall_context": ("recall", {}),
        "recall_explain": ("explain", {"top_k": "limit"}),
        "invalidate": ("invalidate", {"memory_id": "memory"}),
    },
}
SYSTEMS = tuple(_ALIASES)

_BY_OPERATION = {tool.operation.name: tool for tool in TOOLS.values()}
_GUIDANCE = {
    "history": "Call it to see how a memory changed. Do not call it for what holds now: recall does that.",
}


def tools_for(system: str | None) -> Mapping[str, Tool]:
    """Our tools, with a system's names and spellings beside them; ``UnknownNameError``: no such system."""
    if system is None:
        return TOOLS
    if system not in _ALIASES:
        raise UnknownNameError("compat", system, SYSTEMS)
    tools = {name: replace(tool, spellings=_camel(tool)) for name, tool in TOOLS.items()}
    for name, (operation, spellings) in _ALIASES[system].items():
        ours = _BY_OPERATION.get(operation) or Tool(
            operation, OPERATIONS[operation], name.replace("_", " ").capitalize(), _GUIDANCE[operation]
        )
        tools[name] = replace(ours, name=name, spellings={**_camel(ours), **spellings})
    return tools


def _camel(tool: Tool) -> dict[str, str]:
    """CamelCase → snake_case, for the parameters whose spelling that changes."""
    names = [each.name for each in tool.operation.parameters]
    spelt = {}
    for name in names:
        first, *rest = name.split("_")
        camel = first + "".join(part.capitalize() for part in rest)
        if camel not in names:
            spelt[camel] = name
    if "limit" in names:
        spelt["topK"] = "limit"
    return spelt
