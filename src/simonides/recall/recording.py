"""What a recall keeps on its way when it is asked to explain itself: every ranking and every pool."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simonides.protocols import View
    from simonides.records.candidate import Candidate
    from simonides.records.query import Query
    from simonides.records.ranking import Ranking


@dataclass(frozen=True, slots=True)
class PoolAfter:
    """The pool as a fuser or refiner left it.

    Attributes:
        stage: the stage's name in the profile.
        pool: best first.
        dropped: by ordinal, why the stage took a memory out, where it says so.
        notes: by ordinal, why the stage moved a memory, where it says so.
    """

    stage: str
    pool: tuple[Candidate, ...]
    dropped: Mapping[int, str] = field(default_factory=dict)
    notes: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Recording:
    """Filled by ``pipeline.run``.

    Attributes:
        query: as the understanders left it.
        view: as the channels saw it: narrowed, where the profile's router narrows.
        rankings: by channel, in the order of the plan; a channel that was left out has none.
        pools: after the fuser and after each refiner that ran.
    """

    query: Query | None = None
    view: View | None = None
    rankings: dict[str, Ranking] = field(default_factory=dict)
    pools: list[PoolAfter] = field(default_factory=list)

    def add(self, after: PoolAfter) -> None:
        """Keep the pool as a stage left it."""
        self.pools.append(after)
