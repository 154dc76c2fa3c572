"""Short hashes of rows: one finds identical items, one finds damage."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


def memory_id(bank: str, ingested_at: int, text: str, attempt: int) -> str:
    """16 hex digits from what was written where and when; *attempt* counts up past a taken id.

    It depends on no other memory, so what others write changes nobody's ids.
    """
    body = f"{bank} {ingested_at} {attempt} ".encode() + text.encode()
    return hashlib.blake2b(body, digest_size=8).hexdigest()
