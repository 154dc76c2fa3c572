r"""Names are terms whole and in parts: identifiers, paths, versions, dates, e-mail addresses, ticket ids.

A name is a chain of letter-digit atoms joined by ``_ - . / \ : @ ' +``. It is cut level by level, outermost
joiner first, and each piece at each level is a term:

    C:\relay\tx_queue.rs:118  →  c:/relay/tx_queue.rs:118 · c · relay · tx_queue.rs:118 · tx_queue.rs ·
                                 tx_queue · tx · queue · rs · 118
    retryPolicyV2             →  retryPolicyV2 · retry · policy · v2 · 2   (cut before case is folded)
    2027-02-09T10:30          →  the whole, its parts, and the date 2027-02-09 on its own
    C++  C#  .NET             →  c++ · c# · .net and net

So a query for a part finds the name, and a query for the name gains the whole as one more, rare, term that
no decoy with scattered parts holds. A name gives each of its terms once, however often a part repeats.

English contractions lose their ending (``Caroline's`` → caroline, ``we'll`` → we), a negation loses its
apostrophe (``don't`` → dont), another apostrophe joins (``O'Brien`` → obrien · brien).

Weakness: an atom longer than ``MAX_TERM`` and one that alternates like a checksum are not cut further;
single letters are dropped where a capital, a digit or an apostrophe cut them off.
"""

from __future__ import annotations

import re
from functools import lru_cache

from simonides.text.characters import CLASSES
from simonides.text.normalise import fold_case

MAX_TERM = 128
"""Longest term, in characters; what is longer is cut to this length, on both sides alike."""

_LEVELS = tuple(
    re.compile(joiner) for joiner in (r"[/\\]+", r"[:@]+|(?<!\+)\+(?!\+)", r"\.+", r"-+", r"_+", r"'+")
)
_APOSTROPHE_LEVEL = len(_LEVELS) - 1
_EDGES = "_-/\\:@'"
_SEPARATORS = re.compile(r"[/\\]+")
_CONTRACTION = re.compile(r"(?:'(?:s|ll|d|ve|re|m)){1,3}+\Z", re.IGNORECASE)
_NEGATION = re.compile(r"(?<=n)'(?=t\Z)", re.IGNORECASE)
_DATE_OR_VERSION = re.compile(r"(?<!\d)(?:\d{4}-\d\d-\d\d(?!\d)|\d++(?:\.\d++)++)")
_SUFFIXED = re.compile(r"([^+#]+)(\+\+|#)(\d*)")

# On classes: the parts of an atom, and the plural of an acronym (URLs).
_CAMEL = re.compile(r"(?:u+(?![lm])|u?[lm]+)d*|d+")
_PLAIN = re.compile(r"u?l[lm]*|u+|d+")
_DIGITS = re.compile(r"d+")
_LETTERS_OR_DIGITS = re.compile(r"d+|[ulm]+")
_ACRONYM_PLURAL = re.compile(r"u{2,}l")
# A checksum alternates more often than a name does; its fragments would match by accident.
_MOST_DIGIT_RUNS = 2

_MEMO_LIMIT = 256


def name_terms(name: str) -> tuple[str, ...]:
    """The terms of one name.

    Args:
        name: a match of the tokeniser's name pattern, case kept.

    Returns:
        distinct terms, case folded, the whole first; linear time in the length of *name*.
    """
    return _memo(name) if len(name) <= _MEMO_LIMIT else _name_terms(name)


def _name_terms(name: str) -> tuple[str, ...]:
    terms: dict[str, None] = {}
    whole = _trim(name)
    _add(terms, whole)
    if _PLAIN.fullmatch(whole.translate(CLASSES)):  # a word with a contraction
        return tuple(terms)
    _split(terms, whole, 0)
    for special in _DATE_OR_VERSION.finditer(whole):
        _add(terms, special[0])
    return tuple(terms)


_memo = lru_cache(maxsize=8192)(_name_terms)


def _split(terms: dict[str, None], name: str, level: int) -> None:
    if name.startswith("."):
        name = name.lstrip(".")
        _add(terms, name)
    for depth in range(level, len(_LEVELS)):
        pieces = [piece for piece in map(_trim, _LEVELS[depth].split(name)) if piece]
        if len(pieces) > 1:
            for piece in pieces:
                if piece not in terms and not (depth == _APOSTROPHE_LEVEL and len(piece) == 1):
                    _add(terms, piece)
                    _split(terms, piece, depth + 1)
            return
    _split_atom(terms, name)


def _split_atom(terms: dict[str, None], atom: str) -> None:
    suffixed = _SUFFIXED.fullmatch(atom)
    if suffixed:
        atom, sign, digits = suffixed.groups()
        if digits:
            _add(terms, atom + sign)
            _add(terms, digits)
        if len(atom) == 1 and atom.isalpha():
            return
        _add(terms, atom)
    classes = atom.translate(CLASSES)
    if len(atom) > MAX_TERM or (_ACRONYM_PLURAL.fullmatch(classes) and atom.endswith("s")):
        return
    if len(_DIGITS.findall(classes)) > _MOST_DIGIT_RUNS:
        return
    for run in _CAMEL.finditer(classes):
        _add_part(terms, atom[run.start() : run.end()])
        for part in _LETTERS_OR_DIGITS.finditer(classes, run.start(), run.end()):
            _add_part(terms, atom[part.start() : part.end()])


def _add_part(terms: dict[str, None], part: str) -> None:
    if len(part) > 1 or part.isdigit():
        _add(terms, part)


def _add(terms: dict[str, None], name: str) -> None:
    bare = _SEPARATORS.sub("/", name.replace("'", ""))
    terms[fold_case(bare)[:MAX_TERM]] = None


def _trim(piece: str) -> str:
    """Without the punctuation around it (a leading dot is kept) and without a contraction."""
    piece = piece.lstrip(_EDGES).rstrip(_EDGES + ".")
    if "'" in piece:
        piece = _NEGATION.sub("", _CONTRACTION.sub("", piece))
    return piece
