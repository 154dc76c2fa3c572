"""Rows about use: accesses and impressions, written in batches.

An access is stamped with the time at which it was recorded, so an earlier viewpoint does not see it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simonides.backends.embedded.labels import label_code
from simonides.backends.embedded.rows import insert_into, keys, verified
from simonides.errors import InputError
from simonides.records.impression import MOST_SHOWN, Samples

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw
    from numpy.typing import NDArray

    from simonides.index.accesses import Accesses
    from simonides.records.impression import Impression

FEATURES = 10
MOST_STORED = 10_000
"""Stored recalls of one bank; of more, those stored first go."""

_ADD_IMPRESSION = insert_into(
    "impressions", "recall, principal, made_at, embedder, scale, codes", "INSERT OR IGNORE"
)
ADD_ACCESS = insert_into("accesses", "ordinal, accessed_at, principal")

_READ_BY_ALL = f"NOT EXISTS (SELECT 1 FROM {verified('memories v')} WHERE v.id = m.id AND v.acl <> 0)"
_SHOWN = (
    f"{verified('shown s')} JOIN {keys('memories m')} ON m.ordinal = s.ordinal"
    f" JOIN {verified('impressions i')} ON i.number = s.impression"
)
_FINGERPRINT = (
    f"coalesce((SELECT fingerprint FROM {verified('embedders')}"
    f" WHERE number = (SELECT embedder FROM {verified('meta')})), '')"
)


def extend_accesses(connection: apsw.Connection, accesses: Accesses) -> Accesses:
    """*accesses* with the events that came after its last one."""
    rows = connection.execute(
        f"SELECT number, ordinal, accessed_at, principal FROM {verified('accesses')} WHERE number > ?"
        " ORDER BY number",
        (accesses.last,),
    ).fetchall()
    return accesses.extended(np.array(rows, np.int64).reshape(-1, 4))


def write_impressions(connection: apsw.Connection, impressions: Iterable[Impression], now: int) -> int:
    """Store impressions; those that count what they returned become accesses. Returns how many accesses.

    Memories that were forgotten meanwhile are left out.
    """
    written = 0
    for shown in impressions:
        principal = label_code(connection, shown.principal)
        connection.execute(
            _ADD_IMPRESSION,
            (shown.recall, principal, shown.made_at, shown.embedder, shown.scale, shown.codes),
        )
        select = f"SELECT number FROM {keys('impressions')} WHERE recall=?"
        number = connection.execute(select, (shown.recall,)).get
        for root, features in zip(shown.roots, shown.features, strict=True):
            connection.execute(
                "INSERT OR IGNORE INTO shown(impression, ordinal, features, accessed, used)"
                f" SELECT ?, ordinal, ?, 0, 0 FROM {keys('memories')} WHERE ordinal=?",
                (number, features.astype("<f4").tobytes(), root),
            )
            if shown.counted:
                written += _access_shown(connection, int(number), root, now, shown.principal, used=False)
    return written


def write_used(
    connection: apsw.Connection, roots: Sequence[int], ids: Sequence[str], recall: str | None,
    principal: str, now: int,
) -> int:  # fmt: skip
    """Store that memories were used; returns how many accesses that made.

    Raises:
        InputError: there is no such recall of *principal*, or it did not return a memory.
    """
    if recall is None:
        for root in roots:
            _access(connection, root, now, principal)
        return len(roots)
    row = connection.execute(
        f"SELECT number FROM {verified('impressions')} WHERE recall=? AND principal=?",
        (recall, label_code(connection, principal)),
    ).fetchone()
    if row is None:
        raise InputError(
            "recall_id",
            f"{recall!r} is no recall of this principal remembered here; give a recent one's id, or none",
        )
    written = 0
    for root, memory in zip(roots, ids, strict=True):
        select = f"SELECT 1 FROM {keys('shown')} WHERE impression=? AND ordinal=?"
        if connection.execute(select, (row[0], root)).fetchone() is None:
            raise InputError(
                "ids",
                f"{memory!r} is not among the first {MOST_SHOWN} of recall {recall!r}; leave recall_id out",
            )
        written += _access_shown(connection, int(row[0]), root, now, principal, used=True)
    return written


def _access_shown(
    connection: apsw.Connection, impression: int, root: int, now: int, principal: str, *, used: bool
) -> int:
    """Count a returned memory once per recall; label it when it was *used*."""
    row = connection.execute(
        f"SELECT accessed FROM {verified('shown')} WHERE impression=? AND ordinal=?", (impression, root)
    ).fetchone()
    if row is None:
        return 0
    connection.execute(
        "UPDATE shown SET accessed=1, used=max(used, ?) WHERE impression=? AND ordinal=?",
        (int(used), impression, root),
    )
    if row[0]:
        return 0
    _access(connection, root, now, principal)
    return 1


def _access(connection: apsw.Connection, root: int, now: int, principal: str) -> None:
    connection.execute(ADD_ACCESS, (root, now, label_code(connection, principal)))


def prune_impressions(connection: apsw.Connection, most: int = MOST_STORED) -> None:
    """Delete the impressions that were stored first until at most *most* are left; accesses stay."""
    connection.execute(
        "DELETE FROM impressions WHERE number <="
        f" (SELECT number FROM {keys('impressions')} ORDER BY number DESC LIMIT 1 OFFSET ?)",
        (most,),
    )


def drop_empty_impressions(connection: apsw.Connection) -> None:
    """Delete impressions that show nothing any more."""
    connection.execute(
        "DELETE FROM impressions WHERE NOT EXISTS"
        f" (SELECT 1 FROM {keys('shown')} WHERE impression = impressions.number)"
    )


def _numbers(raw: object) -> NDArray[np.float32]:
    return np.frombuffer(raw if isinstance(raw, bytes) else b"", "<f4")


def read_samples(connection: apsw.Connection) -> Samples:
    """What was shown in recalls of which something was used, as far as everyone may read it."""
    rows = connection.execute(
        f"SELECT m.id, s.features, s.used, s.impression FROM {_SHOWN}"
        # Cosines of another embedder mean something else.
        f" WHERE i.embedder = {_FINGERPRINT} AND s.impression IN"
        f" (SELECT impression FROM {verified('shown')} WHERE used = 1)"
        f" AND {_READ_BY_ALL} ORDER BY s.impression, s.ordinal"
    ).fetchall()
    features = np.array([_numbers(raw) for _, raw, *_ in rows], np.float64)
    labels = np.array([used for *_, used, _ in rows], np.float64)
    return Samples(
        features.reshape(len(rows), FEATURES),
        labels,
        tuple(str(memory) for memory, *_ in rows),
        tuple(int(str(recall)) for *_, recall in rows),
    )


def read_used(connection: apsw.Connection) -> dict[str, tuple[str, ...]]:
    """By recall, the memories of it that were used, as far as everyone may read them."""
    used: dict[str, tuple[str, ...]] = {}
    for recall, memory in connection.execute(
        f"SELECT i.recall, m.id FROM {_SHOWN} WHERE s.used = 1 AND {_READ_BY_ALL}"
        " ORDER BY s.impression, s.ordinal"
    ):
        used[str(recall)] = (*used.get(str(recall), ()), str(memory))
    return used
