"""Short hashes of rows: one finds identical items, one finds damage."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simonides.records.draft import Draft
    from simonides.records.extraction import Days

IMMUTABLE = (
    "ordinal", "id", "version", "root", "chunk", "kind", "layer", "text", "context", "relation", "expansion",
    "path", "project", "tags", "acl", "valid_from", "valid_from_precision", "valid_to", "valid_to_precision",
    "ingested_at", "occurred_from", "occurred_to", "occurred_precision", "salience", "confidence",
    "proof_count", "access_count", "last_access", "source", "metadata", "superseded_by", "state", "signature",
    "terms", "content_key",
)  # fmt: skip
"""Columns of ``memories`` that never change after they were written."""

# Made once: ``json.dumps`` makes a new encoder at every call that asks for anything special.
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_plain = json.JSONEncoder(ensure_ascii=False).encode


def row_digest(row: Mapping[str, Any], *, embedded: bool) -> bytes:
    """16 bytes over the ``IMMUTABLE`` columns of a row.

    Args:
        row: a row of ``memories`` by column name.
        embedded: whether it has a vector of the bank's embedder, so that a lost one is noticed.
    """
    return values_digest([row[name] for name in IMMUTABLE], embedded=embedded)


def values_digest(values: Sequence[Any], *, embedded: bool) -> bytes:
    """``row_digest`` of a row's values in the order of ``IMMUTABLE``."""
    blobs = [value for value in values if type(value) is bytes]
    # Of a blob its length stands in the text, and its bytes come after it.
    plain = [len(value) if type(value) is bytes else value for value in values]
    plain.append(bool(embedded))
    return hashlib.blake2b(b"\0".join((_compact(plain).encode(), *blobs)), digest_size=16).digest()


def content_key(draft: Draft, days: Sequence[Days] = ()) -> bytes:
    """Equal for two items that say the same in every respect, so that retaining one again changes nothing.

    The context of a turn is left out: it is made of the turns around it, and the last turn of a conversation
    gets a neighbour when the conversation goes on.

    Args:
        draft: what is said.
        days: those that words such as "yesterday" mean, which make the same words another event on another
            day; without any the key is as it was before they counted.
    """
    said_of = [[day and day.isoformat() for day in ends] for ends in days]
    body = _plain(
        [
            draft.text, "" if is_turn(draft) else draft.context, draft.relation, draft.kind, draft.layer,
            draft.path, draft.project, draft.tags, draft.acl, draft.source, draft.metadata_json,
            draft.occurred and (draft.occurred.start, draft.occurred.end, draft.occurred.precision),
            draft.valid_from and (draft.valid_from.start, draft.valid_from.precision),
            draft.valid_to and (draft.valid_to.start, draft.valid_to.precision),
            draft.salience, draft.confidence, draft.document, draft.session, draft.speaker, draft.role,
            draft.expansion,
            draft.statement
            and (draft.statement.name, draft.statement.subject, draft.statement.object),
            *([said_of] if said_of else []),
        ]
    )  # fmt: skip
    return hashlib.blake2b(body.encode(), digest_size=16).digest()


def is_turn(draft: Draft) -> bool:
    """Whether it is a turn of a conversation that has a name."""
    return bool(draft.session) and draft.span is not None and not draft.document


def memory_id(bank: str, ingested_at: int, text: str, attempt: int) -> str:
    """16 hex digits from what was written where and when; *attempt* counts up past a taken id.

    It depends on no other memory, so what others write changes nobody's ids.
    """
    body = f"{bank} {ingested_at} {attempt} ".encode() + text.encode()
    return hashlib.blake2b(body, digest_size=8).hexdigest()
