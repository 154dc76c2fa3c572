"""The one list of names that were replaced, and what to write now; the old ones still answer.

Python raises a ``DeprecationWarning``, the command line writes a line to standard error, HTTP sends the
header ``Deprecation``. The guide on versions says how long an old name stays.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T", bound=type)

BANK_METHODS: Mapping[str, str] = {
    "get": "get_memory",
    "job": "get_job",
    "memories": "list_memories",
    "update": "update_memory",
}
STORE_METHODS: Mapping[str, str] = {"banks": "list_banks"}
COMMANDS: Mapping[str, str] = {
    "alias": "add-alias",
    "audit show": "audit entries",
    "jobs get": "get-job",
    "merge": "merge-entities",
    "show": "get-memory",
    "undo": "undo-move",
    "unmerge": "undo-merge",
}
OPERATIONS: Mapping[str, str] = {"undo": "undo_move"}
"""Of HTTP, whose paths follow these names."""
TOOLS: Mapping[str, str] = {"explain_recall": "explain"}
SINCE = 1_796_083_200
"""When they were replaced, as the header ``Deprecation`` writes it (RFC 9745)."""


def answers_old_names(names: Mapping[str, str]) -> Any:
    """A class whose methods are also found by their old names, with a warning."""

    def decorate(cls: T) -> T:
        def find(self: Any, name: str) -> Any:
            if name not in names:
                raise AttributeError(
                    f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self
                )
            new = names[name]
            warnings.warn(f"{name} is deprecated; use {new}", DeprecationWarning, stacklevel=2)
            return getattr(self, new)

        # Asked only for what is not there; set here, so that a type checker refuses the old names.
        cls.__getattr__ = find  # type: ignore[attr-defined]
        return cls

    return decorate
