"""Where, in the sorted folded names of a bank, those lie that a text may hold.

A name is found in a text by its first tokens (``known_names``), and its folded form (``retain.names``) begins
with that of its first token, then what stands between, then its second token. So for each token of a text a
few narrow ranges hold every name that can begin there: the token alone, the token and the next one, and the
token with one of the rare signs that folding keeps. What they hold beyond that is left out by ``KnownNames``.
Names that begin with such a sign have ranges of their own where the bank has any (``Leads``).

Cost: six ranges per token, about 2 µs each to look up, whatever the number of names.
Weakness: a name is not found that begins with a sign that stands for letters (``№ 5``), or that has an
invisible character right behind a leading ``@`` or ``#``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from simonides.retain.extraction.known_names import name_tokens
from simonides.retain.names import fold_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
