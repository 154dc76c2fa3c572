"""Erases memories, and on request every byte of them in the files of the bank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.records.hygiene import MAX_FILE_PATH_BYTES, clean_ids, clean_switch, clean_text
from simonides.records.interval import parse_time
from simonides.records.receipt import Selection
from simonides.services.write_path import WritePath, erase

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simonides.records.receipt import Receipt
    from simonides.services.context import BankContext


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Erases memories."""

    context: BankContext

    def forget(self, ids: str | Iterable[str], *, dry_run: bool) -> int:
        clean_switch(dry_run, "dry_run")
        wanted = clean_ids(ids)
        if self.context.principal is not None:
            is_reader = self.context.is_reader
            with self.context.reading() as reading:
                wanted = [each for each in wanted if all(map(is_reader, reading.versions(each)))]
        if dry_run:
            chosen = Selection(ids=tuple(wanted))
            return self.context.rows.forget(chosen, self.context.now(), dry_run=True).memories
        with self.context.writing() as transaction:
            return erase(self.context, transaction, wanted)

    def forget_where(
        self,
        ids: str | Iterable[str] | None,
        *,
        source: str | None,
        writer: str | None,
        before: object,
        after: object,
        without_source: bool,
        by_owner: bool,
        everything: bool,
        purge: bool,
        dry_run: bool,
    ) -> Receipt:
        self.context.require_owner("forget by condition")
        for name, switch in {
            "without_source": without_source,
            "by_owner": by_owner,
            "everything": everything,
            "purge": purge,
            "dry_run": dry_run,
        }.items():
            clean_switch(switch, name)
        zone = self.context.zone
        wanted = Selection(
            ids=None if ids is None else tuple(_named_ids(ids)),
            source=_chosen("source", source, "without_source", without=without_source),
            writer=_chosen("writer", writer, "by_owner", without=by_owner),
            before=None if before is None else parse_time(before, "before", zone=zone).start,
            after=None if after is None else parse_time(after, "after", zone=zone).start,
        )
        if wanted.is_everything != everything:
            raise InputError(
                "everything",
                "must be true to forget the whole bank; or give ids, source, writer, before, after, "
                "without_source or by_owner"
                if wanted.is_everything
                else "cannot be joined with a condition; leave one of them out",
            )
        if purge and not dry_run:
            WritePath(self.context).expire_due(most=None)
        receipt = self.context.rows.forget(wanted, self.context.now(), purge=purge, dry_run=dry_run)
        if (receipt.memories or purge) and not dry_run:
            self.context.clear_caches()
        return receipt

    def purge(self) -> str:
        self.context.require_owner("purge")
        WritePath(self.context).expire_due(most=None)
        receipt = self.context.rows.forget(Selection(ids=()), self.context.now(), purge=True)
        self.context.clear_caches()
        return receipt.status


def _named_ids(ids: str | Iterable[str]) -> list[str]:
    """Ids as conditions. An empty one is a mistake, such as a variable that was never set."""
    wanted = clean_ids(ids)
    if "" in wanted:
        raise InputError("ids", "one is an empty text; name a memory, or leave it out")
    return wanted


def _chosen(name: str, value: str | None, switch: str, *, without: bool) -> str | None:
    """The text that a column must have; empty if the *switch* asks for that; ``None`` = any."""
    if value is None:
        return "" if without else None
    if without:
        raise InputError(switch, f"cannot be joined with {name}; leave one of them out")
    if not clean_text(value, name, MAX_FILE_PATH_BYTES):
        raise InputError(name, f"is an empty text; name one, leave it out, or set {switch} for what has none")
    return value
