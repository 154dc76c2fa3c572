"""The SQL views that other programs may read, as they are made by the migration that brings them.

    history            every version of every memory that the bank holds, but for those whose erasure is due
    current_memories   those that the owner's list shows now (``Bank.list_memories``)

Values are those of ``Memory.to_dict``; times are texts in ISO 8601 UTC, which sort as the times do. No digest
is compared, and no reader is kept out: whoever can read the file reads all of it.
"""

from __future__ import annotations

from simonides.records.interval import BEGINNING, DAY_MICROS, FIRST_INSTANT, FOREVER, LAST_INSTANT
from simonides.records.kind import ARCHIVED, CONSOLIDATED, PINNED, STANDING, Kind


def time_text(micros: str) -> str:
    """SQL for a time as text; NULL = open."""
    # What lies outside the calendar becomes the nearest moment, as everywhere; ``%`` keeps the sign.
    moment = f"min(max({micros}, {FIRST_INSTANT}), {LAST_INSTANT})"
    fraction = f"(({moment} % 1000000 + 1000000) % 1000000)"
    return (
        f"CASE WHEN {micros} NOT IN ({BEGINNING}, {FOREVER}) THEN"
        f" strftime('%Y-%m-%dT%H:%M:%S', ({moment} - {fraction}) / 1000000, 'unixepoch')"
        f" || CASE {fraction} WHEN 0 THEN '' ELSE printf('.%06d', {fraction}) END || '+00:00' END"
    )


_ROWS = f"""
  m.id AS id,
  m.version AS version,
  m.text AS text,
  m.kind AS kind,
  m.layer AS layer,
  t.names AS tags,
  e.speaker AS speaker,
  m.source AS source,
  {time_text("m.occurred_from")} AS event_time,
  {time_text("m.occurred_to")} AS event_end,
  m.occurred_precision AS event_precision,
  {time_text("m.valid_from")} AS valid_from,
  {time_text("m.valid_to")} AS valid_to,
  {time_text("m.ingested_at")} AS ingested_at,
  {time_text("m.expired_at")} AS expired_at,
  m.superseded_by AS superseded_by,
  {time_text("d.not_before")} AS expires_at,
  CASE d.task WHEN 'expire' THEN 'archive' WHEN 'erase' THEN 'erase' ELSE '' END AS on_expiry,
  (m.state & {PINNED}) <> 0 AS pinned,
  (m.state & {STANDING}) <> 0 AS standing,
  (m.state & {ARCHIVED}) <> 0 AS archived,
  (m.state & {CONSOLIDATED}) <> 0 AS consolidated,
  e.document AS document,
  e.session AS session,
  e.author AS author,
  e.trust AS trust,
  j.text AS project,
  p.text AS path,
  a.names AS acl,
  m.context AS context,
  m.relation AS relation,
  m.expansion AS expansion,
  m.metadata AS metadata,
  m.salience AS salience,
  m.confidence AS confidence,
  m.proof_count AS proof_count
FROM memories m
  JOIN chunks c ON c.number = m.chunk
  JOIN episodes e ON e.number = c.episode
  JOIN labels p ON p.number = m.path
  JOIN labels j ON j.number = m.project
  JOIN label_sets t ON t.number = m.tags
  JOIN label_sets a ON a.number = m.acl
  LEFT JOIN jobs d ON d.ordinal = m.root AND d.task IN ('expire', 'erase')
"""

_NOW = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"


def _by_its_clock(time: str, recorded: str) -> str:
    """SQL: taken from the clock that recorded it, which may have stood ahead (ADR 0009)."""
    return f"{time} BETWEEN {recorded} - {DAY_MICROS} AND {recorded}"


VIEWS = f"""
CREATE VIEW history AS SELECT{_ROWS}WHERE d.task IS NOT 'erase' OR d.not_before > {_NOW};
CREATE VIEW current_memories AS SELECT{_ROWS}  JOIN memories r ON r.ordinal = m.root
WHERE m.expired_at = {FOREVER} AND m.kind <> '{Kind.QUARANTINE.value}'
  AND (m.state & {ARCHIVED | CONSOLIDATED}) = 0
  AND (m.valid_from <= {_NOW} OR {_by_its_clock("m.valid_from", "m.ingested_at")}
    OR {_by_its_clock("m.valid_from", "r.ingested_at")})
  AND NOT (m.valid_to <= {_NOW} OR {_by_its_clock("m.valid_to", "m.ingested_at")})
  AND (d.not_before IS NULL OR d.not_before > {_NOW});
"""
"""SQL that makes them; never edited.

A change is a migration that drops both and makes them anew. One that rebuilds a table which they read drops
them first: SQLite renames no table while a view reads one that is missing.
"""
