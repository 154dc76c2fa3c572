"""What models made of a bank's rows, inside a write transaction: its embedder, and the one it migrates to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.backends.embedded import reembedding
from simonides.backends.embedded.reembedding import number_of, read_model, read_run
from simonides.backends.embedded.seals import sound
from simonides.errors import EmbedderMismatchError
from simonides.records.model_identity import EmbedderMigration, ModelIdentity, mismatch, sparse_mismatch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simonides.backends.embedded.session import WriteSession
    from simonides.protocols import Embedder, SparseEncoder
    from simonides.records.draft import Encoding


class Models:
    """The models of a bank."""

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
            return
        held = self.embedder()
        if held.fingerprint != embedder.fingerprint:
            raise EmbedderMismatchError(mismatch(held.name, held.dimension, embedder))

    def use_sparse_encoder(self, encoder: SparseEncoder) -> None:
        row = self._session.one(
            f"SELECT fingerprint, name FROM sparse_encoder WHERE {sound('sparse_encoder')}"
        )
        if row is None:
            insert = "INSERT INTO sparse_encoder(one, fingerprint, name) VALUES (1, ?, ?)"
            self._session.connection.execute(insert, (encoder.fingerprint, encoder.name))
        elif row[0] != encoder.fingerprint:
            raise EmbedderMismatchError(sparse_mismatch(str(row[1]), encoder.name))

    def migration(self) -> EmbedderMigration | None:
        return read_run(self._session.connection)

    def begin_migration(self, model: ModelIdentity) -> None:
        reembedding.begin(self._session.connection, model, self._session.now)

    def end_migration(self) -> bool:
        return reembedding.end(self._session.connection)

    def add_encoding(self, ordinal: int, made: Encoding) -> None:
        reembedding.write_encoding(self._session.connection, ordinal, made)

    def copy_encoding(self, ordinal: int, fresh: int, number: int) -> None:
        reembedding.copy_encodings(self._session.connection, ordinal, fresh, number)

    def without_vector(self, ordinals: Iterable[int], number: int) -> set[int]:
        return reembedding.without_vector(self._session.connection, ordinals, number)

    def drop_left_over(self, start: int, stop: int) -> int:
        return reembedding.drop_rows(self._session.connection, start, stop)

    def drop_left_over_names(self) -> None:
        reembedding.drop_names(self._session.connection)

    # -- enrichment; memories by the ordinals of their first versions

    def expansion_by_rules(self, ordinal: int) -> str:
        row = self._session.one(
            "SELECT base.expansion FROM memories m"
            f" JOIN enrichments e ON e.ordinal = m.root AND {sound('enrichments', 'e')}"
            " JOIN memories base ON base.id = m.id AND base.version = e.base WHERE m.ordinal=?",
            ordinal,
        )
        if row is None:
            row = self._session.one("SELECT expansion FROM memories WHERE ordinal=?", ordinal)
        if row is None:
            raise LookupError(f"no row {ordinal}")
        return str(row[0])

    def set_enriched(self, root: int, version: int, model: str) -> None:
        self._session.connection.execute(
            "INSERT INTO enrichments(ordinal, base, model) VALUES (?, ?, ?)"
            " ON CONFLICT(ordinal) DO UPDATE SET model=excluded.model",
            (root, version, model),
        )
