"""Idempotency keys: the answer to a retain, stored with its rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simonides.backends.embedded.rows import insert_into, marks_for, read_names, verified

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from simonides.backends.embedded.session import WriteSession

_BATCH = 500
_INSERT = insert_into("idempotency", "key, body, ids")


class Keys:
    """The keys inside a write transaction; see ``storage.writer.Keys``."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def read(self, key: str) -> tuple[bytes, list[str]] | None:
        row = self._session.one(f"SELECT body, ids FROM {verified('idempotency')} WHERE key=?", key)
        return None if row is None else (bytes(row[0]), list(read_names(row[1])))

    def add(self, key: str, body: bytes, ids: Sequence[str]) -> None:
        self._session.run(_INSERT, key, body, json.dumps(list(ids)))

    def replace(self, key: str, body: bytes, ids: Sequence[str]) -> None:
        update = f"{_INSERT} ON CONFLICT(key) DO UPDATE SET body=excluded.body, ids=excluded.ids"
        self._session.run(update, key, body, json.dumps(list(ids)))


def claimed_bodies(connection: apsw.Connection, keys: Sequence[str]) -> dict[str, bytes]:
    """Body hashes of those of *keys* that are claimed."""
    found: dict[str, bytes] = {}
    for first in range(0, len(keys), _BATCH):
        part = keys[first : first + _BATCH]
        select = f"SELECT key, body FROM {verified('idempotency')} WHERE key IN ({marks_for(part)})"
        found |= {str(key): bytes(body) for key, body in connection.execute(select, part)}
    return found
