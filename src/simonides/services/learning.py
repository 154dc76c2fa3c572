"""What was of use, and the reranker that is trained on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.errors import ConflictError, NotFoundError, UnavailableError
from simonides.records.hygiene import MAX_ID_BYTES, clean_ids, clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from simonides.recall.refining.mlp import Network
    from simonides.records.impression import Samples
    from simonides.services.context import BankContext


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
