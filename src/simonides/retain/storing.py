"""The part of the write path inside the transaction: resolve, deduplicate, supersede, write, link.

Everything is compared with the snapshot caught up in this very transaction and with the items of the batch
before it, so that two writers at once never store one thing twice. A large batch writes its rows at once and
queues the comparisons (links, near-duplicates); ``settle`` works them off, and recall works meanwhile.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from simonides.index.view import comparable
from simonides.records.draft import content_key, is_turn
from simonides.records.interval import FOREVER, Precision
from simonides.records.kind import ARCHIVED, Kind
from simonides.records.time_to_live import EXPIRE, TASK_OF, TtlDefaults
from simonides.records.versions import ComparedFields, RowRef
from simonides.retain.changes import find_rivals, restated
from simonides.retain.duplicates import SAME_WORDS_FROM, says_again
from simonides.retain.neighbours import (
    DAY_MICROS,
    MOST_SEMANTIC,
    MOST_TEMPORAL,
    RESCORE,
    SEMANTIC_FROM,
    Neighbourhood,
    Related,
    causal_links,
    novelty,
    temporal_weight,
)
from simonides.retain.placing import all_may_read, occurred, place_item, trust_of, ttl_of
from simonides.retain.resolution import fold_name, resolve
from simonides.retain.supersession import declared, divide, placed, write_division

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from simonides.protocols import Analyser
    from simonides.records.draft import Draft, Prepared
    from simonides.records.extraction import Extraction
    from simonides.records.versions import ResolvedFields
    from simonides.retain.neighbours import Neighbour
    from simonides.retain.supersession import Rival
    from simonides.storage.writer import WriteTransaction

_MOST_MASKS = 8
"""Sets of readers whose masks are kept while tasks are worked off; one byte per row each."""

LARGEST_COMPARED = 512
"""A batch of more items is stored at once and compared later."""

TO_THE_DAY = frozenset({Precision.INSTANT.value, Precision.HOUR.value, Precision.DAY.value})
"""Times known well enough to say what lies within a day of them; a year is not its first of January."""

LINK = "link"
"""The task of linking a row that was stored in a large batch."""

REPEAT = "repeat"
"""The same, for a row that may turn out to say again what is there."""

NEAR_FROM = 0.5
"""Cosine from which a neighbour may state another value of the same thing."""

READ = "read"
"""Before that, the task of reading names and relations out of a row's text that nobody has read."""

TASKS = (READ, REPEAT, LINK)
"""What ``settle`` works off, in this order."""


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
        transaction: open.
        items: checked and prepared.
        analyser: for the words of causes.
        author: principal who retains; empty = the owner.
        returned: the memory that a text was just returned from, or ``None`` (the feedback-loop guard).
        unread: the items come without extraction; it and all comparisons are queued.
        ttl_defaults: the times to live of items that state none.
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
            if not (_is_plain(item) and (not item.draft.deduplicate or self._is_new(item, key, held))):
                if first < position:
                    yield range(first, position), True
                yield range(position, position + 1), False
                first = position + 1
            held.add(key)
        if first < len(self._items):
            yield range(first, len(self._items)), True

    def _is_new(self, item: Prepared, key: bytes, held: AbstractSet[bytes]) -> bool:
        return key not in held and self._returned(item.draft.text) is None

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

        It is erased then if both are to be: who may only write takes nothing away that is to be kept.
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


def write_stated(
    transaction: WriteTransaction,
    item: Prepared,
    place: ResolvedFields,
    near: Sequence[int],
    beside: Collection[str],
    told_from: int,
    insert: Callable[[ResolvedFields], RowRef],
    weighed: Callable[[Sequence[Rival]], list[Rival]] = list,
) -> RowRef:
    """Write a row with the names and relations in its text, and end what it says is true no more.

    Args:
        transaction: open.
        item: the new words.
        place: of the row, as stated.
        near: ordinals of its neighbours, nearest first.
        beside: memories that it stands beside, and never ends.
        told_from: ordinal of the first row that is told together with this one.
        insert: writes the row.
        weighed: what counts of the memories of other values.
    """
    draft, found = item.draft, item.extraction
    stated = (*found.relations, *((draft.statement,) if draft.statement else ()))
    said = draft.statement
    entities = resolve(
        transaction,
        draft.text,
        found.mentions,
        stated,
        draft.acl,
        of_one_object=said.subject if said and said.single_valued else "",
        told_from=told_from,
    )
    rivals: list[Rival] = []
    if draft.deduplicate and place.kind is not Kind.QUARANTINE:
        rivals = weighed(find_rivals(transaction, item, place, entities, near, beside))
    division = divide(draft, place, rivals)
    stored = insert(placed(place, division))
    for number in sorted(set(entities.values())):
        transaction.entities.add_mention(stored.ordinal, number)
    single = {(r.name, r.subject) for r in declared(draft, found.relations)}
    for relation in stated:
        subject = entities.get(fold_name(relation.subject))
        if subject is not None:
            transaction.relations.add(
                stored.ordinal,
                relation.name,
                subject,
                fold_name(relation.object),
                single_valued=(relation.name, relation.subject) in single,
            )
    write_division(transaction, place, stored, division)
    return stored


def link_causes(
    transaction: WriteTransaction, analyser: Analyser, item: Prepared, node: int, near: Sequence[int]
) -> None:
    """Link a memory to those that tell the causes it states.

    Args:
        transaction: open.
        analyser: for the words of causes.
        item: what it says.
        node: of the memory.
        near: nodes that may tell a cause, the best first.
    """
    related = [
        Related(other, transaction.versions.terms(other).get("text", {})) for other in dict.fromkeys(near)
    ]
    words = {
        cause.cause: analyser.query_terms(item.draft.text[slice(*cause.cause)])
        for cause in item.extraction.causes
    }
    for other, weight in causal_links(item.extraction.causes, words, related):
        transaction.links.add(node, other, "causal", weight)


def close(
    transaction: WriteTransaction, ordinal: int, moment: int | None = None, *, superseded_by: str = ""
) -> None:
    """End what a row states at *moment*; a row that would never have held is withdrawn instead.

    What has ended before *moment* stays as it is, so that ending it twice is ending it once. The default is
    now, or just after the row's recorded time where a clock that stood years ahead set it.
    """
    if moment is None:
        moment = transaction.versions.instant_after(ordinal, transaction.next_instant())
    held = transaction.versions.read(ordinal)
    if held.valid_to <= moment:
        return
    if held.valid_from < moment:
        transaction.versions.revise(
            ordinal,
            valid_to=moment,
            valid_to_precision=Precision.INSTANT.value,
            superseded_by=superseded_by,
        )
    else:
        transaction.versions.expire(ordinal, transaction.next_instant())


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


def settle(
    transaction: WriteTransaction,
    most: int,
    extract: Callable[[str, int], Extraction],
    tasks: Sequence[str] = TASKS,
) -> int:
    """Work off up to *most* tasks that large batches and loads left for later; returns how many were done.

    Args:
        transaction: open.
        most: tasks at most.
        extract: reads a text that was said at a moment, microseconds UTC.
        tasks: those to work off, in this order.
    """
    done = 0
    earlier = _Earlier(transaction)
    for task in tasks:
        for ordinal in transaction.queue.due(task, most - done):
            if transaction.versions.find(ordinal) is not None:
                if task == READ:
                    _read_stored(transaction, ordinal, extract)
                elif task == LINK or not _drop_repeat(transaction, ordinal, earlier):
                    _link_stored(transaction, ordinal, earlier)
                transaction.links.log_later(ordinal)
            transaction.queue.remove(task, ordinal)
            done += 1
    return done


def _read_stored(
    transaction: WriteTransaction, ordinal: int, extract: Callable[[str, int], Extraction]
) -> None:
    """Note the names and relations in a stored row's text; the row itself stays what it is."""
    held = transaction.versions.read(ordinal)
    text = held.text
    found = extract(text, held.ingested_at if held.occurred_from is None else held.occurred_from)
    readers = tuple(sorted(transaction.versions.compared_fields(ordinal).readers))
    entities = resolve(transaction, text, found.mentions, found.relations, readers)
    # The memory may have been changed meanwhile; what has other words was read when it got them.
    node = transaction.versions.node(ordinal)
    for version in transaction.versions.ordinals_of(ordinal):
        if transaction.versions.node(version) != node:
            continue
        for number in sorted(set(entities.values())):
            transaction.entities.add_mention(version, number)
        for relation in found.relations:
            subject = entities.get(fold_name(relation.subject))
            if subject is not None:
                # It ended no other memory when it was stored, so no later statement ends it, either.
                obj = fold_name(relation.object)
                transaction.relations.add(version, relation.name, subject, obj, single_valued=False)
        transaction.relations.add_statements(
            version, text, transaction.versions.compared_fields(version).speaker
        )


def _drop_repeat(transaction: WriteTransaction, ordinal: int, earlier: _Earlier) -> bool:
    """Withdraw a stored row that says again what a row before it says; that one gets a proof more."""
    mine = transaction.versions.read(ordinal)
    if mine.expired_at != FOREVER:
        return False
    frame = transaction.versions.compared_fields(ordinal)
    for other, cosine in earlier.near(ordinal, frame.readers):
        if cosine < SAME_WORDS_FROM:
            break
        current = transaction.versions.current(transaction.versions.read(other).id)
        if current is None or current.id == mine.id:
            continue
        # All of a large batch counted as new, which is worth up to a quarter of the salience.
        if replace(transaction.versions.compared_fields(current.ordinal), salience=frame.salience) != frame:
            continue
        if says_again(cosine, mine.signature, current.signature, mine.text, current.text):
            transaction.versions.revise(current.ordinal, proof_count=current.proof_count + 1)
            transaction.versions.expire(ordinal, transaction.next_instant())
            return True
    return False


class _Earlier:
    """The stored rows before a stored row; what all tasks of one transaction share is made once."""

    def __init__(self, transaction: WriteTransaction) -> None:
        self._transaction = transaction
        self._roots: NDArray[np.int64] | None = None
        self._moment = 0
        self._masks: dict[frozenset[str], NDArray[np.bool_]] = {}

    def near(self, ordinal: int, readers: frozenset[str]) -> list[tuple[int, float]]:
        """The nearest rows before a row with these readers: ordinal and cosine, nearest first."""
        vector = self._transaction.versions.vector(ordinal)
        if vector is None:
            return []
        snapshot = self._transaction.snapshot
        if self._roots is None:
            self._roots = snapshot.column("root")
        mask = self._comparable(readers) & (self._roots < self._transaction.versions.read(ordinal).root)
        ordinals, cosines = snapshot.vectors.nearest(vector, mask, depth=MOST_SEMANTIC, rescore=RESCORE)
        best = np.lexsort((ordinals, -cosines))[:MOST_SEMANTIC]
        return [(int(ordinals[i]), float(cosines[i])) for i in best]

    def _comparable(self, readers: frozenset[str]) -> NDArray[np.bool_]:
        # A task that withdraws a row moves the moment on at which the next one compares.
        moment = self._transaction.next_instant()
        if moment != self._moment or len(self._masks) == _MOST_MASKS:
            self._moment, self._masks = moment, {}
        if readers not in self._masks:
            self._masks[readers] = comparable(self._transaction.snapshot, readers, moment)
        return self._masks[readers]


def _link_stored(transaction: WriteTransaction, ordinal: int, earlier: _Earlier) -> None:
    """Semantic and temporal links of a stored row to the rows before it."""
    held = transaction.versions.read(ordinal)
    allowed, node = transaction.versions.compared_fields(ordinal).readers, transaction.versions.node(ordinal)
    readers = tuple(sorted(allowed))
    for near, cosine in earlier.near(ordinal, allowed):
        if cosine >= SEMANTIC_FROM:
            transaction.links.add(node, transaction.versions.node(near), "semantic", cosine)
    link_in_time(transaction, node, held.occurred_from, held.occurred_precision or "", readers, ordinal)


def link_in_time(
    transaction: WriteTransaction,
    node: int,
    occurred: int | None,
    precision: str,
    readers: Sequence[str],
    ordinal: int,
) -> None:
    """Link a row whose time is known to the day to what happened within a day of it."""
    if occurred is not None and precision in TO_THE_DAY:
        for other, apart in transaction.links.around(
            int(occurred), DAY_MICROS, MOST_TEMPORAL, readers, ordinal
        ):
            transaction.links.add(node, other, "temporal", temporal_weight(apart))
