"""A document as items: one paragraph each, with what it needs to be found and understood alone.

The context of a paragraph is the document's title, the headings above it (``# Garden > ## Figs``) and the
document's date in words. Headings that stand at the start of the paragraph's own span are in its text
already and are left out. Every item keeps the whole document as its origin, so that the bank stores the raw
text once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simonides.errors import InputError
from simonides.options import MAX_DOCUMENT_BYTES
from simonides.records.hygiene import clean_text, shows_nothing
from simonides.records.source import Origin
from simonides.retain.items import ORIGIN
from simonides.text.dates import spell_date
from simonides.text.split import MAX_CHARS, headings, split_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.records.interval import Interval
    from simonides.text.split import Heading

LONGEST_TITLE = 200
"""Characters of a title or heading that are kept as context; what is longer is no title."""


def document_items(
    text: str,
    *,
    document_id: str,
    title: str = "",
    date: Interval | None = None,
    max_chars: int = MAX_CHARS,
) -> list[dict[str, Any]]:
    """Items for ``Bank.retain``, in the order of the text; give all in one call, they replace the document.

    Args:
        date: of the document; what it states becomes no event time by itself.
        max_chars: longest item, in characters, from 1.

    Raises:
        InputError: the text is blank or cannot be stored, or *max_chars* is below 1.
    """
    clean_text(text, "text", MAX_DOCUMENT_BYTES, remedy="split it into several documents")
    written = spell_date(date) if date else ""
    spans = split_document(text, max_chars=max_chars)
    paths = _paths(headings(text), [start for start, _ in spans])
    items = [
        {
            "text": text[start:stop],
            "context": _context(title, path, written),
            "document_id": document_id,
            ORIGIN: Origin(text, start, stop),
        }
        for (start, stop), path in zip(spans, paths, strict=True)
    ]
    if not items or shows_nothing(text):
        raise InputError("text", "is blank; there is nothing to remember")
    return items


def _paths(found: Sequence[Heading], starts: Sequence[int]) -> Iterator[list[Heading]]:
    """Per place, the headings above it, outermost first; *starts* ascend."""
    path: list[Heading] = []
    passed = 0
    for start in starts:
        while passed < len(found) and found[passed].start < start:
            path = [*_above(path, found[passed]), found[passed]]
            passed += 1
        own = passed < len(found) and found[passed].start == start
        yield _above(path, found[passed]) if own else path


def _above(path: list[Heading], heading: Heading) -> list[Heading]:
    return [one for one in path if one.level < heading.level]


def _context(title: str, path: Sequence[Heading], written: str) -> str:
    shown = [heading for heading in path if heading.title]
    # Many documents repeat their title as the first heading.
    name = "" if shown and shown[0].title.casefold() == title.strip().casefold() else title.strip()
    trail = " > ".join(f"{'#' * heading.level} {heading.title[:LONGEST_TITLE]}" for heading in shown)
    return "\n".join(line for line in (name[:LONGEST_TITLE], trail, written) if line)
