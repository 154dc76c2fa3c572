"""The models of a bank and what they made: its embedder, the one it migrates to, vectors and sparse terms.

While a bank migrates, its rows have vectors, token codes and semantic links of both embedders, each under its
embedder's number; readers name the number, so nobody reads the unfinished ones. The row of ``reembedding``
holds the whole state, so a migration that was killed goes on where its last transaction ended.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simonides.backends.embedded.checksums import row_checksum
from simonides.backends.embedded.rows import compare_memories, insert_into, keys, node_of, verified
from simonides.errors import EmbedderMismatchError
from simonides.records.model_identity import (
    EmbedderMigration,
    MissingVector,
    ModelIdentity,
    mismatch,
    sparse_mismatch,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from simonides.backends.embedded.session import WriteSession
    from simonides.protocols import Embedder, SparseEncoder
    from simonides.records.draft import Encoding
    from simonides.storage.reader import Meta

SEMANTIC = "semantic"
"""The kind of links that vectors find; all other kinds need none."""

ADD_LINK = insert_into("links", "source, target, kind, weight, embedder", "INSERT OR IGNORE")
ADD_SPARSE_ENCODER = insert_into("sparse_encoder", "one, fingerprint, name")


def read_model(connection: apsw.Connection, number: int | None) -> ModelIdentity:
    """An embedder by its number; empty for none."""
    row = connection.execute(
        f"SELECT name, dimension, fingerprint FROM {verified('embedders')} WHERE number IS ?", (number,)
    ).fetchone()
    return ModelIdentity(str(row[0]), int(row[1]), str(row[2])) if row else ModelIdentity()


def read_sparse_encoder(connection: apsw.Connection) -> tuple[str, str]:
    """Fingerprint and name of the bank's sparse encoder; empty before the first sparse terms."""
    row = connection.execute(f"SELECT fingerprint, name FROM {verified('sparse_encoder')}").fetchone()
    return (str(row[0]), str(row[1])) if row else ("", "")


def number_of(connection: apsw.Connection, model: ModelIdentity) -> int:
    """The number of an embedder, added when it is new (inside a write transaction)."""
    insert = insert_into("embedders", "fingerprint, name, dimension", "INSERT OR IGNORE")
    connection.execute(insert, (model.fingerprint, model.name, model.dimension))
    number = find_number(connection, model)
    assert number is not None
    return number


def find_number(connection: apsw.Connection, model: ModelIdentity) -> int | None:
    """The number of an embedder; ``None`` = the bank never had it."""
    select = f"SELECT number FROM {keys('embedders')} WHERE fingerprint=?"
    number = connection.execute(select, (model.fingerprint,)).get
    return None if number is None else int(number)


def read_run(connection: apsw.Connection) -> EmbedderMigration | None:
    """The migration that is under way; ``None`` = none is."""
    row = connection.execute(f"SELECT embedder, begun_at, linked FROM {verified('reembedding')}").fetchone()
    if row is None:
        return None
    number, begun_at, linked = (int(value) for value in row)
    return EmbedderMigration(number, read_model(connection, number), begun_at, linked)


def begin(connection: apsw.Connection, model: ModelIdentity, now: int) -> None:
    """Begin a migration to *model*."""
    connection.execute(
        "INSERT INTO reembedding(one, embedder, begun_at, linked) VALUES (1, ?, ?, 0)",
        (number_of(connection, model), now),
    )


def progress_of(connection: apsw.Connection, number: int | None) -> tuple[int, int]:
    """How many rows have a vector of an embedder, and how many rows there are."""
    done, rows = connection.execute(
        f"SELECT (SELECT count(*) FROM {keys('vectors')} WHERE embedder IS ?),"
        f" (SELECT count(*) FROM {keys('memories')})",
        (number,),
    ).get
    return int(done), int(rows)


def missing(connection: apsw.Connection, number: int, after: int, most: int) -> list[MissingVector]:
    """Rows above ordinal *after* without a vector of an embedder, *most* of them, ascending."""
    rows: Iterable[tuple[Any, ...]] = connection.execute(
        f"SELECT m.ordinal, {node_of('m')}, m.text FROM {verified('memories m')} WHERE m.ordinal > ?"
        " AND NOT EXISTS"
        f" (SELECT 1 FROM {keys('vectors v')} WHERE v.ordinal = m.ordinal AND v.embedder = ?)"
        " ORDER BY m.ordinal LIMIT ?",
        (after, number, most),
    )
    return [MissingVector(int(ordinal), int(node), str(text)) for ordinal, node, text in rows]


def without_vector(connection: apsw.Connection, ordinals: Iterable[int], number: int) -> set[int]:
    """Those of some rows that have no vector of an embedder."""
    found = f"SELECT 1 FROM {keys('vectors')} WHERE ordinal=? AND embedder=?"
    return {
        ordinal for ordinal in ordinals if connection.execute(found, (ordinal, number)).fetchone() is None
    }


def write_encoding(connection: apsw.Connection, ordinal: int, made: Encoding) -> None:
    """Store what the target embedder made of a row's text; nothing where that is not the target.

    A row that was forgotten meanwhile stays forgotten, and one that has its vector keeps it.
    """
    number = connection.execute(
        f"SELECT r.embedder FROM {verified('reembedding r')} JOIN {verified('embedders e')}"
        " ON e.number = r.embedder"
        f" WHERE e.fingerprint=? AND EXISTS (SELECT 1 FROM {keys('memories')} WHERE ordinal=?)",
        (made.model.fingerprint, ordinal),
    ).get
    if number is None or made.codes is None:
        return
    insert = insert_into("vectors", "ordinal, embedder, scale, codes", "INSERT OR IGNORE")
    connection.execute(insert, (ordinal, number, made.scale, made.codes.tobytes()))
    if made.tokens:
        insert = insert_into("token_codes", "ordinal, embedder, codes", "INSERT OR IGNORE")
        connection.execute(insert, (ordinal, number, made.tokens))


def copy_encodings(connection: apsw.Connection, ordinal: int, fresh: int, embedder: int | None) -> None:
    """Copy what embedder number *embedder* and the target made of row *ordinal* to row *fresh*.

    Both have the same text. What *fresh* has already stays.
    """
    for table, columns in (("vectors", "embedder, scale, codes"), ("token_codes", "embedder, codes")):
        connection.execute(
            f"INSERT OR IGNORE INTO {table}(ordinal, {columns}) SELECT ?, {columns} FROM {verified(table)}"
            " WHERE ordinal=? AND (embedder IS ? OR embedder IN (SELECT embedder"
            f" FROM {verified('reembedding')}))",
            (fresh, ordinal, embedder),
        )


def link_rows(
    connection: apsw.Connection, number: int, found: Iterable[tuple[int, int, float]], linked: int
) -> int:
    """Store semantic links (source, target, cosine) and that all rows below *linked* have theirs."""
    made = 0
    for source, target, cosine in found:
        connection.execute(ADD_LINK, (source, target, SEMANTIC, cosine, number))
        made += connection.changes()
    connection.execute("UPDATE reembedding SET linked=?", (linked,))
    return made


def switch(connection: apsw.Connection, meta: Meta, number: int, generation: int) -> None:
    """Make the target embedder the bank's, inside a write transaction; readers see it as a whole.

    A checksum says whether a row has a vector, so that of a row which only one of the two embedders could
    encode is computed again. Cost: one pass over the keys of ``vectors``.
    """
    with_vector = f"SELECT ordinal FROM {keys('vectors')} WHERE embedder IS ?"
    changed: list[tuple[Any, ...]] = connection.execute(
        f"SELECT ordinal, 0 FROM ({with_vector}1 EXCEPT {with_vector}2)"
        f" UNION ALL SELECT ordinal, 1 FROM ({with_vector}2 EXCEPT {with_vector}1)",
        (meta.embedder, number),
    ).fetchall()
    for ordinal, embedded in changed:
        for row, intact, _ in compare_memories(connection, "WHERE ordinal=?", ordinal):
            # A new checksum would hide the damage.
            if intact:
                digest = row_checksum(row, embedded=bool(embedded))
                connection.execute("UPDATE memories SET digest=? WHERE ordinal=?", (digest, ordinal))
    connection.execute("UPDATE meta SET embedder=?, generation=?", (number, generation))
    end(connection)


def end(connection: apsw.Connection) -> bool:
    """End the migration without a switch; whether there was one."""
    connection.execute("DELETE FROM reembedding")
    return bool(connection.changes())


def unused_embedders(connection: apsw.Connection) -> list[int]:
    """Numbers of embedders that the bank neither has nor migrates to."""
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT number FROM {keys('embedders')} WHERE number NOT IN (SELECT embedder FROM {verified('meta')}"
        f" WHERE embedder NOT NULL UNION SELECT embedder FROM {verified('reembedding')}) ORDER BY number"
    ).fetchall()
    return [int(number) for (number,) in rows]


class Models:
    """The models inside a write transaction; see ``storage.writer.Models``."""

    def __init__(self, session: WriteSession) -> None:
        self._session = session

    def embedder(self) -> ModelIdentity:
        return read_model(self._session.connection, self._session.meta.embedder)

    def use_embedder(self, embedder: Embedder | ModelIdentity) -> None:
        if self._session.meta.embedder is None:
            number = number_of(
                self._session.connection,
                ModelIdentity(embedder.name, embedder.dimension, embedder.fingerprint),
            )
            self._session.meta = replace(self._session.meta, embedder=number)
            # At once: a row's checksum says whether it has a vector of the embedder that is stored.
            self._session.run("UPDATE meta SET embedder=?", number)
            return
        held = self.embedder()
        if held.fingerprint != embedder.fingerprint:
            raise EmbedderMismatchError(mismatch(held.name, held.dimension, embedder))

    def use_sparse_encoder(self, encoder: SparseEncoder) -> None:
        fingerprint, name = read_sparse_encoder(self._session.connection)
        if not fingerprint:
            self._session.run(ADD_SPARSE_ENCODER, 1, encoder.fingerprint, encoder.name)
        elif fingerprint != encoder.fingerprint:
            raise EmbedderMismatchError(sparse_mismatch(name, encoder.name))

    def migration(self) -> EmbedderMigration | None:
        return read_run(self._session.connection)

    def begin_migration(self, model: ModelIdentity) -> None:
        begin(self._session.connection, model, self._session.now)

    def end_migration(self) -> bool:
        return end(self._session.connection)

    def add_encoding(self, ordinal: int, made: Encoding) -> None:
        write_encoding(self._session.connection, ordinal, made)

    def copy_encoding(self, ordinal: int, fresh: int, number: int) -> None:
        copy_encodings(self._session.connection, ordinal, fresh, number)

    def without_vector(self, ordinals: Iterable[int], number: int) -> set[int]:
        return without_vector(self._session.connection, ordinals, number)

    def drop_left_over(self, start: int, stop: int) -> int:
        dropped = 0
        for number in unused_embedders(self._session.connection):
            for table, column in (("vectors", "ordinal"), ("token_codes", "ordinal"), ("links", "source")):
                delete = f"DELETE FROM {table} WHERE {column} >= ? AND {column} < ? AND embedder = ?"
                self._session.run(delete, start, stop, number)
                dropped += self._session.connection.changes()
        return dropped

    def drop_left_over_names(self) -> None:
        unused = " AND ".join(
            f"NOT EXISTS (SELECT 1 FROM {keys(table)} WHERE embedder=?1)"
            for table in ("vectors", "token_codes")
        )
        for number in unused_embedders(self._session.connection):
            self._session.run(f"DELETE FROM embedders WHERE number=?1 AND {unused}", number)

    # -- enrichment; memories by the ordinals of their first versions

    def expansion_by_rules(self, ordinal: int) -> str:
        row = self._session.one(
            f"SELECT base.expansion FROM {keys('memories m')}"
            f" JOIN {verified('enrichments e')} ON e.ordinal = m.root"
            f" JOIN {verified('memories base')} ON base.id = m.id AND base.version = e.base"
            " WHERE m.ordinal=?",
            ordinal,
        )
        if row is None:
            row = self._session.one(f"SELECT expansion FROM {verified('memories')} WHERE ordinal=?", ordinal)
        if row is None:
            raise LookupError(f"no row {ordinal}")
        return str(row[0])

    def set_enriched(self, root: int, version: int, model: str) -> None:
        insert = insert_into("enrichments", "ordinal, base, model")
        update = f"{insert} ON CONFLICT(ordinal) DO UPDATE SET model=excluded.model"
        self._session.run(update, root, version, model)
