"""Rows about the embedder: which one the bank has, which one it is going over to, and their vectors.

While a bank goes over, its rows have vectors, token codes and semantic links of both embedders, each under
its embedder's number; what reads them names the number, so the half-made ones are seen by nobody. One row of
``reembedding`` is the whole state, so a run that was killed goes on where its last transaction ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.digest import IMMUTABLE, row_digest
from simonides.backends.embedded.nodes import node_of
from simonides.backends.embedded.seals import sound
from simonides.records.model_identity import EmbedderMigration, MissingVector, ModelIdentity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from simonides.records.draft import Encoding
    from simonides.storage.reader import Meta

SEMANTIC = "semantic"
"""The kind of links that vectors find; all other kinds need none."""


def read_model(connection: apsw.Connection, number: int | None) -> ModelIdentity:
    """An embedder by its number; empty for none."""
    row = connection.execute(
        f"SELECT name, dimension, fingerprint FROM embedders WHERE number IS ? AND {sound('embedders')}",
        (number,),
    ).fetchone()
    return ModelIdentity(str(row[0]), int(row[1]), str(row[2])) if row else ModelIdentity()


def number_of(connection: apsw.Connection, model: ModelIdentity) -> int:
    """The number of an embedder, which is made when it is new (inside a write transaction)."""
    connection.execute(
        "INSERT OR IGNORE INTO embedders(fingerprint, name, dimension) VALUES (?, ?, ?)",
        (model.fingerprint, model.name, model.dimension),
    )
    found = "SELECT number FROM embedders WHERE fingerprint=?"
    return int(connection.execute(found, (model.fingerprint,)).get)


def read_run(connection: apsw.Connection) -> EmbedderMigration | None:
    """What the bank is going over to; ``None`` = it stays with the embedder that it has."""
    row = connection.execute(
        f"SELECT embedder, begun_at, linked FROM reembedding WHERE {sound('reembedding')}"
    ).fetchone()
    if row is None:
        return None
    number, begun_at, linked = (int(value) for value in row)
    return EmbedderMigration(number, read_model(connection, number), begun_at, linked)


def begin(connection: apsw.Connection, model: ModelIdentity, now: int) -> None:
    """Let the bank go over to *model*."""
    connection.execute(
        "INSERT INTO reembedding(one, embedder, begun_at, linked) VALUES (1, ?, ?, 0)",
        (number_of(connection, model), now),
    )


def progress_of(connection: apsw.Connection, number: int | None) -> tuple[int, int]:
    """How many rows have a vector of an embedder, and how many rows there are."""
    done, rows = connection.execute(
        "SELECT (SELECT count(*) FROM vectors WHERE embedder IS ?), (SELECT count(*) FROM memories)",
        (number,),
    ).get
    return int(done), int(rows)


def missing(connection: apsw.Connection, number: int, after: int, most: int) -> list[MissingVector]:
    """Rows above ordinal *after* without a vector of an embedder, *most* of them, ascending."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        f"SELECT m.ordinal, {node_of('m')}, m.text FROM memories m WHERE m.ordinal > ? AND NOT EXISTS"
        " (SELECT 1 FROM vectors v WHERE v.ordinal = m.ordinal AND v.embedder = ?)"
        " ORDER BY m.ordinal LIMIT ?",
        (after, number, most),
    )
    return [MissingVector(int(ordinal), int(node), str(text)) for ordinal, node, text in rows]


def without_vector(connection: apsw.Connection, ordinals: Iterable[int], number: int) -> set[int]:
    """Those of some rows that have no vector of an embedder."""
    found = "SELECT 1 FROM vectors WHERE ordinal=? AND embedder=?"
    return {
        ordinal for ordinal in ordinals if connection.execute(found, (ordinal, number)).fetchone() is None
    }


def write_encoding(connection: apsw.Connection, ordinal: int, made: Encoding) -> None:
    """Store what the following embedder made of a row's text; nothing where it is not the following one.

    A row that was forgotten meanwhile stays forgotten, and one that has its vector keeps it.
    """
    number = connection.execute(
        "SELECT r.embedder FROM reembedding r JOIN embedders e ON e.number = r.embedder"
        f" WHERE e.fingerprint=? AND {sound('embedders', 'e')} AND {sound('reembedding', 'r')}"
        " AND EXISTS (SELECT 1 FROM memories WHERE ordinal=?)",
        (made.model.fingerprint, ordinal),
    ).get
    if number is None or made.codes is None:
        return
    connection.execute(
        "INSERT OR IGNORE INTO vectors(ordinal, embedder, scale, codes) VALUES (?, ?, ?, ?)",
        (ordinal, number, made.scale, made.codes.tobytes()),
    )
    if made.tokens:
        connection.execute(
            "INSERT OR IGNORE INTO token_codes(ordinal, embedder, codes) VALUES (?, ?, ?)",
            (ordinal, number, made.tokens),
        )


def copy_encodings(connection: apsw.Connection, ordinal: int, fresh: int, embedder: int | None) -> None:
    """Give row *fresh* what models made of row *ordinal*, which has the same text.

    Args:
        connection: in a write transaction.
        ordinal: of the row that has it.
        fresh: of the row that gets it; what it has already stays.
        embedder: number of the bank's; the following one's is copied, too.
    """
    for table, columns in (("vectors", "embedder, scale, codes"), ("token_codes", "embedder, codes")):
        connection.execute(
            f"INSERT OR IGNORE INTO {table}(ordinal, {columns}) SELECT ?, {columns} FROM {table}"
            " WHERE ordinal=? AND (embedder IS ? OR embedder IN (SELECT embedder FROM reembedding))"
            f" AND {sound(table)}",
            (fresh, ordinal, embedder),
        )


def link_rows(
    connection: apsw.Connection, number: int, found: Iterable[tuple[int, int, float]], linked: int
) -> int:
    """Store semantic links (source, target, cosine) and that all rows below *linked* have theirs."""
    made = 0
    for source, target, cosine in found:
        connection.execute(
            "INSERT OR IGNORE INTO links(source, target, kind, weight, embedder) VALUES (?, ?, ?, ?, ?)",
            (source, target, SEMANTIC, cosine, number),
        )
        made += connection.changes()
    connection.execute("UPDATE reembedding SET linked=?", (linked,))
    return made


def switch(connection: apsw.Connection, meta: Meta, number: int, generation: int) -> None:
    """Make the following embedder the bank's, inside a write transaction; readers see it as a whole.

    Digests say whether a row has a vector, so those of rows that only one of the two embedders could encode
    are made anew. Cost: one pass over the keys of ``vectors``.
    """
    with_vector = "SELECT ordinal FROM vectors WHERE embedder IS ?"
    changed: list[tuple[Any, ...]] = connection.execute(
        f"SELECT ordinal, 0 FROM ({with_vector}1 EXCEPT {with_vector}2)"
        f" UNION ALL SELECT ordinal, 1 FROM ({with_vector}2 EXCEPT {with_vector}1)",
        (meta.embedder, number),
    ).fetchall()
    columns = ", ".join(IMMUTABLE)
    for ordinal, embedded in changed:
        statement = f"SELECT digest, {columns} FROM memories WHERE ordinal=?"
        found: tuple[Any, ...] = connection.execute(statement, (ordinal,)).fetchone() or ()
        before, *values = found
        row: dict[str, Any] = dict(zip(IMMUTABLE, values, strict=True))
        if row_digest(row, embedded=not embedded) != before:
            # A new digest would hide the damage.
            continue
        digest = row_digest(row, embedded=bool(embedded))
        connection.execute("UPDATE memories SET digest=? WHERE ordinal=?", (digest, ordinal))
    connection.execute("UPDATE meta SET embedder=?, generation=?", (number, generation))
    end(connection)


def end(connection: apsw.Connection) -> bool:
    """Let the bank stay with the embedder that it has; whether it was going over to another."""
    connection.execute("DELETE FROM reembedding")
    return bool(connection.changes())


def left_over(connection: apsw.Connection) -> list[int]:
    """Numbers of embedders that the bank neither has nor goes over to."""
    rows: Sequence[tuple[Any, ...]] = connection.execute(
        "SELECT number FROM embedders WHERE number NOT IN (SELECT embedder FROM meta WHERE embedder NOT NULL"
        " UNION SELECT embedder FROM reembedding) ORDER BY number"
    ).fetchall()
    return [int(number) for (number,) in rows]


def drop_rows(connection: apsw.Connection, start: int, stop: int) -> int:
    """Delete what left-over embedders made of rows with ordinals from *start* up to *stop*."""
    dropped = 0
    for number in left_over(connection):
        for table, column in (("vectors", "ordinal"), ("token_codes", "ordinal"), ("links", "source")):
            connection.execute(
                f"DELETE FROM {table} WHERE {column} >= ? AND {column} < ? AND embedder = ?",
                (start, stop, number),
            )
            dropped += connection.changes()
    return dropped


def drop_names(connection: apsw.Connection) -> None:
    """Delete left-over embedders of which nothing is left."""
    for number in left_over(connection):
        connection.execute(
            "DELETE FROM embedders WHERE number=?1 AND NOT EXISTS (SELECT 1 FROM vectors WHERE embedder=?1)"
            " AND NOT EXISTS (SELECT 1 FROM token_codes WHERE embedder=?1)",
            (number,),
        )
