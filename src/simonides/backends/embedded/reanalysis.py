"""Make every row's terms anew, when a newer version of the analyser opens a bank."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.digest import IMMUTABLE, row_digest
from simonides.index.postings import FIELDS
from simonides.records.interval import Interval, Precision
from simonides.text.dates import field_terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from simonides.protocols import Analyser


def reanalyse(connection: apsw.Connection, analyser: Analyser, epoch: str) -> None:
    """Replace the terms of every row inside an open write transaction; the new epoch rebuilds all indexes."""
    columns = ", ".join(f"m.{name}" for name in IMMUTABLE)
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT {columns}, m.digest, EXISTS (SELECT 1 FROM vectors v WHERE v.ordinal = m.ordinal"
        " AND v.embedder = (SELECT embedder FROM meta)) FROM memories m ORDER BY m.ordinal"
    ).fetchall()
    for found in rows:
        *values, before, embedded = found
        row: dict[str, Any] = dict(zip(IMMUTABLE, values, strict=True))
        if row_digest(row, embedded=bool(embedded)) != before:
            # A new digest would hide the damage.
            continue
        row["terms"] = analysed(row, analyser)
        connection.execute(
            "UPDATE memories SET terms=?, digest=? WHERE ordinal=?",
            (row["terms"], row_digest(row, embedded=bool(embedded)), row["ordinal"]),
        )
    connection.execute("UPDATE meta SET analyser=?, epoch=?", (analyser.fingerprint, epoch))


def analysed(row: Mapping[str, Any], analyser: Analyser) -> bytes:
    """The terms of a row of ``memories``, by field, as the row keeps them."""
    terms = field_terms({field: row.get(field, "") for field in FIELDS}, _occurred(row), analyser)
    return json.dumps(terms, ensure_ascii=False, separators=(",", ":")).encode()


def _occurred(row: Mapping[str, Any]) -> Interval | None:
    if row.get("occurred_from") is None:
        return None
    return Interval(row["occurred_from"], row["occurred_to"], Precision(row["occurred_precision"]))
