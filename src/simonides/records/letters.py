"""Which terms of an index are worth comparing with a word."""

from __future__ import annotations

from dataclasses import dataclass


def letter_set(word: bytes) -> int:
    """The different bytes of *word* as a set of 32 bits; letters of one alphabet each have their own."""
    found = 0
    for byte in word:
        found |= 1 << (byte & 31)
    return found


@dataclass(frozen=True, slots=True)
class Letters:
    """A cheap necessary condition for terms that look like a word.

    Attributes:
        first: what the terms begin with.
        letters: ``letter_set`` of the word.
        missing: how many of its letters a term may lack.
        extra: how many other letters a term may hold.
        shortest, longest: length of a term in bytes.
    """

    first: bytes
    letters: int
    missing: int
    extra: int
    shortest: int
    longest: int

    def admits(self, term: bytes) -> bool:
        """Whether *term* meets the condition."""
        if not (self.shortest <= len(term) <= self.longest and term.startswith(self.first)):
            return False
        held = letter_set(term)
        return (self.letters & ~held).bit_count() <= self.missing and (
            held & ~self.letters
        ).bit_count() <= self.extra
