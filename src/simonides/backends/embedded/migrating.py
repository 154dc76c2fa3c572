"""One write transaction of a bank that migrates to another embedder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.backends.embedded.change_log import read_meta
from simonides.backends.embedded.reembedding import link_rows, switch

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from simonides.backends.embedded.auditing import Auditor
    from simonides.index.snapshot import IndexSnapshot
    from simonides.records.model_identity import EmbedderMigration
    from simonides.storage.reader import Meta


@dataclass(frozen=True, slots=True)
class MigrationTransaction:
    """See ``storage.bank.MigrationWriter``.

    Attributes:
        connection: in the transaction; for this package alone.
        auditor: seals a row about the switch; ``None`` = the bank is not audited.
    """

    connection: apsw.Connection
    meta: Meta
    run: EmbedderMigration
    snapshot: IndexSnapshot
    auditor: Auditor | None

    def add_links(self, found: Iterable[tuple[int, int, float]], linked: int) -> int:
        return link_rows(self.connection, self.run.number, found, linked)

    def switch(self, generation: int, now: int) -> None:
        switch(self.connection, self.meta, self.run.number, generation)
        if self.auditor is not None:
            after = read_meta(self.connection)
            self.auditor.append(self.connection, after, "", "reembed", now, began=self.meta.sequence)
