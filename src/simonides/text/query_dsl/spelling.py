"""How a query is spelled before it is read: composed, nothing invisible, punctuation gone from its words.

Lower case is taken character by character of the composed form and composed again, so that a word that went
through ``clean_word`` once stays as it is. Linear time.
"""

from __future__ import annotations

import unicodedata

from simonides.text.characters import CLASSES
from simonides.text.normalise import cut_marks

_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
_NO_BREAK_SPACE = {0xA0: " "}

# Symbols that are control characters of common search languages; all punctuation but "_" goes as well.
_SYMBOLS = frozenset("^+<>|$=~`")
_UNSPACED = frozenset("Hhk")


class _Plain(dict[int, int | None]):
    """Drops what is not part of a word, filled as characters are met."""

    def __missing__(self, code: int) -> int | None:
        character = chr(code)
        punctuation = unicodedata.category(character).startswith("P") and character != "_"
        found = self[code] = None if punctuation or character in _SYMBOLS else code
        return found


_PLAIN = _Plain()


def normalise_query(text: str) -> str:
    """*text* composed (NFC), without zero-width characters, white space as single spaces, none around it."""
    return " ".join(compose(text.translate(_NO_BREAK_SPACE)).split())


def compose(text: str) -> str:
    """NFC without zero-width characters; of a run of combining marks only the first 30 stay."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", cut_marks(text.translate(_INVISIBLE)))


def clean_word(word: str) -> str:
    """A word as the syntax tree holds it: lower case, without punctuation; empty when nothing is left."""
    if word.isascii():
        return word.translate(_PLAIN).lower()
    return compose(compose(word).translate(_PLAIN).lower())


def clean_phrase(phrase: str) -> str:
    """A phrase as the syntax tree holds it: lower case, single spaces, no quotes, punctuation kept."""
    return " ".join(compose(compose(phrase).replace('"', " ").lower()).split())


def is_short(word: str) -> bool:
    """Whether a word is too short to search by: two letters or fewer.

    Scripts without spaces write whole words in two characters, so theirs never are.
    """
    return len(word) <= 2 and not _UNSPACED & set(word.translate(CLASSES))
