"""Write one row with what its text states, link it, and end what holds no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simonides.records.interval import DAY_MICROS, Precision
from simonides.records.kind import Kind
from simonides.retain.changes import find_rivals
from simonides.retain.neighbours import MOST_TEMPORAL, Related, causal_links, temporal_weight
from simonides.retain.resolution import fold_name, resolve
from simonides.retain.supersession import declared, divide, placed, write_division

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from simonides.protocols import Analyser
    from simonides.records.draft import Prepared
    from simonides.records.versions import ResolvedFields, RowRef
    from simonides.retain.supersession import Rival
    from simonides.storage.writer import WriteTransaction

TO_THE_DAY = frozenset({Precision.INSTANT.value, Precision.HOUR.value, Precision.DAY.value})
"""Times known well enough to say what lies within a day of them; a year is not its first of January."""


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
        near: ordinals of its neighbours, nearest first.
        beside: memories that it stands beside, and never ends.
        told_from: ordinal of the first row that is told together with this one.
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
    """Link the memory at *node* to those of *near*, best first, that tell the causes it states."""
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
