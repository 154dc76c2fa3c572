"""What the owner sets and checks: time zone, times to live, embedder, the soundness of the files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.records.audit import VerifyReport
from simonides.records.hygiene import clean_choice
from simonides.records.kind import Kind
from simonides.records.time_to_live import ON_EXPIRY, TimeToLive, read_ttl

if TYPE_CHECKING:
    from datetime import timedelta

    from simonides.protocols import Embedder
    from simonides.records.time_to_live import TtlDefaults
    from simonides.services.context import BankContext


@dataclass(frozen=True, slots=True)
class Administration:
    """Sets and checks what concerns the whole bank."""

    context: BankContext

    def set_ttl(
        self, ttl: float | timedelta | str | None, *, kind: str | None, on_expiry: str
    ) -> TtlDefaults:
        self.context.require_owner("set a time to live for others")
        then = clean_choice(on_expiry, "on_expiry", ON_EXPIRY)
        of = None if kind is None else Kind(clean_choice(kind, "kind", tuple(one.value for one in Kind)))
        chosen = None if ttl is None else TimeToLive(read_ttl(ttl), then)
        rows = self.context.rows
        rows.settings.set_ttl_defaults(rows.settings.ttl_defaults.changed(of, chosen))
        return rows.settings.ttl_defaults

    def set_zone(self, name: str | None) -> None:
        self.context.require_owner("set_zone")
        self.context.rows.settings.set_zone(name)

    def embedder(self) -> Embedder | None:
        with self.context.reading() as reading:
            model = reading.embedder()
        return self.context.parts.embedder(model)[0]

    def verify(self) -> VerifyReport:
        report = self.context.rows.verify(self.context.now())
        if self.context.principal is None:
            return report
        # Counts and places would tell a principal about memories of others.
        problems = () if report.ok else ("the bank is damaged; its owner can see where",)
        return VerifyReport({}, problems)

    def repair(self) -> VerifyReport:
        self.context.require_owner("repair")
        return self.context.rows.repair(self.context.now())
