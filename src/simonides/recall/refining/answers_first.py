"""Moves a statement before questions, tool output and an assistant's repeats that are no much better match.

    a relevant statement passes a row directly in front of it, if it matches at least
        question_share times as well, where the row only asks, or is what a tool recalled
        tool_share times as well, where the row is a tool's output
        repeat_share times as well, where an assistant repeats it later

How well it matches is its score, or its fused score where that speaks more for it: the graph gives the row
that it starts from a lead over all others, and a question would keep it. Relevant is what matches at least
relevant_share times as well as the best statement.

A question shares more words with a question than its answer does, so a bank that keeps its turns would answer
a question with the same question, asked before. What a row is was recognised when it was written
(``records.utterance``). Whether it repeats another is read here, from the texts of rows that the asker sees:
the later one has no number and at most half of its words for itself. Nothing else moves: statements keep
their order, and so do the rows that they pass. Scores stay as they are. Where the query is about questions
("what did I ask …") nothing moves.
Cost: one column of the pool; where an assistant's turn stands in front of a statement, the texts of the first
rows. Weakness: a tool's output that alone holds the answer may come behind a statement of the same words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.records.candidate import FUSED
from simonides.records.utterance import Utterance
from simonides.text.questions import is_about_questions
from simonides.text.speech import unlabelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simonides.protocols import Analyser, Tools, View
    from simonides.records.candidate import Candidate
    from simonides.records.memory import Memory
    from simonides.records.query import Query

SIGNAL = "answers_first"
REPEATED = "repeated"
"""The signal (1) of a statement that stands before an assistant's repeat of it."""

_OWN_WORDS = 0.5
_STATES = frozenset({Utterance.STATEMENT, Utterance.ASSISTANT})
_PASSED: Mapping[int, str] = {
    Utterance.QUESTION: "only asks",
    Utterance.ECHO: "was recalled before",
    Utterance.TOOL_OUTPUT: "is a tool's output",
    Utterance.ASSISTANT: "repeats it",
}


@dataclass(frozen=True, slots=True)
class AnswersFirst:
    """Refiner.

    Attributes:
        relevant_share: how well a statement must match to move, as a share of how well the best one does, 0
            to 1.
        question_share, tool_share, repeat_share: how well it must match to pass such a row, as a share of how
            well the row does, 0 to 1.
        most: so many of the best statements may move, and so many of the first rows are read, from 1.
    """

    relevant_share: float
    question_share: float
    tool_share: float
    repeat_share: float
    most: int

    def __post_init__(self) -> None:
        for name in ("relevant_share", "question_share", "tool_share", "repeat_share"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(name, f"{getattr(self, name)} is not between 0 and 1")
        if self.most < 1:
            raise InputError("most", f"{self.most} is below 1; to drop the stage, leave it out")

    def refine(self, view: View, query: Query, pool: tuple[Candidate, ...], tools: Tools) -> Refined:
        """The same pool; what was moved carries how many rows it passed as ``answers_first``.

        One that passed a repeat of it has the signal ``repeated``, too: they answer alike.
        """
        if len(pool) < 2 or is_about_questions(query.text):
            return Refined(pool)
        ordinals = np.array([candidate.ordinal for candidate in pool], np.int64)
        kinds = dict(zip(ordinals.tolist(), view.column("utterance", ordinals).tolist(), strict=True))
        if len(set(kinds.values())) == 1:
            return Refined(pool)
        share = {
            int(Utterance.QUESTION): self.question_share,
            int(Utterance.ECHO): self.question_share,
            int(Utterance.TOOL_OUTPUT): self.tool_share,
            int(Utterance.ASSISTANT): self.repeat_share,
        }
        texts = _Texts(view, tools.analyser, ordinals[: self.most].tolist())
        movable = self._movable(pool, kinds)
        ordered: list[Candidate] = []
        notes: dict[int, str] = {}
        for candidate in pool:
            place = len(ordered)
            if candidate.ordinal in movable:
                while place and self._passes(candidate, ordered[place - 1], kinds, share, texts):
                    place -= 1
            passed = ordered[place:]
            if passed:
                over = [kinds[each.ordinal] for each in passed]
                notes[candidate.ordinal] = _note(over)
                signals = {SIGNAL: float(len(over))} | (
                    {REPEATED: 1.0} if Utterance.ASSISTANT in over else {}
                )
                moved = candidate.with_signals(candidate.score, candidate.scored_by, signals)
                ordered.insert(place, moved)
            else:
                ordered.append(candidate)
        return Refined(tuple(ordered), notes=notes)

    def _movable(self, pool: Sequence[Candidate], kinds: Mapping[int, int]) -> frozenset[int]:
        """The statements that may move."""
        states = [each for each in pool if kinds[each.ordinal] in _STATES][: self.most]
        return frozenset(each.ordinal for each in states if _matches(each, states[0], self.relevant_share))

    def _passes(
        self,
        statement: Candidate,
        row: Candidate,
        kinds: Mapping[int, int],
        share: Mapping[int, float],
        texts: _Texts,
    ) -> bool:
        kind = kinds[row.ordinal]
        if kind not in share or not _matches(statement, row, share[kind]):
            return False
        if kind != Utterance.ASSISTANT:
            return True
        return kinds[statement.ordinal] == Utterance.STATEMENT and texts.repeats(
            row.ordinal, statement.ordinal
        )


def _matches(statement: Candidate, row: Candidate, share: float) -> bool:
    """Whether a statement matches at least *share* times as well as a row."""
    if statement.score >= share * row.score:
        return True
    fused, other = statement.signals.get(FUSED), row.signals.get(FUSED)
    return fused is not None and other is not None and fused >= share * other


def _note(passed: Sequence[int]) -> str:
    counted = [(passed.count(kind), words) for kind, words in _PASSED.items() if kind in passed]
    return "moved before what " + ", ".join(f"{words} ({count})" for count, words in counted)


@dataclass(slots=True)
class _Texts:
    """The first rows of a pool, read when they are first asked for."""

    view: View
    analyser: Analyser
    ordinals: Sequence[int]
    _memories: dict[int, Memory] = field(default_factory=dict)
    _terms: dict[int, frozenset[str]] = field(default_factory=dict)

    def repeats(self, later: int, earlier: int) -> bool:
        """Whether the one row says again, later, what the other one says."""
        if not self._memories:
            self._memories = {m.ordinal: m for m in self.view.memories(self.ordinals)}
        one, other = self._memories.get(later), self._memories.get(earlier)
        if one is None or other is None or _moment(one) < _moment(other):
            return False
        said, before = self._words(one), self._words(other)
        own = said - before
        return (
            bool(said & before)
            and len(own) <= _OWN_WORDS * len(said)
            and not any(character.isdigit() for word in own for character in word)
        )

    def _words(self, memory: Memory) -> frozenset[str]:
        if memory.ordinal not in self._terms:
            text = unlabelled(memory.text, memory.speaker)
            self._terms[memory.ordinal] = frozenset(self.analyser.query_terms(text))
        return self._terms[memory.ordinal]


def _moment(memory: Memory) -> tuple[int, int, int]:
    return memory.valid_from_micros, memory.ingested_at_micros, memory.ordinal
