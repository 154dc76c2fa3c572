"""Moves a statement before questions, tool output and an assistant's repeats that are no much better match.

    a relevant statement passes a row directly in front of it, if it matches at least
        question_share times as well, where the row only asks, or is what a tool recalled
        tool_share times as well, where the row is a tool's output
    and however well an assistant's turn matches that repeats it later

How well it matches is its score, or its fused score where that speaks more for it (the graph gives the row
that it starts from a lead over all others, and a question would keep it), or how well a repeat of it does.
Relevant is what matches at least relevant_share times as well as the best statement.

A question shares more words with a question than its answer does, so a bank that keeps its turns would answer
a question with the same question, asked before. What a row is was recognised when it was written
(``records.kind``). Whether it repeats another is read here, from the texts of rows that the asker sees:
the later one has no number and at most half of its words for itself. Nothing else moves: statements keep
their order, and so do the rows that they pass. Scores stay as they are. Where the query is about questions
("what did I ask …") nothing moves.
Cost: one column of the pool; where assistants' turns are among the first statements, the texts of these.
Weakness: a tool's output that alone holds the answer may come behind a statement of the same words.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simonides.errors import InputError
from simonides.protocols import Refined
from simonides.records.candidate import FUSED
from simonides.records.kind import ANSWER_NOTHING, Utterance
from simonides.text.speech import is_about_questions, unlabelled

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
        question_share, tool_share: how well it must match to pass such a row, as a share of how well the row
            does, 0 to 1.
        most: so many of the best statements may move, from 1.
    """

    relevant_share: float
    question_share: float
    tool_share: float
    most: int

    def __post_init__(self) -> None:
        for name in ("relevant_share", "question_share", "tool_share"):
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
        states = [each for each in pool if kinds[each.ordinal] in _STATES][: self.most]
        repeats = _repeats(view, states, kinds, tools.analyser)
        movable = {
            each.ordinal
            for each in states
            if _match((each, *repeats.get(each.ordinal, ())), states[0], self.relevant_share)
        }
        ordered: list[Candidate] = []
        notes: dict[int, str] = {}
        for candidate in pool:
            place = len(ordered)
            if candidate.ordinal in movable:
                alike = (candidate, *repeats.get(candidate.ordinal, ()))
                while place and self._pass(alike, ordered[place - 1], kinds):
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

    def _pass(self, alike: Sequence[Candidate], row: Candidate, kinds: Mapping[int, int]) -> bool:
        """Whether a statement, the first of those that say the same, passes a row."""
        kind = kinds[row.ordinal]
        if kind in ANSWER_NOTHING:
            return _match(alike, row, self.question_share)
        if kind == Utterance.TOOL_OUTPUT:
            return _match(alike, row, self.tool_share)
        return any(row.ordinal == repeat.ordinal for repeat in alike[1:])


def _match(alike: Sequence[Candidate], row: Candidate, share: float) -> bool:
    """Whether any of those that say the same matches at least *share* times as well as a row."""
    if any(each.score >= share * row.score for each in alike):
        return True
    fused = row.signals.get(FUSED)
    return fused is not None and any(each.signals.get(FUSED, -math.inf) >= share * fused for each in alike)


def _note(passed: Sequence[int]) -> str:
    counted = [(passed.count(kind), words) for kind, words in _PASSED.items() if kind in passed]
    return "moved before what " + ", ".join(f"{words} ({count})" for count, words in counted)


def _repeats(
    view: View, states: Sequence[Candidate], kinds: Mapping[int, int], analyser: Analyser
) -> dict[int, tuple[Candidate, ...]]:
    """By ordinal of a statement, the assistant's turns among *states* that repeat it later."""
    turns = [each for each in states if kinds[each.ordinal] == Utterance.ASSISTANT]
    if not turns or len(turns) == len(states):
        return {}
    memories = {memory.ordinal: memory for memory in view.memories([each.ordinal for each in states])}
    words = {
        ordinal: frozenset(analyser.query_terms(unlabelled(memory.text, memory.speaker)))
        for ordinal, memory in memories.items()
    }
    found = {}
    for each in states:
        if kinds[each.ordinal] != Utterance.ASSISTANT:
            before = _moment(memories[each.ordinal])
            found[each.ordinal] = tuple(
                turn
                for turn in turns
                if _moment(memories[turn.ordinal]) >= before
                and _says_again(words[turn.ordinal], words[each.ordinal])
            )
    return found


def _says_again(said: frozenset[str], before: frozenset[str]) -> bool:
    own = said - before
    return (
        bool(said & before)
        and len(own) <= _OWN_WORDS * len(said)
        and not any(character.isdigit() for word in own for character in word)
    )


def _moment(memory: Memory) -> tuple[int, int, int]:
    return memory.valid_from_micros, memory.ingested_at_micros, memory.ordinal
