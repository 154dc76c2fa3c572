"""Packs the raw sources behind the hits, within a budget of their own (HI-15).

In the order of the hits: the whole source (the document, or the turn as it was said) if it fits what is left,
else the part of it that the memory tells, else nothing; a source that does not fit is listed as omitted, and
the next is tried. Several hits of one source share it. Sources stand beside the context, not in it, so what
``max_tokens`` promises of the context still holds.
Cost: one read per hit and one count per different source. Weakness: a part is cut where the document was
split, so a sentence that explains it may stand just outside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.records.recall import Chunk, Omitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simonides.protocols import Tools, View
    from simonides.records.query import Query
    from simonides.records.recall import Hit
    from simonides.records.source import Source

OVER_BUDGET = "source over chunk budget"

_FETCHED_AT_ONCE = 8
"""Sources may be long documents."""


def pack_chunks(
    view: View, query: Query, hits: Sequence[Hit], tools: Tools
) -> tuple[tuple[Chunk, ...], tuple[Omitted, ...]]:
    """The sources that fit ``query.max_chunk_tokens``, best first, and the hits whose source did not fit."""
    room = query.max_chunk_tokens
    chunks: dict[tuple[object, ...], Chunk] = {}
    omitted: list[Omitted] = []
    counts: dict[str, int] = {}

    def count(text: str) -> int:
        if text not in counts:
            counts[text] = max(1, tools.tokens.count(text))
        return counts[text]

    for hit, source in _sources(view, hits):
        key = (source.text, source.document, source.session, source.speaker, source.recorded_at)
        part = (*key, source.start, source.stop)
        there = key if key in chunks else part
        if there in chunks:
            chunks[there] = replace(chunks[there], memories=(*chunks[there].memories, hit.id))
        elif count(source.text) <= room:
            chunks[key] = _chunk(source, hit, source.text, count(source.text))
            room -= chunks[key].tokens
        elif count(source.chunk) <= room:
            chunks[part] = _chunk(source, hit, source.chunk, count(source.chunk))
            room -= chunks[part].tokens
        else:
            omitted.append(Omitted(hit.id, OVER_BUDGET, count(source.chunk)))
    return tuple(chunks.values()), tuple(omitted)


def _sources(view: View, hits: Sequence[Hit]) -> Iterator[tuple[Hit, Source]]:
    for start in range(0, len(hits), _FETCHED_AT_ONCE):
        some = hits[start : start + _FETCHED_AT_ONCE]
        yield from zip(some, view.sources([hit.memory.ordinal for hit in some]), strict=True)


def _chunk(source: Source, hit: Hit, text: str, tokens: int) -> Chunk:
    return Chunk(
        text=text,
        memories=(hit.id,),
        whole=text == source.text,
        tokens=tokens,
        document=source.document,
        session=source.session,
        speaker=source.speaker,
    )
