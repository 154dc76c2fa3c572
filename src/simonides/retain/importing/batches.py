"""Items of a file in batches: few enough for one transaction, and every document whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from simonides.retain.importing.item import ImportedItem, NamedFile

BATCH = 256
"""Items per transaction; a document that has more goes alone."""


def batches(
    items: Iterable[ImportedItem], file: NamedFile, *, size: int = BATCH
) -> Iterator[list[ImportedItem]]:
    """Lists of items, in order.

    Args:
        items: of one file.
        file: for the error.
        size: items per batch, from 1.

    Raises:
        InputError: the items of a document do not stand together, so that its parts would end each other.
    """
    batch: list[ImportedItem] = []
    for unit in _units(items, file):
        if batch and len(batch) + len(unit) > size:
            yield batch
            batch = []
        batch = batch + unit
    if batch:
        yield batch


def _units(items: Iterable[ImportedItem], file: NamedFile) -> Iterator[list[ImportedItem]]:
    """Documents whole, other items alone."""
    unit: list[ImportedItem] = []
    current = ""
    ended: dict[str, int] = {}
    for item in items:
        document = str(item.item.get("document_id") or "")
        if unit and (document != current or not document):
            if current:
                ended[current] = unit[-1].line
            yield unit
            unit = []
        if document in ended:
            raise file.wrong(
                item.line,
                f"document_id: {document!r} ended at line {ended[document]}; keep its items together",
            )
        unit.append(item)
        current = document
    if unit:
        yield unit
