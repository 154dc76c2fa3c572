"""Who may read what, where a new memory meets stored ones (SPEC, general settlement 3).

Readers are principals; none at all means everyone in the bank. A new memory is compared only with what all
of its own readers may read, so nobody learns of what is hidden; and it changes only what exactly its readers
read, so nobody else's memories move.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection


def all_may_read(readers: Collection[str], theirs: Collection[str]) -> bool:
    """Whether each of *readers* (of the new memory) is among *theirs* (of a stored one)."""
    return not theirs or (bool(readers) and set(readers) <= set(theirs))


def same_readers(readers: Collection[str], theirs: Collection[str]) -> bool:
    """Whether exactly the same principals may read both."""
    return set(readers) == set(theirs)
