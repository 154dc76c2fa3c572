"""What the parts of a write transaction share: connection, counters, clock, change log, label codes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.change_log import ADD, link_hash, next_change, write_changes, write_counters
from simonides.backends.embedded.labels import label_code, label_set_code
from simonides.records.interval import BEGINNING, CLOCK_SKEW, LAST_INSTANT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from simonides.backends.embedded.change_log import Change
    from simonides.storage.reader import Meta


class WriteSession:
    """The state of one write transaction; *meta*: the counters as they are now."""

    def __init__(self, connection: apsw.Connection, meta: Meta, now: int) -> None:
        self.connection = connection
        self.meta = meta
        self.now = now
        # Codes that this transaction has looked up or added.
        self._labels: dict[str, int] = {}
        self._label_sets: dict[tuple[str, ...], int] = {}
        # Written at the end, all at once.
        self._changes: list[Change] = []

    def run(self, sql: str, *parameters: Any) -> None:
        """Execute a statement that returns nothing."""
        self.connection.execute(sql, parameters)

    def all(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Every row of a statement."""
        return self.connection.execute(sql, parameters).fetchall()

    def one(self, sql: str, *parameters: Any) -> tuple[Any, ...] | None:
        """The first row of a statement."""
        return self.connection.execute(sql, parameters).fetchone()

    def number(self, sql: str, *parameters: Any) -> int:
        """The number that a statement gives; ``LookupError``: it gives no row."""
        row = self.one(sql, *parameters)
        if row is None:
            raise LookupError("the statement gave no number")
        return int(row[0])

    def write_log(self) -> None:
        """Store changes and counters; last before the commit."""
        write_changes(self.connection, self._changes)
        self._changes = []
        write_counters(self.connection, self.meta)

    def log(self, operation: str, ordinal: int, stamp: int, **counters: Any) -> None:
        """Count a change, with other *counters* that it moves on."""
        change = next_change(self.meta, operation, ordinal, stamp)
        self._changes.append(change)
        self.meta = replace(self.meta, sequence=change[0], log_hash=change[-1], **counters)

    def log_added(self, stamps: Sequence[int]) -> None:
        """Count the next rows as added, recorded at *stamps*."""
        meta = self.meta
        sequence, log_hash, first = meta.sequence, meta.log_hash, meta.next_ordinal
        for ordinal, stamp in enumerate(stamps, first):
            sequence += 1
            log_hash = link_hash(log_hash, sequence, ADD, ordinal, stamp)
            self._changes.append((sequence, ADD, ordinal, stamp, log_hash))
        self.meta = replace(
            meta,
            sequence=sequence,
            log_hash=log_hash,
            next_ordinal=first + len(stamps),
            last_ingested=self.newest_of(*stamps),
        )

    def next_instant(self) -> int:
        """The recorded time of the next row: the clock, or just after the last row if the clock stands.

        A last row more than ``CLOCK_SKEW`` after the clock was written under a wrong clock: rows then go by
        the clock, and the change log alone carries their order (ADR 0009).
        """
        return self.instant_following(self.meta.last_ingested)

    def instant_following(self, last: int) -> int:
        """The recorded time of a row that is written after one recorded at *last*; never after year 9999."""
        moment = max(self.now, last + 1) if last <= self.now + CLOCK_SKEW else self.now
        return min(moment, LAST_INSTANT)

    def newest_of(self, *stamps: int) -> int:
        """The newest recorded time of the bank and *stamps*, without those that a wrong clock set."""
        end = self.now + CLOCK_SKEW
        return max((stamp for stamp in (self.meta.last_ingested, *stamps) if stamp <= end), default=BEGINNING)

    def label(self, text: str) -> int:
        code = self._labels.get(text)
        if code is None:
            code = self._labels[text] = label_code(self.connection, text)
        return code

    def label_set(self, names: tuple[str, ...]) -> int:
        code = self._label_sets.get(names)
        if code is None:
            code = self._label_sets[names] = label_set_code(self.connection, names)
        return code
