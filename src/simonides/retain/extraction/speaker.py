"""Who says the text: a label such as ``Caroline:`` at its start.

A role (``User:``) is a speaker but no name: every conversation has one, so as an entity it would join
everything with everything. ``Note:`` and the like are no speakers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from simonides.retain.extraction.word_lists import given_names, is_common, section

_LABEL = re.compile(
    r"\s{0,8}(?:\*\*)?([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30}){0,2}) ?:(?:\*\*)?\s+(?=(.))"
)
_ASKING_ROLES = frozenset({"user", "human"})
_ROLES = _ASKING_ROLES | {
    "assistant",
    "ai",
    "bot",
    "agent",
    "system",
    "tool",
    "model",
    "developer",
    "speaker",
}


@dataclass(frozen=True, slots=True)
class Speaker:
    """The label at the start of a text.

    Attributes:
        name: as written.
        start, stop: where the name stands.
        body: where what is said starts.
        role: the label is a role, not a name.
        may_be_i: whether ``I`` in the text is the person that the label names. A role of the asking side is
            one person in a bank; an assistant that says "I" is nobody.
    """

    name: str
    start: int
    stop: int
    body: int
    role: bool
    may_be_i: bool


def find_speaker(text: str) -> Speaker | None:
    """The speaker of *text*, if a label at its start names one."""
    label = _LABEL.match(text)
    if label is None:
        return None
    name = label[1].rstrip(".")
    words = name.lower().split(" ")
    start, body = label.start(1), label.end()
    role = len(words) == 1 and words[0] in _ROLES
    if not role and not _is_name(name, words, label[2]):
        return None
    return Speaker(name, start, start + len(name), body, role, not role or words[0] in _ASKING_ROLES)


def _is_name(name: str, words: list[str], following: str) -> bool:
    if not all(part[0].isupper() for part in name.split(" ")):
        return False
    if words[0] in given_names():
        return True
    dull = (
        section("name_words", "time") | section("name_words", "initialism") | section("name_words", "people")
    )
    if following.islower() or any(word in dull for word in words):
        return False
    return not any(is_common(word) for word in words) or words[0] in section("name_words", "title")
