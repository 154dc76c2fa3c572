"""Fits answers that return memory text into a budget of tokens; what does not fit is counted, never cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def fitted(
    entries: Sequence[dict[str, Any]], count: Callable[[str], int], budget: int | None, *, whole: bool = True
) -> tuple[list[dict[str, Any]], int]:
    """Entries that fit, in order, and how many do not.

    Args:
        entries: each with a ``text``.
        count: tokens of a text.
        budget: tokens of all texts together; ``None`` = none.
        whole: whether later entries are tried after one that does not fit.
    """
    if budget is None:
        return list(entries), 0
    kept: list[dict[str, Any]] = []
    left = budget
    for entry in entries:
        size = count(entry["text"])
        if size <= left:
            kept.append(entry)
            left -= size
        elif not whole:
            break
    return kept, len(entries) - len(kept)
