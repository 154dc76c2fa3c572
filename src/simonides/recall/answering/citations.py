"""Checks the citations of an answer while it is written: ``[2]`` must be the second memory of the pack.

What names no memory of the pack is taken out: ``[2, 9]`` → ``[2]``, `` [9]`` → nothing. Text passes at once
but for what may still become a citation, so an answer can be shown while it comes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from simonides.records.reflection import Citation

if TYPE_CHECKING:
    from collections.abc import Sequence

# Both begin where a run of blanks does, so that each run is read once.
_CITATION = re.compile(r"(?<![ \t])[ \t]*+[\[\uff3b\u3010](\s*\d+(?:\s*[,;]\s*\d+)*\s*)[\]\uff3d\u3011]")
# The beginning of a citation at the end of what has come, with the blanks before it.
_BEGUN = re.compile(r"(?<![ \t])[ \t]*+(?:[\[\uff3b\u3010][\d\s,;]*+)?\Z")
_LONGEST_CITATION = 80


class CitationCheck:
    """Of one answer.

    Args:
        ids: of the memories in the pack; the first is cited as [1].

    Attributes:
        removed: citations that were taken out.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        self.removed = 0
        self._ids = ids
        self._held = ""
        self._cited: dict[int, None] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        """What was cited so far, each once."""
        return tuple(Citation(number, self._ids[number - 1]) for number in self._cited)

    def feed(self, piece: str) -> str:
        """What can be shown once *piece* has come."""
        text = self._held + piece
        begun = _BEGUN.search(text)
        cut = begun.start() if begun and len(text) - begun.start() <= _LONGEST_CITATION else len(text)
        self._held = text[cut:]
        return _CITATION.sub(self._checked, text[:cut])

    def end(self) -> str:
        """What was held back."""
        rest, self._held = self._held, ""
        return _CITATION.sub(self._checked, rest).rstrip()

    def _checked(self, found: re.Match[str]) -> str:
        numbers = [int(digits[:9]) for digits in re.findall(r"\d+", found[1])]
        known = [number for number in numbers if 1 <= number <= len(self._ids)]
        self.removed += len(numbers) - len(known)
        self._cited |= dict.fromkeys(known)
        blanks = found[0][: len(found[0]) - len(found[0].lstrip())]
        return f"{blanks}[{', '.join(map(str, known))}]" if known else ""
