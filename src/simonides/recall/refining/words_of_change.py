"""Whether a text says that something changed ("moved", "instead", "now") about what another text tells.

It is about the same if both are of one speaker or one is an assistant's, if they share a name where both
have one, a word of the query where the other has one, and two words and a quarter of the longer one's, or
one word where both say when and the later one says that something was moved. Both have a value, and the later
one has one for itself: a number, a name, a day or a time. A text of more than 200 characters tells many
things, and which of them changed is not seen.
Only for order: what changed, and whether the other text is no longer so, is not known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simonides.protocols import Analyser

_MOVES = (
    r"moved|moves? (?:from|to|me|us|him|her|it|them|the|my|our)|changed|rescheduled|postponed|delayed|shifted"
    r"|slip(?:s|ped)|brought forward|put off|pushed back|cancel+ed|instead"
)
_SHIFTS = re.compile(rf"\b(?:{_MOVES})\b", re.IGNORECASE)
_SAYS_SO = re.compile(
    rf"\b(?:{_MOVES}|switched|swapped|upgraded|downgraded|updated|renamed|replaced"
    r"|(?:went|gone|go|goes) (?:up|down)|rose|raised|dropped|no longer|any ?more|from now on"
    r"|now|these days|nowadays|(?:got|has) a new|returned to|settled|doubled|halved|traded"
    r"|correct(?:ed|ion)|wrong|mistaken|since then|meanwhile|back to)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:\d\d?[:.]\d\d|\d{4}-\d\d-\d\d|noon|o'clock|today|tomorrow"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:dreams?|dreamed|wish(?:es|ed)?|hopes?|hoped|would|could|might|may|wants?|wanted|consider(?:s|ed|ing)?"
    r"|turned down|decided against|(?<!was )(?<!were )(?<!been )(?:rejected|declined|refused)|if|almost"
    r"|nearly|thought about|thinks? about|thinking|plans?|planned|planning|someday|one day|offered)\b"
)
_OTHERS = re.compile(
    r"\b(?:brother|sister|mother|father|mum|mom|dad|son|daughter|wife|husband|partner|cousin|uncle|aunt|friend"
    r"|neighbour|neighbor|colleague|boss|flatmate|roommate|girlfriend|boyfriend|parents?|grand\w+)(?:'s|s)?\b",
    re.IGNORECASE,
)
# What may be a name: a word inside a sentence, or after a title.
_INSIDE = re.compile(
    r"(?:(?<=[\w,;:] )|(?<=M[rs]\. )|(?<=Dr\. )|(?<=Mrs\. )|(?<=Prof\. ))(?!(?:M[rs]|Dr|Mrs|Prof)\.)\w+"
)
_SHARED_WORDS, _SHARE = 2, 1 / 4
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class ChangeWords:
    """A text as it is compared.

    Attributes:
        speaker: who says it; empty = the caller.
        assistant: whether an assistant does.
        words: its terms but for stop-words, days and times.
        names: in it, those of days and months left out.
        values: names, words with a digit, days and times, folded.
        says_so, says_when: whether it says that something changed, and a day or a time.
        shifts: whether it says that a day or a time may have changed.
        short: whether it is short enough to be about one thing.
        unreal: whether it tells of a wish, a plan or what did not come about.
        others: those who stand in some relation to somebody ("my brother").
    """

    speaker: str
    assistant: bool
    words: frozenset[str]
    names: frozenset[str]
    values: frozenset[str]
    says_so: bool
    says_when: bool
    shifts: bool
    short: bool
    unreal: bool
    others: frozenset[str]


def read_change_words(text: str, speaker: str, analyser: Analyser, *, assistant: bool) -> ChangeWords:
    """The words of *text*, which has no label of its speaker."""
    names = frozenset(
        word
        for word in _INSIDE.findall(text)
        if word[0].isupper() and len(word) > 1 and not _WHEN.match(word)
    )
    words = frozenset(analyser.query_terms(_WHEN.sub(" ", text)))
    when = frozenset(found[0].lower() for found in _WHEN.finditer(text))
    numbers = frozenset(word for word in words if any(character.isdigit() for character in word))
    return ChangeWords(
        speaker=speaker.casefold(),
        assistant=assistant,
        words=words,
        names=names,
        values=frozenset(name.casefold() for name in names) | numbers | when,
        says_so=bool(_SAYS_SO.search(text)),
        says_when=bool(when),
        shifts=bool(_SHIFTS.search(text)),
        short=len(text) <= _LONGEST and "\n" not in text,
        unreal=bool(_UNREAL.search(text)),
        others=frozenset(found[0].lower() for found in _OTHERS.finditer(text)),
    )


def says_changed(old: ChangeWords, new: ChangeWords, asked: frozenset[str]) -> bool:
    """Whether *new* says that something changed about what *old* tells.

    Args:
        old: of a text that was true first.
        new: of a text that was true later.
        asked: terms of the query.
    """
    if not (new.says_so and new.short and old.short) or not (
        old.speaker == new.speaker or old.assistant or new.assistant
    ):
        return False
    shared = old.words & new.words
    if old.words & asked and not shared & asked:
        return False
    if old.names and new.names and not old.names & new.names:
        return False
    if not (old.values and new.values - old.values):
        return False
    if shared and old.says_when and new.says_when and new.shifts:
        return True
    return len(shared) >= _SHARED_WORDS and share_words(old, new)


def share_words(old: ChangeWords, new: ChangeWords) -> bool:
    """Whether two texts share a quarter of the words of the longer one."""
    return len(old.words & new.words) >= _SHARE * max(len(old.words), len(new.words))


def shares_of_shorter(old: ChangeWords, new: ChangeWords) -> float:
    """Which share of the words of the shorter of two short texts both hold; 0 where one is long."""
    if not (new.short and old.short and old.speaker == new.speaker and old.others == new.others):
        return 0.0
    return len(old.words & new.words) / max(1, min(len(old.words), len(new.words)))


def other_numbers(old: ChangeWords, new: ChangeWords) -> bool:
    """Whether both texts hold words with digits, and each one that the other has not."""
    mine, theirs = ({v for v in words.values if any(map(str.isdigit, v))} for words in (new, old))
    return bool(mine - theirs and theirs - mine)
