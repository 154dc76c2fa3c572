"""Spellings that people do not tell apart become one: compatibility forms, accents, case.

``fold_characters`` works on the whole text and keeps case, because a capital may start a new part of a
name; ``fold_case`` finishes each term. Together they are NFKC, accent fold and case fold.

Dropped: invisible format characters and variation selectors; the accents of Latin, Greek and Cyrillic; the
optional vowel points of Hebrew and Arabic. Kept: marks that are vowels or make another letter, such as those
of the Indic scripts and Thai, and the voicing marks of kana. Cyrillic й, ў and ї stay as well: they are
letters, and no one writes the bare letter for them.

Linear time. Normalisation sorts each run of combining marks with a quadratic algorithm, so a run is first
cut to 30 marks, the limit of the stream-safe format (Unicode Standard Annex 15).
"""

from __future__ import annotations

import re
import unicodedata

from simonides.text.characters import CLASSES

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
