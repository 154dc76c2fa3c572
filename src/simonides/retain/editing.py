"""Changes what is noted about a memory: a new version of it, whose words, names and links stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.retain.items import read_items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.backends.embedded.transaction import WriteTransaction
    from simonides.records.draft import Draft

EDITABLE = ("kind", "layer", "tags", "project", "metadata", "source", "path", "salience", "confidence")


def read_changes(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The changes that were given, checked as ``retain`` checks them; ``None`` = not given.

    Raises:
        InputError: one of them is wrong, or there is none.
    """
    named = {name: value for name, value in changes.items() if value is not None}
    if not named:
        raise InputError("changes", f"are missing; give at least one of {', '.join(EDITABLE)}")
    draft = read_items({"text": "unchanged", **named}, {})[0]
    return {name: _value(draft, name) for name in EDITABLE if name in named}


def _value(draft: Draft, name: str) -> Any:
    return draft.metadata_json if name == "metadata" else getattr(draft, name)


def edit(transaction: WriteTransaction, ordinal: int, changes: Mapping[str, Any]) -> None:
    """Write the new version; none when every change is there already.

    Args:
        transaction: open.
        ordinal: of the current version.
        changes: as ``read_changes`` gives them.
    """
    columns = transaction.coded(changes)
    held = dict(zip(columns, transaction.columns(ordinal, *columns), strict=True))
    if held != columns:
        transaction.revise(ordinal, **columns)
