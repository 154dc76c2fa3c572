"""Packs facts with their relation, how long they hold, and the episode they come from (ME-07).

    [1] Kestrel depends on Osprey (depends on; 2026-06-01 → 2026-09-01) [S1]
    [2] Osprey has no budget (2026-06-04 → open) [S1]
    Sources
    [S1] 2026-06-10, plan.md, Ines: as of June, Kestrel …

Candidates are tried in the order of the pool; one that does not fit with the line of its episode is left out,
listed as omitted, and the next is tried. Each episode is listed once. Then, while there is room, an episode's
line gets the parts that were cited, unless a fact says the very same words. Days are UTC's; "open" = no end
is recorded. The context as rendered never exceeds ``query.max_tokens`` by the counter handed in.
Cost: one count per candidate tried and one per part quoted. Weakness: an episode cited for one fact costs its
line just as one cited for ten.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from simonides.protocols import Packed
from simonides.recall.packing.packers import OVER_BUDGET, indented, pack_chunks, packed_hit
from simonides.records.interval import from_micros
from simonides.records.recall import EARLIER, POSSIBLY, Hit, Omitted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simonides.protocols import Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.memory import Memory
    from simonides.records.query import Query
    from simonides.records.source import Source

    _Key = tuple[object, ...]

HEADING = "Sources"
OPEN = "open"

_FETCHED_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class CitedContext:
    """Packer without options."""

    def pack(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Packed:
        """The candidates that fit; ``tokens`` of each is what it took, or would have taken, of the budget."""
        packed = _fill(view, query, pool, tools, whole=False)
        if query.max_tokens is not None and tools.tokens.count(packed.context) > query.max_tokens:
            # For some counters the whole has more tokens than its parts: then count the whole at each step.
            packed = _fill(view, query, pool, tools, whole=True)
        if not query.include_chunks:
            return packed
        chunks, without = pack_chunks(view, query, packed.hits, tools)
        return replace(packed, chunks=chunks, omitted=(*packed.omitted, *without))


@dataclass(frozen=True, slots=True)
class _Episode:
    """A source's line: its label, and the parts that are quoted."""

    number: int
    label: str
    parts: tuple[str, ...] = ()

    def render(self) -> str:
        return f"{self.label}: {' … '.join(self.parts)}" if self.parts else self.label


@dataclass(frozen=True, slots=True)
class _Context:
    """What is rendered so far: facts, and episodes in the order cited."""

    facts: tuple[str, ...] = ()
    episodes: Mapping[_Key, _Episode] = field(default_factory=dict)

    def render(self) -> str:
        listed = [episode.render() for episode in self.episodes.values()]
        return "\n".join([*self.facts, *([HEADING] if listed else []), *listed])

    def with_fact(
        self, memory: Memory, source: Source, *, doubtful: bool, earlier: bool
    ) -> tuple[_Context, str]:
        """One fact more, its episode listed; and all lines that this adds."""
        key = _key(source)
        number = self.episodes[key].number if key in self.episodes else len(self.episodes) + 1
        fact = render_fact(memory, len(self.facts) + 1, number, doubtful=doubtful, earlier=earlier)
        if key in self.episodes:
            return _Context((*self.facts, fact), self.episodes), fact
        episode = _Episode(number, render_episode(source, number, memory.source))
        lines = [fact, *([] if self.episodes else [HEADING]), episode.label]
        return _Context((*self.facts, fact), {**self.episodes, key: episode}), "\n".join(lines)

    def with_part(self, source: Source, part: str) -> tuple[_Context, str]:
        """One part more quoted; and the words that this adds."""
        before = self.episodes[_key(source)]
        episode = replace(before, parts=(*before.parts, part))
        added = episode.render()[len(before.render()) :]
        return _Context(self.facts, {**self.episodes, _key(source): episode}), added


def _fill(view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools, *, whole: bool) -> Packed:
    context, used = _Context(), 0
    hits: list[Hit] = []
    sources: list[Source] = []
    omitted: list[Omitted] = []

    def fits(grown: _Context, tokens: int) -> bool:
        if query.max_tokens is None:
            return True
        total = tools.tokens.count(grown.render()) if whole else used + tokens
        return max(tokens, total) <= query.max_tokens

    for candidate, memory, source in _records(view, pool):
        if query.limit is not None and len(hits) >= query.limit:
            break
        grown, addition = context.with_fact(
            memory, source, doubtful=query.doubtful, earlier=EARLIER in candidate.signals
        )
        # Nothing is free: a budget of 0 holds no memory, however the counter sees it.
        tokens = max(1, tools.tokens.count(f"\n{addition}" if hits else addition))
        if not fits(grown, tokens):
            omitted.append(Omitted(memory.id, OVER_BUDGET, tokens))
            continue
        context, used = grown, used + tokens
        hits.append(packed_hit(candidate, memory, len(hits) + 1, tokens))
        sources.append(source)
    for source, part in _parts(hits, sources):
        grown, addition = context.with_part(source, part)
        tokens = tools.tokens.count(addition)
        if fits(grown, tokens):
            context, used = grown, used + tokens
    return Packed(tuple(hits), context.render(), tuple(omitted))


def render_fact(
    memory: Memory, rank: int, episode: int, *, doubtful: bool = False, earlier: bool = False
) -> str:
    """One fact.

    Args:
        memory: what to render.
        rank: position in the answer, from 1.
        episode: number of its source, from 1.
        doubtful: whether the text is marked with "possibly:".
        earlier: whether the brackets begin with "earlier".
    """
    mark = POSSIBLY if doubtful else ""
    parts = (EARLIER if earlier else "", _one_line(memory.relation), render_validity(memory))
    described = "; ".join(part for part in parts if part)
    return f"[{rank}] {mark}{indented(memory.text)} ({described}) [S{episode}]"


def render_validity(memory: Memory) -> str:
    """From when to when it holds, the end excluded."""
    start, end = from_micros(memory.valid_from_micros), from_micros(memory.valid_to_micros)
    return " → ".join(moment.date().isoformat() if moment else OPEN for moment in (start, end))


def render_episode(source: Source, number: int, origin: str = "") -> str:
    """The line of a source without its words: when it was recorded, and where and by whom as far as known.

    Args:
        source: what to render.
        number: of the episode, from 1.
        origin: where the memory that is cited first says that it came from, for a source of no document.
    """
    told = (
        source.recorded_at.date().isoformat(),
        source.document or origin,
        source.session,
        source.speaker,
    )
    return f"[S{number}] {', '.join(_one_line(part) for part in told if part)}"


def _parts(hits: list[Hit], sources: list[Source]) -> Iterator[tuple[Source, str]]:
    """What there is to quote: each cited part once, in the order cited, unless a fact is that very text."""
    said = {_one_line(hit.text) for hit in hits}
    for source in sources:
        part = _one_line(source.chunk)
        if part and part not in said:
            said.add(part)
            yield source, part


def _key(source: Source) -> _Key:
    """What makes two sources one episode."""
    return (
        source.text,
        source.document,
        source.session,
        source.speaker,
        source.author,
        source.recorded_at,
    )


def _records(view: View, pool: tuple[Candidate, ...]) -> Iterator[tuple[Candidate, Memory, Source]]:
    for start in range(0, len(pool), _FETCHED_AT_ONCE):
        some = pool[start : start + _FETCHED_AT_ONCE]
        ordinals = [candidate.ordinal for candidate in some]
        yield from zip(some, view.memories(ordinals), view.sources(ordinals), strict=True)


def _one_line(text: str) -> str:
    return " ".join(text.split())
