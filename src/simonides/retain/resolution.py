"""Which entity a name means: one the bank knows, or a new one.

Names meet by their folded form or an alias, never by likeness (G1). Only case, width, accents, spaces and
punctuation fold away: ``VX-1103`` and ``vx 1103`` are one name, ``VX-1105`` is another; ``Ann`` is not
``Joann``. Signs that tell names apart (``+ # @ / .``) stay, so ``C``, ``C++`` and ``C#`` are three.

Two bearers of one name are told apart by a qualifier, which today is the employer: "Li Na works at Norrhav"
and "Li Na works at Quillstad" are two people where both are told at once. Told later, or with a word of
change ("now", "moved", "joined"), the other employer is the news of the one bearer that is known; so it is
where whoever states the relation says that its subject has one object at a time. A name that a memory with
other readers brought in is not used, and a memory that others cannot read tells them nothing about a name
they know (SPEC, general settlement 3). Merged entities stay what they are and only count as one, so that a
merge can be undone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simonides.retain.placing import all_may_read, same_readers
from simonides.text.normalise import fold_case, fold_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simonides.records.entity import Entity
    from simonides.records.extraction import Mention, Relation
    from simonides.storage.writer import WriteTransaction


_BETWEEN = re.compile(r"[^\w+#@/.]+|_+")


def fold_name(name: str) -> str:
    """The folded form of a name; empty when nothing of it is left."""
    return _BETWEEN.sub(" ", fold_case(fold_characters(name))).strip(" .")


QUALIFYING = frozenset({"works at"})
"""Relations whose object tells two bearers of one name apart."""

_CHANGED = re.compile(
    r"\b(now|moved|joined|left|switched|changed|new job|no longer|anymore|from now on|starts?|started"
    r"|quit)\b",
    re.IGNORECASE,
)


def resolve(
    transaction: WriteTransaction,
    text: str,
    mentions: Sequence[Mention],
    relations: Iterable[Relation],
    readers: Sequence[str],
    *,
    of_one_object: str = "",
    told_from: int = 0,
) -> dict[str, int]:
    """Entity numbers by folded name, for every name that a new memory speaks of.

    Args:
        readers: of the memory; empty = everyone in the bank.
        of_one_object: a subject that was said to have one object at a time: another object is a change.
        told_from: ordinal of the first row that is told together with this one.
    """
    stated = list(relations)
    kinds = {fold_name(mention.name): (mention.name, mention.kind.value) for mention in mentions}
    for relation in stated:
        kinds.setdefault(fold_name(relation.subject), (relation.subject, "other"))
    qualifiers = {
        fold_name(relation.subject): fold_name(relation.object)
        for relation in stated
        if relation.name in QUALIFYING
    }
    if not kinds:
        return {}
    changed = _CHANGED.search(text) is not None
    closing = fold_name(of_one_object)
    numbers: dict[str, int] = {}
    for folded, (name, kind) in kinds.items():
        if folded:
            qualifier = qualifiers.get(folded, "")
            known = [e for e in transaction.entities.find(folded) if all_may_read(readers, e.readers)]
            news = (
                changed
                or folded == closing
                or (
                    len(known) == 1 and transaction.entities.known_before(known[0].number, told_from, readers)
                )
            )
            chosen = _choose(known, qualifier, changed=news)
            if chosen is None:
                numbers[folded] = transaction.entities.add(name, folded, kind, readers, qualifier)
                continue
            numbers[folded] = chosen.number
            if qualifier and qualifier != chosen.qualifier and same_readers(readers, chosen.readers):
                transaction.entities.qualify(chosen.number, qualifier)
    return numbers


def _choose(known: Sequence[Entity], qualifier: str, *, changed: bool) -> Entity | None:
    if not known:
        return None
    if not qualifier:
        return known[0]
    for entity in known:
        if entity.qualifier == qualifier:
            return entity
    unqualified = [entity for entity in known if not entity.qualifier]
    if unqualified:
        return unqualified[0]
    one = len({entity.whole for entity in known}) == 1
    return known[0] if changed and one else None
