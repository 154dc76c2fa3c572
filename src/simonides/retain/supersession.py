"""A single-valued relation has one object at a time: a newer statement closes the older one.

Only a declared single-valued relation closes anything (B3); everything else coexists. Old and new must state
the same relation of the same entity with another object, their validity must overlap, the new source must be
trusted as much as the old one, and exactly the same principals must read both: a private statement does not
end what others read. What is closed is kept: it gets a new version whose ``valid_to`` is the newer one's
``valid_from``. A statement about the past that arrives late is itself closed where the known one begins,
if its readers may read that. A → B → A gives three spans. The statements of one document coexist: it may
tell a history, and it is replaced as a whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.records.interval import Interval
from simonides.retain.readers import all_may_read, same_readers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from simonides.backends.embedded.transaction import Placement, WriteTransaction
    from simonides.records.draft import Draft
    from simonides.records.extraction import Relation

LONGEST_STATEMENT = 200
"""A text of more characters says more than one thing, so it neither closes nor is closed by a rule."""


@dataclass(frozen=True, slots=True)
class Succession:
    """What a new statement does to the known ones.

    Attributes:
        placement: of the new row, perhaps closed where a later statement begins.
        closing: rows that end where the new one begins.
        corrected: rows that began at the same moment: they were mistaken and leave the record.
    """

    placement: Placement
    closing: tuple[int, ...] = ()
    corrected: tuple[int, ...] = ()


def declared(draft: Draft, found: Iterable[Relation]) -> tuple[Relation, ...]:
    """The single-valued relations that a memory is about.

    A relation that the caller states counts always; one found by a cue counts when it is the only one in a
    short text, so that a long turn is not closed for one half-sentence in it.
    """
    if draft.statement is not None:
        return (draft.statement,) if draft.statement.single_valued else ()
    relations = tuple(found)
    if len(relations) != 1 or len(draft.text) > LONGEST_STATEMENT:
        return ()
    return tuple(relation for relation in relations if relation.single_valued)


def succeed(
    transaction: WriteTransaction,
    draft: Draft,
    place: Placement,
    subject: int,
    relation: str,
    obj: str,
    *,
    beside: Collection[str] = (),
) -> Succession:
    """Decide what closes what; writes nothing.

    Args:
        transaction: open.
        draft: of the new statement.
        place: of its row.
        subject: entity.
        relation: its name.
        obj: folded object.
        beside: memories that it stands beside: they neither close it nor are closed.
    """
    closing: list[int] = []
    corrected: list[int] = []
    stated = transaction.stated(subject, relation)
    # A memory may state several objects: what its words say, and what its writer said they mean.
    agreeing = {known.ordinal for known in stated if known.object == obj}
    for known in {known.ordinal: known for known in stated}.values():
        if known.ordinal in agreeing or known.id in beside or place.trust < known.trust:
            continue
        if not (known.valid_from < place.valid_to.start and place.valid_from.start < known.valid_to):
            continue
        if known.valid_from > place.valid_from.start:
            if all_may_read(draft.acl, known.readers):
                end = Interval(known.valid_from, known.valid_from)
                place = replace(place, valid_to=end, superseded_by=known.id)
        elif same_readers(draft.acl, known.readers):
            (closing if known.valid_from < place.valid_from.start else corrected).append(known.ordinal)
    return Succession(place, tuple(closing), tuple(corrected))
