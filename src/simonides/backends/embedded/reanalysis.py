"""Make every row's terms anew, when a newer version of the analyser opens a bank."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.digest import IMMUTABLE, row_digest
from simonides.index.postings import FIELDS

if TYPE_CHECKING:
    import apsw

    from simonides.protocols import Analyser


def reanalyse(connection: apsw.Connection, analyser: Analyser, epoch: str) -> None:
    """Replace the terms of every row inside an open write transaction; the new epoch rebuilds all indexes."""
    columns = ", ".join(f"m.{name}" for name in IMMUTABLE)
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT {columns}, v.scale, v.codes FROM memories m LEFT JOIN vectors v"  # noqa: S608 constant names
        " ON v.ordinal = m.ordinal AND v.embedder = (SELECT embedder FROM meta) ORDER BY m.ordinal"
    ).fetchall()
    for found in rows:
        row: dict[str, Any] = dict(zip(IMMUTABLE, found, strict=False))
        scale, codes = found[-2:]
        counts = {field: dict(Counter(analyser.terms(row[field]))) for field in FIELDS if row.get(field)}
        terms = {field: counted for field, counted in counts.items() if counted}
        row["terms"] = json.dumps(terms, ensure_ascii=False, separators=(",", ":")).encode()
        connection.execute(
            "UPDATE memories SET terms=?, digest=? WHERE ordinal=?",
            (row["terms"], row_digest(row, scale or 0.0, codes or b""), row["ordinal"]),
        )
    connection.execute("UPDATE meta SET analyser=?, epoch=?", (analyser.fingerprint, epoch))
