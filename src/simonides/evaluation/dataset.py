"""What a measurement is made of: corpora of items, and questions whose right items are known.

Keys and question ids hold no white space, because they become columns of a TREC run file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from simonides.errors import InputError

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Item:
    """One text to be retained.

    Attributes:
        key: the dataset's own name for it. Items that share a key stand for one right answer: finding
            any of them finds the key.
        text: what is retained.
        event_time: when it happened, an aware datetime, or ``None`` when the dataset gives no date.
        session: the conversation that it is a turn of; turns follow one another. Empty = none.
        context: what stands beside the text; empty = the turns around it, if it has a session.
        speaker: who says it; empty = not known, or part of the text.
    """

    key: str
    text: str
    event_time: datetime | None = None
    session: str = ""
    context: str = ""
    speaker: str = ""

    def __post_init__(self) -> None:
        _check_column("key", self.key)


@dataclass(frozen=True, slots=True)
class Question:
    """One question asked of a corpus.

    Attributes:
        qid: unique in the dataset.
        text: what is asked.
        gold: keys of the items that hold the answer, without repeats; empty exactly when not answerable.
        category: the dataset's own category, such as ``"1"``.
        answerable: whether the corpus holds an answer; questions without one are reported apart.
        acceptable: keys of items that may be found too, and count neither as right nor as wrong.
    """

    qid: str
    text: str
    gold: tuple[str, ...]
    category: str
    answerable: bool = True
    acceptable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_column("qid", self.qid)
        if bool(self.gold) is not self.answerable:
            raise InputError(
                "gold",
                f"question {self.qid} has {len(self.gold)} gold keys and answerable={self.answerable}; an "
                "answerable question needs at least one gold key, an unanswerable one has none",
            )


@dataclass(frozen=True, slots=True)
class Corpus:
    """What one bank holds during a measurement.

    Attributes:
        name: becomes the bank's name.
        items: what is retained.
        asked_at: when its questions are asked; ``None`` = now.
    """

    name: str
    items: tuple[Item, ...]
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Corpora, each with the questions asked of it, in the order of the original file.

    Attributes:
        name: the dataset's name, such as ``"locomo"``.
        corpora: pairs of a corpus and its questions.
        ignored_evidence: gold references of the original that match no item; they were left out.
        unscored_questions: answerable questions left out because none of their references match.
    """

    name: str
    corpora: tuple[tuple[Corpus, tuple[Question, ...]], ...]
    ignored_evidence: int = 0
    unscored_questions: int = 0

    @property
    def questions(self) -> tuple[Question, ...]:
        """All questions, answerable or not, in order."""
        return tuple(question for _, questions in self.corpora for question in questions)

    def first(self, limit: int | None) -> Dataset:
        """The same dataset cut after its first *limit* answerable questions.

        Unanswerable questions that stand before the cut stay; a corpus left without questions goes, so a
        small limit costs little. ``None`` keeps everything. The two counts still describe the original.

        Raises:
            InputError: *limit* is below 1.
        """
        if limit is None:
            return self
        if limit < 1:
            raise InputError("limit", f"{limit} questions cannot be measured; give 1 or more, or no limit")
        kept: list[tuple[Corpus, tuple[Question, ...]]] = []
        missing = limit
        for corpus, questions in self.corpora:
            chosen = []
            for question in questions:
                if missing == 0:
                    break
                chosen.append(question)
                missing -= question.answerable
            if chosen:
                kept.append((corpus, tuple(chosen)))
        return replace(self, corpora=tuple(kept))


def _check_column(field: str, value: str) -> None:
    if not value or any(character.isspace() for character in value):
        raise InputError(field, f"{value!r} must hold at least one character and no white space")
