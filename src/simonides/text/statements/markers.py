"""What stands behind a verb and says what became of it: *now*, *any more*, *instead of*, *as well*."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.text.statements.words import fold_value, kind_of, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simonides.text.statements.words import Word

_ANY_MORE = (("any", "more"), ("anymore",), ("any", "longer"))


_BACK = frozenset({"back", "again"})


@dataclass(frozen=True, slots=True)
class Told:
    marker: str = ""
    coexists: bool = False
    ended: bool = False
    old: str = ""


def read_markers(rest: tuple[Word, ...]) -> tuple[tuple[Word, ...], Told]:
    """What stands behind the verb without the words that say what became of it, and what they say."""
    told = Told()
    lows = [word.low for word in rest]
    # "not B12 but D12", "not at 8:15 but at 8:51".
    if lows[:1] == ["not"] and "but" in lows:
        place = lows.index("but")
        old = _value(rest[1:place])
        rest, told = rest[place + 1 :], replace(told, old=old, marker="correction")
        lows = [word.low for word in rest]
    phrase: tuple[str, ...]
    for phrase in (("instead", "of"), ("rather", "than"), ("not",)):
        place = _find(lows, phrase)
        if place >= 1 and place + len(phrase) < len(lows):
            behind = rest[place + len(phrase) :]
            cut = place - 1 if lows[place - 1] == "," else place
            if phrase != ("not",) or lows[place - 1] == ",":
                told = replace(told, old=_value(behind), marker=told.marker or "correction")
                rest, lows = rest[:cut], lows[:cut]
    for phrase in _ANY_MORE:
        place = _find(lows, phrase)
        if place >= 0:
            told = replace(told, ended=True)
            rest = rest[:place] + rest[place + len(phrase) :]
            lows = [word.low for word in rest]
    for phrase, marker in (
        (("from", "now", "on"), "now"),
        (("from", "today"), "now"),
        (("as", "of", "today"), "now"),
        (("these", "days"), "now"),
        (("as", "well"), "also"),
        (("this", "time"), "now"),
        (("for", "now"), ""),
        (("after", "all"), "correction"),
    ):
        place = _find(lows, phrase)
        if place >= 0:
            if marker == "also":
                told = replace(told, coexists=True)
            else:
                told = replace(told, marker=told.marker or marker)
            rest = rest[:place] + rest[place + len(phrase) :]
            lows = [word.low for word in rest]
    kept = []
    for word in rest:
        low = word.low
        if low in words("change"):
            told = replace(told, marker=told.marker or "now")
        elif low in _BACK and not word.quoted:
            told = replace(told, marker=told.marker or "back")
        elif low in {"also", "too", "additionally"}:
            told = replace(told, coexists=True)
        elif low in words("adverbs") and not word.quoted:
            continue
        else:
            if low in {"another", "second", "additional"} and len(rest) > 1:
                told = replace(told, coexists=told.coexists or low != "second")
            kept.append(word)
    while kept and kept[-1].low in {",", ".", ":", "and"}:
        kept.pop()
    while kept and kept[0].low in {",", ":"}:
        kept.pop(0)
    return tuple(kept), told


def _find(lows: Sequence[str], phrase: Sequence[str]) -> int:
    size = len(phrase)
    for place in range(len(lows) - size + 1):
        if tuple(lows[place : place + size]) == tuple(phrase):
            return place
    return -1


def _value(found: Sequence[Word]) -> str:
    bare = list(found)
    while bare and bare[0].low in words("prepositions"):
        bare.pop(0)
    cut = [place for place, word in enumerate(bare) if word.low in words("stoppers") or word.low == ","]
    bare = bare[: cut[0]] if cut and cut[0] else bare
    return fold_value(bare, kind_of(bare))
