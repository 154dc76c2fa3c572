r"""Spellings that people do not tell apart become one, and names are cut into their parts.

**Classes**: one ASCII letter per character, so that plain regular expressions can segment any script.
``text.translate(CLASSES)`` has the length of ``text`` and holds, at each place:

    u  upper- or title-case letter             d  digit or other number
    l  any other letter of a spaced script     m  combining mark
    H  Han character                           s  symbol of category So, emoji above all
    h  letter of another unspaced script       r  regional indicator (two make a flag)
    k  Hangul
    _ - . / \ : @ ' + #   themselves: they may join the parts of a name
    space                  everything else, lone surrogates included

The table fills itself as characters are met.

**Folding**: ``fold_characters`` works on the whole text and keeps case, because a capital may start a new
part of a name; ``fold_case`` finishes each term. Together they are NFKC, accent fold and case fold.
Dropped: invisible format characters and variation selectors; the accents of Latin, Greek and Cyrillic; the
optional vowel points of Hebrew and Arabic. Kept: marks that are vowels or make another letter, such as those
of the Indic scripts and Thai, and the voicing marks of kana. Cyrillic й, ў and ї stay as well: they are
letters, and no one writes the bare letter for them.
Normalisation sorts each run of combining marks with a quadratic algorithm, so a run is first cut to 30 marks,
the limit of the stream-safe format (Unicode Standard Annex 15).

**Names** are terms whole and in parts: identifiers, paths, versions, dates, e-mail addresses, ticket ids. A
name is a chain of letter-digit atoms joined by ``_ - . / \ : @ ' +``. It is cut level by level, outermost
joiner first, and each piece at each level is a term:

    C:\relay\tx_queue.rs:118  →  c:/relay/tx_queue.rs:118 · c · relay · tx_queue.rs:118 · tx_queue.rs ·
                                 tx_queue · tx · queue · rs · 118
    retryPolicyV2             →  retryPolicyV2 · retry · policy · v2 · 2   (cut before case is folded)
    2027-02-09T10:30          →  the whole, its parts, and the date 2027-02-09 on its own
    C++  C#  .NET             →  c++ · c# · .net and net

So a query for a part finds the name, and a query for the name gains the whole as one more, rare, term that
no decoy with scattered parts holds. A name gives each of its terms once. English contractions lose their
ending (``Caroline's`` → caroline, ``we'll`` → we), a negation loses its apostrophe (``don't`` → dont),
another apostrophe joins (``O'Brien`` → obrien · brien).
Weakness: an atom longer than ``MAX_TERM`` and one that alternates like a checksum are not cut further;
single letters are dropped where a capital, a digit or an apostrophe cut them off.

Cost: linear time.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

JOINERS = "_-./\\:@'+#"

# First word of a character's Unicode name. These scripts put no space between words.
_HAN = {"CJK", "IDEOGRAPHIC"}
_UNSPACED = {"HIRAGANA", "KATAKANA", "BOPOMOFO", "THAI", "LAO", "KHMER", "MYANMAR"}
_FIRST_WORD = re.compile(r"[A-Z]+")


class _Classes(dict[int, str]):
    """Code point → class letter, filled on demand."""

    def __missing__(self, code: int) -> str:
        found = self[code] = _class(chr(code))
        return found


def _class(character: str) -> str:
    if character in JOINERS:
        return character
    category = unicodedata.category(character)
    if category.startswith("L") or category == "Nl":
        return _letter_class(character, category)
    if category.startswith("N"):
        return "d"
    if category.startswith("M"):
        return "m"
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return "r"
    # Emoji that are younger than this Python's Unicode tables are unassigned there.
    young_emoji = category == "Cn" and "\U0001f000" <= character <= "\U0001faff"
    return "s" if category == "So" or young_emoji else " "


def _letter_class(character: str, category: str) -> str:
    name = _FIRST_WORD.match(unicodedata.name(character, ""))
    script = name[0] if name else ""
    if script in _HAN:
        return "H"
    if script in _UNSPACED:
        return "h"
    if script == "HANGUL":
        return "k"
    return "u" if category in {"Lu", "Lt"} else "l"


CLASSES = _Classes()


_MAX_MARKS = 30
_TOO_MANY_MARKS = re.compile(rf"m{{{_MAX_MARKS}}}(m+)")

# Blocks of marks that only accent or point a letter: (first, last) code point.
_ACCENTS = (
    (0x0300, 0x036F),
    (0x0483, 0x0489),
    (0x0591, 0x05C7),
    (0x064B, 0x0652),
    (0x0670, 0x0670),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE20, 0xFE2F),
)
_TATWEEL = 0x0640
_APOSTROPHES = "\u2018\u2019\u201b\u02bc"
_HYPHENS = "\u2010\u2011"
_LETTERS_OF_THEIR_OWN = re.compile("[\u0438\u0418\u0443\u0423]\u0306|[\u0456\u0406]\u0308")

# What has no decomposition. Lower case only: these are folded after case.
_STROKES = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ð": "d",
        "ħ": "h",
        "ŧ": "t",
        "\u0131": "i",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
    }
)


class _Visible(dict[int, int | None]):
    """Drops format characters and variation selectors."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        hidden = unicodedata.category(character) == "Cf" or "VARIATION SELECTOR" in unicodedata.name(
            character, ""
        )
        found = self[code] = None if hidden else code
        return found


class _Folds(dict[int, int | str | None]):
    """Drops accents; one apostrophe, one hyphen, ASCII digits."""

    def __missing__(self, code: int) -> int | str | None:
        found = self[code] = _fold(code)
        return found


def _fold(code: int) -> int | str | None:
    character = chr(code)
    category = unicodedata.category(character)
    if code == _TATWEEL or (category.startswith("M") and any(low <= code <= high for low, high in _ACCENTS)):
        return None
    if character in _APOSTROPHES:
        return "'"
    if character in _HYPHENS:
        return "-"
    if category == "Nd":
        return str(unicodedata.decimal(character))
    return code


_VISIBLE = _Visible()
_FOLDS = _Folds()


def fold_characters(text: str) -> str:
    """One spelling per character sequence, case kept. Lone surrogates pass through unchanged."""
    if text.isascii():
        return text
    visible = cut_marks(text.translate(_VISIBLE))
    decomposed = unicodedata.normalize("NFKD", visible)
    kept = _LETTERS_OF_THEIR_OWN.sub(lambda found: unicodedata.normalize("NFC", found[0]), decomposed)
    return unicodedata.normalize("NFC", kept.translate(_FOLDS))


def fold_case(piece: str) -> str:
    """Case fold of a piece of a text that went through ``fold_characters``."""
    if piece.isascii():
        return piece.lower()
    return piece.casefold().translate(_STROKES)


def cut_marks(text: str) -> str:
    """*text* with every run of combining marks cut to 30, so that normalising it takes linear time."""
    classes = text.translate(CLASSES)
    if "m" * (_MAX_MARKS + 1) not in classes:
        return text
    kept, position = [], 0
    for run in _TOO_MANY_MARKS.finditer(classes):
        kept.append(text[position : run.start(1)])
        position = run.end()
    kept.append(text[position:])
    return "".join(kept)


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
    """The distinct terms of a *name*, case kept, that the tokeniser found; case folded, the whole first."""
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
