"""What a memory looks like without its text: how long, what it does, whether it asks, a key of who says it.

A name is folded (case, accents, punctuation) and hashed to 64 bits, so an index column can hold it and a
query is compared with a million speakers without reading a row. Two names of one key are possible and
harmless: a memory would be taken for another person's, one time in 10¹⁹.
"""

from __future__ import annotations

import hashlib
import re

from simonides.records.utterance import Utterance, role_by_trust
from simonides.text.normalise import fold_case, fold_characters
from simonides.text.questions import only_asks

MOST_WORDS = 65_535
"""What ``count_words`` stops at: the column has 16 bits."""

_LABEL = re.compile(
    r"\s{0,8}(?:\*\*)?([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30}){0,2}) ?:(?:\*\*)?\s+\S"
)
# ASCII, full width, Arabic.
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_CLOSING = " \t\r\n\"')*_\u00bb\u2019\u201d"
_RECALLED = re.compile(r"<<memories [0-9a-f]{16}>>|\bNot in memory[:.]")
# As frameworks keep the call of a tool: an object with its arguments, and no result.
_CALL = re.compile(r"\s{0,8}\{(?=[^{}]{0,400}\"arguments\":)(?![^{}]{0,400}\"(?:output|content|result)\":)")
_WORD = re.compile(r"\w+")
_LONGEST_NAME = 3


def count_words(text: str) -> int:
    """Words between blanks, up to 65,535."""
    return min(MOST_WORDS, len(text.split()))


def asks(text: str) -> bool:
    """Whether the text ends with a question mark, closing quotes and brackets aside."""
    return text.rstrip(_CLOSING).endswith(_QUESTION_MARKS)


def utterance(text: str, speaker: str, trust: float, *, filed: bool) -> Utterance:
    """What a memory does.

    Args:
        text: perhaps with a label, such as ``Ines: …``.
        speaker: as ``retain`` was told; empty = the label may say.
        trust: that the store stamped.
        filed: whether it belongs to a document or a path.
    """
    role = role_by_trust(trust, filed=filed)
    if role == "tool":
        if _RECALLED.search(text):
            return Utterance.ECHO
        return Utterance.QUESTION if _CALL.match(text) else Utterance.TOOL_OUTPUT
    if only_asks(unlabelled(text, speaker)):
        return Utterance.QUESTION
    return Utterance.ASSISTANT if role == "assistant" else Utterance.STATEMENT


def unlabelled(text: str, speaker: str) -> str:
    """*text* without the label of who says it."""
    label = speaker.strip() or label_of(text)
    if label and text.startswith(f"{label}:"):
        return text[len(label) + 1 :].lstrip()
    return text


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
