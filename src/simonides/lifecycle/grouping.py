"""Which memories say the same or the opposite: by what they state surely, else by their words.

Words: same = one has all the words of the other in the same order and adds few (Jaccard similarity of the
sets of words at least *similar*), and what it adds is no number, no name, and no word that turns or weakens a
statement. Opposite = the same words but for "not" and its like. Anything else is neither: a memory too few in
an observation costs little, two different facts in one would be a lie. Questions state nothing. Each memory
is compared with the first one of each group that shares a band of its MinHash, so the cost is linear: bands ·
the most leaders of a band comparisons per memory, however alike all memories are. Statements: one subject,
relation and object (merged entities as one). A single-valued relation with another object, or the same words
turned by "not", speaks against it.

Scope: only memories of the same readers, project and speaker are compared, and episodes only when they
happened at the same time; a habit is one belief, two visits are two.
Source of the bands: Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from simonides.records.kind import CONSOLIDATED, Kind
from simonides.text.normalise import fold_case, fold_characters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simonides.records.versions import CurrentVersion


_TURNS = frozenset(
    {
        "not", "no", "never", "nor", "without", "cannot", "can't", "won't",
        "nicht", "kein", "keine", "keinen", "nie", "niemals",
    }
)  # fmt: skip
_WEAKENS = frozenset(
    {
        "almost", "hardly", "barely", "nearly", "maybe", "perhaps", "may", "might", "could", "would",
        "should", "if", "unless", "until", "used", "formerly", "once", "longer", "anymore", "instead",
        "except", "but", "only", "before", "after", "without", "stopped", "wants", "hopes", "plans", "says",
        "thinks", "believes", "claims", "denies", "fast", "kaum", "vielleicht", "wenn", "falls", "früher",
    }
)  # fmt: skip
_EMPTY_VERBS = frozenset({"do", "does", "did"})
_AROUND = ",;:!'\"()[]{}“”„«».。"


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a text as they are compared.

    Attributes:
        order: folded, in the order of the text.
        turns: words that turn its meaning, sorted.
        names: words with a capital letter after the first word, or with a digit, folded.
        asks: whether it is a question.
    """

    order: tuple[str, ...]
    turns: tuple[str, ...]
    names: frozenset[str]
    asks: bool


def read_words(text: str) -> Words:
    """The words of a text."""
    plain = [word.strip(_AROUND) for word in fold_characters(text).replace("\u2019", "'").split()]
    plain = [part for word in plain for part in _parted(word)]
    plain = [word for word in plain if word]
    folded = [fold_case(word) for word in plain]
    names = frozenset(
        word
        for place, (word, shape) in enumerate(zip(folded, plain, strict=True))
        if any(c.isdigit() for c in shape) or (place and any(c.isupper() for c in shape))
    )
    turns = tuple(sorted(word for word in folded if word in _TURNS))
    order = tuple(word for word in folded if word not in _TURNS)
    return Words(order, turns, names, text.rstrip().endswith("?"))


def same(one: Words, other: Words, similar: float) -> bool:
    """Whether both say the same."""
    return one.turns == other.turns and _agree(one, other, similar)


def opposite(one: Words, other: Words, similar: float) -> bool:
    """Whether one denies what the other says."""
    return bool(one.turns) != bool(other.turns) and _agree(_plain(one), _plain(other), similar)


def weakened(words: Words) -> frozenset[str]:
    """Words that weaken what is said."""
    return _WEAKENS.intersection(words.order)


def _parted(word: str) -> tuple[str, ...]:
    """A contracted "not" and its verb apart."""
    stem = word[:-3]
    return (
        (stem, "not") if stem and word[-3:].lower() == "n't" and stem.lower() not in {"ca", "wo"} else (word,)
    )


def _plain(words: Words) -> Words:
    """Without what only carries a "not": "does not like" beside "likes"."""
    order = tuple(_stem(word) for word in words.order if word not in _EMPTY_VERBS)
    return Words(order, (), words.names, words.asks)


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _agree(one: Words, other: Words, similar: float) -> bool:
    if one.asks or other.asks or not one.order or not other.order:
        return False
    if one.order == other.order:
        return True
    mine, theirs = set(one.order), set(other.order)
    if not (mine <= theirs or theirs <= mine) or len(mine & theirs) < similar * len(mine | theirs):
        return False
    added = mine ^ theirs
    if added & (_WEAKENS | one.names | other.names):
        return False
    return _kept(one.order, theirs) == _kept(other.order, mine)


def _kept(order: tuple[str, ...], shared: set[str]) -> tuple[str, ...]:
    return tuple(word for word in order if word in shared)


BANDS = 12
BAND_NUMBERS = 5
MOST_LEADERS = 4
"""Of one band; a memory is compared with no more of them."""

MOST_AGAINST = 256
"""Memories that are weighed against one group."""

_KEPT_WORDS = 4_096


@dataclass(frozen=True, slots=True)
class Member:
    """What is kept of a memory while groups are made; times in microseconds UTC."""

    root: int
    ordinal: int
    id: str
    valid_from: int
    valid_to: int
    weight: float
    confidence: float
    trust: float
    salience: float
    proof_count: int
    length: int


@dataclass(slots=True)
class Group:
    """Memories that say the same.

    Attributes:
        relation, object: of a statement; empty for a group by words.
        members: by root.
    """

    relation: str = ""
    object: str = ""
    members: list[Member] = field(default_factory=list)
    against: list[Member] = field(default_factory=list)


def make_groups(
    standing: Iterable[CurrentVersion],
    statements: Sequence[tuple[int, str, int, str, bool]],
    whole: Callable[[int], int],
    text_of: Callable[[int], str],
    similar: float,
) -> list[Group]:
    """Groups of two and more, those of statements first, each in the order of its first member.

    Args:
        statements: (root, relation, subject, folded object, single-valued).
        text_of: the text of a row, by ordinal.
    """
    bands = _Bands(text_of, similar)
    stated = {root for root, *_ in statements}
    members: dict[int, tuple[Member, tuple[object, ...]]] = {}
    for memory in standing:
        if memory.state & CONSOLIDATED or memory.kind == Kind.OBSERVATION:
            continue
        member, scope = _member(memory), _scope(memory)
        if memory.root in stated:
            members[memory.root] = member, scope
        bands.add(memory, member, scope)
    by_statement = _by_statement(statements, members, whole)
    told = {member.root for group in by_statement for member in group.members}
    by_words = [group for group in bands.groups if not told.issuperset(m.root for m in group.members)]
    return [group for group in (*by_statement, *by_words) if len(group.members) > 1]


def _member(memory: CurrentVersion) -> Member:
    return Member(
        memory.root, memory.ordinal, memory.id, memory.valid_from, memory.valid_to,
        memory.trust * memory.confidence, memory.confidence, memory.trust, memory.salience,
        memory.proof_count, len(memory.text),
    )  # fmt: skip


def _scope(memory: CurrentVersion) -> tuple[object, ...]:
    happened = memory.occurred if memory.kind == Kind.EPISODIC else None
    return memory.acl, memory.project, memory.speaker, happened


def _by_statement(
    statements: Sequence[tuple[int, str, int, str, bool]],
    members: dict[int, tuple[Member, tuple[object, ...]]],
    whole: Callable[[int], int],
) -> list[Group]:
    slots: dict[tuple[object, ...], dict[str, Group]] = {}
    single: set[tuple[object, ...]] = set()
    seen: set[tuple[object, ...]] = set()
    for root, relation, subject, obj, one_at_a_time in statements:
        if root not in members:
            continue
        member, scope = members[root]
        slot = (relation, whole(subject), scope)
        group = slots.setdefault(slot, {}).setdefault(obj, Group(relation, obj))
        if (*slot, obj, root) not in seen:
            seen.add((*slot, obj, root))
            group.members.append(member)
        if one_at_a_time:
            single.add(slot)
    for place, groups in slots.items():
        for group in groups.values():
            group.members.sort(key=lambda member: member.root)
        for obj, group in groups.items():
            if place in single and len(group.members) > 1:
                others = (m for other, g in groups.items() if other != obj for m in g.members)
                group.against = sorted(islice(others, MOST_AGAINST), key=lambda member: member.root)
    found = [group for groups in slots.values() for group in groups.values() if len(group.members) > 1]
    return sorted(found, key=lambda group: (group.members[0].root, group.relation, group.object))


class _Bands:
    """Groups by words; each is known by its first member."""

    def __init__(self, text_of: Callable[[int], str], similar: float) -> None:
        self.groups: list[Group] = []
        self._leaders: list[int] = []
        self._buckets: dict[tuple[object, ...], list[int]] = {}
        self._similar = similar
        self._words: Callable[[int], Words] = lru_cache(_KEPT_WORDS)(
            lambda ordinal: read_words(text_of(ordinal))
        )

    def add(self, memory: CurrentVersion, member: Member, scope: tuple[object, ...]) -> None:
        """Put a memory into the first group that says the same, or let it lead one of its own."""
        words = read_words(memory.text)
        if words.asks or not memory.signature:
            return
        size = 4 * BAND_NUMBERS
        keys = [(scope, band, memory.signature[band * size : (band + 1) * size]) for band in range(BANDS)]
        near = dict.fromkeys(group for key in keys for group in self._buckets.get(key, ()))
        against = list[int]()
        for group in near:
            theirs = self._words(self._leaders[group])
            if same(words, theirs, self._similar):
                self.groups[group].members.append(member)
                return
            if opposite(words, theirs, self._similar):
                against.append(group)
        self._lead(memory, member, keys, against)

    def _lead(
        self,
        memory: CurrentVersion,
        member: Member,
        keys: Sequence[tuple[object, ...]],
        against: Sequence[int],
    ) -> None:
        number = len(self.groups)
        group = Group(members=[member])
        for other in against:
            # Both lists of members may grow: they are shared, and read when all is grouped.
            group.against = self.groups[other].members
            self.groups[other].against = group.members
        self.groups.append(group)
        self._leaders.append(memory.ordinal)
        for key in keys:
            bucket = self._buckets.setdefault(key, [])
            if len(bucket) < MOST_LEADERS:
                bucket.append(number)
