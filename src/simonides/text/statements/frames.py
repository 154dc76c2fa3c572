"""Two sentences of the same words but for one slot: *opens on Mondays*, *opens on Tuesdays*.

Never a sure change: it says which of two near-equal sentences is the newer one. The slot stands behind the
verb, both fillers are of one sort, and the verb is one that has one object at a time, as far as a list of the
others knows. Linear in the words.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from simonides.text.statements.clauses import LONGEST, read_words
from simonides.text.statements.english import base_of, verb_bases, words
from simonides.text.statements.phrases import fold_value, fold_word, kind_of, same_value
from simonides.text.statements.predicate import begins_at, is_unsure, leading
from simonides.text.statements.statement import Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.text.statements.clauses import Word

ONE_SLOT = Change("one slot", sure=False)
_LONGEST_SLOT = 5
_SHORTEST_FRAME = 2
_TYPED = frozenset({"money", "number", "version", "code", "address", "date"})
_MARKS = frozenset({".", ",", "!", ";", ":"})
_GROUNDS = frozenset({"since", "because", "as", "thanks", "after", "due", "although", "which", "who", "so"})
_TEMPORARY = words("passing")
_ATTITUDES = frozenset({"like", "love", "enjoy", "adore", "hate", "dislike", "detest", "prefer", "be"})


def one_slot(earlier: str, later: str) -> Change | None:
    """The change, if two texts differ in one slot that holds one thing at a time."""
    if max(len(earlier), len(later)) > LONGEST:
        return None
    before, after = _frame(earlier), _frame(later)
    if before is None or after is None:
        return None
    start = 0
    shortest = min(len(before), len(after))
    while start < shortest and _same(before[start], after[start]):
        start += 1
    end = 0
    while end < shortest - start and _same(before[-1 - end], after[-1 - end]):
        end += 1
    mine, theirs = before[start : len(before) - end], after[start : len(after) - end]
    if not (0 < len(mine) <= _LONGEST_SLOT and 0 < len(theirs) <= _LONGEST_SLOT) or start < _SHORTEST_FRAME:
        return None
    if leading(tuple(read_words(earlier))) != leading(tuple(read_words(later))) or not _holds_one(
        after[:start], mine, theirs, after[len(after) - end :]
    ):
        return None
    return ONE_SLOT


@lru_cache(maxsize=4096)
def _frame(text: str) -> tuple[Word, ...] | None:
    """The words of a statement without what leads it and without its grounds."""
    found = [word for word in read_words(text) if word.low not in words("change")]
    if any(word.low == "?" for word in found) or is_unsure(tuple(found)):
        return None
    found = found[begins_at(tuple(found)) :]
    for place, word in enumerate(found):
        if place and word.low in _GROUNDS:
            found = found[:place]
            break
    while found and found[-1].low in _MARKS:
        found.pop()
    # A second sentence says more than one thing.
    return None if any(word.low in {".", ";", "!"} for word in found) else tuple(found)


def _same(one: Word, other: Word) -> bool:
    return fold_word(one.low) == fold_word(other.low)


def _holds_one(
    frame: Sequence[Word], mine: Sequence[Word], theirs: Sequence[Word], behind: Sequence[Word]
) -> bool:
    lows = [word.low for word in frame]
    if mine[0].low in words("prepositions") and theirs[0].low in words("prepositions"):
        # "on cards", "with barcodes".
        mine, theirs = mine[1:], theirs[1:]
        if not (mine and theirs):
            return False
    for filler in (mine, theirs):
        if any(word.low in _TEMPORARY or word.low in words("temporary") for word in filler):
            return False
        # A verb or a further phrase: more than one slot.
        if any(
            (word.low in words("auxiliaries") and word.raw.islower()) or word.low == ":" for word in filler
        ) or any(
            word.low in words("prepositions") or (word.low in verb_bases() and word.raw.islower())
            for word in filler[1:]
        ):
            return False
    if any(low.endswith("ed") and before not in words("auxiliaries") for before, low in pairwise(lows)):
        return False
    kinds = kind_of(mine), kind_of(theirs)
    if kinds[0] != kinds[1] or "time" in kinds or (lows[-1] == "at" and kinds[0] == "version"):
        return False
    if same_value(fold_value(mine, kinds[0]), fold_value(theirs, kinds[1])):
        return False
    if lows[0] in {"a", "an", "some", "one"} or "can" in lows or "not" in lows:
        return False
    if kinds[0] in {"name", "words"} and any(low in words("several") for low in lows):
        return False
    if not set(lows).isdisjoint({"was", "were", "had", "did"}):
        return False
    helpers = [at for at in range(1, len(lows)) if lows[at] in words("auxiliaries")]
    others = [at for at in range(1, len(lows)) if lows[at] in verb_bases()]
    place = (helpers or others or [0])[0]
    if not place:
        # The verb is none of the list: a slot at the end of a longer frame.
        return len(lows) > _SHORTEST_FRAME
    verb = lows[place]
    base = base_of(verb)
    passive = verb in {"is", "are"} and place + 1 < len(lows)
    participle = lows[place + 1] if passive else ""
    if participle.endswith("ed") or verb_bases().get(participle, participle) != participle:
        return base_of(participle) not in words("manifold")
    if verb in words("auxiliaries"):
        return kinds[0] in _TYPED and verb in {"is", "are", "am", "has", "have"}
    if base != verb and not verb.endswith("s"):
        return False
    if base in words("manifold") or base in _ATTITUDES:
        counted = len(mine) == len(theirs) == 1 and not (behind and behind[0].low in words("months"))
        return kinds[0] in _TYPED and base not in _ATTITUDES and counted
    return True
