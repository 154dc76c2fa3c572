"""Whether two memories say the same, or the opposite, judged by their words alone.

Same = one has all the words of the other in the same order and adds few (Jaccard similarity of the sets of
words at least *similar*), and what it adds is no number, no name, and no word that turns or weakens a
statement. Opposite = the same words but for "not" and its like. Anything else is neither: a memory too few in
an observation costs little, two different facts in one would be a lie. Questions state nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from simonides.text.normalise import fold_case, fold_characters

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
