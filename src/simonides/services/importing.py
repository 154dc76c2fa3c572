"""Brings in what is kept elsewhere: items of importers, synced documents, exports and backups."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.options import MAX_PATH_BYTES
from simonides.records.hygiene import MAX_FILE_PATH_BYTES, clean_text
from simonides.records.receipt import Imported
from simonides.retain.importing.syncing import Syncing, gather
from simonides.retain.pipeline import in_context, sparse_terms
from simonides.retain.screening import secrets_in
from simonides.services.write_path import WritePath
from simonides.storage.export_format import check_file, read_records

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from simonides.records.draft import Draft, Prepared
    from simonides.records.receipt import Counts, Restored, Saved, Synced
    from simonides.retain.importing.syncing import Piece
    from simonides.services.context import BankContext
    from simonides.storage.writer import WriteTransaction


@dataclass(frozen=True, slots=True)
class Importing:
    """Brings in what is kept elsewhere."""

    context: BankContext

    def import_items(self, items: Iterable[Mapping[str, Any]]) -> Imported:
        drafts = WritePath(self.context).read_drafts(items, {})
        pieces = gather(drafts, self.context.author)
        known = self.context.rows.claimed([piece.key for piece in pieces])
        fresh = [piece for piece in pieces if known.get(piece.key) != piece.body]
        stored = self._store(fresh, drafts) if fresh else []
        return Imported(tuple(stored), len(drafts) - len(stored))

    def _store(self, fresh: Sequence[Piece], drafts: Sequence[Draft]) -> list[str]:
        path = WritePath(self.context)
        places = [place for piece in fresh for place in piece.positions]

        def store(transaction: WriteTransaction, prepared: Sequence[Prepared]) -> list[str]:
            ready = dict(zip(places, prepared, strict=True))
            # Another process may have imported some of the pieces meanwhile.
            left = [p for p in fresh if (transaction.keys.read(p.key) or (b"",))[0] != p.body]
            there = [place for piece in left for place in piece.positions]
            stored = path.write(transaction, [ready[place] for place in there])
            ids = dict(zip(there, stored, strict=True))
            for piece in left:
                transaction.keys.replace(piece.key, piece.body, [ids[place] for place in piece.positions])
            return stored

        return path.prepare_and_store([drafts[place] for place in places], store)

    def sync_documents(
        self, items: Iterable[Mapping[str, Any]], *, below: str | Sequence[str], keep: Collection[str]
    ) -> Synced:
        beginnings = [below] if isinstance(below, str) else list(below)
        for beginning in beginnings:
            if not clean_text(beginning, "below", MAX_PATH_BYTES):
                raise InputError("below", "is blank; give the beginning of the documents' names")
        drafts = WritePath(self.context).read_drafts(items, {})
        encoder, _ = self.context.parts.sparse()

        def sparse(draft: Draft) -> bytes:
            return sparse_terms([in_context(draft.text, draft.context)], encoder)[0][0]

        with self.context.writing() as transaction:
            kept = {self.context.redactor().apart(name, "keep") for name in keep}
            return Syncing(transaction, drafts, self.context.author, sparse).run(beginnings, kept)

    def import_bank(
        self, path: str | os.PathLike[str], *, progress: Callable[[int, int], None] | None
    ) -> Restored:
        self.context.require_owner("import_bank")
        file = Path(clean_text(os.fspath(path), "path", MAX_FILE_PATH_BYTES))
        self._check_export(file)
        analyser, now = self.context.parts.analyser, self.context.now()
        return self.context.rows.import_export(file, analyser, now, progress=progress)

    def _check_export(self, path: Path) -> None:
        """An export is stored unchanged, so where the store redacts it must hold no secret."""
        if self.context.parts.redact == "off":
            return
        check_file(path, self.context.now())
        for number, record in read_records(path):
            kind = next(secrets_in(record), None)
            if kind is not None:
                raise InputError(
                    "path",
                    f"line {number:,} of {path} holds a secret ({kind}), and an export is read in unchanged; "
                    "forget that memory where it comes from and export anew, or import with redact='off'",
                )

    def restore(self, path: str | os.PathLike[str]) -> Saved:
        self.context.require_owner("restore")
        file = Path(clean_text(os.fspath(path), "path", MAX_FILE_PATH_BYTES))
        saved = self.context.rows.restore(file, self.context.now())
        self.context.clear_caches()
        return saved


@dataclass(frozen=True, slots=True)
class Exporting:
    """Writes the whole bank to a file."""

    context: BankContext

    def export(self, target: str | os.PathLike[str] | IO[bytes]) -> Counts:
        self.context.require_owner("export")
        self.context.record_read("export", None)
        return self.context.rows.export(target)

    def backup(self, target: str | os.PathLike[str] | IO[bytes]) -> Saved:
        self.context.require_owner("backup")
        self.context.record_read("backup", None)
        if isinstance(target, str | os.PathLike):
            return self.context.rows.backup(
                Path(clean_text(os.fspath(target), "target", MAX_FILE_PATH_BYTES))
            )
        return self.context.rows.backup(target)
