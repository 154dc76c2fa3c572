"""What lies below the storage protocols, for tests that look at rows, files or the index of the embedded backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.backends.embedded.bank import EmbeddedBank
from simonides.backends.embedded.reader import Reading
from simonides.backends.embedded.transaction import WriteTransaction

if TYPE_CHECKING:
    import apsw

    from simonides.storage.bank import BankStorage
    from simonides.storage.reader import Reader
    from simonides.storage.writer import WriteTransaction as Writer


def embedded(rows: BankStorage) -> EmbeddedBank:
    """The rows of a bank as the embedded backend that they are."""
    assert isinstance(rows, EmbeddedBank)
    return rows


def connection_of(rows: Reader | Writer) -> apsw.Connection:
    """The connection that is in a transaction."""
    assert isinstance(rows, Reading | WriteTransaction)
    return rows.connection
