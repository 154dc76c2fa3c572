"""Asks judged queries with a profile whose numbers vary, all from one viewpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simonides.errors import InputError
from simonides.evaluation.asking import DEPTH
from simonides.evaluation.measures import measure_each
from simonides.files import SHARED, write_file
from simonides.profiles.loader import load_profile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from simonides.bank import Bank
    from simonides.evaluation.tuning_file import Base
    from simonides.evaluation.tuning_numbers import Number
    from simonides.evaluation.tuning_queries import JudgedQuery

# Per query, every measure.
Scores = dict[str, dict[str, float]]


@dataclass(slots=True)
class Asker:
    """Recalls through the public contract; every profile it asks with is a file, as a user would have it.

    Attributes:
        bank: opened for its owner.
        base: the profile that varies.
        numbers: of it.
        as_of: viewpoint of queries that state none.
        folder: for the files, emptied by whoever made it.
        place: what the queries' file is called in messages.
        degraded: what did less than asked, and why, in any recall so far.
        environment: what the environment changed about the profile.
    """

    bank: Bank
    base: Base
    numbers: Sequence[Number]
    as_of: datetime | str
    folder: Path
    place: str
    degraded: set[str] = field(default_factory=set)
    environment: set[str] = field(default_factory=set)

    def ask(self, queries: Sequence[JudgedQuery], values: tuple[float, ...]) -> Scores | None:
        """Every measure of every query, by line; ``None`` for values that the profile may not have.

        Args:
            queries: to ask.
            values: one per number.

        Raises:
            InputError: an argument of a query is wrong; names its line.
        """
        path = self.folder / "candidate.toml"
        write_file(path, self.base.with_values(self.numbers, values), mode=SHARED)
        try:
            load_profile(path)
        except InputError:
            return None
        gold = {str(query.line): query.relevant for query in queries}
        return measure_each(gold, {str(query.line): self._found(query, path) for query in queries})

    def _found(self, query: JudgedQuery, profile: Path) -> tuple[str, ...]:
        arguments = {"as_of": self.as_of, "precision": "wide", **query.arguments}
        try:
            answer = self.bank.recall(query.query, profile=profile, limit=DEPTH, max_tokens=None, **arguments)
        except InputError as error:
            raise InputError(f"{self.place}, line {query.line}", str(error)) from error
        self.degraded.update(answer.trace.degraded)
        self.environment.update(answer.trace.settings)
        return tuple(dict.fromkeys(hit.id for hit in answer))
