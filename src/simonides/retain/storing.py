"""The part of the write path inside the transaction: resolve, deduplicate, supersede, write, link.

Everything is compared with the snapshot caught up in this very transaction and with the items of the batch
before it, so that two writers at once never store one thing twice. A large batch writes its rows at once and
queues the comparisons (links, near-duplicates); ``settle`` works them off, and recall works meanwhile.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from simonides.records.draft import content_key, is_turn
from simonides.records.interval import FOREVER
from simonides.records.kind import ARCHIVED, Kind
from simonides.records.time_to_live import EXPIRE, TASK_OF, TtlDefaults
from simonides.records.versions import ComparedFields, RowRef
from simonides.retain.changes import restated
from simonides.retain.duplicates import SAME_WORDS_FROM, says_again
from simonides.retain.neighbours import MOST_SEMANTIC, NEAR_FROM, SEMANTIC_FROM, Neighbourhood, novelty
from simonides.retain.placing import all_may_read, occurred, place_item, trust_of, ttl_of
from simonides.retain.settling import LINK, READ, REPEAT, TASKS
from simonides.retain.writing import close, link_causes, link_in_time, write_stated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from simonides.protocols import Analyser
    from simonides.records.draft import Draft, Prepared
    from simonides.records.versions import ResolvedFields
    from simonides.retain.neighbours import Neighbour
    from simonides.storage.writer import WriteTransaction

LARGEST_COMPARED = 512
"""A batch of more items is stored at once and compared later."""


class LeftMeanwhileError(Exception):
    """What the bank held when items were prepared has left it since; they have to be prepared anew."""


@dataclass(frozen=True, slots=True)
class _Fact:
    """A row of this transaction as later items of the batch see it."""

    stored: RowRef
    item: Prepared


class Storing:
    """Stores one batch in an open transaction.

    Args:
        author: principal who retains; empty = the owner.
        returned: the memory that a text was just returned from, or ``None`` (the feedback-loop guard).
        unread: the items come without extraction; it and all comparisons are queued.
    """

    def __init__(
        self,
        transaction: WriteTransaction,
        items: Sequence[Prepared],
        analyser: Analyser,
        author: str,
        returned: Callable[[str], str | None],
        *,
        unread: bool = False,
        ttl_defaults: TtlDefaults = TtlDefaults(),  # noqa: B008 it is frozen
    ) -> None:
        self._transaction = transaction
        self._items = items
        self._analyser = analyser
        self._author = author
        self._returned = returned
        self._unread = unread
        self._ttl_defaults = ttl_defaults
        # What the bank holds is nobody's neighbour anew, so it is not compared.
        fresh = [position for position, item in enumerate(items) if not item.known]
        self._places = {position: place for place, position in enumerate(fresh)}
        self._bulk = unread or len(fresh) > LARGEST_COMPARED
        compared = () if self._bulk else [items[position] for position in fresh]
        self._near = Neighbourhood(transaction.snapshot, compared, transaction.next_instant())
        self._first = transaction.meta.next_ordinal
        self._facts: dict[int, _Fact] = {}
        self._later: dict[str, list[int]] = {task: [] for task in TASKS}
        self._keys: list[bytes] = []
        # Per document, what it says according to the items so far.
        self._said: dict[str, set[str]] = {}
        self._there = {} if unread else self._turns_there()

    def store(self) -> list[str]:
        """Store every item; one id each, in order. Documents are replaced as a whole."""
        ids: list[str] = []
        for run, together in self._runs():
            stored = self._store_run(run) if together else [self._store(run[0], self._items[run[0]])]
            for position, memory in enumerate(stored, len(ids)):
                self._said.setdefault(self._items[position].draft.document, set()).add(memory)
            ids += stored
        # Of a document that came in parts, the least trusted one decides what it may end.
        trusts: dict[tuple[str, tuple[str, ...]], float] = {}
        for draft in (item.draft for item in self._items):
            if draft.document and draft.kind is not Kind.QUARANTINE:
                key, trust = (draft.document, draft.acl), trust_of(draft.role)
                trusts[key] = min(trust, trusts.get(key, trust))
        for (document, readers), trust in trusts.items():
            self._close_what_left(document, readers, trust, set(ids))
        for task in TASKS:
            self._transaction.queue.add_all(task, self._later[task])
        return ids

    def _runs(self) -> Iterator[tuple[range, bool]]:
        """All positions in order: alone, or together where none needs a look at the others or at the bank."""
        if not self._unread:
            yield from ((range(position, position + 1), False) for position in range(len(self._items)))
            return
        self._keys = [item.content_key or content_key(item.draft, item.days) for item in self._items]
        held = self._transaction.versions.known_keys(self._keys)
        first = 0
        for position, (item, key) in enumerate(zip(self._items, self._keys, strict=True)):
            fresh = not item.draft.deduplicate or (
                key not in held and self._returned(item.draft.text) is None
            )
            if not (_is_plain(item) and fresh):
                if first < position:
                    yield range(first, position), True
                yield range(position, position + 1), False
                first = position + 1
            held.add(key)
        if first < len(self._items):
            yield range(first, len(self._items)), True

    def _store_run(self, run: range) -> list[str]:
        """Store what is new and states no relation, all at once."""
        items = self._items[run.start : run.stop]
        places = []
        last = self._transaction.last_ingested
        for item in items:
            # As ``next_instant`` will say when the rows before it are there.
            following = self._transaction.instant_following(last)
            ingested = following if item.draft.recorded_at is None else item.draft.recorded_at
            places.append(place_item(item, ingested, self._author, novelty([])))
            last = max(last, ingested)
        stored = self._transaction.versions.insert_all(items, places, self._keys[run.start : run.stop])
        self._add_expiries(zip(items, places, stored, strict=True))
        for item, row in zip(items, stored, strict=True):
            self._link_session(item, row)
            self._leave_for_later(item, row.ordinal)
        return [row.id for row in stored]

    def _leave_for_later(self, item: Prepared, ordinal: int) -> None:
        compared = item.draft.deduplicate and _may_repeat(item.draft)
        self._later[REPEAT if compared else LINK].append(ordinal)
        if self._unread:
            self._later[READ].append(ordinal)

    def _close_what_left(self, document: str, readers: tuple[str, ...], trust: float, kept: set[str]) -> None:
        """End the memories of a document that its new text no longer holds; their history stays.

        What others read of a document of the same name is another's, and stays; so does what a more trusted
        source said in it.
        """
        for ordinal, memory in self._transaction.sources.rows_of(document, readers, trust):
            if memory not in kept:
                close(self._transaction, ordinal)

    def _store(self, position: int, item: Prepared) -> str:
        draft = item.draft
        if draft.deduplicate:
            same = self._there.get(position)
            if same is not None:
                return same
            same = self._transaction.versions.find_identical(item)
            if same is not None:
                self._prove(draft, same)
                self._prolong(draft, same)
                return same
            same = self._transaction.versions.find_edited(item) if draft.document else self._echoed(item)
            if same is not None:
                return same
        if item.known:
            raise LeftMeanwhileError
        place_near = self._places[position]
        neighbours = [] if self._bulk else self._near.nearest(place_near, MOST_SEMANTIC)
        if draft.deduplicate and not _tells_more_days(item):
            again = self._said_again(item, neighbours)
            if again is not None:
                self._prolong(draft, again)
                return again
        ingested = draft.recorded_at
        place = place_item(
            item,
            self._transaction.next_instant() if ingested is None else ingested,
            self._author,
            novelty(neighbours),
        )
        stored = self._write(item, place, neighbours)
        self._add_expiries([(item, place, stored)])
        self._facts[place_near] = _Fact(stored, item)
        if not self._bulk:
            self._near.wrote(place_near)
        self._link_session(item, stored)
        if self._bulk:
            self._leave_for_later(item, stored.ordinal)
        else:
            self._link(item, place, stored, neighbours)
        return stored.id

    def _add_expiries(self, rows: Iterable[tuple[Prepared, ResolvedFields, RowRef]]) -> None:
        """Note when rows are to end, as they or the bank say."""
        expiries = []
        for item, place, stored in rows:
            ttl = ttl_of(item.draft, place.kind, self._ttl_defaults)
            if ttl is not None:
                expiries.append((stored.root, TASK_OF[ttl.on_expiry], ttl.due(place.ingested_at)))
        if expiries:
            self._transaction.expiries.add_all(expiries)

    def _prolong(self, draft: Draft, memory: str) -> None:
        """Let a memory that is said again live as long as the longer of the two would.

        It is erased only if both are to be: who may only write deletes nothing that is to be kept.
        """
        version = self._transaction.versions.current(memory)
        held = None if version is None else self._transaction.expiries.read(version.root)
        if version is None or held is None:
            return
        ttl = ttl_of(draft, Kind(version.kind), self._ttl_defaults)
        recorded = draft.recorded_at
        due = None if ttl is None else ttl.due(self._transaction.now if recorded is None else recorded)
        if ttl is None or due is None:
            self._transaction.expiries.set(version.root, None)
        elif due > held[1]:
            task = held[0] if held[0] == EXPIRE else TASK_OF[ttl.on_expiry]
            self._transaction.expiries.set(version.root, (task, due))

    def _turns_there(self) -> dict[int, str]:
        """The turns that a conversation brings again: position → the memory that holds the turn.

        They stay what they have become, also where they have ended since. The second of two equal turns is
        the second in the bank. A turn counts only next to another one that is there, too: alone it may say
        anew what has ended.
        """
        turns = [at for at, item in enumerate(self._items) if item.draft.deduplicate and is_turn(item.draft)]
        if len(turns) < 2:
            return {}
        found: dict[int, str] = {}
        counts: Counter[bytes] = Counter()
        for position in turns:
            item = self._items[position]
            key = content_key(item.draft, item.days)
            held = self._transaction.versions.find_turns(item)
            if counts[key] < len(held):
                found[position] = held[counts[key]]
            counts[key] += 1
        beside = {
            position
            for pair in pairwise(turns)
            if all(each in found for each in pair)
            and len({self._items[each].draft.session for each in pair}) == 1
            for position in pair
        }
        return {position: found[position] for position in sorted(beside)}

    def _echoed(self, item: Prepared) -> str | None:
        """The memory whose text this is, when the engine itself returned it a moment ago."""
        draft = item.draft
        if draft.statement or draft.occurred or draft.valid_from or draft.valid_to:
            return None
        memory = self._returned(draft.text)
        held = None if memory is None else self._transaction.versions.current(memory)
        if held is None:
            return None
        frame = self._transaction.versions.compared_fields(held.ordinal)
        now = self._transaction.versions.instant_after(held.ordinal, self._transaction.next_instant())
        ended = frame.valid_to <= now or held.state & ARCHIVED
        if ended or not all_may_read(draft.acl, frame.readers):
            return None
        if (frame.kind == Kind.QUARANTINE) != (draft.kind == Kind.QUARANTINE):
            return None
        happened = occurred(draft, item.extraction)
        if item.days and happened is not None and happened.start != frame.occurred_from:
            return None  # the same words of another day
        return memory

    def _prove(self, draft: Draft, memory: str) -> None:
        """Count a proof more for the current value of something, when it is said once more in these words."""
        dated = draft.occurred is not None or draft.valid_from is not None or draft.valid_to is not None
        if dated or draft.document or draft.session or draft.statement is not None:
            return
        held = self._transaction.versions.current(memory)
        if held is not None and held.ordinal in restated(self._transaction, draft):
            self._transaction.versions.revise(held.ordinal, proof_count=held.proof_count + 1)

    def _write(self, item: Prepared, place: ResolvedFields, neighbours: Sequence[Neighbour]) -> RowRef:
        draft = item.draft
        near = []
        if draft.deduplicate:
            near = [
                known.ordinal for one in neighbours if one.cosine >= NEAR_FROM and (known := self._known(one))
            ]
        beside = self._said.get(draft.document, ()) if draft.document else ()
        insert = partial(self._transaction.versions.insert, item)
        return write_stated(self._transaction, item, place, near, beside, self._first, insert)

    def _said_again(self, item: Prepared, neighbours: Sequence[Neighbour]) -> str | None:
        """The id of a near memory that says the same; it gets one more proof."""
        if not _may_repeat(item.draft):
            return None
        for neighbour in neighbours:
            if neighbour.cosine < SAME_WORDS_FROM:
                break
            known = self._known(neighbour)
            if known is not None and self._is_repeat(item, known.ordinal, neighbour.cosine):
                return known.id
        # Without vectors the value of something is found by what it is the value of.
        for ordinal in restated(self._transaction, item.draft) if not neighbours else ():
            if self._is_repeat(item, ordinal, 0.0):
                return self._transaction.versions.read(ordinal).id
        return None

    def _is_repeat(self, item: Prepared, ordinal: int, cosine: float) -> bool:
        """Whether an item says again what a row says; then that gets one more proof."""
        if not self._same_frame(item, ordinal):
            return False
        held = self._transaction.versions.read(ordinal)
        again = says_again(cosine, item.signature, held.signature, item.draft.text, held.text)
        if again:
            self._transaction.versions.revise(ordinal, proof_count=held.proof_count + 1)
        return again

    def _known(self, neighbour: Neighbour) -> RowRef | None:
        """The version the bank holds now of what was near when the transaction began."""
        if neighbour.position is not None:
            fact = self._facts.get(neighbour.position)
            if fact is None:
                return None
            memory = fact.stored.id
        elif neighbour.ordinal is not None:
            memory = self._transaction.versions.read(neighbour.ordinal).id
        else:
            return None
        held = self._transaction.versions.current(memory)
        return None if held is None else RowRef(memory, held.ordinal, held.root)

    def _same_frame(self, item: Prepared, ordinal: int) -> bool:
        draft = item.draft
        frame = self._transaction.versions.compared_fields(ordinal)
        happened = occurred(draft, item.extraction)
        mine = ComparedFields(
            project=draft.project,
            path=draft.path,
            document=draft.document,
            speaker=draft.speaker,
            metadata=draft.metadata_json,
            tags=frozenset(draft.tags),
            readers=frozenset(draft.acl),
            context=draft.context,
            relation=draft.relation,
            source=draft.source,
            kind=frame.kind if draft.kind is None else draft.kind.value,
            layer=frame.layer if draft.layer is None else draft.layer.value,
            salience=frame.salience if draft.salience is None else draft.salience,
            confidence=frame.confidence if draft.confidence is None else draft.confidence,
            occurred_from=happened.start if happened else None,
            occurred_to=happened.end if happened else None,
            valid_to=FOREVER if draft.valid_to is None else draft.valid_to.start,
            starts_by_itself=draft.valid_from is None,
        )
        return frame == mine

    def _link_session(self, item: Prepared, stored: RowRef) -> None:
        before = self._before(item, stored)
        if before is not None:
            self._transaction.links.add(stored.root, before, "session", 1.0)

    def _before(self, item: Prepared, stored: RowRef) -> int | None:
        """Node of the memory before this one in its conversation."""
        draft = item.draft
        if not draft.session:
            return None
        return self._transaction.links.before_in_session(draft.session, stored.root, draft.acl)

    def _link(
        self, item: Prepared, place: ResolvedFields, stored: RowRef, neighbours: Sequence[Neighbour]
    ) -> None:
        nodes = [(node, n.cosine) for n in neighbours if (node := self._node(n)) is not None]
        for node, cosine in nodes:
            if cosine >= SEMANTIC_FROM:
                self._transaction.links.add(stored.root, node, "semantic", cosine)
        if item.extraction.causes:
            before = self._before(item, stored)
            near = [node for node, _ in nodes] + ([] if before is None else [before])
            link_causes(self._transaction, self._analyser, item, stored.root, near)
        link_in_time(
            self._transaction,
            stored.root,
            place.occurred.start if place.occurred else None,
            place.occurred.precision.value if place.occurred else "",
            item.draft.acl,
            stored.ordinal,
        )

    def _node(self, neighbour: Neighbour) -> int | None:
        """What a neighbour's links join."""
        if neighbour.ordinal is not None:
            return int(self._near.nodes[neighbour.ordinal])
        fact = self._facts.get(neighbour.position) if neighbour.position is not None else None
        return None if fact is None else fact.stored.root


def _is_plain(item: Prepared) -> bool:
    """Whether an item's row follows from the item alone, once it is known to be new."""
    return item.draft.statement is None and item.following is None and not item.sparse


def _tells_more_days(item: Prepared) -> bool:
    """Whether its words name another day than that of its event, which the row alone does not tell."""
    event = occurred(item.draft, item.extraction)
    return any(time.days is not None and time.interval != event for time in item.extraction.times)


def _may_repeat(draft: Draft) -> bool:
    """Whether an item can be a repeat of what is near to it.

    A document and a conversation are told apart by their own texts alone, and a statement is more than its
    words.
    """
    is_turn = draft.session and draft.span is not None
    return not (draft.document or is_turn or draft.statement is not None or draft.valid_from is not None)
