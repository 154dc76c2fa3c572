"""The one tokeniser, for memories and for queries.

A text is folded (``normalise``), each character is replaced by its class (``characters``), and one regular
expression over the classes finds, from left to right:

    words      letters and marks, or digits: one term each
    names      atoms joined by punctuation, mixed case or letters with digits: whole and in parts
               (``identifiers``)
    unspaced   Han, kana, bopomofo, Thai, Lao, Khmer, Myanmar: overlapping pairs of characters (a character
               takes its marks along); each Han character on its own as well, so that a query of one
               character finds it inside any run; a run of one character is a term in every script
    Hangul     the whole run, and overlapping pairs when it is longer than two
    symbols    each character of category So, flags as a pair

All other scripts are segmented by their spaces and punctuation. What is glued together in different classes
(``請求書batch_77を``) falls apart. Punctuation is never a term, and nothing in a text is an operator: an
allow-list, so no input can be a syntax error. Lone surrogates separate words.

Cost: linear; about 0.3 s CPU per megabyte of English. Weakness: a kana or Hangul syllable is found alone
only where it stands alone, and a word of an unspaced script also finds texts that hold some of its pairs.
"""

from __future__ import annotations

import re
from itertools import pairwise

from simonides.text.characters import CLASSES
from simonides.text.identifiers import MAX_TERM, name_terms
from simonides.text.normalise import fold_case, fold_characters

RECIPE = 1
"""Version of the rules of this room; raise it with every change that gives other terms."""

# Every quantifier is possessive or bounded by what follows: no backtracking over long input.
_ATOM = r"[uld][uldm]*+(?:\+\+d*+(?![+uldm])|\#(?![\#uldm]))?+"
_JOINER = r"(?:_*+(?:://|:?\\{1,2}\.?|::|:/|[/]\.?|[-.:@'+])_*+|_++)(?=[uld])"
_TOKEN = re.compile(
    rf"""
    (?P<word> (?> u?l[lm]*+ | u++ | d++ ) (?! [uldm] | \#(?![\#uldm]) | \+\+ | {_JOINER} ) )
    | (?P<name> (?: (?<![uldmHhk.]) \. (?=[ul]) )?+ {_ATOM} (?: {_JOINER} {_ATOM} )*+ )
    | (?P<unspaced> [Hh][Hhm]*+ )
    | (?P<hangul> k[km]*+ )
    | (?P<symbol> rr | [rs] )
    """,
    re.VERBOSE,
)
_CHARACTER = re.compile("[Hhk]m*")


def tokenise(text: str) -> list[str]:
    """Every term of *text*, in order, repeats included.

    Args:
        text: anything; a text without letters, digits or symbols has no terms.

    Returns:
        folded terms of 1 to ``MAX_TERM`` characters; a plain word gives exactly one.
    """
    folded = fold_characters(text)
    classes = folded.translate(CLASSES)
    # ASCII keeps its length when its case is folded, so all of it is folded at once.
    lower = folded.lower() if folded.isascii() else ""
    terms: list[str] = []
    for token in _TOKEN.finditer(classes):
        start, stop = token.span()
        if lower and token.lastgroup == "word":
            terms.append(lower[start : min(stop, start + MAX_TERM)])
            continue
        piece = folded[start:stop]
        match token.lastgroup:
            case "word":
                terms.append(fold_case(piece[:MAX_TERM])[:MAX_TERM])
            case "name":
                terms.extend(name_terms(piece))
            case "unspaced":
                terms.extend(_pairs(piece, classes[start:stop], singles="H"))
            case "hangul":
                terms.extend(_hangul(piece, classes[start:stop]))
            case _:
                terms.append(piece)
    return terms


def _hangul(piece: str, classes: str) -> list[str]:
    pairs = _pairs(piece, classes, singles="")
    return pairs if len(pairs) == 1 else [piece[:MAX_TERM], *pairs]


def _pairs(piece: str, classes: str, *, singles: str) -> list[str]:
    """Overlapping pairs of characters, and the characters whose class is in *singles*."""
    characters = [piece[found.start() : found.end()] for found in _CHARACTER.finditer(classes)]
    if len(characters) == 1:
        return [characters[0][:MAX_TERM]]
    pairs = [first + second for first, second in pairwise(characters)]
    bases = classes.replace("m", "")
    return pairs + [character for character, base in zip(characters, bases, strict=True) if base in singles]
