"""What a memory looks like without its text: how long, whether it asks, and a key of who says it.

A name is folded (case, accents, punctuation) and hashed to 64 bits, so an index column can hold it and a
query is compared with a million speakers without reading a row. Two names of one key are possible and
harmless: a memory would be taken for another person's, one time in 10¹⁹.
"""

from __future__ import annotations

import hashlib
import re

from simonides.text.normalise import fold_case, fold_characters

MOST_WORDS = 65_535
"""What ``count_words`` stops at: the column has 16 bits."""

_LABEL = re.compile(
    r"\s{0,8}(?:\*\*)?([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30}){0,2}) ?:(?:\*\*)?\s+\S"
)
# ASCII, full width, Arabic.
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_CLOSING = " \t\r\n\"')*_\u00bb\u2019\u201d"
_WORD = re.compile(r"\w+")
_LONGEST_NAME = 3


def count_words(text: str) -> int:
    """Words between blanks, up to 65,535."""
    return min(MOST_WORDS, len(text.split()))


def asks(text: str) -> bool:
    """Whether the text ends with a question mark, closing quotes and brackets aside."""
    return text.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def label_of(text: str) -> str:
    """The label at the start of *text* if it may be a name, as in ``Ines: …``; else empty."""
    found = _LABEL.match(text)
    if found is None or not all(word[0].isupper() for word in found[1].split(" ")):
        return ""
    return found[1]


def speaker_key(name: str) -> int:
    """64 bits that stand for a folded name; 0 where nothing of it is left."""
    return _key(_words(name)) if name else 0


def name_keys(text: str) -> frozenset[int]:
    """Keys of all runs of one to three words in *text*: of whoever it may name."""
    words = _words(text)
    return frozenset(
        _key(words[start : start + length])
        for length in range(1, _LONGEST_NAME + 1)
        for start in range(len(words) - length + 1)
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(fold_case(fold_characters(text)))


def _key(words: list[str]) -> int:
    if not words:
        return 0
    # Never 0, which stands for nobody.
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest(), "little") or 1
