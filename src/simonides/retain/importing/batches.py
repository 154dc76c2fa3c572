"""Items of a file in batches: few enough for one transaction, every document whole; and storing one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from simonides.errors import InputError
from simonides.retain.items import ORIGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simonides.retain.importing.item import ImportedItem, ImportReport, NamedFile

# How the bank names the item that it refused: "items[3].kind".
_ITEM = re.compile(r"items\[(?P<position>\d+)\](?:\.(?P<key>.+))?")

T = TypeVar("T")

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


def store_batch(
    store: Callable[[list[dict[str, Any]]], T],
    batch: Sequence[ImportedItem],
    place: Callable[[ImportedItem], tuple[NamedFile, ImportReport]],
) -> tuple[T, list[ImportedItem]]:
    """Store a batch without the items that the bank refuses, each of which is reported.

    A turn whose neighbours hold what is refused, such as a secret, is stored without them.

    Args:
        store: takes all items or refuses them all, as ``Bank.import_items`` does.
        batch: items in order.
        place: the file of an item, and the report of that file, which raises in ``skipped`` to store nothing.

    Returns:
        what *store* returned, and the items that it took.

    Raises:
        InputError: the bank refuses the batch for another reason than one of its items.
    """
    items = list(batch)
    while True:
        try:
            return store([item.item for item in items]), items
        except InputError as error:
            refused = _ITEM.match(error.field)
            if not refused:
                raise
            position, key = int(refused["position"]), refused["key"] or "item"
            item = items.pop(position)
            file, report = place(item)
            wrong = file.wrong(item.line, f"{key}: {error.problem}", item.part)
            if key == "context" and ORIGIN in item.item:
                report.cleaned(wrong)
                alone = {name: value for name, value in item.item.items() if name != "context"}
                items.insert(position, replace(item, item=alone))
            else:
                report.skipped(wrong)
