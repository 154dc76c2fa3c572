"""What a token must allow for each operation, read off the table of operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.surfaces.operations.table import OPERATIONS, Operation, Verb
from simonides.surfaces.serving.grants import ERASES, OF_PARAMETERS

if TYPE_CHECKING:
    from pathlib import Path


def rights(_results: Path | None = None) -> str:
    """Operations by the verbs they need and by whether a principal may, then what parameters need beside."""
    groups: dict[tuple[str, str], list[str]] = {}
    for operation in OPERATIONS.values():
        whose = "the owner" if operation.owner_only else "all"
        groups.setdefault((", ".join(operation.verbs), whose), []).append(f"`{operation.name}`")
    lines = ["| verbs | for | operations |", "|---|---|---|"]
    lines += [f"| {verbs} | {whose} | {', '.join(names)} |" for (verbs, whose), names in groups.items()]
    lines += ["", "| verb, beside those | for |", "|---|---|"]
    for name, (verb, _) in OF_PARAMETERS.items():
        for operation in OPERATIONS.values():
            named = {each.name for each in operation.parameters}
            if name in named or (name == ERASES and "records" in named):
                lines.append(f"| {verb} | {_asked(operation, name)} |")
    for operation in OPERATIONS.values():
        if operation.alters:
            lines.append(f"| {Verb.ADMIN} | `{operation.name}` of a standing memory |")
    return "\n".join(lines)


def _asked(operation: Operation, name: str) -> str:
    if any(parameter.name == name for parameter in operation.parameters):
        return f"`{operation.name}` with `{name}`"
    return f"`{operation.name}` that may replace a value, which erases it"
