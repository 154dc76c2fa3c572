"""The audit log of changes and of reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.records.hygiene import clean_count, clean_switch

if TYPE_CHECKING:
    from pathlib import Path

    from simonides.records.audit import AuditReport, Entry
    from simonides.services.context import BankContext


@dataclass(frozen=True, slots=True)
class Auditing:
    """Starts, reads and verifies the audit log; for the owner."""

    context: BankContext

    def start(self) -> Path | None:
        self.context.require_owner("start_audit")
        return self.context.rows.audit.start(self.context.now())

    def audit_recalls(self, *, on: bool) -> bool:
        self.context.require_owner("audit_recalls")
        clean_switch(on, "on")
        return self.context.rows.audit.switch_recalls(self.context.now(), on=on)

    def verify(self, *, anchor: str | None, recalls_anchor: str | None) -> AuditReport:
        self.context.require_owner("audit_verify")
        return self.context.rows.audit.verify(anchor, recalls_anchor)

    def entries(self, most: int | None, *, recalls: bool) -> list[Entry]:
        self.context.require_owner("audit_entries")
        most = None if most is None else clean_count(most, "most", 0)
        return self.context.rows.audit.entries(most, recalls=recalls)
