"""How far the channels look: a level (low, mid, high) becomes a number of memories.

fixed:     depth = fixed[level]
adaptive:  depth = ⌊clamp(max_tokens · ratios[level], least, most)⌋; without a token budget it is ``most``

The call's level and function win over the options, which stand for the profile's (HI-12, HI-13). With
"fixed" the token budget changes nothing about the search. Fills ``query.depth``; a channel goes by it where
its own option ``budgeted`` says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from simonides.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.protocols import Tools, View
    from simonides.records.query import Query

LEVELS = ("low", "mid", "high")
FUNCTIONS = ("fixed", "adaptive")


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """Understander.

    Attributes:
        level: of a call that names none.
        function: of a call that names none.
        fixed: memories per level, from 1.
        ratios: memories per token of ``max_tokens`` and level, above 0.
        least, most: bounds of an adaptive depth, memories, from 1.
    """

    level: Literal["low", "mid", "high"]
    function: Literal["fixed", "adaptive"]
    fixed: Mapping[str, int]
    ratios: Mapping[str, float]
    least: int
    most: int

    def __post_init__(self) -> None:
        for name, table in (("fixed", self.fixed), ("ratios", self.ratios)):
            if sorted(table) != sorted(LEVELS):
                raise InputError(
                    name, f"has {', '.join(table) or 'nothing'}; give a number each for low, mid and high"
                )
        for level, depth in self.fixed.items():
            if depth < 1:
                raise InputError(f"fixed.{level}", f"{depth} is below 1; give how many memories to look at")
        for level, ratio in self.ratios.items():
            if not 0 < ratio < math.inf:
                raise InputError(f"ratios.{level}", f"{ratio} is not a number above 0; mid is usually 0.075")
        if not 1 <= self.least <= self.most:
            raise InputError("least", f"{self.least} is not between 1 and most, which is {self.most}")

    def understand(self, view: View, query: Query, tools: Tools) -> Query:  # noqa: ARG002 - the protocol's shape
        """The query with its depth.

        Raises:
            UnknownNameError: the call names a level or function that does not exist.
        """
        level, function = query.budget or self.level, query.budget_function or self.function
        if level not in LEVELS:
            raise UnknownNameError("budget", level, LEVELS)
        if function not in FUNCTIONS:
            raise UnknownNameError("budget_function", function, FUNCTIONS)
        depth = self.fixed[level] if function == "fixed" else self._adaptive(level, query.max_tokens)
        return replace(query, depth=depth)

    def _adaptive(self, level: str, max_tokens: int | None) -> int:
        if max_tokens is None:
            return self.most
        # Rounded first: 400 · 0.075 is 30, not a hair less.
        wanted = math.floor(round(max_tokens * self.ratios[level], 6))
        return min(max(wanted, self.least), self.most)
