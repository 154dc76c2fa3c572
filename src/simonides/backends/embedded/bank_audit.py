"""The audit of one bank: its log of changes, and its log of recalls where that is on."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from simonides.backends.embedded.auditing import (
    KEY_FILE,
    RESTORE,
    Auditor,
    adopt_key,
    find_key,
    has_entries,
    make_key,
    read_entries,
)
from simonides.backends.embedded.auditing import START as AUDIT_START
from simonides.backends.embedded.change_log import read_meta
from simonides.backends.embedded.connection import read_transaction, translated, write_transaction
from simonides.backends.embedded.recall_audit import START, STOP, RecallLog, Switches
from simonides.errors import NotFoundError, ReplacedError, StoreError, UnavailableError
from simonides.records.audit import AuditReport, Entry, ReadAudit

if TYPE_CHECKING:
    from pathlib import Path

    import apsw

    from simonides.backends.embedded.connection import Connections
    from simonides.backends.embedded.encryption import Key
    from simonides.storage.reader import Meta

RECALLS_ON, RECALLS_OFF = "audit recalls", "stop auditing recalls"


class BankAudit:
    """Writes the audit log of changes and, where it is on, that of reads.

    *audit_key*: ``None`` = the key in the folder, or no audit where there is none. *key* encrypts the bank.
    """

    def __init__(
        self, folder: Path, connections: Connections, audit_key: bytes | None, key: Key | None
    ) -> None:
        self._folder = folder
        self._connections = connections
        self._audit_key = audit_key
        self._recall_log = RecallLog(folder, self._read_switches, key)
        # The newest row of the audit log that was read, and what it says of the log of recalls.
        self._switches = 0, Switches(0, None)

    def close(self) -> None:
        """Close the log of recalls."""
        self._recall_log.close()

    def restored(self, connection: apsw.Connection, meta: Meta, now: int) -> None:
        """Log that a backup replaced the rows; in their transaction, before they are the bank's."""
        self.append(connection, meta, RESTORE, now)
        if (auditor := self.auditor()) is not None and self._recall_log.is_on:
            # The rows that come back may say otherwise.
            self._recall_log.begin(auditor, ReadAudit(START, "", now, meta.sequence))
            self.append(connection, meta, RECALLS_ON, now)

    def read_anew(self) -> None:
        """Forget what was read of the log, because other rows are there now."""
        self._switches = 0, Switches(0, None)

    def start(self, now: int) -> Path | None:
        with write_transaction(self._connections) as connection:
            begun = has_entries(connection)
            if begun:
                auditor = self.auditor()
                if auditor is None:
                    raise NotFoundError(
                        f"{self._folder}: the audit key of its audit log is missing; restore its "
                        f"{KEY_FILE}, or pass `audit_key=`"
                    )
                auditor.check_key(connection)
            else:
                auditor = self._handed_in() or Auditor(make_key(self._folder))
                meta = read_meta(connection)
                auditor.append(connection, meta, "", AUDIT_START, now, began=meta.sequence)
        if self._audit_key is not None:
            return None
        if not begun:
            adopt_key(self._folder)
        return self._folder / KEY_FILE

    def switch_recalls(self, now: int, *, on: bool) -> bool:
        auditor = self._audited()
        with write_transaction(self._connections) as connection:
            # First: the other log is a file of its own, which no rollback clears.
            auditor.check_key(connection)
            meta = read_meta(connection)
            switched = self._recall_log.switch(
                auditor, ReadAudit(START if on else STOP, "", now, meta.sequence)
            )
            if switched:
                verb = RECALLS_ON if on else RECALLS_OFF
                auditor.append(connection, meta, "", verb, now, began=meta.sequence)
        return switched

    @property
    def covers_recalls(self) -> bool:
        return self._recall_log.is_on

    def _read_switches(self) -> Switches:
        """Read the rows since the last restore: earlier ones say nothing of the file that is here."""
        with translated(self._connections.path):
            connection = self._connections.get()
            newest = connection.execute("SELECT coalesce(max(number), 0) FROM audit").get
            if newest != self._switches[0]:
                # Only the new rows, for the log may be long; all of them where it became shorter.
                seen, known = self._switches if newest > self._switches[0] else (0, Switches(0, None))
                count, since = known.count, known.on_since
                for verb, at in connection.execute(
                    "SELECT verb, at FROM audit WHERE number > ? AND verb IN (?, ?, ?) ORDER BY number",
                    (seen, RECALLS_ON, RECALLS_OFF, RESTORE),
                ):
                    count += verb != RESTORE
                    since = int(at) if verb == RECALLS_ON else None
                self._switches = newest, Switches(count, since)
        return self._switches[1]

    def record_read(self, read: ReadAudit) -> None:
        auditor = self.auditor()
        if auditor is None:
            raise UnavailableError(
                "recalls of this bank are audited and the audit key is missing; pass `audit_key=` or "
                "restore audit.key"
            )
        with translated(self._connections.path):
            auditor.check_key(self._connections.get())
        self._recall_log.append(auditor, read)

    def verify(self, anchor: str | None = None, recalls_anchor: str | None = None) -> AuditReport:
        auditor = self._audited()
        with read_transaction(self._connections) as connection:
            report = auditor.verify(connection, read_meta(connection, checked=False), anchor)
        recalls = self._recall_log.verify(auditor, self._read_switches().count, recalls_anchor)
        problems = (*report.problems, *recalls.problems)
        return AuditReport(report.entries, report.head, problems, recalls.entries, recalls.head)

    def entries(self, most: int | None = None, *, recalls: bool = False) -> list[Entry]:
        if recalls:
            return self._recall_log.entries(most)
        with read_transaction(self._connections) as connection:
            return read_entries(connection, most)

    def findings(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Problems of the audit log, and what to note about it."""
        try:
            with read_transaction(self._connections) as connection:
                rows = connection.execute("SELECT count(*) FROM audit").get
            if self.auditor() is None:
                note = f"{rows} rows of the audit log are unchecked: its key is missing"
                return (), (note,) if rows else ()
            return self.verify().problems, ()
        except StoreError as error:
            if type(error) is StoreError or isinstance(error, ReplacedError):
                # Closed, deleted or moved away meanwhile: no problem of the log.
                raise
            return (f"audit: cannot be checked ({error})",), ()

    def _audited(self) -> Auditor:
        auditor = self.auditor()
        if auditor is None:
            raise NotFoundError(
                "this bank has no audit key; start the audit (`simonides audit start`), or pass `audit_key=`"
            )
        return auditor

    def auditor(self) -> Auditor | None:
        if (handed_in := self._handed_in()) is not None:
            return handed_in
        key = find_key(self._folder, self._log_goes_by)
        return None if key is None else Auditor(key)

    def _handed_in(self) -> Auditor | None:
        return None if self._audit_key is None else Auditor(self._audit_key, handed_in=True)

    def _log_goes_by(self, key: bytes | None) -> bool:
        """Whether the audit log has rows, and goes by *key* where one is given."""
        with translated(self._connections.path):
            connection = self._connections.get()
            if not has_entries(connection):
                return False
            with contextlib.suppress(UnavailableError):
                if key is not None:
                    Auditor(key).check_key(connection)
                return True
        return False

    def auditor_of(self, connection: apsw.Connection) -> Auditor | None:
        """The writer of the log that *connection* sees; ``None`` = the bank is not audited.

        ``UnavailableError``: the log goes by another key.
        """
        auditor = self.auditor()
        if auditor is not None:
            auditor.check_key(connection)
        return auditor

    def append(self, connection: apsw.Connection, meta: Meta, verb: str, now: int) -> None:
        """A row about a transaction that makes no change of the log."""
        # A backup may bring rows of another key; all that follows goes by this one.
        auditor = self.auditor() if verb == RESTORE else self.auditor_of(connection)
        if auditor is not None:
            auditor.append(connection, meta, "", verb, now, began=meta.sequence)
