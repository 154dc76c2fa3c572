"""Idempotency keys: the answer to a retain, kept with its rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simonides.backends.embedded.seals import sound
from simonides.backends.embedded.stored import read_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from simonides.backends.embedded.session import WriteSession

_BATCH = 500


class Keys:
    """The keys of a bank inside a write transaction."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def read(self, key: str) -> tuple[bytes, list[str]] | None:
        row = self._session.one(
            f"SELECT body, ids FROM idempotency WHERE key=? AND {sound('idempotency')}", key
        )
        return None if row is None else (bytes(row[0]), list(read_names(row[1])))

    def add(self, key: str, body: bytes, ids: Sequence[str]) -> None:
        self._session.connection.execute(
            "INSERT INTO idempotency(key, body, ids) VALUES (?, ?, ?)", (key, body, json.dumps(list(ids)))
        )

    def replace(self, key: str, body: bytes, ids: Sequence[str]) -> None:
        self._session.connection.execute(
            "INSERT INTO idempotency(key, body, ids) VALUES (?, ?, ?)"
            " ON CONFLICT(key) DO UPDATE SET body=excluded.body, ids=excluded.ids",
            (key, body, json.dumps(list(ids))),
        )


def claimed_bodies(connection: apsw.Connection, keys: Sequence[str]) -> dict[str, bytes]:
    """Body hashes of those of *keys* that are claimed."""
    found: dict[str, bytes] = {}
    for first in range(0, len(keys), _BATCH):
        part = keys[first : first + _BATCH]
        marks = ",".join("?" * len(part))
        select = f"SELECT key, body FROM idempotency WHERE key IN ({marks}) AND {sound('idempotency')}"
        rows = connection.execute(select, part)
        found |= {str(key): bytes(body) for key, body in rows}
    return found
