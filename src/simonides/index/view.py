"""The one check below everything: two masks, made once, before anything reads the bank.

visible  = acl ∧ valid_from ≤ as_of < valid_to ∧ ingested_at ≤ known_at < expired_at   (statistics)
eligible = visible ∧ kinds ∧ project ∧ tags ∧ window ∧ not archived                    (results)

A memory whose time to live has ended counts as archived at once, or as erased, if it is to be.

What is quarantined is visible only where that kind is asked for.
(SPEC, general settlements 1 to 3.) Now is the clock, or the newest stamp on a row that the asker may read
(for the owner: that the bank ever set) if the clock stands just behind it. Who states no viewpoint sees all
that was written, also what a wrong clock recorded years ahead (``_holds_now``, ADR 0009).
What does not depend on the moment is kept with the snapshot: whom a row is open to, and what was asked.
Cost: that of ``conditions``; about 0.2 ms per million rows now, 3 ms at a moment that divides every block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from simonides.index.conditions import above, at_most, bearing, listed, narrow, without
from simonides.index.graph import distinct
from simonides.index.vectors import exact_dot, split_query
from simonides.records.candidate import Ranking
from simonides.records.edges import Edges
from simonides.records.interval import (
    BEGINNING,
    CLOCK_SKEW,
    DAY_MICROS,
    FIRST_INSTANT,
    HEAD,
    latest_recorded,
)
from simonides.records.kind import ARCHIVED, CONSOLIDATED, KIND_CODES, STANDING, Kind
from simonides.records.query import Filters
from simonides.records.stamps import end_of_millisecond

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from simonides.index.accesses import Accesses
    from simonides.index.block import Block
    from simonides.index.conditions import Condition
    from simonides.index.snapshot import IndexSnapshot
    from simonides.records.interval import Interval
    from simonides.records.memory import Memory
    from simonides.records.source import Source


class RowReader(Protocol):
    """Reads rows inside the recall's read transaction."""

    def memories(self, ordinals: Sequence[int]) -> list[Memory]: ...

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]: ...

    def sources(self, ordinals: Sequence[int]) -> list[Source]: ...

    def find_entities(self, text: str, known_at: int, counts: Callable[[int], bool]) -> tuple[int, ...]:
        """Entities for which *counts* holds and whose names, by *known_at*, stand in *text*; in order.

        Merged ones as one. A name that only others know of, or that came later, hides no shorter one.
        """
        ...

    def entity_groups(self, entities: Sequence[int], known_at: int) -> dict[int, int]:
        """The entities and all that were merged with them by *known_at*, each with what it counts as."""
        ...

    def merges(self, known_at: int) -> Mapping[int, int]:
        """Entities that had been merged into others by *known_at*, each with what it counts as."""
        ...


@dataclass(frozen=True)
class BankView:
    """What one recall may see. Implements ``protocols.View``, which describes most methods.

    Attributes:
        snapshot: the bank at one sequence number.
        visible, eligible: bool, shape (snapshot.rows,).
        as_of: the viewpoint that was settled on, microseconds UTC.
        known_at: that in recorded time; ``HEAD`` = all that was written.
        read: reads rows.
        principal: who asks; ``None`` = the owner.
        shown: rows that may be returned though no statistic and no search sees them; ``None`` = none.
    """

    snapshot: IndexSnapshot
    visible: NDArray[np.bool_]
    eligible: NDArray[np.bool_]
    as_of: int
    known_at: int
    read: RowReader
    principal: str | None = None
    shown: NDArray[np.bool_] | None = None

    @property
    def standing(self) -> NDArray[np.bool_]:
        """Eligible rows of standing memories."""
        mask = self.eligible.copy()
        narrow(mask, self.snapshot.blocks, [bearing("state", STANDING)])
        return mask

    def ranking(
        self, ordinals: NDArray[np.int64], scores: NDArray[np.float64], depth: int | None, reason: str = ""
    ) -> Ranking:
        if depth is not None and 0 < depth < len(ordinals):
            cut = np.partition(scores, len(scores) - depth)[len(scores) - depth]
            ordinals, scores = ordinals[scores >= cut], scores[scores >= cut]
        keys = self.snapshot.gather("id_key", ordinals)
        order = np.lexsort((keys, self._path_ranks(ordinals), -scores))[:depth]
        return Ranking(ordinals[order], scores[order], reason)

    def _path_ranks(self, ordinals: NDArray[np.int64]) -> NDArray[np.int64]:
        codes = self.snapshot.gather("path", ordinals)
        if not codes.any():
            return np.zeros(len(codes), np.int64)
        names = sorted({self.snapshot.labels[code] for code in codes})
        place = {name: i for i, name in enumerate(names)}
        return np.array([place[self.snapshot.labels[code]] for code in codes], np.int64)

    def memories(self, ordinals: Sequence[int]) -> list[Memory]:
        self._check(ordinals)
        found = self.read.memories(ordinals)
        if not len(self._accesses):
            return found
        where = np.asarray(ordinals, np.int64)
        counts, latest = self.column("access_count", where), self.column("last_access", where)
        return [
            replace(memory, access_count=count, last_access_micros=None if last == BEGINNING else last)
            for memory, count, last in zip(found, counts.tolist(), latest.tolist(), strict=True)
        ]

    def column(self, name: str, ordinals: NDArray[np.int64]) -> NDArray[Any]:
        """Values of an index column at *ordinals*; accesses as they were recorded by ``known_at``."""
        stored = self.snapshot.gather(name, ordinals)
        if name not in {"access_count", "last_access"} or not len(self._accesses):
            return stored
        roots = self.snapshot.gather("root", ordinals).astype(np.int64)
        if name == "access_count":
            stored += self._accesses.counts(roots).astype(stored.dtype)
        else:
            stored = np.maximum(stored, self._accesses.latest(roots))
        return stored

    @cached_property
    def _accesses(self) -> Accesses:
        """Those recorded by ``known_at``, of the owner and whoever asks (for the owner: of all)."""
        everything = self.snapshot.accesses
        if not len(everything):
            return everything
        if self.principal is None:
            return everything.known(self.known_at, None)
        own = [code for code, name in enumerate(self.snapshot.labels) if name in {"", self.principal}]
        return everything.known(self.known_at, own)

    def vectors(self, ordinals: NDArray[np.int64]) -> NDArray[np.float32]:
        codes, scales = self.snapshot.codes(ordinals)
        vectors = codes.astype(np.float32)
        vectors *= scales[:, np.newaxis]
        return vectors

    def cosines(self, query: NDArray[np.float32], ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
        codes, scales = self.snapshot.codes(ordinals)
        if codes.shape[1] != len(query):
            return np.zeros(len(ordinals))
        halves, scale = split_query(query)
        cosines: NDArray[np.float64] = exact_dot(codes, halves) * (scales.astype(np.float64) * scale)
        return cosines.round(9)

    def signatures(self, ordinals: Sequence[int]) -> NDArray[np.uint32]:
        self._check(ordinals)
        return self.read.signatures(ordinals)

    def token_codes(self, ordinals: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        self._check(ordinals)
        return self.snapshot.token_codes(np.asarray(ordinals, np.int64))

    def sources(self, ordinals: Sequence[int]) -> list[Source]:
        self._check(ordinals)
        return self.read.sources(ordinals)

    def find_entities(self, text: str) -> tuple[int, ...]:
        return self.read.find_entities(
            text, self.known_at, lambda entity: bool(self.mention_counts(np.array([entity], np.int64)).any())
        )

    def mentions(self, ordinals: NDArray[np.int64]) -> Edges:
        edges = self.snapshot.graph.entities(ordinals[self.visible[ordinals]])
        return self._merged(edges)

    def mentioning(self, entities: NDArray[np.int64]) -> Edges:
        if not self.read.merges(self.known_at):
            edges = self.snapshot.graph.mentioning(entities)
            return edges.keep(self.visible[edges.second])
        whole = self.read.entity_groups(entities.tolist(), self.known_at)
        members = np.array(sorted(whole), np.int64)
        edges = self.snapshot.graph.mentioning(members)
        edges = edges.keep(self.visible[edges.second])
        first = np.array([whole[entity] for entity in edges.first.tolist()], np.int64)
        return Edges(first, edges.second, edges.kinds, edges.weights).unique()

    def mention_counts(self, entities: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self.read.merges(self.known_at):
            return self.snapshot.graph.count_mentioning(entities, self.visible)
        whole = self.read.entity_groups(entities.tolist(), self.known_at)
        edges = self.mentioning(entities)
        numbers, counts = np.unique(edges.first, return_counts=True)
        found = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
        return np.array([found.get(whole[entity], 0) for entity in entities.tolist()], np.int64)

    def links(self, ordinals: NDArray[np.int64]) -> Edges:
        seen = ordinals[self.visible[ordinals]]
        if not len(self.snapshot.later_versions[0]):
            # Every row is the first in its words.
            edges = self.snapshot.graph.linked(seen)
            return edges.keep(self.visible[edges.second])
        nodes = self.snapshot.gather("node", seen).astype(np.int64)
        edges = self.snapshot.graph.linked(distinct(nodes))
        first, second = self._rows_of_nodes(edges.first), self._rows_of_nodes(edges.second)
        both = (first >= 0) & (second >= 0)
        seen_edges = Edges(first, second, edges.kinds, edges.weights).keep(both)
        # Nodes are in order; so are the rows where each is the first in its words.
        return seen_edges.ordered() if len(self._later_versions[0]) else seen_edges

    def edges_at_least(
        self, ordinals: NDArray[np.int64], least: NDArray[np.float64], enough: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """What is sealed; after a merge of entities, and for what is not visible, that may be far too few."""
        graph, seen = self.snapshot.graph, self.visible[ordinals]
        if not len(self.snapshot.later_versions[0]):
            counts = None if self.visible.all() else self.visible.__getitem__
            mentions, links = graph.edges_at_least(ordinals, ordinals, least, enough, counts)
        else:
            nodes = self.snapshot.gather("node", ordinals).astype(np.int64)
            mentions, links = graph.edges_at_least(
                ordinals, nodes, least, enough, lambda ends: self._rows_of_nodes(ends) >= 0
            )
            # The links of a memory are those of the one version that it answers with.
            links = np.where(self._rows_of_nodes(nodes) == ordinals, links, 0)
        edges = links if self.read.merges(self.known_at) else mentions + links
        return np.where(seen, edges, 0)

    def in_time(self, time: Interval) -> NDArray[np.bool_]:
        mask = self.eligible.copy()
        narrow(mask, self.snapshot.blocks, [_in_window(time.start, max(time.end, time.start + 1))])
        return mask

    def narrowed(self, kinds: Collection[Kind], project: str | None) -> BankView:
        def wanted() -> list[Condition]:
            conditions = _matches(self.snapshot, Filters(kinds=tuple(kinds) or None, archived=True))
            if project is not None:
                near = np.array([label in {"", project} for label in self.snapshot.labels], np.bool_)
                conditions.append(listed("project", near))
            return conditions

        key = ("narrowed", tuple(kinds), project)
        kept = self.snapshot.kept.get("mask", key, lambda: _mask(self.snapshot, wanted()))
        return replace(self, eligible=self.eligible & kept)

    def _rows_of_nodes(self, nodes: NDArray[np.int64] | NDArray[np.int32]) -> NDArray[np.int64]:
        """The visible version in the words of each node; -1 = none. Cost: that of the nodes asked for."""
        found = np.where(self.visible[nodes], nodes, -1)
        rows, of = self._later_versions
        if len(rows):
            # The last of several: a memory has one visible version, but damage must not change the order.
            at = np.searchsorted(of, nodes, side="right") - 1
            later = (at >= 0) & (of[at] == nodes)
            found[later] = rows[at[later]]
        return found

    @cached_property
    def _later_versions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Visible rows that are not the first version in their words, and their nodes, by node."""
        rows, nodes = self.snapshot.later_versions
        seen = self.visible[rows]
        return rows[seen], nodes[seen]

    def _merged(self, edges: Edges) -> Edges:
        if not self.read.merges(self.known_at):
            return edges
        whole = self.read.entity_groups(distinct(edges.second).tolist(), self.known_at)
        second = np.array([whole[entity] for entity in edges.second.tolist()], np.int64)
        return Edges(edges.first, second, edges.kinds, edges.weights).unique()

    def _check(self, ordinals: Sequence[int]) -> None:
        shown = self.visible if self.shown is None else self.visible | self.shown
        hidden = [ordinal for ordinal in ordinals if not shown[ordinal]]
        if hidden:
            raise PermissionError(f"rows {hidden[:3]} are not visible in this view; a stage invented them")


@dataclass(frozen=True, slots=True)
class Ended:
    """Memories whose time to live has ended, by the ordinals of their first versions.

    Attributes:
        archived: found on request only.
        erased: not there any more, though their rows may be.
        before: and the moments at which they ended; versions recorded until then are found on request only.
    """

    archived: Sequence[int] = ()
    erased: Sequence[int] = ()
    before: Sequence[tuple[int, int]] = ()


def build_view(
    snapshot: IndexSnapshot,
    filters: Filters,
    now: int,
    read: RowReader,
    ended: Callable[[int], Ended] = lambda _: Ended(),
) -> BankView:
    """Settle the viewpoint and make the two masks.

    Args:
        snapshot: the bank.
        filters: the caller's explicit conditions and the principal.
        now: the clock, microseconds UTC.
        read: fetches records inside the same read transaction.
        ended: whose time to live has ended by a moment.
    """
    may_read = allowed(snapshot, filters.principal)
    as_of = (
        filters.as_of
        if filters.as_of is not None
        else _not_before_writes(snapshot, may_read, filters.principal, now)
    )
    known_at = filters.known_at
    if known_at is None:
        known_at = HEAD if filters.as_of is None else as_of
    if filters.principal is not None:
        # A principal knows stamps to the millisecond, and asks by them.
        as_of = as_of if as_of == now else end_of_millisecond(as_of)
        known_at = end_of_millisecond(known_at)
    conditions = [
        at_most("ingested_at", known_at),
    ]
    if filters.as_of is None:
        conditions.append(_holds_now(snapshot, as_of))
    else:
        conditions += [at_most("valid_from", as_of), above("valid_to", as_of)]
    asked_kinds = filters.kinds or ()
    if Kind.QUARANTINE not in asked_kinds:
        # Out of the statistics, too: what is set aside changes no score.
        conditions.append(listed("kind", _ALL_BUT_QUARANTINE))
    if not filters.observations and Kind.OBSERVATION not in asked_kinds:
        # They repeat what their sources say; who did not ask for them gets the answers of a bank without.
        conditions.append(without("state", CONSOLIDATED))
    visible = may_read.copy()
    narrow(visible, snapshot.blocks, conditions)
    _drop_expired(visible, snapshot, known_at)
    over = ended(as_of)
    _drop_memories(visible, snapshot, over.erased)
    asked = (filters.archived, filters.kinds, filters.project, filters.tags, filters.tags_match)
    matching = snapshot.kept.get(
        "mask", ("asked", *asked), lambda: _mask(snapshot, _matches(snapshot, filters))
    )
    eligible = visible & matching
    if not filters.archived:
        _drop_memories(eligible, snapshot, over.archived)
        _drop_earlier(eligible, snapshot, over.before)
    if filters.window is not None:
        narrow(eligible, snapshot.blocks, [_in_window(*filters.window)])
    return BankView(snapshot, visible, eligible, as_of, known_at, read, filters.principal)


def _holds_now(snapshot: IndexSnapshot, now: int) -> Condition:
    """Valid at *now*; what a wrong clock recorded after it, when it was recorded.

    A start up to a day before the recorded time was taken from that clock. A start that was stated counts as
    stated.
    """
    started, lasting = at_most("valid_from", now), above("valid_to", now)

    def holds(block: Block) -> bool | NDArray[np.bool_]:
        held = started(block) & lasting(block)
        if block.bounds("ingested_at")[1] <= now:
            return held
        ahead = np.flatnonzero(block.columns["ingested_at"] > now)
        recorded, roots, start, end = (
            block.columns[name][ahead] for name in ("ingested_at", "root", "valid_from", "valid_to")
        )
        first = np.maximum(snapshot.gather("ingested_at", roots.astype(np.int64)), FIRST_INSTANT)
        began = (start <= now) | _by_its_clock(start, recorded) | _by_its_clock(start, first)
        ended = (end <= now) | _by_its_clock(end, recorded)
        found: NDArray[np.bool_] = np.array(np.broadcast_to(held, block.columns["ingested_at"].shape))
        found[ahead] = began & ~ended
        return found

    return holds


def _by_its_clock(time: NDArray[np.int64], recorded: NDArray[np.int64]) -> NDArray[np.bool_]:
    return (time <= recorded) & (time >= recorded - DAY_MICROS)


_ALL_BUT_QUARANTINE = np.arange(256) != KIND_CODES[Kind.QUARANTINE]


def _drop_expired(mask: NDArray[np.bool_], snapshot: IndexSnapshot, known_at: int) -> None:
    """Leave in *mask* what had not expired by *known_at*; newer stamps count instead of the blocks' own."""
    rows, stamps = snapshot.newer_stamps
    there = mask[rows]
    narrow(mask, snapshot.blocks, [above("expired_at", known_at)])
    mask[rows] = there & (stamps > known_at)


def _drop_memories(mask: NDArray[np.bool_], snapshot: IndexSnapshot, roots: Sequence[int]) -> None:
    """Leave out every version of memories."""
    if not len(roots):
        return
    first = np.asarray(roots, np.int64)
    rows, of = snapshot.later_of_memories
    mask[first[first < snapshot.rows]] = False
    mask[rows[np.isin(of, first)]] = False


def _drop_earlier(mask: NDArray[np.bool_], snapshot: IndexSnapshot, ended: Sequence[tuple[int, int]]) -> None:
    """Leave out the versions of memories that were recorded by the moments at which their time ended."""
    moments = {root: moment for root, moment in ended if root < snapshot.rows}
    if not moments:
        return
    first = np.array(sorted(moments), np.int64)
    rows, of = snapshot.later_of_memories
    later = np.isin(of, first)
    rows, of = np.concatenate([first, rows[later]]), np.concatenate([first, of[later]])
    until = np.array([moments[root] for root in of.tolist()], np.int64)
    mask[rows[snapshot.gather("ingested_at", rows) <= until]] = False


def comparable(snapshot: IndexSnapshot, readers: Collection[str], now: int) -> NDArray[np.bool_]:
    """Rows that a new row may be compared with: current ones whose readers include all of its *readers*.

    Archived rows and consolidated observations are left out: the first would swallow what is said anew, the
    second only repeat others. So a private row never marks, swallows or closes what others read, nor the
    other way round (SPEC, general settlement 3). Bool, shape (snapshot.rows,).
    """
    wanted = frozenset(readers)
    return _compared(
        snapshot, [not acl or (bool(wanted) and acl >= wanted) for acl in snapshot.label_sets], now
    )


def comparing(snapshot: IndexSnapshot, readers: Collection[str], now: int) -> NDArray[np.bool_]:
    """Rows that may be compared with one of *readers*: the reverse of ``comparable``."""
    theirs = frozenset(readers)
    return _compared(
        snapshot, [not theirs or (bool(acl) and acl <= theirs) for acl in snapshot.label_sets], now
    )


def _compared(snapshot: IndexSnapshot, readers: Sequence[bool], now: int) -> NDArray[np.bool_]:
    """Current rows by the codes of their readers, without those that nothing is compared with."""
    open_to_them = np.array(readers, np.bool_)
    mask = np.ones(snapshot.rows, np.bool_)
    conditions = [
        listed("acl", open_to_them),
        above("valid_to", now),
        listed("kind", _ALL_BUT_QUARANTINE),
        without("state", ARCHIVED | CONSOLIDATED),
    ]
    narrow(mask, snapshot.blocks, conditions)
    _drop_expired(mask, snapshot, HEAD)
    return mask


def tagged(
    snapshot: IndexSnapshot,
    tag: str,
    principal: str | None,
    ended: Sequence[int] = (),
    *,
    quarantined: bool = False,
) -> NDArray[np.int64]:
    """Ordinals of the current versions with *tag* that *principal* (``None`` = owner) may read, as stored.

    Also those that are archived or whose validity has ended; consolidated observations are left out.

    Args:
        snapshot: the bank.
        ended: first versions of memories that are not there any more.
        quarantined: also what is in quarantine.
    """
    named = np.array([tag in held for held in snapshot.label_sets], np.bool_)
    conditions = [listed("tags", named), without("state", CONSOLIDATED)]
    if not quarantined:
        conditions.append(listed("kind", _ALL_BUT_QUARANTINE))
    mask = allowed(snapshot, principal).copy()
    narrow(mask, snapshot.blocks, conditions)
    _drop_expired(mask, snapshot, HEAD)
    _drop_memories(mask, snapshot, ended)
    ordinals = np.flatnonzero(mask)
    stored: NDArray[np.int64] = ordinals[np.argsort(snapshot.gather("root", ordinals), kind="stable")]
    return stored


def _mask(snapshot: IndexSnapshot, conditions: list[Condition]) -> NDArray[np.bool_]:
    """Rows that meet *conditions*; read-only, as the snapshot keeps it."""
    mask = np.ones(snapshot.rows, np.bool_)
    narrow(mask, snapshot.blocks, conditions)
    mask.setflags(write=False)
    return mask


def allowed(snapshot: IndexSnapshot, principal: str | None) -> NDArray[np.bool_]:
    """Rows that *principal* may read, whatever became of them; ``None`` = the owner. Read-only."""

    def conditions() -> list[Condition]:
        if principal is None:
            return []
        open_to = [not readers or principal in readers for readers in snapshot.label_sets]
        return [listed("acl", np.array(open_to, np.bool_))]

    return snapshot.kept.get("mask", ("allowed", principal), lambda: _mask(snapshot, conditions()))


def _not_before_writes(
    snapshot: IndexSnapshot, may_read: NDArray[np.bool_], principal: str | None, now: int
) -> int:
    if latest_recorded(now, snapshot.last_ingested) == now or principal is None:
        return latest_recorded(now, snapshot.last_ingested)
    # An erased row may not count: whether its stamp is still in the arrays depends on the last merge.
    stamps = snapshot.column("expired_at")
    there = may_read & (stamps != BEGINNING)
    seen = np.concatenate([stamps[there], snapshot.column("ingested_at")[there]])
    # What lies further ahead was stamped under a wrong clock, and is no end of a version that is held.
    return int(seen[seen <= now + CLOCK_SKEW].max(initial=now))


def _matches(snapshot: IndexSnapshot, filters: Filters) -> list[Condition]:
    """Rows that meet every filter but the window; windows are too many to keep."""
    conditions = [] if filters.archived else [without("state", ARCHIVED)]
    if filters.kinds is not None:
        codes = [KIND_CODES[kind] for kind in filters.kinds]
        conditions.append(listed("kind", np.isin(np.arange(256), codes)))
    if filters.project is not None:
        wanted = np.array([label == filters.project for label in snapshot.labels], np.bool_)
        conditions.append(listed("project", wanted))
    tags = frozenset(filters.tags)
    if tags or filters.tags_match not in LENIENT:
        wanted = np.array(
            [tags_match(held, tags, filters.tags_match) for held in snapshot.label_sets], np.bool_
        )
        conditions.append(listed("tags", wanted))
    return conditions


def _in_window(start: int, end: int) -> Condition:
    def holds(block: Block) -> bool | NDArray[np.bool_]:
        if block.bounds("occurred_to")[1] < start or block.bounds("occurred_from")[0] >= end:
            return False
        first, last = block.columns["occurred_from"], block.columns["occurred_to"]
        meets: NDArray[np.bool_] = (first < end) & ((last > start) | ((first == last) & (first >= start)))
        return meets

    return holds


LENIENT = frozenset({"any", "all"})
"""The values of ``tags_match`` that let untagged memories pass; there, no wanted tags is no filter."""


def tags_match(tags: frozenset[str], wanted: frozenset[str], mode: str) -> bool:
    """Whether a memory's tags pass (HI-14).

    any: at least one shared, untagged pass · any_strict: untagged fail · all: every wanted tag present,
    untagged pass · all_strict: untagged fail · exact: equal. An empty *wanted* is no filter in any and all,
    matches nothing in any_strict and all_strict, and keeps the untagged only in exact.
    """
    if mode == "exact":
        return tags == wanted
    if not (wanted and tags):
        return mode in LENIENT
    return bool(tags & wanted) if mode.startswith("any") else tags >= wanted
