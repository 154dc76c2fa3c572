"""Compute every row's terms again when a newer version of the analyser opens a bank."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.rows import compare_memories, replace_terms
from simonides.index.postings import FIELDS
from simonides.records.interval import Interval, Precision
from simonides.text.dates import field_terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from simonides.protocols import Analyser


def reanalyse(connection: apsw.Connection, analyser: Analyser, epoch: str) -> None:
    """Replace the terms of every row inside an open write transaction; the new epoch rebuilds all indexes."""
    for row, intact, embedded in list(compare_memories(connection, "ORDER BY ordinal")):
        # A new checksum would hide the damage.
        if intact:
            row["terms"] = analysed(row, analyser)
            replace_terms(connection, row, intact=True, embedded=embedded)
    connection.execute("UPDATE meta SET analyser=?, epoch=?", (analyser.fingerprint, epoch))


def analysed(row: Mapping[str, Any], analyser: Analyser) -> bytes:
    """The terms of a row of ``memories``, by field, as the row keeps them."""
    terms = field_terms({field: row.get(field, "") for field in FIELDS}, _occurred(row), analyser)
    return json.dumps(terms, ensure_ascii=False, separators=(",", ":")).encode()


def _occurred(row: Mapping[str, Any]) -> Interval | None:
    if row.get("occurred_from") is None:
        return None
    return Interval(row["occurred_from"], row["occurred_to"], Precision(row["occurred_precision"]))
