"""A text as clauses: words in lower case and as written, cut where another statement begins."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simonides.text.normalise import fold_case, fold_characters
from simonides.text.statements.english import verb_bases, words

LONGEST = 400
"""Characters of a text that is read; a longer one says more than one thing."""

MOST_CLAUSES = 8

_TOKEN = re.compile(
    r'"[^"\n]{1,80}"|\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,4})?(?![\d,])|[^\s,;!?()"\u2013\u2014]{1,120}'
    r"|[,;!?()\u2013\u2014]"
)
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_ENDS = frozenset({";", "!", "?", "(", ")", ".", "\u2013", "\u2014"})
_CONTRACTIONS = {
    "i'm": ("i", "am"),
    "i've": ("i", "have"),
    "we've": ("we", "have"),
    "we're": ("we", "are"),
    "they're": ("they", "are"),
    "they've": ("they", "have"),
    "it's": ("it", "is"),
    "he's": ("he", "is"),
    "she's": ("she", "is"),
    "that's": ("that", "is"),
    "there's": ("there", "is"),
    "isn't": ("is", "not"),
    "aren't": ("are", "not"),
    "wasn't": ("was", "not"),
    "weren't": ("were", "not"),
    "don't": ("do", "not"),
    "doesn't": ("does", "not"),
    "didn't": ("did", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "couldn't": ("could", "not"),
    "won't": ("will", "not"),
    "hasn't": ("has", "not"),
    "haven't": ("have", "not"),
    "i'll": ("i", "will"),
    "we'll": ("we", "will"),
    "i'd": ("i", "would"),
    "you're": ("you", "are"),
    "they'll": ("they", "will"),
    "it'll": ("it", "will"),
    "no-longer": ("no", "longer"),
}
_SUBJECTS = frozenset({"i", "we", "he", "she", "it", "they", "you"})
_JOINS = frozenset({"and", "but", "so", "yet", "then"})


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text: in lower case, and as written."""

    low: str
    raw: str
    quoted: bool = False


Clause = tuple[Word, ...]


def read_words(text: str) -> list[Word]:
    """The words and marks of a text, in order; a point that ends a sentence is a word of its own."""
    text = fold_characters(text.translate(_QUOTES))
    found: list[Word] = []
    for match in _TOKEN.finditer(text):
        piece = match[0]
        if piece[0] == '"' and len(piece) > 1:
            inner = piece.strip('" ').rstrip(".,")
            if inner:
                found.append(Word(fold_case(inner), inner, quoted=True))
            continue
        if len(piece) == 1 and piece in ",;!?()\u2013\u2014":
            found.append(Word(piece, piece))
            continue
        bare = piece.strip("*_`")
        bare = bare.strip("'") if bare.startswith("'") else bare
        if not bare:
            continue
        ends = bare.endswith((".", "\u2026")) and not _abbreviated(bare)
        colon = bare.endswith(":") and len(bare) > 1
        bare = bare.rstrip(".\u2026:") or bare
        low = fold_case(bare)
        parts = _CONTRACTIONS.get(low)
        if parts is None:
            found.append(Word(low, bare))
        else:
            found += [Word(part, bare if part == parts[0] else part) for part in parts]
        if ends:
            found.append(Word(".", "."))
        if colon:
            found.append(Word(":", ":"))
    return found


def _abbreviated(word: str) -> bool:
    stem = word[:-1].lower()
    return stem in words("abbreviations") or (len(stem) == 1 and stem.isalpha())


def cut(found: list[Word]) -> list[Clause]:
    """The clauses of a text, at most ``MOST_CLAUSES``."""
    verbs = verb_bases()
    auxiliaries = words("auxiliaries")
    clauses: list[Clause] = []
    current: list[Word] = []
    verb_seen = False
    for place, word in enumerate(found):
        low = word.low
        if low in _ENDS and not word.quoted:
            # The end of a question belongs to it.
            if low == "?":
                current.append(word)
            clauses.append(tuple(current))
            current, verb_seen = [], False
            continue
        plural = bool(current) and current[0].low in _SUBJECTS - {"he", "she", "it"}
        if verb_seen and (low in _JOINS or low == ",") and _begins(found, place + 1, plural=plural):
            clauses.append(tuple(current))
            current, verb_seen = [], False
            continue
        current.append(word)
        verb_seen = (
            verb_seen or low in auxiliaries or low in verbs or (bool(current[1:]) and low.endswith("ed"))
        )
    clauses.append(tuple(current))
    return [clause for clause in clauses if clause][:MOST_CLAUSES]


def _begins(found: list[Word], place: int, *, plural: bool = False) -> bool:
    """Whether a clause of its own begins at *place*: a pronoun, a verb, or a subject and its verb."""
    verbs, auxiliaries = verb_bases(), words("auxiliaries")
    while place < len(found) and (found[place].low in _JOINS or found[place].low in words("adverbs")):
        place += 1
    if place >= len(found):
        return False
    first = found[place].low
    if first in {"not", "this"}:
        return False
    if first in _SUBJECTS:
        return place + 1 < len(found)
    if plural and verbs.get(first) == first and found[place].raw.islower() and place + 1 < len(found):
        return True
    if first in auxiliaries or (first in verbs and not first.endswith("ing") and verbs[first] != first):
        return True
    for later in range(place + 1, min(place + 6, len(found))):
        low = found[later].low
        if low in {",", "and", "or", "but"} or low in _ENDS:
            return False
        if low in auxiliaries:
            return True
        follows = later + 1 < len(found) and found[later + 1].low not in _ENDS | {",", "and"}
        if (
            follows
            and low in verbs
            and verbs[low] != low
            and found[later - 1].low not in words("determiners")
        ):
            return True
    return False
