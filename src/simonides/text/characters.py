r"""One ASCII letter per character, so that plain regular expressions can segment any script.

``text.translate(CLASSES)`` has the length of ``text`` and holds, at each place:

    u  upper- or title-case letter             d  digit or other number
    l  any other letter of a spaced script     m  combining mark
    H  Han character                           s  symbol of category So, emoji above all
    h  letter of another unspaced script       r  regional indicator (two make a flag)
    k  Hangul
    _ - . / \ : @ ' + #   themselves: they may join the parts of a name
    space                  everything else, lone surrogates included

The table fills itself as characters are met: no start-up cost, no copy of the Unicode database.
"""

from __future__ import annotations

import re
import unicodedata

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
