"""The one check below everything: two masks, made once, before anything reads the bank.

visible  = acl ∧ valid_from ≤ as_of < valid_to ∧ ingested_at ≤ known_at < expired_at   (statistics)
eligible = visible ∧ kinds ∧ project ∧ tags ∧ window                                   (results)

(SPEC, general settlements 1 to 3.) Now is the clock, or the newest stamp on a row that the asker may read
(for the owner: that the bank ever set) if the clock stands behind it, so that what was retained is seen at
once also under a clock that does not move.
Cost: a few comparisons of int64 columns, about 3 ms per million rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from simonides.records.interval import BEGINNING, FOREVER
from simonides.records.kind import KIND_CODES
from simonides.records.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from simonides.index.snapshot import IndexSnapshot
    from simonides.records.memory import Memory
    from simonides.records.query import Filters


class RowReader(Protocol):
    """Fetches records inside the recall's read transaction."""

    def __call__(self, ordinals: Sequence[int]) -> list[Memory]: ...


@dataclass(frozen=True)
class BankView:
    """What one recall may see. Implements ``protocols.View``.

    Attributes:
        snapshot: the bank at one sequence number.
        visible, eligible: bool, shape (snapshot.rows,).
        as_of, known_at: the viewpoint that was settled on, microseconds UTC.
        read: fetches records.
    """

    snapshot: IndexSnapshot
    visible: NDArray[np.bool_]
    eligible: NDArray[np.bool_]
    as_of: int
    known_at: int
    read: RowReader

    def ranking(
        self, ordinals: NDArray[np.int64], scores: NDArray[np.float64], depth: int | None, reason: str = ""
    ) -> Ranking:
        """Total order: score falling, then path, then id, both ascending; cut to *depth*."""
        if depth is not None and 0 < depth < len(ordinals):
            cut = np.partition(scores, len(scores) - depth)[len(scores) - depth]
            ordinals, scores = ordinals[scores >= cut], scores[scores >= cut]
        keys = self.snapshot.gather("id_key", ordinals)
        order = np.lexsort((keys, self._path_ranks(ordinals), -scores))[:depth]
        return Ranking(ordinals[order], scores[order], reason)

    def _path_ranks(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        codes = self.snapshot.gather("path", ordinals)
        if not codes.any():
            return np.zeros(len(codes), np.int64)
        names = sorted({self.snapshot.labels[code] for code in codes})
        place = {name: i for i, name in enumerate(names)}
        return np.array([place[self.snapshot.labels[code]] for code in codes], np.int64)

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        """The records behind visible *ordinals*, in that order."""
        hidden = [ordinal for ordinal in ordinals if not self.visible[ordinal]]
        if hidden:
            raise PermissionError(f"rows {hidden[:3]} are not visible in this view; a stage invented them")
        return self.read(ordinals)


def look(snapshot: IndexSnapshot, filters: Filters, now: int, read: RowReader) -> BankView:
    """Settle the viewpoint and make the two masks.

    Args:
        snapshot: the bank.
        filters: the caller's explicit conditions and the principal.
        now: the clock, microseconds UTC.
        read: fetches records inside the same read transaction.
    """
    allowed = _allowed(snapshot, filters.principal)
    as_of = (
        filters.as_of
        if filters.as_of is not None
        else _not_before_writes(snapshot, allowed, filters.principal, now)
    )
    known_at = filters.known_at if filters.known_at is not None else as_of
    visible = (
        allowed
        & (snapshot.column("valid_from") <= as_of)
        & (snapshot.column("valid_to") > as_of)
        & (snapshot.column("ingested_at") <= known_at)
        & (snapshot.column("expired_at") > known_at)
    )
    return BankView(snapshot, visible, visible & _matches(snapshot, filters), as_of, known_at, read)


def comparable(snapshot: IndexSnapshot, readers: Collection[str], now: int) -> NDArray[np.bool_]:
    """Rows that a new row may be compared with: current ones whose readers include all of its *readers*.

    So a private row never marks, swallows or closes what others read, nor the other way round (SPEC, general
    settlement 3). Bool, shape (snapshot.rows,).
    """
    wanted = frozenset(readers)
    open_to_them = np.array(
        [not acl or (bool(wanted) and acl >= wanted) for acl in snapshot.label_sets], np.bool_
    )
    mask: NDArray[np.bool_] = (
        open_to_them[snapshot.column("acl")]
        & (snapshot.column("valid_to") > now)
        & (snapshot.column("expired_at") == FOREVER)
    )
    return mask


def _allowed(snapshot: IndexSnapshot, principal: str | None) -> NDArray[np.bool_]:
    if principal is None:
        return np.ones(snapshot.rows, np.bool_)
    may_read = np.array([not readers or principal in readers for readers in snapshot.label_sets], np.bool_)
    mask: NDArray[np.bool_] = may_read[snapshot.column("acl")]
    return mask


def _not_before_writes(
    snapshot: IndexSnapshot, allowed: NDArray[np.bool_], principal: str | None, now: int
) -> int:
    if snapshot.last_ingested <= now:
        return now
    if principal is None:
        return snapshot.last_ingested
    # An erased row may not count: whether its stamp is still in the arrays depends on the last merge.
    stamps = snapshot.column("expired_at")
    there = allowed & (stamps != BEGINNING)
    ended = stamps[there & (stamps != FOREVER)]
    written = snapshot.column("ingested_at")[there]
    return max([now, *(int(part.max()) for part in (ended, written) if len(part))])


def _matches(snapshot: IndexSnapshot, filters: Filters) -> NDArray[np.bool_]:
    mask = np.ones(snapshot.rows, np.bool_)
    if filters.kinds:
        codes = np.array([KIND_CODES[kind] for kind in filters.kinds], np.uint8)
        mask &= np.isin(snapshot.column("kind"), codes)
    if filters.project is not None:
        wanted = np.array([label == filters.project for label in snapshot.labels], np.bool_)
        mask &= wanted[snapshot.column("project")]
    if filters.tags or filters.tags_match == "exact":
        wanted = np.array(
            [tags_match(tags, frozenset(filters.tags), filters.tags_match) for tags in snapshot.label_sets],
            np.bool_,
        )
        mask &= wanted[snapshot.column("tags")]
    if filters.window is not None:
        start, end = filters.window
        first, last = snapshot.column("occurred_from"), snapshot.column("occurred_to")
        mask &= (first < end) & ((last > start) | ((first == last) & (first >= start)))
    return mask


def tags_match(tags: frozenset[str], wanted: frozenset[str], mode: str) -> bool:
    """Whether a memory's tags pass (HI-14).

    any: at least one shared, untagged pass · any_strict: untagged fail · all: every wanted tag present,
    untagged pass · all_strict: untagged fail · exact: equal. An empty *wanted* is no filter except in exact,
    where it keeps the untagged only.
    """
    if mode == "exact":
        return tags == wanted
    if not wanted:
        return True
    if not tags:
        return mode in {"any", "all"}
    return bool(tags & wanted) if mode.startswith("any") else tags >= wanted
