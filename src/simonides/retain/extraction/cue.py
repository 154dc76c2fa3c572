"""A cue: words that say something surely, as data with its own test.

Each cue carries one text where it must be found and one where it must not; one test runs them all. A cue is
looked for only where one of its trigger words stands in the text, so that many cues cost little: a set
intersection per text, and a search per cue that may be there. Patterns are compiled when first used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from simonides.retain.extraction.passage import Passage


@dataclass(frozen=True, slots=True)
class Cue:
    """Words to look for.

    Attributes:
        name: what the cue says; several cues may share one.
        pattern: regular expression, case ignored; it must be linear in the text.
        triggers: lower-case words of which each match holds at least one.
        example: a text in which the cue is found.
        counterexample: a text with a trigger word in which it is not.
    """

    name: str
    pattern: str
    triggers: tuple[str, ...]
    example: str
    counterexample: str

    def matches(self, text: str) -> Iterator[re.Match[str]]:
        """Every place where the pattern matches, left to right."""
        return compiled(self.pattern).finditer(text)


AnyCue = TypeVar("AnyCue", bound=Cue)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The compiled form of a cue's pattern."""
    return re.compile(pattern, re.IGNORECASE)


def by_trigger(cues: Sequence[AnyCue]) -> Mapping[str, tuple[int, ...]]:
    """Trigger word → positions of its cues, for :func:`triggered`."""
    positions: dict[str, list[int]] = {}
    for position, cue in enumerate(cues):
        for word in cue.triggers:
            positions.setdefault(word, []).append(position)
    return {word: tuple(found) for word, found in positions.items()}


def triggered(
    passage: Passage, cues: Sequence[AnyCue], index: Mapping[str, tuple[int, ...]]
) -> Iterable[AnyCue]:
    """The cues that may be in *passage*, in their order."""
    positions = {position for word in passage.vocabulary & index.keys() for position in index[word]}
    return [cues[position] for position in sorted(positions)]
