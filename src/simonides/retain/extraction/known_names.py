"""Find the names that a bank knows already, longest first, whatever their case and spacing.

A name and a text are cut into tokens (a word, with a leading ``@`` or ``#`` and a trailing ``++`` or ``#``)
and case folded; a name is found where its tokens follow each other with nothing but a space or a joiner
between. So ``new-york`` finds New York, and ``Joann`` never finds Ann: tokens are compared whole, never by
their distance. A name that is also a common English word (Will, Grace) is found only as it is written, and at
the start of a sentence only where a possessive or a verb of people follows.

Cost: per token one look-up for each length that a known name with that first token has; it does not grow with
the number of names: 20 to 50 µs for 30 words, with 100 names or 100,000. 100,000 names take about 30 MB and
0.5 s to index, once; ``add`` and ``discard`` are O(1).

``ranges_of`` finds them in the sorted folded names of a bank (``retain.resolution.fold_name``) instead: a
folded name begins with its first token, so a few narrow ranges per token of the text (the token alone, with
the next one, with a sign that folding keeps) hold every name that can begin there. ``KnownNames`` leaves out
what they hold beyond that. Names that begin with such a sign have ranges of their own (``Leads``).
Cost: six ranges per token, about 2 µs each to look up, whatever the number of names.
Weakness: a name is not found that begins with a sign that stands for letters (``№ 5``), or that has an
invisible character right behind a leading ``@`` or ``#``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from simonides.retain.extraction.passage import is_common, section
from simonides.retain.resolution import fold_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


MAX_TOKENS = 16
"""Longest known name that is looked for; what is longer is a sentence, not a name."""

# A combining accent belongs to its letter.
_TOKEN = re.compile(r"[@#]?[^\W_](?:[^\W_]|[\u0300-\u036f])*+(?:\+\+|#(?!\w))?")
_LONGEST_NORMALISED = 256
# Between the tokens of one name: a space, a joiner, a point with a space after a short token (St. Ives).
_GAP = re.compile(r"[ \t\u00a0]?[-_./\\:&']?[ \t\u00a0]?|[ \t]?\n[ \t]?|")
_POSSESSIVE = re.compile(r"'s?(?!\w)")
_INITIAL = 1
_VERB_AFTER = re.compile(r"(?:'s)?\s+(?:is|was|has|had|does|did|said|says|told|\w{2,20}(?:s|ed))\b")
_NOT_INITIAL = re.compile(r"[\w,)]['\"]*\s+\Z")
_LONGEST_SPACE = 4

Found = tuple[str, int, int]


def _any_name(_: str) -> bool:
    return True


class KnownNames(Collection[str]):
    """An index over names. Hand one to the extractor to index the names of a bank once.

    Not thread-safe while names are added; reading is. Names without a letter, blank ones and those of more
    than ``MAX_TOKENS`` tokens are kept but never found.
    """

    __slots__ = ("_lengths", "_names", "_written")

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._written: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        self._names: dict[str, object] = {}
        for name in names:
            self.add(name)

    @classmethod
    def of(cls, names: Collection[str]) -> KnownNames:
        """*names* itself where it is an index already, else a new one."""
        return names if isinstance(names, cls) else cls(sorted(names))

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: str) -> None:
        """Add one name; adding it twice changes nothing."""
        if name in self._names:
            return
        self._names[name] = None
        tokens = _key(name)
        if tokens is None:
            return
        self._written[tokens] = (*self._written.get(tokens, ()), name)
        lengths = self._lengths.get(tokens[0], ())
        if len(tokens) not in lengths:
            self._lengths[tokens[0]] = tuple(sorted((*lengths, len(tokens)), reverse=True))

    def discard(self, name: str) -> None:
        """Take one name out; a name that is not there changes nothing."""
        if self._names.pop(name, self) is self:
            return
        tokens = _key(name)
        if tokens is None:
            return
        others = tuple(other for other in self._written[tokens] if other != name)
        # The lengths stay: one that no name has any more costs a look-up and finds nothing.
        if others:
            self._written[tokens] = others
        else:
            del self._written[tokens]

    def find(self, text: str, accepts: Callable[[str], bool] = _any_name) -> list[Found]:
        """Known names in *text*, from left to right, not overlapping; at each place the longest.

        Returns ``(name as the bank writes it, start, stop)``. What *accepts* refuses hides no shorter name.
        """
        if not self._written:
            return []
        tokens = name_tokens(text)
        found: list[Found] = []
        place = 0
        while place < len(tokens):
            length = self._longest(text, tokens, place, found, accepts)
            place += length or 1
        return found

    def _longest(
        self,
        text: str,
        tokens: list[Found],
        place: int,
        found: list[Found],
        accepts: Callable[[str], bool],
    ) -> int:
        """Append the longest name that starts at token *place*; its number of tokens, 0 for none."""
        for length in self._lengths.get(tokens[place][0], ()):
            last = place + length
            if last > len(tokens):
                continue
            written = self._written.get(tuple(token for token, _, _ in tokens[place:last]), ())
            names = tuple(filter(accepts, written))
            if not names or not _joined(text, tokens, place, last):
                continue
            start, stop = tokens[place][1], tokens[last - 1][2]
            name = _allowed(text, start, stop, names)
            if name is not None:
                found.append((name, start, stop))
                return length
        return 0


def name_tokens(text: str) -> list[Found]:
    """Folded tokens with their place in *text*, as names are found by them."""
    return [(_fold(token[0]), token.start(), token.end()) for token in _TOKEN.finditer(text)]


def _fold(token: str) -> str:
    """Case folded, composed; accents tell names apart (José, Jose) and stay."""
    if token.isascii():
        return token.lower()
    # Composing sorts a run of marks with a quadratic algorithm; no name has so many.
    folded = token.casefold()
    return unicodedata.normalize("NFC", folded) if len(folded) <= _LONGEST_NORMALISED else folded


def _key(name: str) -> tuple[str, ...] | None:
    """The tokens that *name* is found by; ``None`` where it is never looked for."""
    tokens = tuple(token for token, _, _ in name_tokens(name))
    if not 0 < len(tokens) <= MAX_TOKENS or not any(map(str.isalpha, name)):
        return None
    return tokens


def _joined(text: str, tokens: list[Found], first: int, last: int) -> bool:
    """Whether nothing stands between the tokens of a match that would part a name."""
    for place in range(first, last - 1):
        gap = text[tokens[place][2] : tokens[place + 1][1]]
        if not _GAP.fullmatch(gap):
            return False
        # The point of an abbreviation (St. Ives), not the end of a sentence.
        if gap.startswith(".") and len(gap) > 1:
            word, start, stop = tokens[place]
            if stop - start > _INITIAL and word not in section("name_words", "title"):
                return False
    return True


def _allowed(text: str, start: int, stop: int, names: tuple[str, ...]) -> str | None:
    """The spelling to report, or ``None`` where this is another, longer name or a common word."""
    if _inside_a_longer_name(text, start, stop):
        return None
    written = text[start:stop]
    name = written if written in names else names[0]
    if written.isalpha() and is_common(written.lower()):
        if written not in names:
            return None
        initial = not _NOT_INITIAL.search(text[max(0, start - _LONGEST_SPACE) : start])
        follows = _POSSESSIVE.match(text, stop) or _VERB_AFTER.match(text, stop)
        if initial and not follows:
            return None
    return name


def _inside_a_longer_name(text: str, start: int, stop: int) -> bool:
    """Whether a joiner ties the match to more: ``Ann-Marie`` is not Ann, ``ann@example.org`` neither."""
    before = text[max(0, start - 2) : start]
    if len(before) == 2 and before[1] in "-_.@'" and before[0].isalnum():
        return True
    if before.endswith(("_", "@", "\\")):
        return True
    after = text[stop : stop + 2]
    if after[:1] == "_":
        return True
    if len(after) < 2 or after[0] not in "-.@'" or not after[1].isalnum():
        return False
    if after[0] == "'":
        return not _POSSESSIVE.match(text, stop)
    # Python-based is about Python; Ann-Marie and VX-1103 are not about Ann and VX.
    return not (after[0] == "-" and after[1].islower())


LEADS: Mapping[str, str] = {"+": ",", "/": "0"}
"""Signs before the first token of a name, and what sorts behind each; ``@`` and ``#`` are part of a token."""

# What folding keeps of all that is no letter or digit.
_SIGNS = "+#@/. "
# Above every character, and right behind the signs up to "/", and behind "@".
_LAST, _AFTER_SLASH, _AFTER_AT = "\U0010ffff", "0", "A"

# What may follow the first token of a name, other than the second one or a space and the second one.
_BETWEEN = (("", " " + _AFTER_SLASH), ("!", _AFTER_SLASH), ("@", _AFTER_AT), (" @", " " + _AFTER_AT))

ODD_LEADS = tuple(
    (first + low, first + high) for first in "+/#@" for low, high in ((" ", _AFTER_SLASH), ("@", _AFTER_AT))
)
"""Ranges of the folded names that begin with several signs."""


@dataclass(frozen=True, slots=True)
class Leads:
    """How names of a bank begin, other than with a token.

    Attributes:
        signs: those of ``LEADS`` that there are.
        odd: whether there are any in ``ODD_LEADS``.
    """

    signs: tuple[str, ...] = ()
    odd: bool = False


class NameRange(NamedTuple):
    """Folded names from *low* up to, not including, *high*. A tuple, because a question is a row of them.

    Of these, the ones that are *alone* but for signs behind it, or hold *within* (empty = nothing).
    """

    low: str
    high: str
    alone: str
    within: str


def name_ranges(text: str, leads: Leads) -> list[NameRange]:
    """Ranges that hold every name that stands in *text*."""
    return list(dict.fromkeys(_ranges(text, leads)))


def _ranges(text: str, leads: Leads) -> Iterator[NameRange]:
    # A letter that folding drops (an apostrophe of its own) is in no folded name.
    tokens = [folded for token, _, _ in name_tokens(text) if (folded := fold_name(token))]
    for first, second in pairwise([*tokens, ""]):
        for sign in ("", *leads.signs):
            begin = sign + first
            alone = begin.rstrip(_SIGNS)
            for low, high in _BETWEEN:
                yield NameRange(begin + low, begin + high, alone, second)
            if second:
                for space in ("", " "):
                    yield NameRange(begin + space + second, begin + space + second + _LAST, alone, second)
        if leads.odd:
            for low, high in ODD_LEADS:
                yield NameRange(low, high, "", first)
