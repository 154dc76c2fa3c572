"""Which stored memories a new one states another value of, and which it only says again.

    statements of the text ─► rows of the same subject and attribute          (an index, no scan)
                           ─► where the text names what it replaces or ends: rows of the same subject, and
                              what is near by meaning, ten at most
                           ─► each is compared with the text (``text.statements.comparing``)

Only a sure change counts. Compared are memories of one project whose tags do not contradict; the statements
of one document stand beside each other, because it may tell a history, and it is replaced as a whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from simonides.records.interval import BEGINNING
from simonides.records.kind import ARCHIVED
from simonides.retain.placing import all_may_read
from simonides.retain.resolution import fold_name
from simonides.retain.supersession import Rival, declared
from simonides.text.statements.comparing import compare_texts
from simonides.text.statements.reading import is_reported, read_statements, says_from_when, says_one_thing
from simonides.text.statements.words import same_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from simonides.records.draft import Draft, Prepared
    from simonides.records.versions import Held, ResolvedFields
    from simonides.storage.writer import WriteTransaction
    from simonides.text.statements.objects import Statement

MOST_STATED = 128
"""Rows of one subject and attribute that are compared, the newest of them."""

MOST_OF_SUBJECT = 40
"""Rows of one subject that are looked through where the text says that it replaces something."""

MOST_NEAR = 10
"""Neighbours that are compared."""


def find_rivals(
    transaction: WriteTransaction,
    item: Prepared,
    place: ResolvedFields,
    entities: Mapping[str, int],
    near: Sequence[int],
    beside: Collection[str],
) -> list[Rival]:
    """Memories of another value than the new one's; each once.

    Args:
        entities: folded name → number, of the names in its text.
        near: ordinals of its neighbours, nearest first.
        beside: memories that are never ended by it.
    """
    draft = item.draft
    if place.occurred and place.occurred.start > place.ingested_at and says_from_when(draft.text):
        return []  # Until that day the older value holds.
    found: dict[int, Rival] = {}
    said = _statements(transaction, draft)
    for rival in _by_relation(transaction, item, entities, said):
        found[rival.held.ordinal] = rival
    if said and draft.statement is None:
        ordinals = dict.fromkeys(_candidates(transaction, draft, said, near, place.valid_from.start))
        others = (ordinal for ordinal in ordinals if ordinal not in found)
        for held in transaction.relations.held(
            others, lambda text, speaker: _may_change(text, speaker, said)
        ):
            rule = _changes(held, draft, said, place) if _comparable(held, draft) else ""
            if rule and not any(
                transaction.entities.mentions_namesake(held.ordinal, entities[fold_name(one.subject)])
                for one in said
                if fold_name(one.subject) in entities
            ):
                found[held.ordinal] = Rival(held, rule)
    return [rival for rival in found.values() if rival.held.id not in beside]


def restated(transaction: WriteTransaction, draft: Draft) -> list[int]:
    """Rows that state the very value of a subject's attribute that a text states, the newest first.

    Archived ones are left out: they would swallow what is said anew.
    """
    said = [one for one in read_statements(draft.text, draft.speaker or None) if one.single_valued]
    if len(said) != 1 or said[0].ended or said[0].old_value:
        return []
    (mine,) = said
    ordinals = transaction.relations.rows_stating(mine.subject, mine.attribute, draft.acl, MOST_NEAR)
    found = transaction.relations.held(ordinals, lambda text, speaker: _says(text, speaker, mine))
    said_so = [held.ordinal for held in found if _says(held.text, held.speaker, mine)]
    return [row for row in said_so if not transaction.versions.read(row).state & ARCHIVED]


def _says(text: str, speaker: str, mine: Statement) -> bool:
    theirs = read_statements(text, speaker or None)
    return any(one.subject == mine.subject and one.value == mine.value for one in theirs)


def _statements(transaction: WriteTransaction, draft: Draft) -> tuple[Statement, ...]:
    """What the text states; *back to X* says which attribute by the X that was there before."""
    found = read_statements(draft.text, draft.speaker or None)
    if not any(one.marker == "back" and not one.attribute for one in found):
        return found
    return tuple(_resolved(transaction, draft, one) if not one.attribute else one for one in found)


def _resolved(transaction: WriteTransaction, draft: Draft, one: Statement) -> Statement:
    for held in transaction.relations.held(
        transaction.relations.rows_stating(one.subject, None, draft.acl, MOST_OF_SUBJECT)
    ):
        for before in read_statements(held.text, held.speaker or None):
            if before.single_valued and before.attribute and same_value(before.value, one.value):
                return replace(one, attribute=before.attribute)
    return one


def _by_relation(
    transaction: WriteTransaction, item: Prepared, entities: Mapping[str, int], said: Sequence[Statement]
) -> list[Rival]:
    """Memories that state the same single-valued relation of the same entity with another object."""
    draft = item.draft
    # A text that says "also" or "during the week" stands beside others.
    beside = any(one.marker == "also" or one.qualifier for one in said)
    if draft.statement is None and (beside or is_reported(draft.text)):
        return []
    rivals = []
    for relation in declared(draft, item.extraction.relations):
        subject = entities.get(fold_name(relation.subject))
        if subject is None:
            continue
        obj = fold_name(relation.object)
        stated = transaction.relations.current(subject, relation.name)
        # A memory may state several objects: what its words say, and what its writer said they mean.
        agreeing = {ordinal for ordinal, other in stated if same_value(other, obj)}
        others = dict.fromkeys(ordinal for ordinal, _ in stated if ordinal not in agreeing)
        for held in transaction.relations.held(others):
            if draft.statement is None and not _comparable(held, draft):
                continue
            narrowed = any(one.qualifier for one in read_statements(held.text, held.speaker or None))
            if draft.statement is None and (narrowed or is_reported(held.text)):
                continue
            rivals.append(Rival(held, f"another value of {relation.name!r}"))
    return rivals


def _candidates(
    transaction: WriteTransaction,
    draft: Draft,
    said: Sequence[Statement],
    near: Sequence[int],
    after: int,
) -> list[int]:
    found: list[int] = []
    for one in said:
        if one.attribute:
            # What one may have several of changes nothing by itself, but a later statement may end it.
            changes = one.single_valued or one.ended or one.marker or one.old_value
            begins = BEGINNING if changes else after
            found += transaction.relations.rows_stating(
                one.subject, one.attribute, draft.acl, MOST_STATED, after, begins
            )
        if one.ended or one.old_value or not one.attribute or one.marker == "correction":
            found += transaction.relations.rows_stating(one.subject, None, draft.acl, MOST_OF_SUBJECT, after)
            if one.old_value and one.old_value != one.subject:
                found += transaction.relations.rows_stating(one.old_value, None, draft.acl, MOST_NEAR, after)
        if one.attribute == "name":
            # What is renamed may go by its old name: project Nightjar.
            sort = one.subject.rpartition(" ")[0]
            found += transaction.relations.rows_stating(sort or "user", "name", draft.acl, MOST_NEAR, after)
    return found + list(near[:MOST_NEAR])


def _comparable(held: Held, draft: Draft) -> bool:
    mine = frozenset(draft.tags)
    if not all_may_read(draft.acl, held.readers):
        return False
    return held.project == draft.project and (mine <= held.tags or held.tags <= mine)


def _may_change(text: str, speaker: str, said: Sequence[Statement]) -> bool:
    """Whether a text and a new one are surely not both true, whichever of them is the later one."""
    before = read_statements(text, speaker or None)
    both = (compare_texts(*pair, alone=True) for pair in ((before, said), (said, before)))
    return any(change is not None and change.sure for change in both)


def _changes(held: Held, draft: Draft, said: Sequence[Statement], place: ResolvedFields) -> str:
    """The rule by which a stored memory and the new one are surely not both true; empty = none."""
    before = read_statements(held.text, held.speaker or None)
    if not before:
        return ""
    if held.since <= place.valid_from.start:
        change = compare_texts(before, said, alone=says_one_thing(held.text))
    else:
        change = compare_texts(said, before, alone=says_one_thing(draft.text))
    return f"{change.rule}" if change is not None and change.sure else ""
