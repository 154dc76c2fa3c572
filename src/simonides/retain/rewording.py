"""Gives a memory other words: a new version of it, in every respect as if it had been retained in them.

    stored row ─► what was stated of it, and what followed from its words    (its content key proves which)
               ─► the same draft with the new text ─► encoded, read, placed as by ``retain``
               ─► ends that the old words made or met are taken back, those of the new ones are made
               ─► a row of its own, with names, relations, statements and links of its own

Id, readers, trust, times of recording, accesses, pins and whatever else was noted stay; what a model made of
the old words, observations that rest on them and their proofs do not. A memory that was archived comes back.
Weakness: where the key proves nothing (a declared statement, a memory of an older version or of another one's
words), what differs from what the old words say counts as stated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from simonides.index.view import comparable, comparing
from simonides.records.draft import Draft, Prepared, content_key, days_of
from simonides.records.interval import DAY_MICROS, FOREVER, Interval, Precision
from simonides.records.kind import ARCHIVED, TRUST, Kind
from simonides.records.versions import ResolvedFields, RowRef
from simonides.retain.changes import find_rivals
from simonides.retain.items import canonical_json
from simonides.retain.neighbours import (
    MOST_SEMANTIC,
    MOST_TEMPORAL,
    NEAR_FROM,
    RESCORE,
    SEMANTIC_FROM,
    Neighbour,
    novelty,
    temporal_weight,
)
from simonides.retain.placing import all_may_read, layer_of, occurred, place_item
from simonides.retain.supersession import divide, reopen, write_division
from simonides.retain.writing import TO_THE_DAY, link_causes, link_in_time, write_stated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simonides.protocols import Analyser
    from simonides.records.extraction import Extraction
    from simonides.records.versions import Worded
    from simonides.retain.supersession import Rival
    from simonides.storage.writer import WriteTransaction

    Read = Callable[[Draft], Extraction]

_SHIFTS = [shift for days in range(1, 32) for shift in (days, -days)]
"""Days between an event and the day on which it was told, the likeliest first."""

_MOST_LATER = 64
"""Later memories that may be linked to the new words, by likeness."""


def reworded(
    worded: Worded,
    text: str,
    changes: Mapping[str, Any],
    read: Read,
    questions: Callable[[str, Extraction], str],
) -> Draft:
    """What a memory states in other words.

    Args:
        text: the new words; of a turn with or without its speaker.
        changes: what else is to be changed, as ``editing.read_changes`` gives it.
        questions: those that a text answers, by the store's expander; empty = it has none.
    """
    now, then = worded.now, worded.then
    stated = _as_retained(worded, read) or _as_told(worded, read, questions)
    noted: dict[str, Any] = {
        name: getattr(now, name)
        for name in ("kind", "layer", "salience", "confidence")
        if getattr(now, name) != getattr(then, name)
    }
    noted |= {name: getattr(now, name) for name in ("path", "project", "source", "context")}
    noted |= {"tags": now.tags, "metadata_json": canonical_json(now.metadata, "metadata")}
    if now.valid_to_micros != then.valid_to_micros and not now.superseded_by:
        noted["valid_to"] = Interval(now.valid_to_micros, now.valid_to_micros, Precision.INSTANT)
    noted |= {"metadata_json" if name == "metadata" else name: value for name, value in changes.items()}
    label = f"{now.speaker}: "
    said = text
    if now.speaker and then.text == label + worded.source.chunk:
        said = text.removeprefix(label)
        text = label + said
    span = None if stated.span is None else (0, len(said))
    return replace(stated, **noted, text=text, source_text="" if span is None else said, span=span)


def _everything(worded: Worded) -> Draft:
    """The words that a memory has, with all that was settled about them as if it had been stated."""
    then, source = worded.then, worded.source
    return Draft(
        text=then.text, kind=then.kind, layer=then.layer, context=then.context, relation=then.relation,
        path=then.path, project=then.project, tags=then.tags, acl=then.acl, source=then.source,
        metadata_json=canonical_json(then.metadata, "metadata"), occurred=then.occurred,
        valid_from=worded.valid_from, valid_to=worded.valid_to, recorded_at=worded.first_recorded,
        salience=then.salience, confidence=then.confidence, deduplicate=True, document=source.document,
        session=source.session, speaker=source.speaker, role=_roles(source.trust)[0],
        expansion=then.expansion, source_text=source.chunk, span=(0, len(source.chunk)),
    )  # fmt: skip


def _roles(trust: float) -> list[str]:
    """The roles that are trusted so, the caller's own first."""
    return sorted(role for role, known in TRUST.items() if known == trust) or [""]


def _as_retained(worded: Worded, read: Read) -> Draft | None:
    """The very draft that the words were retained by: the only one that has their content key.

    Each field was either given, and is what the row has, or left to the words. ``None`` = it had more than
    the row tells.
    """
    everything = _everything(worded)
    choices: dict[str, Sequence[Any]] = {
        "role": _roles(worded.source.trust),
        "span": [None] if everything.text != everything.source_text else [None, everything.span],
    }
    if everything.document or everything.text != everything.source_text:
        choices["span"] = [everything.span]
    for name in ("occurred", "valid_to", "valid_from", "kind", "layer", "salience", "confidence"):
        choices[name] = [None] if getattr(everything, name) is None else [None, getattr(everything, name)]
    choices["expansion"] = ["", everything.expansion] if everything.expansion else [""]
    said_on = _said_on(worded, read)
    if said_on is not None:
        choices["occurred"] = [*choices["occurred"], said_on]
    days = {
        given: days_of(draft, read(draft))
        for given in choices["occurred"]
        for draft in (replace(everything, occurred=given),)
    }
    for values in product(*choices.values()):
        draft = replace(everything, **dict(zip(choices, values, strict=True)))
        if content_key(draft, days[draft.occurred]) == worded.content_key:
            return draft
    return None


def _said_on(worded: Worded, read: Read) -> Interval | None:
    """The day from which the words count, where the event is another day that they tell ("yesterday")."""
    event, everything = worded.then.occurred, _everything(worded)
    if event is None or all(time.days is None for time in read(replace(everything, occurred=None)).times):
        return None
    for shift in _SHIFTS:
        day = event.start + shift * DAY_MICROS
        draft = replace(everything, occurred=Interval(day, day + DAY_MICROS, Precision.DAY))
        if occurred(draft, read(draft)) == event:
            return draft.occurred
    return None


def _as_told(worded: Worded, read: Read, questions: Callable[[str, Extraction], str]) -> Draft:
    """The draft by which the words may have been retained: stated is what they do not say themselves."""
    then, everything = worded.then, _everything(worded)
    undated, said_on = replace(everything, occurred=None), _said_on(worded, read)
    if said_on is not None:
        undated = everything = replace(everything, occurred=said_on)
    found = read(undated)
    kind = found.kind or Kind.SEMANTIC
    by_itself = everything.text == everything.source_text and not everything.document
    return replace(
        everything,
        kind=None if then.kind == kind else then.kind,
        layer=None if then.layer == layer_of(then.kind) else then.layer,
        confidence=None if then.confidence == found.confidence else then.confidence,
        occurred=said_on or (None if then.occurred == occurred(undated, found) else then.occurred),
        valid_from=None if then.valid_from_micros == worded.first_recorded else everything.valid_from,
        valid_to=None if then.superseded_by or then.valid_to_micros == FOREVER else everything.valid_to,
        expansion="" if then.expansion == questions(then.text, found) else then.expansion,
        span=None if by_itself else everything.span,
    )


@dataclass(frozen=True, slots=True)
class Rewording:
    """Writes the new words of a memory in an open transaction.

    *worded* is the memory as it is in this transaction; *author* the principal, empty = the owner.
    """

    transaction: WriteTransaction
    worded: Worded
    item: Prepared
    analyser: Analyser
    author: str
    read: Read

    def write(self) -> RowRef:
        """Write the new version and all that follows from it."""
        transaction, memory = self.transaction, self.worded.now.id
        transaction.maintenance.return_archived(memory, "edited")
        open_again = self._take_back()
        held = transaction.versions.current(memory)
        if held is None:
            raise LookupError(f"no current version of {memory}")
        ordinal, root = held.ordinal, held.root
        node = transaction.versions.node(ordinal)
        transaction.maintenance.withdraw_observations(root)
        transaction.maintenance.undo_stale(root)
        earlier, later = self._near(root, before=True), self._near(root, before=False)
        place = self._place(ordinal, novelty(earlier))
        near = [
            known
            for one in sorted((*earlier, *later), key=lambda each: -each.cosine)
            if one.cosine >= NEAR_FROM and one.ordinal is not None
            if (known := self._now(one.ordinal)) is not None
        ]
        insert = partial(transaction.versions.reword, ordinal, self.item)
        beside = frozenset({memory})
        stored = write_stated(
            transaction,
            self.item,
            place,
            near,
            beside,
            transaction.meta.next_ordinal,
            insert,
            partial(self._weighed, root, place),
        )
        self._keep_statement(ordinal, stored)
        self._link(stored, node, earlier, later)
        if place.occurred is not None:
            self._link_in_time(stored, place.occurred)
        for other in open_again:
            self._meet(other)
        return stored

    def _take_back(self) -> list[str]:
        """Undo the ends that the old words made or met; returns the other memories that are open again."""
        transaction, now = self.transaction, self.worded.now
        held = transaction.versions.current(now.id)
        assert held is not None
        found: dict[str, None] = {}
        for move in transaction.maintenance.ends_of(held.root, now.id):
            if reopen(transaction, move.memory, move.became, move.was):
                transaction.maintenance.undo_move(move.number)
                found[move.memory] = None
        found.pop(now.id, None)
        return list(found)

    def _weighed(self, root: int, place: ResolvedFields, rivals: Sequence[Rival]) -> list[Rival]:
        """The rivals as they met the memory: those that came later met it, and not the other way round."""
        start = place.valid_from.start
        return [
            replace(rival, later=True)
            if rival.held.root > root
            else self._as_it_was(rival, root)
            if rival.held.since > start
            else rival
            for rival in rivals
        ]

    def _as_it_was(self, rival: Rival, root: int) -> Rival:
        """The rival, which began after the memory, with the end that it had before a later one ended it."""
        transaction, held = self.transaction, rival.held
        end = held.valid_to
        for move in transaction.maintenance.ends_of(held.root, held.id):
            by = transaction.versions.current(move.became)
            if move.memory == held.id and by is not None and by.root > root:
                end = int(move.was) if move.was else FOREVER
        return replace(rival, held=replace(held, valid_to=end))

    def _place(self, ordinal: int, new: float) -> ResolvedFields:
        """As retaining would place the words, but recorded now."""
        transaction, now = self.transaction, self.worded.now
        place = place_item(self.item, self.worded.first_recorded, self.author, new)
        held = transaction.versions.read(ordinal)
        if held.superseded_by:
            # What ended it left no move that could be taken back.
            end = Interval(held.valid_to, held.valid_to, Precision.INSTANT)
            place = replace(place, valid_to=end, superseded_by=held.superseded_by)
        return replace(
            place,
            ingested_at=transaction.versions.instant_after(ordinal, transaction.next_instant()),
            trust=now.trust,
            state=held.state & ~ARCHIVED,
        )

    def _near(self, root: int, *, before: bool) -> list[Neighbour]:
        """The nearest memories that were first stored before, or after, the memory, nearest first."""
        snapshot, item = self.transaction.snapshot, self.item
        if item.codes is None or snapshot.dimension != len(item.codes):
            return []
        rows = comparable if before else comparing
        mask = rows(snapshot, item.draft.acl, self.transaction.next_instant())
        roots = snapshot.column("root")
        mask &= roots < root if before else roots > root
        vector = item.codes.astype(np.float32) * np.float32(item.scale)
        most = MOST_SEMANTIC if before else _MOST_LATER
        ordinals, cosines = snapshot.vectors.nearest(vector, mask, depth=most, rescore=RESCORE)
        best = np.lexsort((ordinals, -cosines))[:most]
        return [Neighbour(int(ordinals[i]), None, float(cosines[i])) for i in best]

    def _now(self, ordinal: int) -> int | None:
        """Ordinal of the current version of what was current when the transaction began."""
        versions = self.transaction.versions
        held = versions.current(versions.read(ordinal).id)
        return None if held is None else held.ordinal

    def _keep_statement(self, before: int, stored: RowRef) -> None:
        """Carry over the statement that the caller declared, which no words tell."""
        transaction, relation = self.transaction, self.item.draft.relation
        for name, subject, obj, single in transaction.relations.read(before):
            if relation and name == relation:
                transaction.entities.add_mention(stored.ordinal, subject)
                transaction.relations.add(stored.ordinal, name, subject, obj, single_valued=single)

    def _link(
        self, stored: RowRef, old: int, earlier: Sequence[Neighbour], later: Sequence[Neighbour]
    ) -> None:
        """Link the new words as retaining would have, and later memories that are nearer to nothing else."""
        transaction, node, item = self.transaction, stored.ordinal, self.item
        near = [
            (transaction.versions.node(one.ordinal), one.cosine) for one in earlier if one.ordinal is not None
        ]
        for other, cosine in near:
            if cosine >= SEMANTIC_FROM:
                transaction.links.add(node, other, "semantic", cosine)
        for one in later:
            if one.cosine >= SEMANTIC_FROM and one.ordinal is not None:
                self._link_later(transaction.versions.node(one.ordinal), node, one.cosine)
        before = []
        for source, target, weight in transaction.links.of_node(old, "session"):
            if source == old:
                before.append(target)
                transaction.links.add(node, target, "session", weight)
            else:
                transaction.links.add(source, node, "session", weight)
        if item.extraction.causes:
            link_causes(transaction, self.analyser, item, node, [*(other for other, _ in near), *before])

    def _link_later(self, other: int, node: int, cosine: float) -> None:
        nearer = [
            weight
            for source, _, weight in self.transaction.links.of_node(other, "semantic")
            if source == other and weight > cosine
        ]
        if len(nearer) < MOST_SEMANTIC:
            self.transaction.links.add(other, node, "semantic", cosine)

    def _link_in_time(self, stored: RowRef, event: Interval) -> None:
        transaction, node, readers = self.transaction, stored.ordinal, self.item.draft.acl
        link_in_time(transaction, node, event.start, event.precision.value, readers, stored.root)
        if event.precision.value in TO_THE_DAY:
            for other, apart in transaction.links.around(
                event.start, DAY_MICROS, MOST_TEMPORAL, readers, stored.ordinal, stored.root
            ):
                if all_may_read(sorted(transaction.versions.compared_fields(other).readers), readers):
                    transaction.links.add(other, node, "temporal", temporal_weight(apart))

    def _meet(self, memory: str) -> None:
        """Divide the time anew between a memory that is open again and those of other values."""
        transaction = self.transaction
        version = transaction.versions.current(memory)
        held = next(iter(transaction.relations.held([] if version is None else [version.ordinal])), None)
        if version is None or held is None:
            return
        ordinal = version.ordinal
        worded = transaction.reading.worded(memory)
        if worded is None:
            return
        stated = _everything(worded)
        start, end = held.valid_from, held.valid_to
        draft = replace(
            stated,
            valid_to=Interval(end, end) if held.bounded else None,
            tags=tuple(sorted(held.tags)),
            project=held.project,
        )
        found = self.read(draft)
        item = Prepared(draft, {}, None, 0.0, found, version.signature)
        place = ResolvedFields(
            ingested_at=transaction.versions.instant_after(ordinal, transaction.next_instant()),
            valid_from=Interval(held.since, held.since, worded.valid_from.precision),
            valid_to=Interval(end, end),
            occurred=None,
            kind=worded.now.kind,
            layer=worded.now.layer,
            salience=0.0,
            confidence=0.0,
            author="",
            trust=held.trust,
        )
        entities = {
            entity.folded: number
            for number in sorted(transaction.entities.mentioned(ordinal))
            for entity in (transaction.entities.read(number),)
        }
        rivals = find_rivals(transaction, item, place, entities, (), frozenset({memory}))
        division = divide(draft, place, rivals)
        first, stored = division.mine[0], RowRef(memory, ordinal, held.root)
        if first.start in {start, held.since} and first.end != end:
            stored = transaction.versions.revise(ordinal, valid_to=first.end, superseded_by=first.ended_by)
        write_division(transaction, place, stored, division)
