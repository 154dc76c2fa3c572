"""The node of a row: what its links join.

A memory has the same links in all versions that say the same. Where its words were changed, the version that
brought them is a node of its own, so that a recall as of before finds the old words with their old links.
Each wording has a raw source of its own, which tells them apart.
"""

from __future__ import annotations


def node_of(alias: str) -> str:
    """SQL for the node of a row of ``memories``: ordinal of its memory's first version in the same words."""
    return (
        f"CASE WHEN {alias}.ordinal = {alias}.root THEN {alias}.ordinal ELSE (SELECT min(w.ordinal)"
        f" FROM memories w WHERE w.id = {alias}.id AND w.chunk = {alias}.chunk) END"
    )
