"""Work off what large batches and loads queued: reading, near-duplicates, links."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.view import comparable
from simonides.records.interval import FOREVER
from simonides.retain.duplicates import SAME_WORDS_FROM, says_again
from simonides.retain.neighbours import MOST_SEMANTIC, RESCORE, SEMANTIC_FROM
from simonides.retain.resolution import fold_name, resolve
from simonides.retain.writing import link_in_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from simonides.records.extraction import Extraction
    from simonides.storage.writer import WriteTransaction

LINK = "link"
"""The task of linking a row that was stored in a large batch."""

REPEAT = "repeat"
"""The same, for a row that may turn out to say again what is there."""

READ = "read"
"""Before that, the task of reading names and relations out of a row's text that nobody has read."""

TASKS = (READ, REPEAT, LINK)
"""What ``settle`` works off, in this order."""

_MOST_MASKS = 8
"""Sets of readers whose masks are kept while tasks are worked off; one byte per row each."""


def settle(
    transaction: WriteTransaction,
    most: int,
    extract: Callable[[str, int], Extraction],
    tasks: Sequence[str] = TASKS,
) -> int:
    """Work off up to *most* tasks that large batches and loads queued, in order.

    Returns how many were done.
    """
    done = 0
    earlier = _Earlier(transaction)
    for task in tasks:
        for ordinal in transaction.queue.due(task, most - done):
            if transaction.versions.find(ordinal) is not None:
                if task == READ:
                    _read_stored(transaction, ordinal, extract)
                elif task == LINK or not _drop_repeat(transaction, ordinal, earlier):
                    _link_stored(transaction, ordinal, earlier)
                transaction.links.log_later(ordinal)
            transaction.queue.remove(task, ordinal)
            done += 1
    return done


def _read_stored(
    transaction: WriteTransaction, ordinal: int, extract: Callable[[str, int], Extraction]
) -> None:
    """Note the names and relations in a stored row's text; the row itself stays what it is."""
    held = transaction.versions.read(ordinal)
    text = held.text
    found = extract(text, held.ingested_at if held.occurred_from is None else held.occurred_from)
    readers = tuple(sorted(transaction.versions.compared_fields(ordinal).readers))
    entities = resolve(transaction, text, found.mentions, found.relations, readers)
    # The memory may have been changed meanwhile; what has other words was read when it got them.
    node = transaction.versions.node(ordinal)
    for version in transaction.versions.ordinals_of(ordinal):
        if transaction.versions.node(version) != node:
            continue
        for number in sorted(set(entities.values())):
            transaction.entities.add_mention(version, number)
        for relation in found.relations:
            subject = entities.get(fold_name(relation.subject))
            if subject is not None:
                # It ended no other memory when it was stored, so no later statement ends it, either.
                obj = fold_name(relation.object)
                transaction.relations.add(version, relation.name, subject, obj, single_valued=False)
        transaction.relations.add_statements(
            version, text, transaction.versions.compared_fields(version).speaker
        )


def _drop_repeat(transaction: WriteTransaction, ordinal: int, earlier: _Earlier) -> bool:
    """Withdraw a stored row that says again what a row before it says; that one gets a proof more."""
    mine = transaction.versions.read(ordinal)
    if mine.expired_at != FOREVER:
        return False
    frame = transaction.versions.compared_fields(ordinal)
    for other, cosine in earlier.near(ordinal, frame.readers):
        if cosine < SAME_WORDS_FROM:
            break
        current = transaction.versions.current(transaction.versions.read(other).id)
        if current is None or current.id == mine.id:
            continue
        # All of a large batch counted as new, which is worth up to a quarter of the salience.
        if replace(transaction.versions.compared_fields(current.ordinal), salience=frame.salience) != frame:
            continue
        if says_again(cosine, mine.signature, current.signature, mine.text, current.text):
            transaction.versions.revise(current.ordinal, proof_count=current.proof_count + 1)
            transaction.versions.expire(ordinal, transaction.next_instant())
            return True
    return False


class _Earlier:
    """The stored rows before a stored row; what all tasks of one transaction share is made once."""

    def __init__(self, transaction: WriteTransaction) -> None:
        self._transaction = transaction
        self._roots: NDArray[np.int64] | None = None
        self._moment = 0
        self._masks: dict[frozenset[str], NDArray[np.bool_]] = {}

    def near(self, ordinal: int, readers: frozenset[str]) -> list[tuple[int, float]]:
        """The nearest rows before a row with these readers: ordinal and cosine, nearest first."""
        vector = self._transaction.versions.vector(ordinal)
        if vector is None:
            return []
        snapshot = self._transaction.snapshot
        if self._roots is None:
            self._roots = snapshot.column("root")
        mask = self._comparable(readers) & (self._roots < self._transaction.versions.read(ordinal).root)
        ordinals, cosines = snapshot.vectors.nearest(vector, mask, depth=MOST_SEMANTIC, rescore=RESCORE)
        best = np.lexsort((ordinals, -cosines))[:MOST_SEMANTIC]
        return [(int(ordinals[i]), float(cosines[i])) for i in best]

    def _comparable(self, readers: frozenset[str]) -> NDArray[np.bool_]:
        # A task that withdraws a row moves the moment on at which the next one compares.
        moment = self._transaction.next_instant()
        if moment != self._moment or len(self._masks) == _MOST_MASKS:
            self._moment, self._masks = moment, {}
        if readers not in self._masks:
            self._masks[readers] = comparable(self._transaction.snapshot, readers, moment)
        return self._masks[readers]


def _link_stored(transaction: WriteTransaction, ordinal: int, earlier: _Earlier) -> None:
    """Semantic and temporal links of a stored row to the rows before it."""
    held = transaction.versions.read(ordinal)
    allowed, node = transaction.versions.compared_fields(ordinal).readers, transaction.versions.node(ordinal)
    readers = tuple(sorted(allowed))
    for near, cosine in earlier.near(ordinal, allowed):
        if cosine >= SEMANTIC_FROM:
            transaction.links.add(node, transaction.versions.node(near), "semantic", cosine)
    link_in_time(transaction, node, held.occurred_from, held.occurred_precision or "", readers, ordinal)
