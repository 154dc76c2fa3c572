"""Packers that fill a budget of tokens, and how a memory is rendered.

Every line but an item's first is indented by two spaces, so no memory's text can open an item of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from simonides.errors import InputError
from simonides.protocols import LineCounter, Packed
from simonides.records.interval import BEGINNING, DAY_MICROS, FOREVER, Precision, from_micros
from simonides.records.recall import EARLIER, POSSIBLY, STANDING, Chunk, Hit, Omitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from simonides.protocols import TokenCounter, Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.memory import Memory
    from simonides.records.query import Query
    from simonides.records.source import Source


LabelPart = Literal["date", "kind", "id"]

SEPARATOR = "\n"
"""Between two items."""

_OPEN = frozenset({BEGINNING, FOREVER})
_HALF_A_DAY, _HALF_A_MONTH, _HALF_A_YEAR = DAY_MICROS // 2, 14 * DAY_MICROS, 180 * DAY_MICROS
# How much of the ISO form is shown, and how far inside the interval it is read. A day, month or year begins
# at midnight of the zone that it was told in, perhaps the day before in UTC; its inside is right everywhere.
_SHOWN: dict[Precision, tuple[int, int]] = {
    Precision.INSTANT: (10, 0),
    Precision.HOUR: (10, 0),
    Precision.DAY: (10, _HALF_A_DAY),
    Precision.WEEK: (10, _HALF_A_DAY),
    Precision.MONTH: (7, _HALF_A_MONTH),
    Precision.QUARTER: (7, _HALF_A_MONTH),
    Precision.SEASON: (7, _HALF_A_MONTH),
    Precision.YEAR: (4, _HALF_A_YEAR),
    Precision.RANGE: (10, _HALF_A_DAY),
}


def render_item(
    memory: Memory, rank: int, label: Sequence[LabelPart], *, doubtful: bool = False, earlier: bool = False
) -> str:
    """How a memory stands in the context: ``[1] (2026-03-02, decision, id 3f9a) text``.

    Where a newer one changes it: ``[2] (earlier, 2026-01-05, decision, id 77b1) text``.

    The number is the hit's rank in the answer. Every line but an item's first is indented by two spaces, so
    no memory's text can open an item of its own.

    One item of the context.

    Args:
        memory: what to render.
        rank: position in the answer, from 1.
        label: what stands in the brackets, in this order; a part that the memory lacks is left out.
        doubtful: whether the text is marked with "possibly:".
        earlier: whether the brackets begin with "earlier".
    """
    mark = POSSIBLY if doubtful else ""
    parts = [part for part in (EARLIER if earlier else "", *(_part(memory, name) for name in label)) if part]
    described = f" ({', '.join(parts)})" if parts else ""
    return f"[{rank}]{described} {mark}{indented(memory.text)}"


def render_date(memory: Memory) -> str:
    """The day, month or year when it occurred, as exactly as that is known; else the day it became valid.

    Days are UTC's. Empty when neither is known.
    """
    if memory.occurred is None:
        start, precision = memory.valid_from_micros, Precision.INSTANT
    else:
        start, precision = memory.occurred.start, memory.occurred.precision
    if start in _OPEN:
        return ""
    characters, inside = _SHOWN[precision]
    return _day((start + inside) // DAY_MICROS)[:characters]


@lru_cache(4_096)
def _day(days: int) -> str:
    """The day so many days after 1970-01-01; a context has many memories of few days."""
    moment = from_micros(days * DAY_MICROS)
    assert moment is not None
    return moment.date().isoformat()


def _part(memory: Memory, name: LabelPart) -> str:
    if name == "date":
        return render_date(memory)
    return memory.kind.value if name == "kind" else f"id {memory.id}"


def indented(text: str) -> str:
    """Lines but the first indented, so that no memory's text can open an item of its own."""
    return "\n  ".join(text.splitlines())


CHUNKS_OVER_BUDGET = "source over chunk budget"

_CHUNKS_FETCHED_AT_ONCE = 8
"""Sources may be long documents."""


def pack_chunks(
    view: View, query: Query, hits: Sequence[Hit], tools: Tools
) -> tuple[tuple[Chunk, ...], tuple[Omitted, ...]]:
    """Packs the raw sources behind the hits, within a budget of their own (HI-15).

    In the order of the hits: the whole source (the document, or the turn as it was said) if it fits what is
    left, else the part of it that the memory tells, else nothing; a source that does not fit is listed as
    omitted, and the next is tried. Several hits of one source share it. Sources stand beside the context, not
    in it, so what ``max_tokens`` promises of the context still holds.
    Cost: one read per hit and one count per different source. Weakness: a part is cut where the document was
    split, so a sentence that explains it may stand just outside.

    The sources that fit ``query.max_chunk_tokens``, best first, and the hits whose source did not fit.
    """
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
            omitted.append(Omitted(hit.id, CHUNKS_OVER_BUDGET, count(source.chunk)))
    return tuple(chunks.values()), tuple(omitted)


def _sources(view: View, hits: Sequence[Hit]) -> Iterator[tuple[Hit, Source]]:
    for start in range(0, len(hits), _CHUNKS_FETCHED_AT_ONCE):
        some = hits[start : start + _CHUNKS_FETCHED_AT_ONCE]
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


OVER_BUDGET = "over budget"

_FETCHED_AT_ONCE = 32
"""Records come in runs, since most of a pool is usually not needed."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Packs the best candidates that fit a budget of tokens.

    Candidates are tried in the order of the pool. One that does not fit is left out, listed as omitted, and
    the next is tried, so a single long memory never empties the answer. Packing ends at ``query.limit`` hits
    or with the pool. With ``count="rendered"`` the context as rendered, labels and line breaks included,
    never exceeds ``query.max_tokens`` by the counter handed in; with ``count="text"`` only the memories' own
    text counts and labels come on top (HI-11). Raw sources, where asked for, have a budget of their own
    (``chunks``).
    Cost: one count per candidate tried, and one of the whole where the counter does not count by line.
    Weakness: greedy; a shorter memory further down may have been worth more than the one that took its room.

    Attributes:
        count: what the budget counts, the ``"rendered"`` context or each memory's ``"text"``.
        label: what stands before a memory's text: any of date, kind and id. All of it counts as rendered.
    """

    count: Literal["rendered", "text"]
    label: tuple[LabelPart, ...]

    def __post_init__(self) -> None:
        if len(set(self.label)) < len(self.label):
            raise InputError("label", f"{list(self.label)} names a part twice")

    def pack(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Packed:
        """The candidates that fit; ``tokens`` of each is what it took, or would have taken, of the budget."""
        return self.pack_items(view, query, pool, tools)[0]

    def pack_items(
        self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools
    ) -> tuple[Packed, list[str]]:
        """The same, and each hit as rendered: for a packer that lays them otherwise."""
        packed, items = self._fill(view, query, pool, tools, whole=False)
        if self.count == "rendered" and not fits(tools.tokens, packed.context, query.max_tokens):
            # For some counters the whole has more tokens than its parts: then count the whole at each step.
            packed, items = self._fill(view, query, pool, tools, whole=True)
        if not query.include_chunks:
            return packed, items
        chunks, without = pack_chunks(view, query, packed.hits, tools)
        return replace(packed, chunks=chunks, omitted=(*packed.omitted, *without)), items

    def _fill(
        self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools, *, whole: bool
    ) -> tuple[Packed, list[str]]:
        hits: list[Hit] = []
        items: list[str] = []
        omitted: list[Omitted] = []
        context, used = "", 0
        for candidate, memory in _records(view, pool, query.limit):
            item = render_item(
                memory,
                len(hits) + 1,
                self.label,
                doubtful=query.doubtful,
                earlier=EARLIER in candidate.signals,
            )
            addition = SEPARATOR + item if hits else item
            # Nothing is free: a budget of 0 holds no memory, however the counter sees it.
            tokens = max(1, tools.tokens.count(memory.text if self.count == "text" else addition))
            total = tools.tokens.count(context + addition) if whole else used + tokens
            if query.max_tokens is not None and max(tokens, total) > query.max_tokens:
                omitted.append(Omitted(memory.id, OVER_BUDGET, tokens))
                continue
            hits.append(packed_hit(candidate, memory, len(hits) + 1, tokens))
            items.append(item)
            context, used = context + addition, used + tokens
            if len(hits) == query.limit:
                break  # before the next run is fetched
        return Packed(tuple(hits), context, tuple(omitted)), items


def fits(tokens: TokenCounter, context: str, most: int | None) -> bool:
    """Whether items that were counted one by one, and fit so, have *most* tokens at most as one context."""
    if most is None or (isinstance(tokens, LineCounter) and tokens.counts_by_line):
        return True
    return tokens.count(context) <= most


def _records(
    view: View, pool: tuple[Candidate, ...], limit: int | None
) -> Iterator[tuple[Candidate, Memory]]:
    if limit == 0:
        return
    at_once = _FETCHED_AT_ONCE if limit is None else min(limit, _FETCHED_AT_ONCE)
    for start in range(0, len(pool), at_once):
        some = pool[start : start + at_once]
        yield from zip(some, view.memories([candidate.ordinal for candidate in some]), strict=True)


def packed_hit(candidate: Candidate, memory: Memory, rank: int, tokens: int) -> Hit:
    """A hit with all the evidence that its candidate gathered."""
    return Hit(
        memory=memory,
        score=candidate.score,
        rank=rank,
        scored_by=candidate.scored_by,
        tokens=tokens,
        ranks=candidate.ranks,
        channel_scores=candidate.channel_scores,
        signals=candidate.signals,
    )


SHARE = 0.5
"""Of the budget of a context, which its standing memories may use."""


@dataclass(frozen=True, slots=True)
class Lead:
    """What stands before the hits.

    Attributes:
        hits: the standing memories in it, in order; their ``rank`` is 0, since nothing ranked them.
        text: of the context, without a line break at its end.
        tokens: of *text*.
        omitted: those that found no room.
    """

    hits: tuple[Hit, ...] = ()
    text: str = ""
    tokens: int = 0
    omitted: tuple[Omitted, ...] = ()

    @property
    def ordinals(self) -> frozenset[int]:
        """Rows of the memories in it."""
        return frozenset(hit.memory.ordinal for hit in self.hits)


def lead_of(
    memories: Sequence[Memory],
    max_tokens: int | None,
    count: Callable[[str], int],
    relevance: Mapping[int, float],
) -> Lead:
    """Puts standing memories before what was found: they hold whatever is asked.

        (standing) I am allergic to shellfish; even traces make my throat swell.
        [1] (2026-03-02) The market by the canal is open on Thursdays.

    They may use ``SHARE`` of the budget, in the order given; one that does not fit is left out, listed as
    omitted, and the next is tried. What they leave is for what was found. No line of a memory but its first
    begins at the margin, so none can open an item of its own.
    Cost: one count of the lead per standing memory. Weakness: nothing tells which of them matter for the
    question, so many of them cost tokens in every context.

    The lead of a context.

    Args:
        memories: standing ones, the first to get room first.
        max_tokens: budget of the whole context; ``None`` = none, and all of them lead.
        count: tokens of a text.
        relevance: by row, as far as it was judged.
    """
    room = None if max_tokens is None else int(max_tokens * SHARE)
    hits: list[Hit] = []
    omitted: list[Omitted] = []
    text, used = "", 0
    for memory in memories:
        item = f"({STANDING}) {indented(memory.text)}"
        longer = f"{text}{SEPARATOR}{item}" if text else item
        total = max(1, count(longer))
        if room is not None and total > room:
            omitted.append(Omitted(memory.id, OVER_BUDGET, count(item)))
            continue
        hits.append(Hit(memory, 0.0, 0, STANDING, total - used, relevance=relevance.get(memory.ordinal)))
        text, used = longer, total
    return Lead(tuple(hits), text, used, tuple(omitted))


def left_for_hits(lead: Lead, max_tokens: int | None, count: Callable[[str], int]) -> int | None:
    """Tokens that a lead leaves of a budget; ``None`` = there is none."""
    if max_tokens is None or not lead.hits:
        return max_tokens
    return max(0, max_tokens - count(lead.text + SEPARATOR))
