"""What the owner sets and checks: time zone, times to live, embedder, the soundness of the files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.errors import ConflictError, NotFoundError, UnavailableError
from simonides.records.audit import VerifyReport
from simonides.records.hygiene import (
    MAX_ID_BYTES,
    clean_choice,
    clean_count,
    clean_ids,
    clean_switch,
    clean_text,
)
from simonides.records.kind import Kind
from simonides.records.time_to_live import ON_EXPIRY, TimeToLive, read_ttl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import timedelta
    from pathlib import Path

    from simonides.protocols import Embedder
    from simonides.recall.refining.mlp import Network
    from simonides.records.audit import AuditReport, Entry
    from simonides.records.impression import Samples
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


@dataclass(frozen=True, slots=True)
class Learning:
    """Records what was of use and keeps the trained reranker."""

    context: BankContext

    def used(self, ids: str | Iterable[str], *, recall_id: str | None) -> int:
        context, wanted = self.context, clean_ids(ids)
        if recall_id is not None:
            clean_text(recall_id, "recall_id", MAX_ID_BYTES)
        with context.reading() as reading:
            for memory in wanted:
                versions = reading.versions(memory)
                if not versions or not all(map(context.may_read, versions)):
                    raise NotFoundError(f"no memory {memory!r}; recall returns the ids there are")
        return context.rows.used(wanted, recall_id, context.author, context.now()) if wanted else 0

    def samples(self) -> Samples:
        self.context.require_owner("samples")
        return self.context.rows.samples()

    def used_by_recall(self) -> Mapping[str, tuple[str, ...]]:
        self.context.require_owner("used_by_recall")
        return self.context.rows.used_by_recall()

    def adopt_reranker(self, network: Network, memories: Iterable[str]) -> Path:
        context = self.context
        context.require_owner("adopt_reranker")
        if context.rows.encrypted:
            raise UnavailableError(
                f"bank {context.name!r} is encrypted: a trained reranker would lie beside it in a plain "
                "file; recall without it, or train it in a bank without a key on an encrypted disk"
            )
        with context.reading() as reading:
            network = replace(network, embedder=reading.embedder().fingerprint)
        path = context.rows.reranker_path
        # ``forget`` deletes the file inside a write transaction, so nothing is forgotten inside this one.
        with context.rows.copying(), context.writing() as transaction:
            try:
                transaction.versions.roots(list(dict.fromkeys(memories)))
            except NotFoundError as error:
                raise ConflictError(f"{error}: train the reranker again") from error
            network.save(path)
        return path
