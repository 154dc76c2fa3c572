"""What was written and returned, as the change log and the impressions tell it.

An expiry whose memory has a next version is that version's, and a run of erasures of one moment is one event.
Cost: one look at the keys of ``memories`` for each change that is passed over, about 2 µs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.backends.embedded.change_log import ADD, ERASE, EXPIRE
from simonides.backends.embedded.expiry import IS_KEPT
from simonides.backends.embedded.rows import keys, verified
from simonides.records.activity import Given, Written

if TYPE_CHECKING:
    from collections.abc import Collection

    import apsw
    import numpy as np
    from numpy.typing import NDArray

_WRITTEN = f"""
SELECT c.sequence, c.operation, c.stamp, c.ordinal, b.ordinal
FROM changes c LEFT JOIN {keys("memories m")} ON m.ordinal = c.ordinal
  LEFT JOIN {keys("memories b")} ON b.id = m.id AND b.version = m.version - 1
WHERE c.sequence > ?
  AND CASE c.operation WHEN '{ADD}' THEN m.ordinal IS NOT NULL
    WHEN '{EXPIRE}' THEN m.ordinal IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM {keys("memories n")} WHERE n.id = m.id AND n.version = m.version + 1)
    WHEN '{ERASE}' THEN NOT EXISTS (SELECT 1 FROM changes n
      WHERE n.sequence = c.sequence + 1 AND n.operation = c.operation AND n.stamp = c.stamp)
    ELSE 0 END
ORDER BY c.sequence
"""
_SHOWN = f"""
SELECT i.number, i.made_at, i.recall, p.text,
  (SELECT json_group_array(m.id) FROM {keys("shown s")} JOIN {keys("memories m")} ON m.ordinal = s.ordinal
    WHERE s.impression = i.number)
FROM {verified("impressions i")} JOIN {verified("labels p")} ON p.number = i.principal
WHERE i.number > ?1 AND (?2 IS NULL OR p.text = ?2) AND i.recall NOT IN (SELECT value FROM json_each(?3))
ORDER BY i.number
"""


@dataclass(frozen=True, slots=True)
class ActivityRows:
    """See ``storage.reader.ActivityReader``; *connection* is in a read transaction."""

    connection: apsw.Connection

    def written(
        self, after: int | None, most: int, seen: NDArray[np.bool_], *, erased: bool
    ) -> list[Written]:
        rows = self.connection.execute(_WRITTEN + (" DESC" if after is None else ""), (after or 0,))
        found: list[Written] = []
        for number, operation, stamp, ordinal, before in rows:
            if operation == ERASE and erased:
                found.append(Written(number, stamp, None, None, withdrawn=False))
            elif operation != ERASE and seen[ordinal]:
                found.append(Written(number, stamp, ordinal, before, withdrawn=operation == EXPIRE))
            if len(found) == most:
                break
        return found[::-1] if after is None else found

    def shown(self, after: int | None, most: int, principal: str | None, but: Collection[str]) -> list[Given]:
        order = " DESC LIMIT ?4" if after is None else " LIMIT ?4"
        rows = self.connection.execute(_SHOWN + order, (after or 0, principal, json.dumps(list(but)), most))
        found = [
            Given(number, at, recall, who, tuple(json.loads(ids))) for number, at, recall, who, ids in rows
        ]
        return found[::-1] if after is None else found

    def last_impression(self) -> int:
        select = f"SELECT coalesce(max(number), 0) FROM {keys('impressions')}"
        return int(self.connection.execute(select).get)

    def kept(self, ids: Collection[str], now: int) -> set[str]:
        rows = self.connection.execute(
            f"SELECT DISTINCT m.id FROM {keys('memories m')}"
            f" WHERE m.id IN (SELECT value FROM json_each(?)) AND {IS_KEPT}",
            (json.dumps(list(ids)), now),
        )
        return {str(memory) for (memory,) in rows}
